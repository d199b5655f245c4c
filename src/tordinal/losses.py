"""Table II: the binary losses, as functions of the margin g = s (h - t).

A loss is a small object. Solvers need:

``value(g)``, ``slope(g)``
    The loss and its derivative with respect to the margin.
``curvature(g)``
    For a smooth loss, the second derivative.
``box``, ``kink``
    For a piecewise linear loss, the interval of its dual variable in units of the cost, and the
    margin where its two lines meet: ``(0, 1)`` and 1 for the hinge, ``(-1, 1)`` and 1 for the
    Laplacian loss. See `PiecewiseLinear`.

A custom loss is an object with ``value``, ``slope`` and ``curvature``, or a
`PiecewiseLinear`. `check_loss` tests Definition 3 on it before it is used. The second property of
that definition, symmetry of the two classes, holds for every function of the margin:
l_s(a) = value(s a) = l_{-s}(-a).
"""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


@runtime_checkable
class Loss(Protocol):
    """What every loss offers."""

    def value(self, g: Array) -> Array: ...

    def slope(self, g: Array) -> Array: ...


class PiecewiseLinear:
    """Two lines that meet at a kink: the larger of ``high (kink - g)`` and ``low (kink - g)``.

    Parameters
    ----------
    box : (float, float)
        The slopes ``low < high`` of the two lines, with the sign changed.
    kink : float
        The margin where they meet.

    See Also
    --------
    check_loss : Whether an object is a loss.

    Examples
    --------
    >>> import numpy as np
    >>> PiecewiseLinear(box=(0.0, 1.0), kink=3.0).value(np.array([2.0, 4.0]))
    array([1., 0.])
    """

    def __init__(self, box: tuple[float, float] = (0.0, 1.0), kink: float = 1.0):
        self.box, self.kink = box, kink

    def value(self, g: Array) -> Array:
        low, high = self.box
        return np.maximum(high * (self.kink - g), low * (self.kink - g)) + 0.0  # no -0

    def slope(self, g: Array) -> Array:
        low, high = self.box
        return np.where(g < self.kink, -high, -low)


class Hinge(PiecewiseLinear):
    """max(0, 1 - g)."""

    def __init__(self) -> None:
        super().__init__((0.0, 1.0))


class Laplacian(PiecewiseLinear):
    """``|1 - g|``, which is ``|a - y|`` for y = +1 or -1."""

    def __init__(self) -> None:
        super().__init__((-1.0, 1.0))


class SquaredHinge:
    """max(0, 1 - g)^2."""

    def value(self, g: Array) -> Array:
        return np.maximum(0.0, 1.0 - g) ** 2

    def slope(self, g: Array) -> Array:
        return -2.0 * np.maximum(0.0, 1.0 - g)

    def curvature(self, g: Array) -> Array:
        return np.where(g < 1.0, 2.0, 0.0)


class Logistic:
    """log(1 + exp(-g))."""

    def value(self, g: Array) -> Array:
        return np.logaddexp(0.0, -g)

    def slope(self, g: Array) -> Array:
        return -expit(-g)

    def curvature(self, g: Array) -> Array:
        p = expit(-g)
        return p * (1.0 - p)


class Square:
    """(1 - g)^2, which is (a - y)^2 for y = +1 or -1."""

    def value(self, g: Array) -> Array:
        return (1.0 - g) ** 2

    def slope(self, g: Array) -> Array:
        return -2.0 * (1.0 - g)

    def curvature(self, g: Array) -> Array:
        return np.full_like(g, 2.0)


LOSSES: dict[str, type] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "square": Square,
    "laplacian": Laplacian,
}


def wrong_side_loss(loss: Loss, d: Array) -> Array:
    """The loss at a distance d on the wrong side of a threshold, the larger of the two sides.

    Examples
    --------
    >>> import numpy as np
    >>> wrong_side_loss(Hinge(), np.array([0.0, 2.0]))
    array([1., 3.])
    """
    return loss.value(-d)


def swap_gain(loss: Loss, d: Array) -> Array:
    """How much (6) falls when a row at distance d > 0 on the wrong side of a threshold moves.

    Only the copy at that threshold changes its sign, so the decrease is l(-d) - l(d), which is
    positive by the first property of Definition 3.

    Examples
    --------
    >>> import numpy as np
    >>> swap_gain(Hinge(), np.array([0.5, 1.0, 2.0]))
    array([1., 2., 3.])
    """
    d = np.asarray(d, dtype=np.float64)
    return loss.value(-d) - loss.value(d)


