"""The losses of Table II for each class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tordinal.losses import check_loss
from tordinal.plotting._style import COLOURS, STYLES, axes
from tordinal.reduction import signs

Array = NDArray[np.float64]


class OrdinalLossDisplay:
    """The loss of each class against the projection, as in Figs. 2 to 4 of the paper.

    Draw it with `from_loss`.

    Parameters
    ----------
    h : ndarray of shape (n_points,)
        Projections.
    losses : ndarray of shape (n_points, n_classes)
        Loss of a row at h in each class, equation 6.
    thresholds : ndarray of shape (n_classes - 1,)
        Thresholds.
    classes : sequence of int
        Ranks (from 1) to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    lines_ : list of matplotlib Line2D
        One line per class drawn.

    See Also
    --------
    tordinal.losses.PiecewiseLinear : A loss of two lines.

    Examples
    --------
    >>> from tordinal.plotting import OrdinalLossDisplay
    >>> display = OrdinalLossDisplay.from_loss("hinge", thresholds=[4, 8, 12, 16])  # Fig. 4
    >>> len(display.lines_)
    5
    """

    def __init__(self, h: Array, losses: Array, thresholds: Array, classes: Sequence[int]):
        self.h, self.losses, self.thresholds, self.classes = h, losses, thresholds, classes

    @classmethod
    def from_loss(
        cls,
        loss: Any = "hinge",
        *,
        thresholds: ArrayLike = (4.0, 8.0, 12.0, 16.0),
        classes: Sequence[int] | None = None,
        ax: Any = None,
    ) -> "OrdinalLossDisplay":
        """Compute and draw the loss of each class.

        Parameters
        ----------
        loss : str or object, default="hinge"
            Loss of Table II or an object that follows the protocol of `tordinal.losses`.
        thresholds : array-like of shape (n_classes - 1,), default=(4, 8, 12, 16)
            Ascending thresholds; the default is Fig. 4's.
        classes : sequence of int, default=None
            Ranks (from 1) to draw, two consecutive ones for Fig. 3. None: all.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : OrdinalLossDisplay
            The drawn display.
        """
        function = check_loss(loss)
        t = np.asarray(thresholds, dtype=np.float64)
        if t.ndim != 1 or len(t) == 0 or not np.isfinite(t).all() or (np.diff(t) < 0).any():
            raise ValueError(f"thresholds={thresholds!r} must be ascending numbers")
        n_classes = len(t) + 1
        shown = range(1, n_classes + 1) if classes is None else classes
        if not shown or not all(rank in range(1, n_classes + 1) for rank in shown):
            raise ValueError(f"classes={list(shown)} must lie in 1 .. {n_classes}")
        margin = 3.0 if len(t) == 1 else max(3.0, float(np.ptp(t)) / (len(t) - 1))
        h = np.linspace(t[0] - margin, t[-1] + margin, 1201)
        s = signs(np.arange(n_classes), len(t))
        losses = np.stack(
            [function.value(s[y] * (h[:, None] - t)).sum(axis=1) for y in range(n_classes)], axis=1
        )
        title = loss if isinstance(loss, str) else type(loss).__name__
        return cls(h, losses, t, list(shown)).plot(ax=ax, title=f"{title.replace('_', ' ')} loss")

    def plot(self, *, ax: Any = None, title: str | None = None) -> "OrdinalLossDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.
        title : str, default=None
            Title of the axes.

        Returns
        -------
        self : OrdinalLossDisplay
            The display.
        """
        ax = axes(ax, (7, 4))
        for k, t in enumerate(self.thresholds):
            ax.axvline(t, color="0.85", linewidth=1, zorder=0)
            ax.annotate(
                f"$\\theta_{k + 1}$",
                (t, 1.0),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="bottom",
            )
        self.lines_ = [
            ax.plot(
                self.h,
                self.losses[:, rank - 1],
                color=COLOURS[(rank - 1) % len(COLOURS)],
                linestyle=STYLES[(rank - 1) % len(STYLES)],
                label=f"class {rank}",
            )[0]
            for rank in self.classes
        ]
        ax.set(xlabel="projection h(x)", ylabel="loss")
        if title:
            ax.set_title(title, pad=18)
        ax.legend(frameon=False, ncols=min(len(self.classes), 5), loc="upper center")
        ax.set_ylim(
            bottom=0, top=1.25 * float(self.losses[:, [rank - 1 for rank in self.classes]].max())
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
