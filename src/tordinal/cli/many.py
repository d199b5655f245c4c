"""``label`` and ``predict`` for tables in many files, on the workers of a Dask cluster."""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tordinal.cli.label import Job, check_job, listed, names_in, say_how_long, summarise
from tordinal.cli.predict import summarise_predictions
from tordinal.cli.session import (
    ProgressDisplay,
    confirm_overwriting,
    console_for,
    ignore_interrupts,
    with_option_names,
)
from tordinal.estimators import TOR
from tordinal.report.page import render_report
from tordinal.tables.columns import TableEncoder, find_columns
from tordinal.tables.many import Files, Rated, Source, Survey, find_files
from tordinal.tables.models import dump_model, load_model
from tordinal.tables.outputs import OutputFolder, Outputs
from tordinal.tables.rating import (
    Rating,
    Settings,
    TableModel,
    card_of,
    rate_features,
    read_columns,
)
from tordinal.tables.target import Ratings, Target, ranks_of, read_ratings
from tordinal.tables.values import TableError

__all__ = ["check_label", "check_names", "run_label_many", "run_predict_many"]

SAMPLED_RATED, SAMPLED_OTHERS = 4000, 4000  # rows that a model is chosen on, at most


def run_label_many(
    job: Job, settings: Settings, *, quiet: bool = False, parallel: Callable[[], Any]
) -> Rating:
    """Rate the rows of many files, and write as many.

    The model is chosen on a sample, and fitted on all rows where they lie.

    Parameters
    ----------
    job : Job
        Files and columns; `file` is a folder or a pattern, `out` a folder.
    settings : Settings
        How to rate.
    quiet : bool
        Whether to say nothing but errors.
    parallel : callable
        Makes a context in which models are fitted on the cluster.

    Returns
    -------
    rating : Rating
        What was found, with the rows of the sample.
    """
    from distributed import default_client

    started = time.perf_counter()
    paths = find_files(job.file)
    outs = _beside(paths)
    console = console_for(job.out, quiet)
    wanted = {"--report": job.report, "--model": job.model}
    marks, order = names_in(job.missing) or [], names_in(job.order)
    settings = replace(settings, single=True)
    destinations = {k: v for k, v in wanted.items() if v is not None}
    outputs = Outputs({path: path for path in paths}, destinations)
    confirm_overwriting(destinations.values(), job.target, job.force)
    with (
        outputs,
        OutputFolder("--out", job.out) as folder,
        ProgressDisplay(quiet) as teller,
    ):
        source = Source(
            job.target, job.encoding, None if order is None else tuple(order), tuple(marks)
        )
        files = Files(default_client(), paths, source, teller)
        surveys = files.survey()
        cells: Counter[Any] = sum((s.cells for s in surveys), Counter())
        order = order or next((s.order for s in surveys if s.order), None)
        ratings = read_ratings(job.target, cells, order, marks)
        files.source = replace(source, order=tuple(map(str, ratings.classes)))
        table = files.sample(*_quotas(surveys, ratings), settings.seed)
        rank = ranks_of(table[job.target], ratings)
        target = Target(job.target, ratings.classes, rank, [], table[job.target])
        encoder = TableEncoder(
            job.text, listed(job.columns, table.names), listed(job.drop, table.names) or (),
            marks, table.decimal, "wordllama" if job.meaning else None,
        )  # fmt: skip
        for option, asked in (
            ("text", job.text), ("columns", encoder.columns or ()), ("drop", encoder.drop)
        ):  # fmt: skip
            find_columns(asked, [n for n in table.names if n != job.target], option)
        say_how_long(console, settings, len(table))
        features, notes = table.features(job.target), list(ratings.notes)
        X = read_columns(features, target, encoder, settings, teller, notes)
        words = files.words(encoder)
        n_rows = sum(s.rows for s in surveys)
        if words:
            encoder.use_words(words, n_rows)
            X = encoder.transform(features)
        rating = rate_features(features, X, target, encoder, settings, teller, parallel, notes)
        rating.model = _fit_on_all(files, rating, ratings, surveys, settings)
        found = rating.model.rate(features)[2]
        rating.probability = found
        rating.rank = np.where(rating.given, rank, found.argmax(axis=1))
        rating.notes = [
            f"{n_rows:,} rows in {len(paths):,} files: a model was chosen on {len(table):,} of "
            "them and fitted to all; what is shown of single rows is from those",
            *(with_option_names(note) for note in rating.notes),
        ]
        places = [str(folder.part / out) for out in outs]
        for place in places:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        done = files.rate(
            places, rating.model, ratings, probabilities=job.probabilities, abstain=job.abstain
        )
        rating.whole = done.totals
        rating.model.learned = np.unique(done.learned)
        rating.model.card |= {"rows": n_rows, "ratings": int(done.totals.given.sum())}
        rating.model.card["counts"] = done.totals.counts
        if job.report is not None:
            page = render_report(
                rating, table, job.file, os.path.basename(job.out.rstrip("/")),
                None if job.abstain is None else (done.unsure, job.abstain),
            )  # fmt: skip
            outputs.write(job.report, lambda file: file.write(page.encode()))
        if job.model is not None:
            content = dump_model(rating.model)
            outputs.write(job.model, lambda file: file.write(content))
        ignore_interrupts()
        folder.commit()
        outputs.commit()
    summarise(console, job, rating, done.unsure, time.perf_counter() - started)
    return rating


