"""Rating a table from Python: what `tordinal label` does, with a data frame as the result."""

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from tordinal.exceptions import InputError
from tordinal.progress import Listener
from tordinal.rated import RatedTable
from tordinal.reduction import UNLABELED
from tordinal.tables.costs import read_weights
from tordinal.tables.estimates import prediction_shift_note, representativeness_note
from tordinal.tables.files import read_table
from tordinal.tables.frames import table_of
from tordinal.tables.group_names import check_groups, group_notes, no_groups_note
from tordinal.tables.preparation import prepare
from tordinal.tables.rating import rate
from tordinal.tables.roles import find_columns
from tordinal.tables.selection import select_rows
from tordinal.tables.sentences import find_encoder
from tordinal.tables.settings import WORDLLAMA, Settings
from tordinal.tables.table import Table
from tordinal.tables.target import read_target

__all__ = ["RatedTable", "rate_table"]


def rate_table(
    table: Any,
    target: str,
    *,
    text: str | Sequence[str] = (),
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    order: Sequence[Any] | str | None = None,
    missing: str | Sequence[str] = (),
    features: Any = None,
    hint: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    method: str = "auto",
    C: float | None = None,
    kernel: str | None = None,
    loss: str | None = None,
    encoder: str | os.PathLike[str] | None = None,
    tune: bool | None = None,
    download: bool = False,
    quick: bool = False,
    cost: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
    sample_weight: str | None = None,
    abstain: float | None = None,
    probabilities: bool = False,
    reasons: bool = False,
    reweight: bool = False,
    filled: Any = None,
    ratings: Any = None,
    sheet: str | None = None,
    encoding: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    engine: str = "host",
    callback: Listener | None = None,
    embeddings: bool = False,
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
        Columns to exclude, such as those that are not known for later rows.
    order : sequence, str or None, default=None
        Ratings from the lowest to the highest, as a list or separated by commas. None: the order of
        numbers, of an ordered categorical, or of a well-known scale.
    missing : str or sequence of str, default=()
        Cells that stand for no value, besides the usual ones.
    features : array-like, path or None, default=None
        Numbers beside the table to learn from, such as embeddings: an array with a row per row of
        the table, or a ``.npy`` or ``.npz`` file with one. Columns of lists of numbers are read in
        the same way.
    hint : str or sequence of str, default=()
        Columns with a noisy rating from elsewhere, such as a language model's, as numbers or
        words. A hint need not be on the scale of the ratings: it is recalibrated by them, and used
        if it lowers the cross-validated error. `RatedTable.hints` and a note say whether it does.
    by : str or sequence of str, default=()
        Columns whose groups are estimated, too: average and shares of each product, say. Many
        different numbers or dates are cut into five ranges.
    method : {"auto", "tor", "redsvm"}, default="auto"
        "auto" chooses models by cross-validation, and whether unrated rows help; "tor" uses
        them, "redsvm" does not.
    C : float or None, default=None
        Cost of errors. A larger one follows the ratings more closely. None: 1, or chosen by "auto".
    kernel, loss : str or None, default=None
        None: chosen by "auto"; otherwise linear for text, "perceptron" for other tables, "hinge".
    encoder : str, path or None, default=None
        Sentence encoder that reads the texts, too: the folder of a model of sentence-transformers,
        the name of one in its cache, or "wordllama". Needs ``tordinal[encoder]``.
    tune : bool or None, default=None
        Whether to tune the encoder by the ratings. None: where there is a GPU; elsewhere a note
        says what it would take.
    download : bool, default=False
        Whether an encoder that is not in the cache may be downloaded.
    quick : bool, default=False
        Whether "auto" chooses one model among a few, which takes seconds.
    cost : mapping, array-like or None, default=None
        What errors cost, as in `TORCV`: ``{"low": 2}`` makes a prediction that is too low twice as
        bad as one that is too high; a matrix has a row per true and a column per predicted rating.
    class_weight : mapping, "balanced" or None, default=None
        How much ratings count, as in `TORCV`: "balanced" makes errors on rare ratings count as
        much as those on frequent ones.
    sample_weight : str or None, default=None
        Column with the weight of each given rating. It is no feature.
    abstain : float or None, default=None
        Rows below this confidence stay unrated, so that people can rate them.
    probabilities : bool, default=False
        Whether to add a column with the probability of each rating.
    reasons : bool, default=False
        Whether to add a column with the main reasons of each rating.
    reweight : bool, default=False
        Whether averages and shares of the table and its groups weigh given ratings by how rarely
        rows like theirs are rated. That helps where `notes` say that rated and unrated rows differ.
    filled : DataFrame, path, list of these or None, default=None
        Rows from `RatedTable.suggest` or ``tordinal next`` with their ratings filled in, of one
        round or several. How the rows were drawn is recorded there, and estimates are weighted
        by it.
    ratings : path, DataFrame or None, default=None
        The log of ratings of ``tordinal studio``, or a table with the columns `row` and `target`.
    sheet : str or None, default=None
        Sheet of a workbook. None: the first.
    encoding : str or None, default=None
        Encoding of a text file. None: UTF-8.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int or None, default=None
        Number of parallel fits, -1 for all cores.
    engine : {"host", "cuda", "auto"}, default="host"
        Where models with kernels are fitted: this machine, or an NVIDIA GPU (needs
        ``tordinal[cuda]``). "auto" uses a GPU if there is one and the rows are many enough for it
        to be faster; `notes` say so.
    callback : callable or None, default=None
        Called with the current task, the steps done and the number of steps.
    embeddings : bool, default=False
        Deprecated: use ``encoder="wordllama"``.

    Returns
    -------
    rated : RatedTable
        The rated rows, the expected error, the model and the report.

    Raises
    ------
    InputError
        If the table or an option is wrong; the message says what to do.

    See Also
    --------
    TORCV : The models behind it, for arrays.
    load_model : A saved model, for later rows.
    tordinal.inference.estimate_table : Averages and shares for any predictions.

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
        method=method, C=C, kernel=kernel, loss=loss, seed=random_state, jobs=n_jobs,
        quick=quick, cost=cost, class_weight=class_weight,
        encoder=_encoder(encoder, embeddings), tune=tune, download=download,
        engine=engine,
    )  # fmt: skip
    if settings.encoder not in (None, WORDLLAMA):
        find_encoder(settings)  # before the table is read
    if isinstance(order, str):
        order = [name.strip() for name in order.split(",")]
    order = None if order is None else list(order)
    by = list(dict.fromkeys(_names(by)))
    listen = callback or (lambda task, done, total: None)
    source = os.path.basename(os.fspath(table)) if isinstance(table, (str, os.PathLike)) else ""
    frame = table if isinstance(table, pd.DataFrame) else None
    table, marks = _read(table, encoding, sheet), _names(missing)
    weighed = [] if sample_weight is None else [sample_weight]
    find_columns(by, table.names, "by")
    find_columns(weighed, table.names, "sample_weight")
    prepared = prepare(
        table, target, read=partial(_read, encoding=encoding), text=_names(text),
        columns=None if columns is None else _names(columns), drop=[*_names(drop), *weighed],
        order=order, missing=marks, filled=filled, ratings=ratings, features=features,
        meaning=WORDLLAMA if settings.encoder == WORDLLAMA else None, hint=_names(hint),
    )  # fmt: skip
    part, notes = prepared.part, prepared.notes
    find_columns(by, part.names, "by")  # columns of an earlier run are gone
    find_columns(weighed, part.names, "sample_weight")
    check_groups(part, by, target)
    if prepared.earlier and frame is not None:
        frame = frame.loc[:, [str(name) not in prepared.earlier for name in frame.columns]]
    given = read_target(target, part[target], prepared.order, marks)
    prepared.encoder.set_params(scale=prepared.order or given.classes)
    selection = select_rows(given.rank != UNLABELED, prepared.draws, prepared.rows)
    if selection is not None:
        notes.append(str(selection))
    row_numbers = [part.number(i) for i in range(len(part))]
    weight = (
        None if not weighed else read_weights(part[weighed[0]], given, row_numbers, part.decimal)
    )
    rating = rate(
        prepared.features, given, prepared.encoder, settings, listen, weight=weight,
        selection=selection,
    )  # fmt: skip
    rating.notes = [*notes, *rating.notes]
    differs = representativeness_note(rating, reweighted=reweight)
    rating.differs, rating.reweighted = differs is not None, reweight
    rating.notes += group_notes(part, by) if len(rating.held_out) else no_groups_note(by)
    rating.notes += [note for note in (differs, prediction_shift_note(rating)) if note is not None]
    rated = RatedTable(
        rating=rating, table=prepared.table, part=part, rows=prepared.rows, abstain=abstain,
        probabilities=probabilities, by=by, source=source, original=frame,
        with_reasons=reasons, reweight=reweight, seed=random_state,
    )  # fmt: skip
    if reasons and not rated.reasons.agrees:
        rating.notes.append(
            "no reasons are given: no simple model follows the predictions well enough to explain "
            "them"
        )
    return rated


def _read(table: Any, encoding: str | None, sheet: str | None = None) -> Table:
    if isinstance(table, Table):
        return table
    if isinstance(table, (str, os.PathLike)):
        return read_table(os.fspath(table), encoding, sheet)
    return table_of(table)


def _encoder(encoder: str | os.PathLike[str] | None, embeddings: bool) -> str | None:
    """The name of the encoder."""
    if embeddings:
        warnings.warn(
            'embeddings=True is now called encoder="wordllama"; the old name will be removed in '
            "version 0.4.",
            FutureWarning,
            stacklevel=3,  # the caller of rate_table
        )
    if encoder is None:
        return WORDLLAMA if embeddings else None
    return os.fspath(encoder)


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]
