"""Projections of rows on the ordinal axis."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tordinal.labels import encode_labels
from tordinal.plotting._style import axes, class_colours
from tordinal.reduction import UNLABELED, Ranks

Array = NDArray[np.float64]


class ProjectionDisplay:
    """Projections of rows, a line of dots for each class, and the thresholds between the classes.

    A dot between the two thresholds of its own class, in the band of its colour, is predicted
    correctly. Draw it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    h : ndarray of shape (n_samples,)
        Projections.
    ranks : ndarray of shape (n_samples,)
        Rank of each row from 0, -1 for unlabelled ones.
    thresholds : ndarray of shape (n_classes - 1,)
        Ascending thresholds.
    classes : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    points_ : list of matplotlib PathCollection
        The dots of each class, and last those of the unlabelled rows, if there are any.

    See Also
    --------
    OrdinalConfusionDisplay : How often each class is predicted as each other.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import REDSVM
    >>> from tordinal.plotting import ProjectionDisplay
    >>> X, y = np.arange(9.0)[:, None], np.repeat([1, 2, 3], 3)
    >>> display = ProjectionDisplay.from_estimator(REDSVM(C=10).fit(X, y), X, y)
    >>> len(display.points_)
    3
    """

    def __init__(self, h: Array, ranks: Ranks, thresholds: Array, classes: NDArray[Any]):
        self.h, self.ranks, self.thresholds, self.classes = h, ranks, thresholds, classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, ax: Any = None
    ) -> "ProjectionDisplay":
        """Project rows and draw them.

        Parameters
        ----------
        estimator : fitted REDSVM, TOR or SVOR
            A model with thresholds.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels; unlabelled rows (-1, None or NaN) have a separate line.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : ProjectionDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "predict_projection"):
            raise ValueError(
                f"{type(estimator).__name__} has no projection. Pass a REDSVM, TOR or SVOR, or one "
                "of the members in TORCV.estimators_."
            )
        return cls.from_predictions(
            y,
            estimator.predict_projection(X),
            thresholds=estimator.thresholds_,
            classes=estimator.classes_,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        h: ArrayLike,
        *,
        thresholds: ArrayLike,
        classes: ArrayLike | None = None,
        ax: Any = None,
    ) -> "ProjectionDisplay":
        """Draw given projections.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels; unlabelled rows are marked by -1, None or NaN.
        h : array-like of shape (n_samples,)
            Projections.
        thresholds : array-like of shape (n_classes - 1,)
            Ascending thresholds.
        classes : array-like of shape (n_classes,), default=None
            All labels from the lowest to the highest. None: the labels in y, sorted.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : ProjectionDisplay
            The drawn display.
        """
        order = None if classes is None else np.asarray(classes).tolist()
        names, ranks = encode_labels(y, order, transductive=True, min_classes=1)
        projections, t = np.asarray(h, dtype=np.float64), np.asarray(thresholds, dtype=np.float64)
        if projections.shape != ranks.shape:
            raise ValueError(f"y has {len(ranks)} labels, but h has the shape {projections.shape}")
        if t.shape != (len(names) - 1,):
            raise ValueError(
                f"thresholds has the shape {t.shape}, but {len(names)} classes have "
                f"{len(names) - 1} thresholds between them. Pass all classes as `classes`."
            )
        return cls(projections, ranks, t, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "ProjectionDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        self : ProjectionDisplay
            The display.
        """
        colours = class_colours(len(self.classes))
        unlabeled = bool((self.ranks == UNLABELED).any())
        n_lines = len(self.classes) + unlabeled
        ax = axes(ax, (7, 1.2 + 0.5 * n_lines))
        inside = [*self.h, *self.thresholds]
        pad = 0.04 * (max(inside) - min(inside)) or 1.0
        ends = [min(inside) - pad, *self.thresholds, max(inside) + pad]
        for k, colour in enumerate(colours):
            ax.axvspan(ends[k], ends[k + 1], color=colour, alpha=0.13, linewidth=0, zorder=0)
        for t in self.thresholds:
            ax.axvline(t, color="0.35", linewidth=1, zorder=1)
        # Spread over a line's height, the same in every run.
        height = 0.32 * np.random.default_rng(0).uniform(-1, 1, len(self.h))
        lines = [(k, k, colour) for k, colour in enumerate(colours)]
        if unlabeled:
            lines.append((UNLABELED, len(self.classes), "0.4"))
        self.points_ = []
        for rank, place, colour in lines:
            own = self.ranks == rank
            size = float(np.clip(3000 / max(own.sum(), 1), 3, 22))
            self.points_.append(
                ax.scatter(
                    self.h[own], place + height[own], s=size, color=colour, alpha=0.7, linewidth=0
                )
            )
        names = [str(label) for label in self.classes] + ["unlabelled"] * unlabeled
        ax.set_yticks(range(n_lines), names)
        ax.set(
            xlabel="projection h(x), with thresholds",
            ylabel="class",
            xlim=(ends[0], ends[-1]),
            ylim=(-0.6, n_lines - 0.4),
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