def is_smooth(loss: Loss) -> bool:
    """Whether a loss has a curvature; otherwise it is piecewise linear."""
    return getattr(loss, "box", None) is None


# Margins on which a custom loss is tested.
_SIDE = np.concatenate([np.linspace(0.01, 4.0, 400), np.geomspace(4.0, 50.0, 50)])
_MARGINS = np.concatenate([-_SIDE[::-1], _SIDE])


def check_loss(loss: object) -> Loss:
    """Resolve the `loss` parameter of an estimator: a name from Table II, or an object.

    The first property of Definition 3 is tested on a grid of margins, and so is what the solvers
    rely on: finite values, no fall of the slope (convexity), slopes that belong to the values, and
    two lines where there is a `box`.

    Examples
    --------
    >>> check_loss("hinge").box
    (0.0, 1.0)
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            known = ", ".join(map(repr, LOSSES))
            raise ValueError(f"loss={loss!r} is not known. Choose one of {known}.")
        return LOSSES[loss]()
    if isinstance(loss, type):
        raise TypeError(f"loss={loss!r} is a class. Pass an object: loss={loss.__name__}().")
    smooth = getattr(loss, "box", None) is None
    needed = ("value", "slope", "curvature") if smooth else ("value", "slope")
    missing = [name for name in needed if not callable(getattr(loss, name, None))]
    if missing:
        raise TypeError(
            f"loss={loss!r} has no {' and no '.join(missing)}. A custom loss is an object "
            "with the methods value(g), slope(g) and curvature(g) of the margin g, or a "
            "PiecewiseLinear."
        )
    assert isinstance(loss, Loss)
    _check_definition_3(loss)
    return loss if smooth else _as_piecewise_linear(loss)


def _check_definition_3(loss: Loss) -> None:
    try:
        values = np.asarray(loss.value(_MARGINS), dtype=np.float64)
    except ValueError as error:
        raise TypeError(
            f"loss={loss!r}: value(g) failed for an array of margins ({error}). Use functions of "
            "NumPy, such as np.maximum(0, 1 - g) instead of max(0, 1 - g)."
        ) from None
    if not np.isfinite(values).all():
        where = _MARGINS[~np.isfinite(values)][0]
        raise ValueError(f"loss={loss!r} must be finite, but is not at the margin {where:g}")
    wrong, right = values[: len(_SIDE)][::-1], values[len(_SIDE) :]
    if (broken := wrong <= right).any():
        raise ValueError(
            f"loss={loss!r} must be larger on the wrong side of a threshold than as far on the "
            f"right side (the first property of Definition 3), but its value is "
            f"{wrong[broken][0]:g} at the margin {-_SIDE[broken][0]:g} and {right[broken][0]:g} at "
            f"{_SIDE[broken][0]:g}."
        )
    slopes = np.asarray(loss.slope(_MARGINS), dtype=np.float64)
    if (falls := np.diff(slopes) < -1e-9).any():
        where = _MARGINS[1:][falls][0]
        raise ValueError(
            f"loss={loss!r} must be convex, but its slope falls near the margin {where:g}."
        )
    # The rise of a convex function over a gap lies between those that the slopes at its ends give.
    gaps, rises = np.diff(_MARGINS), np.diff(values)
    slack = 1e-6 * (1 + np.abs(values[:-1]))  # what single precision would round away
    if (
        wrong_slope := (slopes[1:] * gaps < rises - slack) | (slopes[:-1] * gaps > rises + slack)
    ).any():
        where = _MARGINS[1:][wrong_slope][0]
        raise ValueError(
            f"loss={loss!r}: slope(g) must be the derivative of value(g), but it is not near the "
            f"margin {where:g}."
        )


def _as_piecewise_linear(loss: Loss) -> PiecewiseLinear:
    """A loss with a `box` as a `PiecewiseLinear`; a missing kink is inferred."""
    low, high = (float(bound) for bound in loss.box)  # type: ignore[attr-defined]
    first = _MARGINS[0]
    kink = getattr(loss, "kink", None)
    if kink is None and high > 0:
        kink = first + float(loss.value(np.array([first]))[0]) / high
    lines = PiecewiseLinear((low, high), 1.0 if kink is None else float(kink))
    if not (low < high and np.allclose(loss.value(_MARGINS), lines.value(_MARGINS), atol=1e-9)):
        raise ValueError(
            f"loss={loss!r} has box={(low, high)} and kink={lines.kink:g}, but its values are not "
            "the larger of high (kink - g) and low (kink - g). Correct them, or give the "
            "loss a curvature and no box."
        )
    return lines if type(loss) not in LOSSES.values() else loss  # type: ignore[return-value]
