"""Whether probabilities are calibrated."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest
from sklearn.utils.validation import check_is_fitted

from tordinal.labels import encode_labels
from tordinal.plotting._style import COLOURS, axes

Array = NDArray[np.float64]


class ReliabilityDisplay:
    """Cumulative probabilities P(y > k) against observed frequencies.

    On the dashed diagonal both are the same. Above it probabilities are too low, below it too high.
    Draw it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean probability in each bin.
    observed : ndarray of shape (n_bins,)
        Observed frequency.
    low, high : ndarray of shape (n_bins,)
        95 % interval of that share (Wilson). A row counts once in each bin, however many of its
        probabilities are in it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The dots, joined by a line.

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : The same for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.plotting import ReliabilityDisplay
    >>> p = np.repeat([[0.8, 0.2], [0.2, 0.8]], 50, axis=0)
    >>> y = np.r_[np.repeat([1, 2], [40, 10]), np.repeat([1, 2], [10, 40])]
    >>> display = ReliabilityDisplay.from_predictions(y, p, n_bins=2)
    >>> display.predicted.round(2).tolist(), display.observed.tolist()
    ([0.2, 0.8], [0.2, 0.8])
    """

    def __init__(self, predicted: Array, observed: Array, low: Array, high: Array):
        self.predicted, self.observed, self.low, self.high = predicted, observed, low, high

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_bins: int = 8,
        name: str | None = None,
        ax: Any = None,
    ) -> "ReliabilityDisplay":
        """Predict probabilities of rows and compare them with their labels.

        Parameters
        ----------
        estimator : fitted classifier
            A model with `predict_proba` and `classes_`, whose order counts.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the model was not fitted to.
        y : array-like of shape (n_samples,)
            Their labels; rows without one (-1, None or NaN) are excluded.
        n_bins : int, default=8
            Number of bins, of about equal size. Fewer bins have shorter intervals.
        name : str, default=None
            Name in the legend. None: the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw, also over another display. None: a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            classes=estimator.classes_,
            n_bins=n_bins,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        n_bins: int = 8,
        name: str | None = None,
        ax: Any = None,
    ) -> "ReliabilityDisplay":
        """Compare given probabilities with labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels; rows without one (-1, None or NaN) are excluded.
        y_proba : array-like of shape (n_samples, n_classes)
            Probabilities of the classes.
        classes : array-like of shape (n_classes,), default=None
            The classes of the columns from the lowest to the highest. None: the labels in y_true,
            sorted.
        n_bins : int, default=8
            Number of bins, of about equal size. Fewer bins have shorter intervals.
        name : str, default=None
            Name in the legend. None: no legend.
        ax : matplotlib Axes, default=None
            Where to draw, also over another display. None: a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            The drawn display.
        """
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, got {n_bins}")
        order = None if classes is None else np.asarray(classes).tolist()
        names, rank = encode_labels(y_true, order, transductive=True, min_classes=1)
        p = np.asarray(y_proba, dtype=np.float64)
        if p.shape != (len(rank), len(names)):
            raise ValueError(
                f"y_proba has the shape {p.shape}, but there are {len(rank)} rows and "
                f"{len(names)} classes. Name the classes of the columns with `classes`."
            )
        p, rank = p[rank >= 0], rank[rank >= 0]
        above = p[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]  # P(y > k), a column for each threshold
        true = rank[:, None] > np.arange(len(names) - 1)
        row = np.repeat(np.arange(len(rank)), len(names) - 1)
        found = []
        for members in np.array_split(np.argsort(above, axis=None, kind="stable"), n_bins):
            if len(members) == 0:
                continue
            share = float(true.ravel()[members].mean())
            n = len(np.unique(row[members]))
            interval = binomtest(round(share * n), n).proportion_ci(method="wilson")
            mean = above.ravel()[members].mean()
            found.append((mean, share, min(interval.low, share), max(interval.high, share)))
        return cls(*np.array(found).T).plot(ax=ax, name=name)

    def plot(self, *, ax: Any = None, name: str | None = None) -> "ReliabilityDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, also over another display.
        name : str, default=None
            Name in the legend. None: no legend.

        Returns
        -------
        self : ReliabilityDisplay
            The display.
        """
        first = ax is None or not ax.lines
        ax = axes(ax, (4.8, 4.4))
        if first:
            ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        colour = COLOURS[len(ax.containers) % len(COLOURS)]
        whiskers = ax.errorbar(
            self.predicted,
            self.observed,
            yerr=[self.observed - self.low, self.high - self.observed],
            color=colour,
            marker="o",
            markersize=5,
            linewidth=1.4,
            elinewidth=1,
            label=name,
        )
        self.line_ = whiskers.lines[0]
        ax.set(
            xlabel="predicted P(y > k)",
            ylabel="how often it was true",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
        )
        if name is not None:
            ax.legend(frameon=False, loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
