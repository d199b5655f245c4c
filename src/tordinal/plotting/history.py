"""The history of Algorithm 1: the objective and the swaps."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tordinal.plotting._style import COLOURS, axes


class HistoryDisplay:
    """The objective after every training of Algorithm 1, and the swaps of labels that followed.

    The objective rises when the cost C2 of the unlabelled rows rises, marked by a change of
    shading, and falls with every swap. Draw it with `from_estimator` or `from_history`.

    Parameters
    ----------
    history : list of dict
        One record per training: ``C2``, ``objective``, ``swaps``, as in ``TOR.history_``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the objective is drawn.
    swaps_ax_ : matplotlib Axes
        The second axis, where the swaps are drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The objective.
    bars_ : matplotlib BarContainer
        The swaps.

    See Also
    --------
    ProjectionDisplay : Where the rows lie at the end.

    Examples
    --------
    >>> from tordinal import TOR
    >>> from tordinal.datasets import make_ordinal_clusters
    >>> from tordinal.plotting import HistoryDisplay
    >>> X, y = make_ordinal_clusters(60, random_state=0)
    >>> y[20:] = -1
    >>> model = TOR(kernel="rbf").fit(X, y)
    >>> display = HistoryDisplay.from_estimator(model)
    >>> len(display.bars_) == len(model.history_)
    True
    """

    def __init__(self, history: Sequence[dict[str, Any]]):
        self.history = list(history)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> "HistoryDisplay":
        """Draw the history of a fitted model.

        Parameters
        ----------
        estimator : fitted TOR
            A model with `history_`.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "history_"):
            raise ValueError(
                f"{type(estimator).__name__} has no history_. Pass a TOR, one of the members in "
                "TORCV.estimators_, or one of MTSVM.histories_ to from_history."
            )
        return cls.from_history(estimator.history_, ax=ax)

    @classmethod
    def from_history(cls, history: Sequence[dict[str, Any]], *, ax: Any = None) -> "HistoryDisplay":
        """Draw a history.

        Parameters
        ----------
        history : list of dict
            Records as in ``TOR.history_`` or one of ``MTSVM.histories_``.
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The drawn display.
        """
        if not history:
            raise ValueError("history is empty: pass the history_ of a fitted TOR")
        return cls(history).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "HistoryDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        self : HistoryDisplay
            The display.
        """
        ax = axes(ax, (7, 3.6))
        number = range(1, len(self.history) + 1)
        levels: list[list[int]] = []
        for n, record in zip(number, self.history, strict=True):
            if not levels or self.history[levels[-1][0] - 1]["C2"] != record["C2"]:
                levels.append([])
            levels[-1].append(n)
        for place, level in enumerate(levels):
            if place % 2:
                ax.axvspan(level[0] - 0.5, level[-1] + 0.5, color="0.93", linewidth=0, zorder=0)
        swaps_ax = ax.twinx()
        self.bars_ = swaps_ax.bar(
            number,
            [record["swaps"] for record in self.history],
            width=0.9,
            color=COLOURS[1],
            alpha=0.45,
            linewidth=0,
        )
        most = max(record["swaps"] for record in self.history)
        # The bars take the lower third, so that they do not hide the line.
        swaps_ax.set_ylim(0, 3.0 * max(most, 1))
        swaps_ax.set_ylabel("pairs of labels swapped", color=COLOURS[1])
        swaps_ax.locator_params(axis="y", integer=True)
        (self.line_,) = ax.plot(
            number,
            [record["objective"] for record in self.history],
            color=COLOURS[0],
            linewidth=1.6,
        )
        ax.set_xlabel("training; shading changes where C2 rises")
        ax.set_ylabel("objective", color=COLOURS[0])
        ax.set_xlim(0.5, len(self.history) + 0.5)
        ax.set_zorder(swaps_ax.get_zorder() + 1)
        ax.patch.set_visible(False)
        self.ax_, self.swaps_ax_, self.figure_ = ax, swaps_ax, ax.figure
        return self