def check_label(job: Job, settings: Settings) -> None:
    """Refuse what does not go with many files, before a cluster is started."""
    check_job(replace(job, out="-"), settings)
    for option, value in (("--next", job.next), ("--filled", job.filled), ("--sheet", job.sheet)):
        if value is not None:
            raise TableError(f"{option} goes with a single table, and {job.file} names many")
    check_names(job.file, job.out)
    if settings.kernel not in (None, "linear"):
        raise TableError(
            f"--kernel {settings.kernel}: models of many files are linear; leave it out"
        )


def check_names(file: str, out: str) -> None:
    """Refuse a pattern without files, and an output that is no folder."""
    find_files(file)
    if out == "-" or (Path(out).suffix and not os.path.isdir(out)):
        raise TableError(f"--out {out}: FILE names many tables, so name a folder for as many")


def _beside(paths: list[str]) -> list[str]:
    """Names of the rated files, in the folders that they are in below the common one."""
    above = os.path.commonpath([os.path.dirname(path) for path in paths])
    outs = []
    for path in paths:
        name = os.path.relpath(path, above)
        while Path(name).suffix.lower() in (".gz", ".bz2", ".xz", ".zip"):
            name = name.removesuffix(Path(name).suffix)
        outs.append(str(Path(name).with_suffix(".parquet")))
    twice = [name for name, n in Counter(outs).items() if n > 1]
    if twice:
        raise TableError(f"two files would both become {twice[0]}; name them apart")
    return outs


def _quotas(surveys: list[Survey], ratings: Ratings) -> tuple[list[int], list[int]]:
    """How many rows of each file belong to a sample, with a rating and without one."""
    rated = [sum(n for cell, n in s.cells.items() if cell in ratings.rank) for s in surveys]
    others = [s.rows - n for s, n in zip(surveys, rated, strict=True)]
    return _shared_out(rated, SAMPLED_RATED), _shared_out(others, SAMPLED_OTHERS)


def _shared_out(sizes: list[int], most: int) -> list[int]:
    """Parts of a total in proportion to some sizes, all of them where they are not too many.

    Examples
    --------
    >>> _shared_out([10, 30, 0], 4)
    [1, 3, 0]
    """
    total = sum(sizes)
    if total <= most:
        return sizes
    ends = np.floor(np.cumsum([0, *sizes]) * (most / total) + 0.5).astype(int)
    return np.minimum(np.diff(ends), sizes).tolist()


