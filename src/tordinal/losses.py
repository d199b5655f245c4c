"""Table II: the binary losses, as functions of the margin g = s (h - t).

A loss is a small object. What a solver needs of it:

``value(g)``, ``slope(g)``
    The loss and its derivative with respect to the margin.
``box``
    For a piecewise linear loss, the interval of its dual variable in units of the cost:
    ``(0, 1)`` for the hinge, ``(-1, 1)`` for the Laplacian loss. Such a loss is solved by SMO.
``curvature(g)``
    For a smooth loss, the second derivative. Such a loss is solved by Newton's method.

A loss of one's own is an object with ``value``, ``slope`` and ``curvature``. `check_loss` tests Definition 3
on it before it is used. The second property of that definition, symmetry of the two classes, holds for every
function of the margin: l_s(a) = value(s a) = l_{-s}(-a).
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


class Hinge:
    """max(0, 1 - g)."""

    box = (0.0, 1.0)

    def value(self, g: Array) -> Array:
        return np.maximum(0.0, 1.0 - g)

    def slope(self, g: Array) -> Array:
        return np.where(g < 1.0, -1.0, 0.0)


class Laplacian:
    """``|1 - g|``, which is ``|a - y|`` for y = +1 or -1."""

    box = (-1.0, 1.0)

    def value(self, g: Array) -> Array:
        return np.abs(1.0 - g)

    def slope(self, g: Array) -> Array:
        return np.sign(g - 1.0)


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


def swap_gain(loss: Loss, d: Array) -> Array:
    """How much (6) falls when a row at distance d > 0 on the wrong side of a threshold changes sides.

    Only the copy at that threshold changes its sign, so the decrease is l(-d) - l(d), which is positive by
    the first property of Definition 3.

    Examples
    --------
    >>> import numpy as np
    >>> swap_gain(Hinge(), np.array([0.5, 1.0, 2.0]))
    array([1., 2., 3.])
    """
    d = np.asarray(d, dtype=np.float64)
    return loss.value(-d) - loss.value(d)


def is_smooth(loss: Loss) -> bool:
    """Whether a loss has a curvature; otherwise it has a dual box."""
    return not hasattr(loss, "box")


def check_loss(loss: object) -> Loss:
    """Settle the `loss` parameter of an estimator: a name from Table II, or an object that satisfies Definition 3.

    The first property of the definition is tested on a grid of margins, and so is what the solver relies on:
    finite values, and no fall of the slope (convexity).

    Examples
    --------
    >>> check_loss("hinge").box
    (0.0, 1.0)
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss={loss!r} is not known. Choose one of {', '.join(map(repr, LOSSES))}.")
        return LOSSES[loss]()
    missing = [name for name in ("value", "slope", "curvature") if not callable(getattr(loss, name, None))]
    if missing and not (missing == ["curvature"] and hasattr(loss, "box")):
        raise TypeError(
            f"loss={loss!r} has no {' and no '.join(missing)}. A loss of your own is an object with the methods value(g), "
            "slope(g) and curvature(g) of the margin g."
        )
    assert isinstance(loss, Loss)
    a = np.concatenate([np.linspace(0.01, 4.0, 400), np.geomspace(4.0, 50.0, 50)])
    values = np.asarray(loss.value(np.concatenate([-a, a])), dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            f"loss={loss!r} must be finite, but is not at the margin {np.r_[-a, a][~np.isfinite(values)][0]:g}"
        )
    wrong, right = np.split(values, 2)
    if (broken := wrong <= right).any():
        where = a[broken][0]
        raise ValueError(
            f"loss={loss!r} breaks the first property of Definition 3, l(-a) > l(a) for every a > 0: at a = {where:g} it "
            f"is l(-a) = {wrong[broken][0]:g} and l(a) = {right[broken][0]:g}."
        )
    slopes = np.asarray(loss.slope(np.concatenate([-a[::-1], a])), dtype=np.float64)
    if (falls := np.diff(slopes) < -1e-9).any():
        where = np.concatenate([-a[::-1], a])[1:][falls][0]
        raise ValueError(f"loss={loss!r} must be convex, but its slope falls near the margin {where:g}.")
    return loss
