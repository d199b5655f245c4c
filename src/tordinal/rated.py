"""The result of `tordinal.rate_table`: a table with all rows rated, and answers about it."""

import html
import os
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import IO, Any

import pandas as pd

from tordinal.exceptions import InputError
from tordinal.inference import TableEstimates
from tordinal.report.page import render_report
from tordinal.tables.abstaining import abstain_curve
from tordinal.tables.answers import Answers, decimal_of
from tordinal.tables.check_first import rows_to_check
from tordinal.tables.estimates import estimate_groups, estimate_rating
from tordinal.tables.expected_error import HeldOutError
from tordinal.tables.files import write_table
from tordinal.tables.filled import recorded, to_fill_in
from tordinal.tables.frames import add_columns, frame_of
from tordinal.tables.hints import Hint
from tordinal.tables.models import dump_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.reasons import Reasons
from tordinal.tables.results import Rating
from tordinal.tables.suggest import rows_to_rate
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.values import sentence, visible

__all__ = ["RatedTable"]


@dataclass
class RatedTable:
    """A table with all rows rated: the result of `rate_table`.

    Attributes
    ----------
    frame : DataFrame
        The rows with the columns ``<target>_predicted``, ``<target>_confidence`` and
        ``<target>_source`` ("given", "predicted", or "unsure" with `abstain`).
    expected_error : HeldOutError
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
    reasons : Reasons
        Which columns and words matter (`columns`, `words`), and why a row is rated as it is.
    to_check : DataFrame
        Rows to check first: given ratings that the model contradicts, equal rows with different
        ratings, and predictions with a large expected error.
    abstaining : DataFrame
        The error of the rows that are kept, by the confidence from which they are.
    hints : DataFrame
        How far each column of `hint` is off, and whether it helps; `Hint` describes the columns.
    verdict : str
        Whether the unrated rows helped.
    notes : list of str
        Notes about how the table was read.
    model : TableModel
        The model, with `predict` for new rows.

    See Also
    --------
    rate_table : Makes it.

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
    with_reasons: bool = False
    seed: int = 0
    reweight: bool = False

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
        """Notes about how the table was read."""
        return self.rating.notes

    @property
    def verdict(self) -> str:
        """Whether the unrated rows helped."""
        return self.rating.verdict

    @property
    def hints(self) -> pd.DataFrame:
        """A row per hint: whether it is used, and errors in steps, as in `tables.hints.Hint`."""
        names = [column.name for column in fields(Hint)]
        return pd.DataFrame([vars(hint) for hint in self.rating.hints], columns=names)

    @property
    def expected_error(self) -> HeldOutError:
        """Estimates of the error by cross-validation."""
        return self.rating.expected_error

    @cached_property
    def estimates(self) -> TableEstimates | None:
        """The average rating of all rows and the share of each rating, with intervals.

        They hold if the rated rows are a random sample of the table, or it is recorded how they
        were drawn (docs/guide/answers.md).
        """
        return estimate_rating(self.rating, reweight=self.reweight)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """Average and shares of each group of the columns that `by` names, highest first."""
        return estimate_groups(self.rating, self.part, self.by, self.reweight)

    @cached_property
    def reasons(self) -> Reasons:
        """The columns and words that matter, and the reasons for the rating of a row."""
        return Reasons(self.rating, self.part.features(self.target), self.seed)

    def explain(self, row: Any) -> pd.DataFrame:
        """The words and cells with the largest effects on the rating of a row.

        Parameters
        ----------
        row : int or str
            The label of the row in the index of `frame`.

        Returns
        -------
        reasons : DataFrame
            `column`, `what` and `effect` in steps beside the mean row; see `Reasons.explain`.
        """
        index = self.frame.index
        place = index.get_loc(row)
        if not isinstance(place, int):
            n = int((index == row).sum())
            raise InputError(f"row {row!r}: {n} rows have this label; make it unique")
        if place not in self.rows:
            raise InputError(f"row {row!r} is not rated: it looks like a total")
        return self.reasons.explain(self.rows.index(place))

    @cached_property
    def checks(self) -> pd.DataFrame:
        """Rows to check first, by their places among the rated rows; see `rows_to_check`."""
        return rows_to_check(self.rating, self.part.features(self.target))

    @cached_property
    def to_check(self) -> pd.DataFrame:
        """Rows to check first, with their labels in the index of `frame` (`row`, `like`)."""
        found, labels = self.checks, self.frame.index[self.rows]
        return found.assign(
            row=[labels[i] for i in found["row"]],
            like=[None if pd.isna(i) else labels[i] for i in found["like"]],
        )

    @property
    def abstaining(self) -> pd.DataFrame:
        """Errors of the rows that are kept, by the least confidence."""
        return abstain_curve(self.rating, self.abstain)

    @cached_property
    def answers(self) -> Answers:
        """The rating of each row, with its confidence and source."""
        reasons = self.reasons.sentences(range(len(self.part))) if self.with_reasons else None
        return Answers.of(self.rating, self.abstain, reasons)

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
        names = [str(name) for name in frame.columns]
        if self.target not in names:  # all ratings came from elsewhere
            return add_columns(frame, self.added, {})
        dtype = frame.dtypes.iloc[names.index(self.target)]
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
        """Return the rows whose ratings would help most, as a form to fill in.

        Parameters
        ----------
        n : int, default=10
            Number of rows.

        Returns
        -------
        form : DataFrame
            Rows on which the model is expected to be far off, and some drawn uniformly, with
            their numbers, an empty rating and how they were drawn. Filled in, it can be passed
            to `rate_table` as `filled`.
        """
        form, added = self.form(n)
        return add_columns(frame_of(form), added, {})

    def form(self, n: int) -> tuple[Table, dict[str, list[Any]]]:
        """Make the table behind `suggest`, and the columns to add."""
        draws = rows_to_rate(self.rating, n)
        rows = [draw.place for draw in draws]
        form = to_fill_in(self.part, self.target, rows)
        added = Answers.of(self.rating, None).some(rows, self.target)
        return form, added | recorded(draws, self.target)

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
        return render_report(
            self.rating, self.part, source, result, abstained=abstained, groups=self.groups,
            reasons=self.reasons, reweight=self.reweight,
        )  # fmt: skip

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
        notes = "".join(f"<li>{html.escape(sentence(note))}</li>" for note in self.notes)
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
