"""Reviews by words, by frozen and by tuned sentence encoders, and by SetFit's recipe.

What encoders make of the texts is in results/text-columns, made on a GPU by ``python -m
benchmarks.encoder_columns``, or with ``--cpu`` in text-columns-cpu. Here `TORCV` sees it beside the
views of words. Each result is a line of results/text.jsonl (text-cpu.jsonl): interrupt it at any
moment, and the same command goes on.
"""

import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.bench_board import AMAZON
from benchmarks.encoder_columns import (
    COLUMNS,
    COLUMNS_CPU,
    DRAWS,
    DRAWS_CPU,
    LABELS,
    LABELS_CPU,
    Job,
    hide,
    logistic,
    rows,
)
from benchmarks.harness import show

METHODS = {
    "words": "TORCV, TextViews",
    "frozen": "TORCV, TextViews and frozen encoder",
    "labels_only": "TORCV, TextViews and tuned encoder, labels only",
    # What `label --encoder --tune` does.
    "unlabelled_too": "TORCV, TextViews and tuned encoder, unlabelled texts too",
    "expert": "TORCV, TextViews, tuned encoder as an expert",
    "setfit": "SetFit's recipe, logistic head",
    "logistic": "logistic regression on frozen encoder",
}
KINDS = {"frozen": "frozen", "logistic": "frozen", "setfit": "setfit"}  # of columns; else tuned

Case = tuple[str, int, int, str]


def cases(folder: Path) -> Iterator[Case]:
    """Dataset, number of labels, draw and method, what matters most first."""
    labels, draws = (LABELS_CPU, DRAWS_CPU) if folder == COLUMNS_CPU else (LABELS, DRAWS)
    for n in labels:
        for seed in range(draws):
            yield from ((name, n, seed, method) for name in AMAZON for method in METHODS)


def columns(case: Case, folder: Path) -> Path | None:
    """The file that a case needs."""
    name, n, seed, method = case
    kind = KINDS.get(method, "tuned")
    if method == "words":
        return None
    return (Job(kind, name) if kind == "frozen" else Job(kind, name, n, seed)).path(folder)


def views_of_words(data: Path, name: str, folder: Path) -> tuple[sp.csr_matrix, dict[str, Any]]:
    """`TextViews` of a dataset, made once."""
    path = folder / f"{name}-words.npz"
    if not path.exists():
        from tordinal.text import TextViews

        vectorizer = TextViews(min_df=2)
        X = vectorizer.fit_transform(rows(data, name)[0])
        part = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(
            part, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape,
            **{f"view {view}": at for view, at in vectorizer.views_.items()},
        )  # fmt: skip
        os.replace(part, path)
    with np.load(path) as file:
        X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), file["shape"])
        return X, {key[5:]: file[key] for key in file.files if key.startswith("view ")}


class Given(ClassifierMixin, BaseEstimator):
    """An expert whose probabilities are the columns that it sees."""

    def fit(self, X: Any, y: np.ndarray) -> "Given":
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return X.toarray()


def rate(X: Any, views: Any, y: np.ndarray, method: str, given: Any, seed: int) -> dict[str, Any]:
    """Ranks of the unlabelled texts by one method, and the errors that it expects."""
    if method == "setfit":
        return {"ranks": given["ranks"][y < 0]}
    if method == "logistic":
        E = given["embeddings"].astype(np.float64)
        return {"ranks": logistic(E[y >= 0], y[y >= 0]).predict(E[y < 0])}
    from tordinal import TORCV
    from tordinal.text.views import views_with_encoder

    experts = None
    if method == "expert":
        at = X.shape[1] + np.arange(4)
        X = sp.hstack([X, given["unlabelled_too_p"].astype(np.float64)], format="csr")
        experts = [("encoder", Given(), at)]
    elif method != "words":
        encoded = given["embeddings"] if method == "frozen" else given[method][:, None]
        at = X.shape[1] + np.arange(encoded.shape[1])
        X = sp.hstack([X, encoded.astype(np.float64)], format="csr")
        views = views_with_encoder(views, at, tuned=method != "frozen")
    search = TORCV(
        kernel="linear", views=views, classes=list(range(4)), random_state=seed, experts=experts
    )
    search.fit(X, y)
    evidence = search.evidence()
    return {
        "ranks": search.transduction_[y < 0].astype(int),
        "held_out": [y[evidence.rows].tolist(), np.asarray(evidence.ranks).tolist()],
        "members": [view or "" for view in search.views_],
    }