def _fit_on_all(
    files: Files, rating: Rating, ratings: Ratings, surveys: list[Survey], settings: Settings
) -> TableModel:
    """The chosen model, fitted to all rows on the workers."""
    from tordinal import dask

    chosen, leader = rating.model, rating.leader
    encoder = chosen.encoder
    views, seen = encoder.views(), getattr(chosen.estimator, "views_", [None])[0]
    columns = views[seen] if views and seen else None
    transductive = isinstance(leader, TOR)
    rated = [sum(n for cell, n in s.cells.items() if cell in ratings.rank) for s in surveys]
    sizes = [s.rows for s in surveys] if transductive else rated
    X, y = files.features(encoder, columns, ratings, sizes, only_rated=not transductive)
    shared: dict[str, Any] = {"C": leader.C, "loss": leader.loss, "client": files.client}
    shared |= {"classes": list(range(len(ratings.classes)))}
    model: Any
    if transductive:
        free = rating.target.rank < 0
        ratio: Any = leader.class_ratio
        if ratio == "estimated":  # from the sample: its own labels keep to it
            counts = np.bincount(leader.transduction_[free], minlength=len(ratings.classes))
            ratio = counts / counts.sum()
        C2_max = leader.C2_max
        if C2_max is not None:  # in the search that depends on how many rows are rated
            here = float(np.sum(~free) / np.sum(free))
            there = sum(rated) / (sum(sizes) - sum(rated))
            C2_max = min(C2_max * min(1.0, there) / min(1.0, here), leader.C)
        model = dask.TOR(
            swaps="optimal" if leader.swaps == "optimal" else "all", class_ratio=ratio,
            C2_max=C2_max, callback=lambda _, done, total: files.listen("all rows", done, total),
            **shared,
        )  # fmt: skip
    else:
        model = dask.REDSVM(**shared)
    files.listen("all rows", 0, 1)
    model.fit(X, y)
    sample = rating.X if columns is None else rating.X[:, columns]
    plain = model.to_local(leader, sample, columns=columns, n_features=rating.X.shape[1])
    whole = TableModel(encoder, plain, chosen.target, chosen.classes, {})
    whole.card = card_of(replace(rating, model=whole), settings.method)
    whole.card["members"] = chosen.card["members"]
    return whole


def run_predict_many(
    model_path: str,
    file: str,
    out: str,
    encoding: str | None,
    *,
    probabilities: bool = False,
    abstain: float | None = None,
    quiet: bool = False,
) -> Rated:
    """Rate every row of many files with a saved model.

    Parameters
    ----------
    model_path, file, out : str
        The model, a folder or pattern of tables, and the folder for the rated ones.
    encoding : str or None
        Encoding of text formats.
    probabilities : bool
        Whether to add a column per rating.
    abstain : float or None
        Confidence below which rows stay unrated.
    quiet : bool
        Whether to say nothing but errors.

    Returns
    -------
    rated : Rated
        Counts over all files.
    """
    from distributed import default_client

    started = time.perf_counter()
    paths = find_files(file)
    outs = _beside(paths)
    console = console_for(out, quiet)
    with OutputFolder("--out", out) as folder, ProgressDisplay(quiet) as teller:
        model = load_model(model_path)
        source = Source(model.target, encoding, answers="refused")
        files = Files(default_client(), paths, source, teller)
        places = [str(folder.part / name) for name in outs]
        for place in places:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        done = files.rate(places, model, None, probabilities=probabilities, abstain=abstain)
        ignore_interrupts()
        folder.commit()
    seconds = time.perf_counter() - started
    summarise_predictions(
        console, model, done.compared, done.totals.predicted.tolist(), done.cells,
        None if abstain is None else (done.unsure, abstain), out, seconds,
    )  # fmt: skip
    return done
