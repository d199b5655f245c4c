"""Rating the rows of many files: a model is chosen on a sample and fitted to all rows."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.estimators import TOR
from tordinal.tables.columns import TableEncoder
from tordinal.tables.many import Files, sample_sizes
from tordinal.tables.rating import rate_features, read_columns
from tordinal.tables.results import Rating, card_of
from tordinal.tables.settings import Settings
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import Ratings, Target, ranks_of, read_ratings
from tordinal.tables.worker import Rated, Survey

__all__ = ["FileSample", "draw_sample", "fit_files", "write_files"]


@dataclass
class FileSample:
    """Rows of many files, on which a model is chosen.

    Attributes
    ----------
    table : Table
        The rows.
    target : Target
        Their ratings.
    ratings : Ratings
        The ratings in all files.
    surveys : list of Survey
        What each file holds.
    """

    table: Table
    target: Target
    ratings: Ratings
    surveys: list[Survey]

    @property
    def n_rows(self) -> int:
        """Number of rows in all files."""
        return sum(survey.rows for survey in self.surveys)

    @property
    def n_rated(self) -> list[int]:
        """Number of rated rows in each file."""
        return [survey.n_rated(self.ratings) for survey in self.surveys]


def draw_sample(files: Files, seed: int) -> FileSample:
    """Survey the files and draw a sample; from then on all are read with the same ratings."""
    reader, surveys = files.reader, files.survey()
    cells: Counter[Any] = sum((s.cells for s in surveys), Counter())
    order = reader.order or next((s.order for s in surveys if s.order), None)
    ratings = read_ratings(
        reader.target, cells, None if order is None else list(order), list(reader.missing)
    )
    files.reader = replace(reader, order=tuple(map(str, ratings.classes)))
    table = files.sample(*sample_sizes(surveys, ratings), seed)
    given = table[reader.target]
    target = Target(reader.target, ratings.classes, ranks_of(given, ratings), [], given)
    return FileSample(table, target, ratings, surveys)


def fit_files(
    files: Files,
    sample: FileSample,
    columns: dict[str, Any],
    settings: Settings,
    parallel: Callable[[], Any] = nullcontext,
) -> Rating:
    """Choose a model on the sample, and fit it to the rows of all files.

    Parameters
    ----------
    files : Files
        The files.
    sample : Sample
        From `draw_sample`.
    columns : dict
        Which columns to use, as parameters of `TableEncoder`.
    settings : Settings
        How to rate.
    parallel : callable
        Makes a context in which models are fitted.

    Returns
    -------
    rating : Rating
        The rated sample, with the model of all rows.
    """
    target, ratings, listen = sample.target, sample.ratings, files.listen
    settings = replace(settings, single=True)
    encoder = TableEncoder(**columns, decimal=sample.table.decimal, meaning=settings.encoder)
    features, notes = sample.table.features(target.name), list(ratings.notes)
    X = read_columns(features, target, encoder, settings, listen, notes)
    words = files.words(encoder)
    if words:
        encoder.use_words(words, sample.n_rows)
        X = encoder.transform(features)
    with parallel():
        rating = rate_features(features, X, target, encoder, settings, listen, notes=notes)
    rating.model = _fit_to_all(files, sample, rating, settings.method)
    rating.probability = rating.model.rate(features)[2]
    rating.rank = np.where(rating.given, target.rank, rating.probability.argmax(axis=1))
    rating.notes = [
        f"{sample.n_rows:,} rows in {len(files.paths):,} files: the model was chosen on "
        f"{len(sample.table):,} of them and fitted to all; single rows that are shown are from "
        "this sample",
        *rating.notes,
    ]
    return rating


def write_files(
    files: Files,
    outs: list[str],
    sample: FileSample,
    rating: Rating,
    *,
    probabilities: bool,
    abstain: float | None,
) -> Rated:
    """Rate and write every file; the rating and the card of its model get the totals."""
    done = files.rate(
        outs, rating.model, sample.ratings, probabilities=probabilities, abstain=abstain
    )
    rating.whole = done.totals
    rating.model.learned = np.unique(done.learned)
    rating.model.card |= {"rows": sample.n_rows, "ratings": int(done.totals.given.sum())}
    rating.model.card["counts"] = done.totals.counts
    return done


def _fit_to_all(files: Files, sample: FileSample, rating: Rating, method: str) -> TableModel:
    """Fit the chosen model to all rows on the workers."""
    from tordinal import dask

    chosen, leader = rating.model, rating.leader
    encoder = chosen.encoder
    views, view = encoder.views(), getattr(chosen.estimator, "views_", [None])[0]
    columns = views[view] if views and view else None
    transductive = isinstance(leader, TOR)
    ratings, rated = sample.ratings, sample.n_rated
    sizes = [s.rows for s in sample.surveys] if transductive else rated
    X, y = files.features(encoder, columns, ratings, sizes, only_rated=not transductive)
    shared: dict[str, Any] = {"C": leader.C, "loss": leader.loss, "client": files.client}
    shared |= {"classes": list(range(len(ratings.classes)))}
    model: Any
    if transductive:
        free = rating.target.rank < 0
        ratio: Any = leader.class_ratio
        if ratio == "estimated":  # on the sample
            counts = np.bincount(leader.transduction_[free], minlength=len(ratings.classes))
            ratio = counts / counts.sum()
        C2_max = leader.C2_max
        if C2_max is not None:
            C2_max = min(rescale_C2(C2_max, free, sum(rated), sum(sizes)), leader.C)
        model = dask.TOR(
            swaps="optimal" if leader.swaps == "optimal" else "all", class_ratio=ratio,
            C2_max=C2_max, callback=lambda _, done, total: files.listen("all rows", done, total),
            **shared,
        )  # fmt: skip
    else:
        model = dask.REDSVM(**shared)
    files.listen("all rows", 0, 1)
    model.fit(X, y)
    seen_rows = rating.X if columns is None else rating.X[:, columns]
    plain = model.to_local(leader, seen_rows, columns=columns, n_features=rating.X.shape[1])
    whole = TableModel(encoder, plain, chosen.target, chosen.classes, {})
    whole.card = card_of(replace(rating, model=whole), method)
    whole.card["members"] = chosen.card["members"]
    return whole


def rescale_C2(C2_max: float, free: NDArray[np.bool_], n_rated: int, n_rows: int) -> float:
    """Rescale the largest C2 from a sample to all rows.

    The search makes it proportional to the ratio of rated to unrated rows, up to 1.

    Parameters
    ----------
    C2_max : float
        Its value for the sample.
    free : ndarray of bool
        Unrated rows of the sample.
    n_rated, n_rows : int
        Rated rows, and rows, of the whole.

    Returns
    -------
    C2_max : float
        Its value for the whole.

    Examples
    --------
    >>> rescale_C2(1.0, np.array([True, True, False, False]), 10, 110)
    0.1
    """
    in_sample = float(np.sum(~free) / np.sum(free))
    in_all = n_rated / (n_rows - n_rated)
    return C2_max * min(1.0, in_all) / min(1.0, in_sample)