def run_case(data: Path, folder: Path, case: Case, path: Path) -> None:
    """One run: errors, held-out ranks and CPU seconds."""
    warnings.simplefilter("ignore")
    name, n, seed, method = case
    X, views = views_of_words(data, name, folder)
    y = hide(truth := rows(data, name)[1], n, seed)
    file = columns(case, folder)
    given = {} if file is None else dict(np.load(file))
    start = time.process_time()
    result = rate(X, views, y, method, given, seed)
    off = np.abs(result.pop("ranks") - truth[y < 0])
    record = {
        "set": name, "labels": n, "seed": seed, "method": method,
        "zero_one": float((off > 0).mean()), "mae": float(off.mean()), "unlabeled": len(off),
        **result, "cpu_seconds": time.process_time() - start,
    }  # fmt: skip
    if "seconds" in given:
        record["encoder_seconds"] = float(given["seconds"])
    with path.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


def run(quick: bool, data: Path, jobs: int = 2) -> list[dict[str, Any]]:
    """Run what has not been run yet, as far as its columns are there."""
    found = []
    for device, folder in (("GPU", COLUMNS), ("CPU", COLUMNS_CPU)):
        suffix = ("-cpu" if device == "CPU" else "") + ("-quick" if quick else "")
        path = Path(__file__).parent / "results" / f"text{suffix}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        done = {(r["set"], r["labels"], r["seed"], r["method"]) for r in past(path)}
        ready = [c for c in cases(folder) if (at := columns(c, folder)) is None or at.exists()]
        if any(columns(case, folder) for case in ready):
            todo = [case for case in ready[: 1 if quick else None] if case not in done]
            Parallel(n_jobs=jobs, batch_size=1)(
                delayed(run_case)(data, folder, case, path) for case in todo
            )
        found += [{"encoder on": device, **row} for row in summary(past(path), f"on a {device}")]
    return found


def past(path: Path) -> list[dict[str, Any]]:
    """What was found earlier."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(records: list[dict[str, Any]], where: str) -> list[dict[str, Any]]:
    """Errors by dataset and method, and estimated minus true errors by method."""
    from tordinal.tables.expected_error import estimate_error

    for record in records:
        if "held_out" in record:
            truth, ranks = map(np.array, record["held_out"])
            expected = estimate_error(truth, ranks, list(range(4)))
            record["estimated"] = [expected.zero_one, expected.mae]
            record["margins"] = [expected.accuracy_margin, expected.mae_margin]
    table = []
    for n in sorted({r["labels"] for r in records}):
        for name in (*AMAZON, "mean"):
            of = [r for r in records if r["labels"] == n and name in (r["set"], "mean")]
            draws = {
                method: {
                    (r["set"], r["seed"]): (r["zero_one"], r["mae"])
                    for r in of
                    if r["method"] == method
                }
                for method in METHODS
            }
            both = set.intersection(*(set(d) for d in draws.values() if d)) if of else set()
            if not both:
                continue
            row: dict[str, Any] = {"labels": n, "set": name, "draws": len(both)}
            for method, title in METHODS.items():
                errors = [draws[method][key] for key in both if key in draws[method]]
                mean = np.mean(errors, axis=0) if errors else []
                row[title] = " / ".join(f"{e:.3f}" for e in mean) or "-"
            table.append(row)
    if table:
        show(f"Encoders {where}: zero-one error / MAE on unlabelled texts", table)
    honest = []
    for n in sorted({r["labels"] for r in records}):
        for method, title in METHODS.items():
            of = [r for r in records if (r["labels"], r["method"]) == (n, method)]
            of = [r for r in of if "margins" in r]
            if not of:
                continue
            row = {"labels": n, "method": title, "cases": len(of)}
            for i, error in enumerate(("zero_one", "mae")):
                gap = np.array([r["estimated"][i] - r[error] for r in of])
                width = np.array([r["margins"][i] for r in of])
                row[f"bias of {error}"] = float(gap.mean())
                row[f"its standard error of {error}"] = float(gap.std() / np.sqrt(len(gap)))
                row[f"coverage of {error}"] = float((np.abs(gap) <= width).mean())
            honest.append(row)
    if honest:
        show(f"Encoders {where}: estimated minus true error", honest)
    return table + honest
