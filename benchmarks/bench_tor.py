"""TOR against Algorithm 1 with scikit-learn's SVC, and a whole census fit against one training."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import census, measure, show, timed

LABELS = 200


def clusters(n: int) -> tuple[Any, np.ndarray, np.ndarray]:
    from tordinal.datasets import make_ordinal_clusters

    X, y = make_ordinal_clusters(n, p=0.2, random_state=0)
    return X, y, np.where(np.arange(n) < LABELS, y, -1)


def ours(n: int) -> dict[str, Any]:
    from tordinal import TOR

    X, y, hidden = clusters(n)
    TOR(C2_max=1e-4).fit(X[:1100], hidden[:1100])
    model, seconds = timed(lambda: TOR().fit(X, hidden))
    return {
        "seconds": seconds, "trainings": len(model.history_), "objective": model.objective_,
        "y": model.transduction_, "error": float(np.mean(model.transduction_ != y)),
    }  # fmt: skip


class SVCTrainer:
    """Trains on the extended problem with scikit-learn's SVC, as one would without this library."""

    coarse = 1.0

    def __init__(self, K: np.ndarray, m: int, labels: Any):
        self.K, self.m, self.labels = K, m, labels

    def train(self, C1: float, C2: float, warm: Any, precision: float) -> Any:
        from sklearn.svm import SVC

        from tordinal.couplings import Reduction
        from tordinal.losses import Hinge
        from tordinal.problem import Problem
        from tordinal.reduction import signs
        from tordinal.solvers import Solution

        y, cost = self.labels.y, self.labels.costs(C1, C2)
        used, m = np.flatnonzero(cost > 0), self.m
        extended = np.kron(self.K[np.ix_(used, used)], np.ones((m, m)))
        extended += np.tile(np.eye(m), (len(used), len(used)))
        s = signs(y[used], m).ravel()
        svc = SVC(kernel="precomputed", C=1.0, tol=1e-3 * precision, cache_size=2000)
        svc.fit(extended, s, sample_weight=np.repeat(cost[used], m))
        beta = np.zeros(len(used) * m)
        beta[svc.support_] = svc.dual_coef_[0]
        beta = beta.reshape(-1, m)
        a = np.zeros(len(y))
        a[used] = beta.sum(axis=1)
        h, t = self.K @ a, np.sort(-beta.sum(axis=0) - svc.intercept_[0])
        value = Problem(Hinge(), Reduction(), m).objective(y, cost, h, float(a @ h), t)
        return Solution(h, t, value, a, y.copy(), cost, n_iter=int(svc.n_iter_[0]))

    def gain(self, d: np.ndarray) -> np.ndarray:
        from tordinal.losses import Hinge, swap_gain

        return swap_gain(Hinge(), d)

    def wrong_side_loss(self, d: np.ndarray) -> np.ndarray:
        return 1.0 + d


def with_svc(n: int, trainings: int) -> dict[str, Any]:
    """A few trainings, timed and scaled to all of them."""
    from tordinal.engines.host.pseudo_labels import HostLabels
    from tordinal.transduction import CostSchedule, class_counts, transduce

    X, _, hidden = clusters(n)
    rank = np.where(hidden > 0, hidden - 1, -1)
    labels = HostLabels(rank, np.ones(n))
    trainer = SVCTrainer((X @ X.T).toarray(), 4, labels)
    ratio = np.bincount(rank[rank >= 0]) / LABELS
    done: list[int] = []

    def enough(record: dict[str, float], fit: Any) -> bool:
        done.append(1)
        return len(done) >= trainings

    _, seconds = timed(
        lambda: transduce(
            trainer, labels, CostSchedule(), lambda _: class_counts(ratio, n - LABELS), enough
        )
    )  # fmt: skip
    return {"seconds": seconds, "trainings": len(done)}


def census_ours(data: str) -> dict[str, Any]:
    from tordinal import TOR

    X, y = census(Path(data))
    X, y = X[:-300], y[:-300]
    hidden = np.where(np.arange(len(y)) < 100, y, -1)
    TOR(kernel="perceptron", C2_max=1e-2).fit(X[:6000], hidden[:6000])  # compiles
    model, seconds = timed(lambda: TOR(kernel="perceptron").fit(X, hidden))
    return {
        "seconds": seconds, "trainings": len(model.history_), "steps": model.n_iter_,
        "swaps": sum(r["swaps"] for r in model.history_),
        "error": float(np.mean(model.transduction_ != y)),
    }  # fmt: skip


def census_peer(data: str) -> dict[str, Any]:
    from skordinal.classifiers import REDSVM

    X, y = census(Path(data))
    _, seconds = timed(
        lambda: REDSVM(kernel="perceptron", tol=1e-3, cache_size=2500).fit(X[:-300], y[:-300])
    )
    return {"seconds": seconds}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    n, timed_trainings = (600, 5) if quick else (2500, 8)
    a, b = measure(ours, n), measure(with_svc, n, timed_trainings)
    whole = b["seconds"] / b["trainings"] * a["trainings"]
    rows = [{
        "data": f"make_ordinal_clusters({n}, p=0.2), {LABELS} labels", "tordinal s": a["seconds"],
        "trainings": a["trainings"], "tordinal MB": a["peak_mb"], "peer": "SVC refitted each time",
        "peer s": whole, "peer trainings timed": b["trainings"], "peer MB": b["peak_mb"],
        "times faster": whole / a["seconds"], "error": a["error"],
    }]  # fmt: skip
    if not quick and (data / "census").is_dir():
        a, b = measure(census_ours, str(data)), measure(census_peer, str(data))
        rows.append({
            "data": "census, 22,484 rows, 100 labels, perceptron", "tordinal s": a["seconds"],
            "trainings": a["trainings"], "tordinal MB": a["peak_mb"],
            "peer": "one skordinal.REDSVM training",
            "peer s": b["seconds"], "peer trainings timed": 1, "peer MB": b["peak_mb"],
            "times faster": b["seconds"] / a["seconds"], "error": a["error"],
        })  # fmt: skip
    show("Whole TOR fits, C = 1, tol 1e-3, kernel time included", rows)
    return rows
