"""A confusion matrix for ordered classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tordinal.labels import encode_labels, label_array, unlabeled_rows
from tordinal.plotting._style import axes


class OrdinalConfusionDisplay:
    """How often each true class (rows) is predicted as each class (columns), lowest class first.

    Cells show counts and are shaded by the share of their row. Cells near the diagonal are small
    errors; the title gives both errors of the paper. Draw it with `from_estimator` or
    `from_predictions`.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        Number of rows of each true class that are predicted as each class.
    classes : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    image_ : matplotlib AxesImage
        The shades.
    zero_one_error_, absolute_error_ : float
        Share of wrong labels, and mean distance in ranks.

    See Also
    --------
    ProjectionDisplay : Why rows are confused: where the rows of each class lie.
    ReliabilityDisplay : Whether probabilities are calibrated.

    Examples
    --------
    >>> from tordinal.plotting import OrdinalConfusionDisplay
    >>> display = OrdinalConfusionDisplay.from_predictions([1, 2, 3, 3], [1, 2, 2, 3])
    >>> display.counts.tolist(), display.absolute_error_
    ([[1, 0, 0], [0, 1, 0], [0, 1, 1]], 0.25)
    """

    def __init__(self, counts: NDArray[np.int64], classes: NDArray[Any]):
        self.counts, self.classes = counts, classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, ax: Any = None
    ) -> "OrdinalConfusionDisplay":
        """Predict rows and draw their confusion matrix.

        Parameters
        ----------
        estimator : fitted classifier
            A model with `predict` and `classes_`, whose order counts.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the model was not fitted to.
        y : array-like of shape (n_samples,)
            Their labels; rows without one (-1, None or NaN) are excluded.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : OrdinalConfusionDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), classes=estimator.classes_, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: Any = None,
    ) -> "OrdinalConfusionDisplay":
        """Draw the confusion matrix of given labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels; rows without one (-1, None or NaN) are excluded.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            All labels from the lowest to the highest. None: those that occur, sorted.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : OrdinalConfusionDisplay
            The drawn display.
        """
        true, predicted = label_array(y_true), label_array(y_pred)
        if true.shape != predicted.shape:
            raise ValueError(f"y_true has shape {true.shape}, but y_pred has {predicted.shape}")
        if classes is None:
            found = true[~unlabeled_rows(true)]
            order = np.array(sorted({*found.tolist(), *predicted.tolist()}))
        else:
            order = np.asarray(classes)
        _, rank = encode_labels(true, order.tolist(), transductive=True, min_classes=1)
        _, guess = encode_labels(predicted, order.tolist(), transductive=False, min_classes=1)
        counts = np.zeros((len(order), len(order)), dtype=np.int64)
        np.add.at(counts, (rank[rank >= 0], guess[rank >= 0]), 1)
        return cls(counts, order).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "OrdinalConfusionDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        self : OrdinalConfusionDisplay
            The display.
        """
        n = len(self.classes)
        ax = axes(ax, (1.6 + 0.62 * n, 1.3 + 0.55 * n))
        total = self.counts.sum()
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        self.zero_one_error_ = float(1 - np.trace(self.counts) / total)
        self.absolute_error_ = float((self.counts * distance).sum() / total)
        share = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        self.image_ = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for i in range(n):
            for j in range(n):
                colour = "white" if share[i, j] > 0.55 else "black" if self.counts[i, j] else "0.7"
                ax.text(j, i, f"{self.counts[i, j]:,}", ha="center", va="center", color=colour)
        names = [str(label) for label in self.classes]
        ax.set_xticks(range(n), names)
        ax.set_yticks(range(n), names)
        ax.set(xlabel="predicted", ylabel="true")
        ax.set_title(
            f"{100 * self.zero_one_error_:.0f} % wrong, off by {self.absolute_error_:.2f} steps",
            fontsize="medium",
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
