"""Rating a table from Python: what `tordinal label` does, with a data frame as the result."""

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import pandas as pd

from tordinal.exceptions import InputError
from tordinal.inference import TableEstimates
from tordinal.progress import Listener
from tordinal.report.page import render_report
from tordinal.tables.answers import Answers, decimal_of, is_earlier
from tordinal.tables.columns import TableEncoder
from tordinal.tables.estimates import estimate_groups, estimate_rating, representativeness_note
from tordinal.tables.expected_error import ExpectedError
from tordinal.tables.files import read_table, write_table
from tordinal.tables.filled import fill_in, to_fill_in
from tordinal.tables.frames import add_columns, frame_of, table_of
from tordinal.tables.models import dump_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.rating import rate
from tordinal.tables.results import Rating
from tordinal.tables.roles import find_columns
from tordinal.tables.settings import Settings
from tordinal.tables.suggest import worth_rating
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import read_target
from tordinal.tables.totals import total_rows
from tordinal.tables.values import visible

__all__ = ["RatedTable", "rate_table"]


def rate_table(
    table: Any,
    target: str,
    *,
    text: str | Sequence[str] = (),
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    order: Sequence[Any] | None = None,
    missing: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    method: str = "auto",
    C: float | None = None,
    kernel: str | None = None,
    loss: str | None = None,
    embeddings: bool = False,
    quick: bool = False,
    abstain: float | None = None,
    probabilities: bool = False,
    filled: Any = None,
    sheet: str | None = None,
    encoding: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    callback: Listener | None = None,
) -> "RatedTable":
    """Rate the rows of a table that have no rating yet, as `tordinal label` does.

    Parameters
    ----------
    table : DataFrame, pyarrow.Table or path
        The rows: a data frame of pandas, polars or pyarrow, or a file of any supported format.
        NaN, None, NA and empty cells are missing.
    target : str
        Column of the ratings. Its missing cells are to be rated.
    text : str or sequence of str, default=()
        Columns to read as text. Others are used only if `columns` names them.
    columns : str, sequence of str or None, default=None
        Columns to learn from. None: all that are useful, or those of `text`.
    drop : str or sequence of str, default=()
        Columns to exclude.
    order : sequence or None, default=None
        Ratings from the lowest to the highest. None: the order of numbers, of an ordered
        categorical, or of a well-known scale.
    missing : str or sequence of str, default=()
        Cells that stand for no value, besides the usual ones.
    by : str or sequence of str, default=()
        Columns whose groups are estimated, too: average and shares of each product, say.
    method : {"auto", "tor", "redsvm"}, default="auto"
        "auto" chooses models by cross-validation, and whether unrated rows help; "tor" uses
        them, "redsvm" does not.
    C : float or None, default=None
        Cost of errors. None: 1, or chosen by "auto".
    kernel, loss : str or None, default=None
        None: chosen by "auto"; otherwise linear for text, "perceptron" for other tables, "hinge".
    embeddings : bool, default=False
        Whether to use sentence embeddings of texts, too.
    quick : bool, default=False
        Whether "auto" chooses one model among a few, which takes seconds.
    abstain : float or None, default=None
        Rows below this confidence stay unrated.
    probabilities : bool, default=False
        Whether to add a column with the probability of each rating.
    filled : DataFrame, path or None, default=None
        Rows from `RatedTable.suggest` with their ratings filled in.
    sheet : str or None, default=None
        Sheet of a workbook. None: the first.
    encoding : str or None, default=None
        Encoding of a text file. None: UTF-8.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int or None, default=None
        Number of parallel fits, -1 for all cores.
    callback : callable or None, default=None
        Called during the work with a task, how much of it is done, and how much there is.

    Returns
    -------
    rated : RatedTable
        The rated rows, the expected error, the model and the report.

    Raises
    ------
    InputError
        If the table or an option is wrong; the message says what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> from tordinal import rate_table
    >>> from tordinal.datasets import make_reviews
    >>> texts, stars = make_reviews(120, random_state=0)
    >>> reviews = pd.DataFrame({"review": texts, "stars": stars}).astype({"stars": "Int64"})
    >>> reviews.loc[40:, "stars"] = pd.NA
    >>> rated = rate_table(reviews, "stars", text="review", method="tor")
    >>> rated.frame.columns[2:].tolist()
    ['stars_predicted', 'stars_confidence', 'stars_source']
    >>> rated.classes["given"].sum(), rated.classes["predicted"].sum()
    (np.int64(40), np.int64(80))
    >>> rated.model.predict(pd.DataFrame({"review": ["A wonderful story"]})).shape
    (1, 4)
    """
    if abstain is not None and not 0 <= abstain <= 1:
        raise InputError(f"`abstain` {abstain:g} must be a confidence from 0 to 1")
    settings = Settings(
        method=method, C=C, kernel=kernel, loss=loss, seed=random_state, jobs=n_jobs, quick=quick
    )
    by = _names(by)
    listen = callback or (lambda task, done, total: None)
    source = os.path.basename(os.fspath(table)) if isinstance(table, (str, os.PathLike)) else ""
    frame = table if isinstance(table, pd.DataFrame) else None
    table, marks = _read(table, encoding, sheet), _names(missing)
    notes = list(table.notes)
    find_columns([target], table.names, "target")
    find_columns(by, table.names, "by")
    earlier = [name for name in table.names if is_earlier(name, target)]
    if earlier:
        table = table.without(earlier)
        if frame is not None:
            frame = frame.loc[:, [str(name) not in earlier for name in frame.columns]]
        notes.append(f"the columns of an earlier run are replaced: {', '.join(earlier)}")
    order = [str(rating) for rating in order] if order else table.orders.get(target)
    if filled is not None:
        notes += fill_in(table, target, _read(filled, encoding), order, marks)
    totals = total_rows(table)
    kept = [i for i in range(len(table)) if i not in totals]
    part = table.part(kept) if totals else table
    if totals:
        numbers = ", ".join(str(table.number(i)) for i in totals)
        notes.append(f"row {numbers} looks like a total and is excluded")
    encoder = TableEncoder(
        text=_names(text),
        columns=None if columns is None else _names(columns),
        drop=_names(drop),
        missing=marks,
        decimal=table.decimal,
        meaning="wordllama" if embeddings else None,
    )
    ratings = read_target(target, part[target], order, marks)
    rating = rate(part.features(target), ratings, encoder, settings, listen)
    rating.notes = [*notes, *rating.notes]
    differs = None if quick else representativeness_note(rating)
    if differs is not None:
        rating.notes.append(differs)
    return RatedTable(
        rating=rating, table=table, part=part, rows=kept, abstain=abstain,
        probabilities=probabilities, by=by, source=source, original=frame,
    )  # fmt: skip


