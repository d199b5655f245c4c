"""Should confidences be corrected where given ratings have other shares than the rest?

Rated rows are a random sample, or one in which high (or low) ratings are overrepresented: label
shift. The correction is that of Saerens, Latinne and Decaestecker (2002): shares of the classes by
expectation and maximisation, then probabilities in proportion. `prior` is how many rows of the
shares of the rated rows are mixed in.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_board import load
from benchmarks.harness import show

NAMES = [
    "ESL", "ERA", "LEV", "SWD", "car", "balance-scale", "housing", "knowledge", "machine",
    "obesity", "stock", "books",
]  # fmt: skip
DRAWS, RATINGS, ROWS = 4, 100, 800
BIAS = 1.0  # log odds of being rated per standard deviation of the rating
FEWEST_SURE = 20  # rows with a confidence above 0.9 from which they are reported
CLEARLY = 0.02  # of the calibration error

Record = dict[str, Any]


def shares_by_em(p: np.ndarray, source: np.ndarray, prior: float) -> np.ndarray:
    """Shares of the classes among some rows, from probabilities that hold at other shares."""
    shares = source.copy()
    for _ in range(500):
        posterior = p * (shares / source)
        posterior /= posterior.sum(axis=1, keepdims=True)
        new = (posterior.sum(axis=0) + prior * source) / (len(p) + prior)
        done, shares = np.abs(new - shares).max() < 1e-8, new
        if done:
            break
    return shares


def corrected(p: np.ndarray, held_out: np.ndarray, prior: float) -> np.ndarray:
    source = np.maximum(held_out.mean(axis=0), 1e-3)
    source /= source.sum()
    q = p * (shares_by_em(p, source, prior) / source)
    return q / q.sum(axis=1, keepdims=True)


def measure(p: np.ndarray, y: np.ndarray) -> Record:
    """Reliability of the confidence, in five groups of rows, and the quality of the ratings."""
    predicted, confidence = p.argmax(axis=1), p.max(axis=1)
    right = predicted == y
    parts = np.array_split(np.argsort(confidence, kind="stable"), 5)
    sure = confidence > 0.9
    return {
        "gap": float(confidence.mean() - right.mean()),
        "calibration error": float(
            np.mean([abs(confidence[part].mean() - right[part].mean()) for part in parts])
        ),
        "accuracy": float(right.mean()), "mae": float(np.abs(predicted - y).mean()),
        "gap above 0.9": float(confidence[sure].mean() - right[sure].mean())
        if sure.sum() >= FEWEST_SURE else float("nan"),
    }  # fmt: skip


def fit(data: Path, name: str, design: str, draw: int) -> Record:
    """Probabilities of unrated rows, and of rated ones by models that had not seen them."""
    from tordinal import TORCV

    X, y, views = load(data, name)
    X = X[:, views["words"]] if views else X
    rng = np.random.default_rng(100 * draw + len(design))
    side = 0.0 if design == "random" else BIAS * (1 if draw % 2 else -1)
    odds = np.exp(side * (y - y.mean()) / y.std())
    rated = rng.choice(len(y), min(RATINGS, len(y) // 3), replace=False, p=odds / odds.sum())
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), rated))[:ROWS]
    rows, labels = np.concatenate([rated, rest]), np.concatenate([y[rated], np.full(len(rest), -1)])
    kernel = "linear" if views else ["linear", "perceptron"]
    classes = list(range(int(y.max()) + 1))
    model = TORCV(C=[0.1, 1.0, 10.0], kernel=kernel, classes=classes, swaps="optimal")
    model.fit(X[rows], labels)
    held_out = model.evidence().probability
    return {"p": model.predict_proba(X[rest]), "held out": held_out, "truth": y[rest]}


def alarm(p: np.ndarray, held_out: np.ndarray) -> bool:
    """Whether mean predicted ranks differ by as much as for the note of `tordinal label`."""
    from tordinal.tables.estimates import SHIFTED

    ours, theirs = (q @ np.arange(p.shape[1]) for q in (held_out, p))
    error = np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    return bool(abs(ours.mean() - theirs.mean()) > SHIFTED * error)


def table(fits: list[tuple[str, Record]]) -> Iterator[Record]:
    rows = defaultdict(list)
    for design, one in fits:
        p, held_out, truth = one["p"], one["held out"], one["truth"]
        for name, q in (
            ("none", p),
            ("EM", corrected(p, held_out, 0.0)),
            ("EM, prior of 100 rows", corrected(p, held_out, 100.0)),
            ("EM, prior of as many rows", corrected(p, held_out, float(len(p)))),
        ):
            rows[design, name].append((measure(q, truth), measure(p, truth), alarm(p, held_out)))
    for (design, name), found in rows.items():
        change = [a["calibration error"] - b["calibration error"] for a, b, _ in found]
        yield {
            "rated rows": design, "correction": name, "fits": len(found),
            **{key: float(np.nanmean([a[key] for a, _, _ in found])) for key in found[0][0]},
            "better": sum(c < -CLEARLY for c in change),
            "worse": sum(c > CLEARLY for c in change), "worst": max(change),
            "note %": 100 * float(np.mean([fired for _, _, fired in found])),
        }  # fmt: skip


def run(quick: bool, data: Path) -> list[Record]:
    warnings.simplefilter("ignore")
    names, draws = (NAMES[:2], 1) if quick else (NAMES, DRAWS)
    fits = [
        (design, fit(data, name, design, draw))
        for design in ("random", "label shift") for draw in range(draws) for name in names
    ]  # fmt: skip
    rows = list(table(fits))
    show("confidences before and after a correction for label shift", rows)
    return rows
