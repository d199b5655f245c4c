"""Rating a fully rated table again: how many ratings would have been enough?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from tordinal.active._probabilistic import default_model
from tordinal.distances import Matrix
from tordinal.estimators import REDSVM
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.finished import FinishedError, estimate_finished
from tordinal.tables.preparation import prepare
from tordinal.tables.selection import Draw, Selection
from tordinal.tables.suggest import AUDIT_SHARE, draw_rows
from tordinal.tables.table import Table
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError

__all__ = ["Simulation", "simulate_rating", "simulate_table"]

Array = NDArray[np.float64]
Listen = Callable[[int, int], None]

FOLDS = 5
FEWEST = 30  # rated rows
MOST_LEARNED = 2000  # rows from which the error with all ratings is estimated
NEAR = 1.1  # times that error: the goal where none is given


@dataclass(frozen=True)
class Simulation:
    """The course of errors while the rows of a table are rated.

    Attributes
    ----------
    ratings : list of int
        Numbers of ratings.
    errors : list of float
        The true mean absolute error of the finished table after so many, in steps: rated rows have
        none.
    estimates : list of FinishedError or None
        What would have been estimated then; None with too few ratings.
    order : list of int
        The rows in the order in which they would have been rated.
    all_rated : float or None
        The mean absolute error of predictions that learn from all other ratings; None where it was
        not computed.
    """

    ratings: list[int]
    errors: list[float]
    estimates: list[FinishedError | None]
    order: list[int]
    all_rated: float | None = None

    def enough(self, goal: float) -> int | None:
        """Ratings from which on the true error stays within `goal`; None if it never does."""
        above = [n for n, error in zip(self.ratings, self.errors, strict=True) if error > goal]
        later = [n for n in self.ratings if not above or n > above[-1]]
        return later[0] if later else None

    def stopped(self, goal: float, *, anytime: bool = False) -> int | None:
        """Number of ratings at which the interval was below `goal`, so that rating could stop.

        Parameters
        ----------
        goal : float
            The error of the finished table.
        anytime : bool
            Whether by the interval that is valid at all numbers of ratings together.

        Returns
        -------
        ratings : int or None
            None if that never was so.
        """
        for n, found in zip(self.ratings, self.estimates, strict=True):
            if found is not None and (found.high_anytime if anytime else found.high) <= goal:
                return n
        return None

    def describe(self, goal: float | None = None) -> str:
        """How many ratings would have been enough, in sentences.

        Parameters
        ----------
        goal : float or None
            The error of the finished table. None: a tenth more than that of predictions that learn
            from all ratings.
        """
        if goal is None and self.all_rated is not None:
            return (
                "Predictions that learn from all other ratings are off by "
                f"{self.all_rated:.2f} steps. {self.describe(NEAR * self.all_rated)}"
            )
        asked = goal if goal is not None else NEAR * min(self.errors)
        aim = f"off by {asked:.2g} steps or less on average"
        n = self.enough(asked)
        if n is None:
            return f"{self.ratings[-1]:,} ratings are not enough for a table that is {aim}."
        enough = f"{n:,} ratings would have been enough for a table that is {aim}."
        stop = self.stopped(asked, anytime=True)
        if stop is None:
            return f"{enough} By the estimates alone, you would not have stopped by then."
        return f"{enough} Going by the estimates, you would have stopped at {stop:,}."


def simulate_table(
    table: Table,
    target: str,
    *,
    text: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    order: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    seed: int = 0,
    listen: Listen = lambda done, total: None,
) -> Simulation:
    """Rate the rows of a fully rated table again; rows without a rating do not take part.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings.
    text, columns, drop, order, missing
        As in `tordinal.rate_table`.
    seed, listen
        As in `simulate_rating`.

    Returns
    -------
    simulation : Simulation
        True errors and estimates.

    Raises
    ------
    TableError
        If fewer than 30 rows are rated.
    """
    prepared = prepare(
        table, target, read=lambda form: form, text=text, columns=columns, drop=drop, order=order,
        missing=missing,
    )  # fmt: skip
    # An empty cell, because a target without one is an error elsewhere.
    given = read_target(target, [*prepared.part[target], ""], prepared.order, missing)
    rated = np.flatnonzero(given.rank[:-1] != UNLABELED)
    if len(rated) < FEWEST:
        raise TableError(
            f"`target` {target}: only {len(rated)} rows are rated; simulating needs a table with "
            f"at least {FEWEST}"
        )
    with parallel_config(backend="sequential"):
        prepared.encoder.plan(prepared.features, target)
        X = prepared.encoder.encode(prepared.features)[rated]
    rank, n_classes = given.rank[rated], len(given.classes)
    course = simulate_rating(X, rank, n_classes, seed=seed, listen=listen)
    some = np.random.default_rng(seed).permutation(len(rank))[:MOST_LEARNED]
    predicted = _held_out(X, some, rank, n_classes, seed)
    return replace(course, all_rated=float(np.abs(predicted - rank[some]).mean()))


def simulate_rating(
    X: Matrix,
    rank: Ranks,
    n_classes: int,
    *,
    step: int = 10,
    most: int = 200,
    audit: float = AUDIT_SHARE,
    seed: int = 0,
    listen: Listen = lambda done, total: None,
) -> Simulation:
    """Rate the rows of a fully rated table again, in the order in which they would be chosen.

    Parameters
    ----------
    X : matrix
        Features of the rows.
    rank : ndarray of shape (n_rows,)
        Their ranks.
    n_classes : int
        Number of ratings on the scale.
    step : int
        Ratings between two looks; the rows of one step are drawn together.
    most : int
        Ratings after which the simulation ends.
    audit : float
        Share of rows that are drawn uniformly; 1: all of them, for comparison.
    seed : int
        Seed.
    listen : callable
        Told the ratings so far and `most`.

    Returns
    -------
    simulation : Simulation
        True errors, estimates and the order.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> rank = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> simulation = simulate_rating(X, rank, 3, step=20, most=60)
    >>> simulation.ratings, simulation.errors[-1] < 0.1
    ([20, 40, 60], True)
    """
    known = np.full(len(rank), UNLABELED)
    draws: list[Draw] = []
    course = Simulation([], [], [], [])
    most = min(most, len(rank))
    p: Array | None = None
    while len(draws) < most:
        n = min(step, most - len(draws))
        draws += draw_rows(X, known, n_classes, n, probability=p, audit=audit, seed=seed)
        rows = np.array([d.place for d in draws])
        known[rows] = rank[rows]
        predicted, p = _predict(X, rows, known, n_classes)
        table = np.where(known == UNLABELED, predicted, rank)
        selection = Selection((), tuple(draws), len(rank))
        held_out = _held_out(X, rows, known, n_classes, seed)
        course.ratings.append(len(draws))
        course.errors.append(float(np.abs(table - rank).mean()))
        course.estimates.append(estimate_finished(rank[rows], held_out, rows, selection, n_classes))
        listen(len(draws), most)
    course.order.extend(d.place for d in draws)
    return course


def _model(X: Matrix, n_classes: int) -> REDSVM:
    return default_model(X).set_params(classes=list(range(n_classes)))


def _predict(
    X: Matrix, rows: NDArray[np.int64], known: Ranks, n_classes: int
) -> tuple[Ranks, Array | None]:
    """Ranks and class probabilities of all rows; no probabilities before two classes are rated."""
    if len(np.unique(known[rows])) < 2:
        return np.full(len(known), known[rows[0]]), None
    model = _model(X, n_classes).fit(X[rows], known[rows])
    return model.predict(X), model.predict_proba(X)


def _held_out(X: Matrix, rows: NDArray[np.int64], known: Ranks, n_classes: int, seed: int) -> Ranks:
    """Predictions of the rated rows by models that have not seen them."""
    predicted = np.zeros(len(rows), dtype=np.int64)
    fold = np.random.default_rng(seed).permutation(len(rows)) % FOLDS
    for k in np.unique(fold):
        train, test = rows[fold != k], rows[fold == k]
        if len(train) == 0 or len(np.unique(known[train])) < 2:
            predicted[fold == k] = known[train[0]] if len(train) else 0
            continue
        model = _model(X, n_classes).fit(X[train], known[train])
        predicted[fold == k] = model.predict(X[test])
    return predicted