def _read(table: Any, encoding: str | None, sheet: str | None = None) -> Table:
    if isinstance(table, Table):
        return table
    if isinstance(table, (str, os.PathLike)):
        return read_table(os.fspath(table), encoding, sheet)
    return table_of(table)


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]


@dataclass
class RatedTable:
    """A table with all rows rated: the result of `rate_table`.

    Attributes
    ----------
    frame : DataFrame
        The rows with the columns ``<target>_predicted``, ``<target>_confidence`` and
        ``<target>_source`` ("given", "predicted", or "unsure" with `abstain`).
    expected_error : ExpectedError
        Estimates by cross-validation with intervals; as a string, one sentence.
    errors : DataFrame
        Zero-one error and MAE of each model and of a constant prediction, with the half widths
        of their intervals.
    classes : DataFrame
        For each rating the given and predicted rows, and its estimated share of all rows with an
        interval.
    estimates : TableEstimates or None
        The average rating of all rows and the share of each rating, with intervals.
    groups : DataFrame
        The same for each group of the columns that `by` names.
    verdict : str
        Whether the unrated rows helped.
    notes : list of str
        What to know about how the table was read.
    model : TableModel
        The model, with `predict` for new rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from tordinal import rate_table
    >>> sizes = pd.DataFrame({"cm": [1, 2, 3, 8, 9, 10], "size": ["small", None, "small"] * 2})
    >>> sizes.loc[[3, 5], "size"] = "large"
    >>> rated = rate_table(sizes, "size", method="tor")
    >>> print(rated)
    size: 2 of 6 rows rated (small < large)
    Too few ratings to estimate the error: only 0 could be held out. Rate more rows.
    The unrated rows changed nothing: no row got another rating than without them.
    >>> rated.frame["size_predicted"].tolist()
    ['small', 'small', 'small', 'large', 'large', 'large']
    """

    rating: Rating = field(repr=False)
    table: Table
    part: Table
    rows: list[int]
    abstain: float | None
    probabilities: bool
    by: list[str]
    source: str
    original: pd.DataFrame | None = None

    @property
    def target(self) -> str:
        """Column of the ratings."""
        return self.rating.target.name

    @property
    def model(self) -> TableModel:
        """The model."""
        return self.rating.model

    @property
    def notes(self) -> list[str]:
        """What to know about how the table was read."""
        return self.rating.notes

    @property
    def verdict(self) -> str:
        """Whether the unrated rows helped."""
        return self.rating.verdict

    @property
    def expected_error(self) -> ExpectedError:
        """Estimates of the error by cross-validation."""
        return self.rating.expected_error

    @cached_property
    def estimates(self) -> TableEstimates | None:
        """The average rating of all rows and the share of each rating, with intervals.

        They hold if the rated rows are a random sample of the table (docs/inference.md).
        """
        return estimate_rating(self.rating)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """Average and shares of each group of the columns that `by` names, highest first."""
        return estimate_groups(self.rating, self.part, self.by)

    @cached_property
    def answers(self) -> Answers:
        """What is added to each row."""
        return Answers.of(self.rating, self.abstain)

    @property
    def added(self) -> dict[str, list[Any]]:
        """The added columns."""
        return self.answers.columns(self.target, self.probabilities, self.rows, len(self.table))

    @property
    def decimal(self) -> str:
        """The decimal separator of the added columns in text formats."""
        return decimal_of(self.table, self.model.encoder)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows with the added columns."""
        frame = frame_of(self.table) if self.original is None else self.original
        dtype = frame.dtypes.iloc[[str(name) for name in frame.columns].index(self.target)]
        return add_columns(frame, self.added, {f"{self.target}_predicted": dtype})

    def to_frame(self) -> pd.DataFrame:
        """Return `frame`."""
        return self.frame

    @property
    def errors(self) -> pd.DataFrame:
        """Errors of each model and of a constant prediction."""
        names = ["model", "zero_one", "zero_one_margin", "mae", "mae_margin"]
        return pd.DataFrame(self.rating.error_rows, columns=names).set_index("model")

    @property
    def classes(self) -> pd.DataFrame:
        """Counts and estimated shares of each rating."""
        totals, estimates = self.rating.totals, self.estimates
        frame = pd.DataFrame(
            {"given": totals.given, "predicted": totals.predicted},
            index=pd.Index(self.rating.target.classes, name=self.target),
        )
        for name, column in (("share", "value"), ("share_low", "low"), ("share_high", "high")):
            frame[name] = float("nan") if estimates is None else estimates.shares[column].to_numpy()
        return frame

    def suggest(self, n: int = 10) -> pd.DataFrame:
        """Return the rows that are most worth rating next, as a form to fill in.

        Parameters
        ----------
        n : int, default=10
            Number of rows.

        Returns
        -------
        form : DataFrame
            The least certain rows that are unlike each other, with their numbers and an empty
            rating. Filled in, it can be passed to `rate_table` as `filled`.
        """
        form, added = self.form(n)
        return add_columns(frame_of(form), added, {})

    def form(self, n: int) -> tuple[Table, dict[str, list[Any]]]:
        """Make the table behind `suggest`, and the columns to add."""
        rating = self.rating
        rows = worth_rating(rating.X, rating.confidence, rating.given, n)
        form = to_fill_in(self.part, self.target, rows)
        return form, Answers.of(rating, None).some(rows, self.target)

    def write(self, file: IO[bytes], path: str) -> None:
        """Write the rated table in the format of `path`, rows of that format as they were read."""
        write_table(self.table, self.added, file, path, self.decimal)

    def to_html(self, source: str | None = None, result: str = "") -> str:
        """Return the report: one self-contained page without scripts.

        Parameters
        ----------
        source : str or None, default=None
            Name of the table. None: that of its file.
        result : str, default=""
            Name of the rated table.

        Returns
        -------
        html : str
            The page.
        """
        abstained = None if self.abstain is None else (self.answers.unsure, self.abstain)
        source = source or self.source or "a data frame"
        return render_report(self.rating, self.part, source, result, abstained, self.groups)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path : path
            The file; it is replaced.
        """
        _write(path, self.to_html().encode())

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Save the model for `tordinal.load_model` and `tordinal predict`.

        Parameters
        ----------
        path : path
            The file; it is replaced.
        """
        _write(path, dump_model(self.model))

    def __repr__(self) -> str:
        return "\n".join(map(visible, [self._title, str(self.expected_error), self.verdict]))

    @property
    def _title(self) -> str:
        totals = self.rating.totals
        predicted = int(totals.predicted.sum()) - self.answers.unsure
        ratings = " < ".join(map(str, self.rating.target.classes))
        return f"{self.target}: {predicted:,} of {totals.rows:,} rows rated ({ratings})"

    def _repr_html_(self) -> str:
        """A summary for notebooks; colours are those of the notebook."""
        title, *sentences = (html.escape(line) for line in repr(self).splitlines())
        classes = self.classes[["given", "predicted"]].rename(index=lambda c: visible(str(c)))
        notes = "".join(f"<li>{html.escape(visible(note))}.</li>" for note in self.notes)
        details = f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""
        return (
            f'<div class="tordinal" style="color:inherit;background:none"><p><b>{title}</b></p>'
            + "".join(f"<p>{sentence}</p>" for sentence in sentences)
            + classes.to_html(border=0, escape=True)
            + f"{details}</div>"
        )


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    name = os.fspath(path)
    with Outputs({}, {"path": name}) as outputs:
        outputs.write(name, lambda file: file.write(content))
        outputs.commit()
