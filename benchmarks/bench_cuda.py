"""The CUDA engine beside the host and TorchKM: fits, memory, and from how many rows it pays."""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import census, measure, ordinal_rows, show, timed

LARGE = 100_000
SIZES = (500, 1000, 2000, 3000, 5000, 10_000)
HOST_CACHE = 45_000  # MB, so that the host holds whatever fits its memory


def hide(y: np.ndarray, n_labels: int) -> np.ndarray:
    return np.where(np.arange(len(y)) < n_labels, y, -1)


def problem(name: str, data: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """An estimator without its engine, and what it is fitted to."""
    from tordinal import REDSVM, TOR

    if name.startswith("census"):
        X, y = census(Path(data))
        if "TOR" in name:
            return TOR(kernel="perceptron"), X[:-300], hide(y[:-300], 100)
        return REDSVM(kernel="perceptron"), X, y
    n = int(name.split()[0].replace(",", ""))
    X, y = ordinal_rows(n)
    if "TOR" in name:
        labels = 1000 if n >= LARGE else 100
        return TOR(kernel="perceptron", swaps="all"), X, hide(y, labels)
    return REDSVM(kernel="perceptron"), X, y


def on_host(name: str, data: str) -> dict[str, Any]:
    model, X, y = problem(name, data)
    model.set_params(cache_size=HOST_CACHE)
    model.fit(X[:1500], y[:1500])  # compiles
    _, seconds = timed(lambda: model.fit(X, y))
    return {"seconds": seconds, "objective": model.objective_}


class Peak:
    """The most memory that CuPy has asked the device for."""

    def __init__(self) -> None:
        import cupy

        class Hook(cupy.cuda.MemoryHook):
            name, most = "peak", 0

            def malloc_postprocess(self, **event: Any) -> None:
                total = cupy.get_default_memory_pool().total_bytes()
                self.most = max(self.most, total)

        cupy.get_default_memory_pool().free_all_blocks()

        self.hook = Hook()

    def of(self, work: Callable[[], Any]) -> float:
        """Megabytes while something runs."""
        with self.hook:
            work()
        return float(self.hook.most / 2**20)


def repeated(work: Callable[[], Any], repeats: int) -> tuple[Any, float, float, float]:
    """The last result, and the median, least and largest of the seconds."""
    runs = [timed(work) for _ in range(repeats)]
    seconds = [s for _, s in runs]
    return runs[-1][0], statistics.median(seconds), min(seconds), max(seconds)


def device_bandwidth() -> float:
    """Bytes a second that the GPU reads: the sum of a large array."""
    import cupy

    array = cupy.ones(2**29, dtype=np.float32)

    def read() -> None:
        array.sum()
        cupy.cuda.runtime.deviceSynchronize()

    read()
    return float(array.nbytes / repeated(read, 5)[1])


def fit_row(name: str, data: str, repeats: int, host: bool, bandwidth: float) -> dict[str, Any]:
    """A whole fit on the GPU, kernel matrix and copies included, beside the host."""
    from tordinal.engines.cuda.device import find_device
    from tordinal.engines.cuda.gram import CudaGram
    from tordinal.kernels import Perceptron

    model, X, y = problem(name, data)
    model.set_params(engine="cuda")
    model.fit(X[:3000], y[:3000])  # compiles
    memory = Peak().of(lambda: model.fit(X, y))
    model, seconds, least, most = repeated(lambda: model.fit(X, y), repeats)
    device = find_device()

    def matrix() -> None:
        CudaGram(Perceptron(), X, device=device)
        device.xp.cuda.runtime.deviceSynchronize()

    _, kernel, _, _ = repeated(matrix, 3)
    row = {
        "fit": name, "GPU s": seconds, "least": least, "largest": most, "repeats": repeats,
        "matrix s": kernel, "trainings": len(getattr(model, "history_", [0])),
        "steps": model.n_iter_, "us a step": 1e6 * (seconds - kernel) / model.n_iter_,
        "floor us": 1e6 * 2 * len(X) * 4 / bandwidth, "GPU MB": memory,
        "host s": "not run", "host MB": "not run", "times faster": "not run",
        "objective / host's": "not run",
    }  # fmt: skip
    if host:
        there = measure(on_host, name, data)
        row |= {
            "host s": there["seconds"], "host MB": there["peak_mb"],
            "times faster": there["seconds"] / seconds,
            "objective / host's": f"{model.objective_ / there['objective']:.6f}",
        }  # fmt: skip
    return row


def crossover_rows(sizes: tuple[int, ...], data: str) -> list[dict[str, Any]]:
    """Whole fits of few rows, where launches cost more than steps."""
    rows = []
    for n in sizes:
        row: dict[str, Any] = {"rows": n}
        for kind in ("REDSVM", "TOR"):
            model, X, y = problem(f"{n:,} x 16, {kind}", data)
            for engine in ("host", "cuda"):
                model.set_params(engine=engine).fit(X, y)
                row[f"{kind} {engine} s"] = repeated(partial(model.fit, X, y), 3)[1]
            row[f"{kind} times faster"] = row[f"{kind} host s"] / row[f"{kind} cuda s"]
        rows.append(row)
    return rows


def tuning_data(n: int, d: int, folds: int) -> tuple[Any, Any, float, np.ndarray]:
    """Rows, labels, bandwidth and folds as in TorchKM's own example."""
    import torch
    from torchkm.functions import data_gen, sigest, standardize

    torch.manual_seed(42)
    X, y, _ = data_gen(n, 5, d, d // 2, d // 2, 2.0, 3, 42)
    X = standardize(X)
    return X, y, sigest(X), (torch.randperm(n) % folds).numpy()


def tuned_by_torchkm(
    X: Any, y: Any, sigma: float, fold: np.ndarray, penalties: np.ndarray
) -> tuple[np.ndarray, float]:
    """Objectives on all rows for each penalty, and the seconds of the whole search."""
    import torch
    from torchkm.cvksvm import cvksvm
    from torchkm.functions import rbf_kernel

    def search() -> Any:
        torch.cuda.synchronize()
        K = rbf_kernel(X.cuda().double(), sigma)
        model = cvksvm(
            Kmat=K, y=y, nlam=len(penalties), ulam=torch.tensor(penalties),
            foldid=torch.tensor(fold + 1), nfolds=int(fold.max()) + 1, eps=1e-5, maxit=100_000,
            gamma=1e-8, is_exact=0, device="cuda",
        )  # fmt: skip
        model.fit()
        torch.cuda.synchronize()
        return K, model

    (K, model), seconds = timed(search)
    alpha = model.alpmat
    projections = K @ alpha[1:]
    norms = (alpha[1:] * projections).sum(dim=0)
    margins = y.cuda().double()[:, None] * (projections + alpha[0])
    values = (1.0 - margins).clamp_min(0.0).mean(dim=0) + norms * model.ulam
    objectives = values.cpu().numpy()
    del K, model, alpha, projections, margins
    torch.cuda.empty_cache()
    return objectives, seconds


def tuned_by_us(
    X: np.ndarray, rank: np.ndarray, gamma: float, fold: np.ndarray, costs: np.ndarray
) -> tuple[np.ndarray, float, int]:
    """Objectives on all rows for each C, the seconds of the whole search, and its steps."""
    from tordinal.fitting import Recipe
    from tordinal.solvers import solver_for

    n_classes = int(rank.max()) + 1
    recipe = Recipe(kernel="rbf", gamma=gamma, engine="cuda")

    def path(data: Any, hidden: np.ndarray) -> tuple[list[float], int]:
        solver, weight = solver_for(data, recipe.problem(n_classes)), np.where(hidden, 0.0, 1.0)
        fit, objectives, steps = None, [], 0
        for C in costs:
            fit = solver.solve(rank, C * weight, warm=fit, tol=recipe.tol)
            objectives.append(fit.objective)
            steps += fit.n_iter
            if hidden.any():
                np.asarray(fit.h[hidden, None] - fit.thresholds)  # what a search compares
        return objectives, steps

    def search() -> tuple[list[float], int]:
        data = recipe.hold(recipe.kernel_for(X), X, n_classes)
        found = path(data, np.zeros(len(X), dtype=bool))
        return found[0], found[1] + sum(path(data, fold == k)[1] for k in np.unique(fold))

    (objectives, steps), seconds = timed(search)
    return np.array(objectives), seconds, steps


def tuning_rows(n: int, d: int, folds: int, n_penalties: int) -> list[dict[str, Any]]:
    """TorchKM's task: all values of the penalty, on all rows and on the rows of each fold."""
    X, y, sigma, fold = tuning_data(n, d, folds)
    rows64 = X.numpy().astype(np.float64)
    penalties = np.logspace(3, -3, n_penalties)
    costs = 1.0 / (2.0 * n * penalties)
    task = f"{folds} folds x {n_penalties} C, {n:,} x {d:,}"
    rank = (y.numpy() > 0).astype(np.int64)
    tuned_by_us(rows64[:500], rank[:500], 2.0 * sigma, fold[:500], costs[:3])  # compiles
    ours, seconds, steps = tuned_by_us(rows64, rank, 2.0 * sigma, fold, costs)
    ours = ours * 2.0 * penalties
    tuned_by_torchkm(X[:500], y[:500], sigma, fold[:500], penalties[:3])
    theirs, their_seconds = tuned_by_torchkm(X, y, sigma, fold, penalties)
    score = rows64 @ np.where(np.arange(d) < d // 2, 1.0, -1.0)
    five = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)
    _, five_seconds, five_steps = tuned_by_us(rows64, five, 2.0 * sigma, fold, costs)
    return [
        {
            "task": f"{task}, 2 ranks", "GPU s": seconds, "steps": steps,
            "TorchKM s": their_seconds, "times faster": their_seconds / seconds,
            "objective / TorchKM's, median": f"{np.median(ours / theirs):.6f}",
            "largest": f"{(ours / theirs).max():.6f}",
        },
        {
            "task": f"{task}, 5 ranks", "GPU s": five_seconds, "steps": five_steps,
            "TorchKM s": "not supported", "times faster": "", "objective / TorchKM's, median": "",
            "largest": "",
        },
    ]  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    bandwidth = device_bandwidth()
    print(f"the GPU reads {bandwidth / 1e12:.3g} TB/s")
    cases = [("2,000 x 16, REDSVM", 3, True), ("2,000 x 16, TOR", 3, True)]
    if not quick:
        cases = [
            ("census, REDSVM", 7, True), ("census, TOR", 5, True),
            (f"{LARGE:,} x 16, REDSVM", 3, False), (f"{LARGE:,} x 16, TOR", 3, False),
        ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for name, repeats, host in cases:
        rows.append(fit_row(name, str(data), repeats, host, bandwidth))
        show(
            "Fits, perceptron kernel, C = 1, tol 1e-3, kernel matrix included, warm; median",
            rows,
        )
    small = crossover_rows(SIZES[:2] if quick else SIZES, str(data))
    show("Few rows: median seconds of three fits", small)
    tuning = tuning_rows(1000, 20, 3, 5) if quick else tuning_rows(10_000, 1000, 10, 50)
    show("A search over C: all rows and all folds, kernel matrix included", tuning)
    return [*rows, *small, *tuning]
