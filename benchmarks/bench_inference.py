"""Coverage and width of intervals for averages and shares: 16 datasets, 20 to 200 ratings."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.bench_board import AMAZON, CSV, ORDINAL, load
from benchmarks.harness import show

RATINGS = (20, 60, 200)
# Samples. Coverage of one interval on one dataset has a standard error of 3 points with 100, of 9
# with 10.
DRAWS = {"random": 100, "active": 40, "biased": 20, "groups": 40}
COMPARED = 20  # samples whose rated and unrated rows are compared
GROUPS = {"ERA": 0, "ESL": 0, "LEV": 0}  # the column that makes the groups
PILOT = 30  # ratings that active selection starts from
BIAS = 1.0  # change of log odds of being rated per standard deviation of the first component
RARE = 0.1  # true share below which a class is reported by itself

Record = dict[str, Any]


def model(views: Any) -> Any:
    """RED-SVM with its own probabilities: a fit takes milliseconds."""
    from tordinal import REDSVM

    return REDSVM(C=10.0, loss="logistic") if views else REDSVM(kernel="rbf", loss="logistic")


def probabilities_of(X: Any, y: np.ndarray, rated: np.ndarray, views: Any, draw: int) -> np.ndarray:
    from tordinal.inference import cross_fitted_proba

    K = int(y.max()) + 1
    hidden = hide(y, rated)
    return cross_fitted_proba(model(views), X, hidden, classes=range(K), random_state=draw)


def hide(y: np.ndarray, rated: np.ndarray) -> np.ndarray:
    hidden = np.full(len(y), -1)
    hidden[rated] = y[rated]
    return hidden


def check(
    y: np.ndarray, P: np.ndarray, rated: np.ndarray, probabilities: np.ndarray | None = None
) -> Iterator[Record]:
    """Each estimate beside the truth, and beside the estimate by the ratings alone."""
    from tordinal.inference import estimate_mean, estimate_share_at_least, estimate_shares

    hidden, K = hide(y, rated), P.shape[1]
    given: dict[str, Any] = {"classes": range(K), "probabilities": probabilities}

    def record(quantity: str, truth: float, ours: Any, classical: Any) -> Record:
        return {
            "quantity": quantity, "truth": truth,
            "covers": covers(ours, truth), "classical covers": covers(classical, truth),
            "width": float(ours.high - ours.low),
            "classical width": float(classical.high - classical.low),
            "error": float(ours.value - truth), "classical error": float(classical.value - truth),
        }  # fmt: skip

    ours, classical = (estimate_mean(hidden, P, lam=lam, **given) for lam in (None, 0.0))
    yield record("mean", float(y.mean()), ours, classical)
    ours, classical = (estimate_shares(hidden, P, lam=lam, **given) for lam in (None, 0.0))
    for k in range(K):
        yield record("share", float(np.mean(y == k)), ours.loc[k], classical.loc[k])
    for k in range(1, K):
        ours, classical = (
            estimate_share_at_least(hidden, P, k, lam=lam, **given) for lam in (None, 0.0)
        )
        yield record("at least", float(np.mean(y >= k)), ours, classical)


def covers(estimate: Any, truth: float) -> bool:
    return bool(estimate.low - 1e-9 <= truth <= estimate.high + 1e-9)


def at_random(X: Any, y: np.ndarray, views: Any, n: int, draw: int) -> Iterator[Record]:
    """Rated rows are a random sample."""
    from tordinal.inference import check_representative

    rated = np.random.default_rng(1000 * draw + n).choice(len(y), n, replace=False)
    P = probabilities_of(X, y, rated, views, draw)
    yield from check(y, P, rated)
    if draw < COMPARED:
        yield {"quantity": "p-value", "value": check_representative(X, mask(y, rated)).p_value}


def by_group(X: Any, y: np.ndarray, column: int, n: int, draw: int) -> Iterator[Record]:
    """The same by group, with and without pooling."""
    from tordinal.inference import estimate_by_group

    rated = np.random.default_rng(1000 * draw + n).choice(len(y), n, replace=False)
    P = probabilities_of(X, y, rated, None, draw)
    group = X[:, column]
    for pooling in (True, False):
        table = estimate_by_group(
            hide(y, rated), P, group, classes=range(P.shape[1]), pooling=pooling
        )
        for row in table.itertuples():
            of = y[group == row.group]
            truth = {"mean": of, "share": of == row.rating, "at least": of >= (row.rating or 0)}
            value = float(np.mean(truth[row.quantity]))
            yield {
                "quantity": row.quantity, "pooling": pooling, "n_rated": row.n_rated,
                "interval": bool(np.isfinite(row.low)), "covers": covers(row, value),
                "width": float(row.high - row.low),
            }  # fmt: skip


def active(X: Any, y: np.ndarray, views: Any, n: int, draw: int) -> Iterator[Record]:
    """Thirty rows at random, then the uncertain ones more often, with recorded probabilities."""
    rng = np.random.default_rng(1000 * draw + n)
    pilot = rng.choice(len(y), PILOT, replace=False)
    uncertain = 1.01 - probabilities_of(X, y, pilot, views, draw).max(axis=1)
    rest = ~mask(y, pilot)
    expected = (n - PILOT) * (0.5 / rest.sum() + 0.5 * uncertain / uncertain[rest].sum())
    probability = np.where(rest, np.minimum(expected, 1.0), 1.0)
    rated = np.flatnonzero(rng.random(len(y)) < probability)  # the pilot is in it
    P = probabilities_of(X, y, rated, views, draw)
    yield from check(y, P, rated, probability)


def biased(X: Any, y: np.ndarray, views: Any, n: int, draw: int) -> Iterator[Record]:
    """Rows are rated more often the larger their first principal component is."""
    from sklearn.decomposition import TruncatedSVD

    from tordinal.inference import check_representative, selection_probabilities

    score = TruncatedSVD(2, random_state=0).fit_transform(X)[:, 1 if views else 0]
    score = (score - score.mean()) / score.std()
    odds = np.exp(BIAS * score)
    rng = np.random.default_rng(1000 * draw + n)
    rated = rng.choice(len(y), n, replace=False, p=odds / odds.sum())
    P = probabilities_of(X, y, rated, views, draw)
    result = check_representative(X, mask(y, rated))
    yield {"quantity": "p-value", "value": result.p_value, "auc": result.auc}
    yield from check(y, P, rated)
    weights = selection_probabilities(X, mask(y, rated))
    for record in check(y, P, rated, weights):
        yield {**record, "reweighted": True}


def mask(y: np.ndarray, rated: np.ndarray) -> np.ndarray:
    chosen = np.zeros(len(y), dtype=bool)
    chosen[rated] = True
    return chosen


def one(data: Path, name: str, todo: list[tuple[int, int, str]]) -> Iterator[list[Record]]:
    """All that is left to do with a dataset, one list of records after the other."""
    X, y, views = load(data, name)
    if views:
        X = X[:, views["words"]]
    for n, draw, design in todo:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if design == "groups":
                records = by_group(X, y, GROUPS[name], n, draw)
            else:
                designs = {"random": at_random, "active": active, "biased": biased}
                records = designs[design](X, y, views, n, draw)
            yield [{"set": name, "n": n, "draw": draw, "design": design, **r} for r in records]


def work(data: Path, name: str, todo: list[tuple[int, int, str]], path: Path) -> None:
    """Append the records of a dataset as soon as they are known."""
    for records in one(data, name, todo):
        with path.open("a") as stream:
            stream.write("".join(json.dumps(record) + "\n" for record in records))


def mean(records: list[Record], key: str) -> float:
    return float(np.mean([r[key] for r in records])) if records else float("nan")


def coverage(records: list[Record]) -> Iterator[Record]:
    """One row per design, number of ratings and quantity: coverage and width over all datasets."""
    for design in ("random", "active", "biased", "biased, reweighted"):
        for n in sorted({r["n"] for r in records}):
            some = [
                r for r in records
                if r["n"] == n and "covers" in r and "classical covers" in r
                and r["design"] + (", reweighted" if r.get("reweighted") else "") == design
            ]  # fmt: skip
            rare = [r for r in some if r["quantity"] == "share" and r["truth"] < RARE]
            kinds = [(q, [r for r in some if r["quantity"] == q]) for q in ("mean", "share")]
            kinds += [(f"share < {RARE}", rare)]
            kinds += [("at least", [r for r in some if r["quantity"] == "at least"])]
            for quantity, mine in kinds:
                if not mine:
                    continue
                names = sorted({r["set"] for r in mine})
                sets = [[r for r in mine if r["set"] == name] for name in names]
                ratios = [[r["width"] / r["classical width"] for r in s] for s in sets]
                least = int(np.argmin([mean(s, "covers") for s in sets]))
                squares = [
                    sum(r["error"] ** 2 for r in s) / sum(r["classical error"] ** 2 for r in s)
                    for s in sets
                ]
                yield {
                    "rated rows": design, "ratings": n, "quantity": quantity,
                    "intervals": len(mine),
                    "coverage %": 100 * float(np.mean([mean(s, "covers") for s in sets])),
                    "ratings alone %": 100
                    * float(np.mean([mean(s, "classical covers") for s in sets])),
                    "lowest %": 100 * mean(sets[least], "covers"), "on": names[least],
                    "width ratio": float(np.mean([np.mean(r) for r in ratios])),
                    "largest ratio": float(max(max(r) for r in ratios)),
                    "rmse ratio": float(np.mean(np.sqrt(squares))),
                }  # fmt: skip


def by_set(records: list[Record]) -> Iterator[Record]:
    """One row per dataset: a random sample, all quantities together."""
    for name in dict.fromkeys(r["set"] for r in records):
        row: Record = {"set": name}
        for n in RATINGS:
            mine = [
                r for r in records
                if r["set"] == name and r["n"] == n and r["design"] == "random" and "covers" in r
            ]  # fmt: skip
            if mine:
                means = [r for r in mine if r["quantity"] == "mean"]
                row[f"{n}: coverage %"] = 100 * mean(mine, "covers")
                row[f"{n}: mean %"] = 100 * mean(means, "covers")
                ratio = [r["width"] / r["classical width"] for r in means]
                row[f"{n}: width ratio of the mean"] = float(np.mean(ratio))
        yield row


def groups(records: list[Record]) -> Iterator[Record]:
    mine = [r for r in records if r["design"] == "groups"]
    bins = ((0, 0, "0"), (1, 4, "1 to 4"), (5, 19, "5 to 19"), (20, 10**9, "20 or more"))
    for n in sorted({r["n"] for r in mine}):
        for low, high, name in bins:
            row: Record = {"ratings": n, "in the group": name}
            for pooling in (True, False):
                some = [
                    r for r in mine
                    if r["n"] == n and low <= r["n_rated"] <= high and r["pooling"] == pooling
                ]  # fmt: skip
                shown = [r for r in some if r["interval"]]
                how = "pooled" if pooling else "each alone"
                row["estimates"] = len(some)
                row[f"{how}: with interval"] = len(shown)
                for quantity in ("mean", "share"):
                    of = [r for r in shown if r["quantity"] == quantity]
                    row[f"{how}: {quantity} %"] = 100 * mean(of, "covers")
                    row[f"{how}: width of {quantity}"] = mean(of, "width")
            if row["estimates"]:
                yield row


def alarms(records: list[Record]) -> Iterator[Record]:
    for design in ("random", "biased"):
        for n in sorted({r["n"] for r in records}):
            mine = [
                r for r in records
                if r["design"] == design and r["n"] == n and r["quantity"] == "p-value"
            ]  # fmt: skip
            texts = [r for r in mine if r["set"] in AMAZON]
            tables = [r for r in mine if r["set"] not in AMAZON]
            if mine:
                yield {
                    "rated rows": design, "ratings": n, "samples": len(mine),
                    "tables: warnings %": 100 * float(np.mean([r["value"] < 0.05 for r in tables])),
                    "texts: warnings %": 100 * float(np.mean([r["value"] < 0.05 for r in texts]))
                    if texts else float("nan"),
                }  # fmt: skip


def run(quick: bool, data: Path) -> list[Record]:
    names = ("ESL", "SWD") if quick else ORDINAL + CSV + AMAZON
    path = Path(__file__).parent / "results" / f"inference{'-quick' if quick else ''}.jsonl"
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["set"], r["n"], r["draw"], r["design"]) for r in past}
    designs = [
        (n, draw, design)
        for design, draws in DRAWS.items() for draw in range(2 if quick else draws) for n in RATINGS
        if n > PILOT or design == "random"
    ]  # fmt: skip
    todo = {
        name: [
            job for job in designs
            if (name, *job) not in done and (job[2] != "groups" or name in GROUPS)
        ]
        for name in names
    }  # fmt: skip
    Parallel(n_jobs=2, batch_size=1)(
        delayed(work)(data, name, jobs, path) for name, jobs in todo.items() if jobs
    )
    records = [json.loads(line) for line in path.read_text().splitlines()]
    tables = {
        "coverage of 90 % intervals": list(coverage(records)),
        "by dataset, random sample": list(by_set(records)),
        "by group": list(groups(records)),
        "warnings that rated rows are no random sample": list(alarms(records)),
    }
    for title, rows in tables.items():
        if rows:
            show(title, rows)
    return [row for rows in tables.values() for row in rows]
