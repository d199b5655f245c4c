"""Reviews by words, by frozen and by tuned sentence encoders, and by SetFit's recipe.

Each run is a process of its own, its result a line of results/text.jsonl: interrupt it at any
moment, and the same command goes on. With a GPU all unrated reviews take part, 5 draws of 20, 60,
100 and 400 labels. Without one it is a part of that, with the settings for CPUs, until the runs
have taken an hour of CPU time. TORDINAL_ENCODER is the model: a folder or a name.
"""

import json
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_board import AMAZON, choose, reviews
from benchmarks.harness import show

METHODS = {
    "TORCV": "TORCV, TextViews",
    "frozen": "TORCV, TextViews and frozen encoder",
    "logistic": "logistic regression on frozen encoder",
    "tuned": "TORCV, TextViews and tuned encoder, labels only",
    "transduced": "TORCV, TextViews and tuned encoder, unlabelled texts too",
    "setfit": "SetFit's recipe, logistic head",
}
CHEAP, DEAR = ("TORCV", "frozen", "logistic"), ("transduced", "tuned", "setfit")
ON_CPU_UNLABELED, ON_CPU_SECONDS = 400, 3600.0

Case = tuple[str, int, int, str]


def cases(device: str) -> Iterator[Case]:
    """Dataset, number of labels, draw and method, what matters most first."""
    if device != "cpu":
        for n in (100, 60, 20, 400):
            for seed in range(5):
                yield from ((name, n, seed, method) for name in AMAZON for method in METHODS)
        return
    some = ("kitchen", "electronics")
    yield from ((name, 60, 0, method) for name in some for method in CHEAP)
    yield from ((name, 60, 0, method) for name in some for method in DEAR[:2])
    yield from ((name, 60, 0, "setfit") for name in some)
    yield from (
        (name, n, seed, method) for n in (60, 100) for seed in range(3) for name in some
        for method in CHEAP
    )  # fmt: skip
    yield from ((name, 100, 0, method) for name in some for method in DEAR)
    yield from ((name, 60, 1, method) for name in some for method in DEAR)


def rows(data: Path, case: Case, device: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, their ranks, and those of which a part is hidden."""
    name, n, seed, _ = case
    texts, stars = reviews(data, name)
    y = np.unique(stars, return_inverse=True)[1]
    kept = choose(y, seed, n)
    rest = np.setdiff1d(np.arange(len(y)), kept)
    if device == "cpu":
        rest = np.random.default_rng(seed).choice(rest, ON_CPU_UNLABELED, replace=False)
    at = np.sort(np.concatenate([kept, rest]))
    return [texts[i] for i in at], y[at], np.where(np.isin(at, kept), y[at], -1)


def rate(texts: list[str], y: np.ndarray, case: Case, device: str) -> dict[str, Any]:
    """Ranks of the unlabelled texts by one method, and the errors that it expects."""
    method, seed, encoder = case[3], case[2], os.environ["TORDINAL_ENCODER"]
    if method == "setfit":
        return {"ranks": setfit(encoder, texts, y, seed, device)}
    from tordinal.text import SentenceEncoder

    if method == "logistic":
        X = SentenceEncoder(encoder, tune=False).fit_transform(texts)
        return {"ranks": logistic(X, y)}
    import scipy.sparse as sp

    from tordinal import TORCV
    from tordinal.tables.expected_error import estimate_error
    from tordinal.text import TextViews
    from tordinal.text.encoder import ON_CPU
    from tordinal.text.views import views_with_encoder

    extra: dict[str, Any] = {}
    vectorizer = TextViews()
    X = vectorizer.fit_transform(texts)
    views = vectorizer.views_
    if method != "TORCV":
        tune = method != "frozen"
        settings: dict[str, Any] = {"tune": tune, "transduce": method == "transduced"}
        settings |= ON_CPU if device == "cpu" and tune else {}
        model = SentenceEncoder(encoder, random_state=seed, **settings)
        encoded = model.fit_transform(texts, y if tune else None)
        if tune:
            extra["projection"] = encoded[:, 0].tolist()
        columns = X.shape[1] + np.arange(encoded.shape[1])
        X = sp.hstack([X, encoded], format="csr")
        views = views_with_encoder(views, columns, tuned=tune)
    search = TORCV(kernel="linear", views=views, classes=list(range(4)), random_state=seed)
    search.fit(X, y)
    evidence = search.evidence()
    expected = estimate_error(y[evidence.rows], evidence.ranks, list(range(4)))
    extra["members"] = [view or "" for view in search.views_]
    return {
        **extra, "ranks": search.transduction_[y < 0],
        "estimated": [expected.zero_one, expected.mae],
        "margins": [expected.accuracy_margin, expected.mae_margin],
    }  # fmt: skip


def logistic(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logistic regression as SetFit has it."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(X[y >= 0], y[y >= 0]).predict(X[y < 0])


def setfit(encoder: str, texts: list[str], y: np.ndarray, seed: int, device: str) -> np.ndarray:
    """SetFit (Tunstall et al. 2022): 20 positive and 20 negative pairs of each text, one epoch.

    Its recipe, not its package: cosine similarity of a pair regressed on whether the classes are
    equal; AdamW, 2e-5, batches of 16 pairs, linear warm-up of 10 % and decay; texts cut off where
    the encoder ends; logistic regression on the embeddings of the labelled texts.
    """
    import torch

    from tordinal.text.pretrained import find_folder, load_model

    rng = np.random.default_rng(seed)
    model = load_model(find_folder(encoder, download=False), device)
    labeled = np.flatnonzero(y >= 0)
    pairs = []
    for _ in range(20):
        for i in labeled:
            same, others = labeled[y[labeled] == y[i]], labeled[y[labeled] != y[i]]
            pairs += [(i, rng.choice(same), 1.0), (i, rng.choice(others), 0.0)]
    order = rng.permutation(len(pairs))
    batches = [order[k : k + 16] for k in range(0, len(order), 16)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    warm_up = max(1, len(batches) // 10)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda k: min((k + 1) / warm_up, (len(batches) - k) / max(1, len(batches) - warm_up)),
    )
    torch.manual_seed(seed)
    model.train()
    for batch in batches:
        sides = [
            model({
                key: value.to(device)
                for key, value in model.tokenize([texts[pairs[p][side]] for p in batch]).items()
            })["sentence_embedding"]
            for side in (0, 1)
        ]  # fmt: skip
        truth = torch.tensor([pairs[p][2] for p in batch], device=device)
        loss = ((torch.cosine_similarity(*sides) - truth) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rate.step()
    model.eval()
    with torch.inference_mode():
        X = model.encode(texts, show_progress_bar=False)
    return logistic(np.asarray(X, dtype=np.float64), y)


def run_case(data: Path, case: Case, device: str) -> dict[str, Any]:
    """One run: errors, estimated errors, seconds and memory."""
    warnings.simplefilter("ignore")
    if device == "cpu" and case[3] not in ("TORCV",):
        import torch

        torch.set_num_threads(1)
    texts, truth, y = rows(data, case, device)
    start, cpu = time.perf_counter(), time.process_time()
    result = rate(texts, y, case, device)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    off = np.abs(result.pop("ranks") - truth[y < 0])
    return {
        "set": case[0], "labels": case[1], "seed": case[2], "method": case[3],
        "zero_one": float((off > 0).mean()), "mae": float(off.mean()), "unlabeled": len(off),
        **result, "device": device, "cpu_seconds": cpu, "seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    """Run what has not been run yet."""
    from tordinal.text.pretrained import choose_device

    device = choose_device("auto")
    path = Path(__file__).parent / "results" / f"text{'-quick' if quick else ''}.jsonl"
    path.parent.mkdir(exist_ok=True)
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    past = [record for record in past if record["device"] == device]
    done = {(r["set"], r["labels"], r["seed"], r["method"]) for r in past}
    spent = sum(r["cpu_seconds"] for r in past)
    context = multiprocessing.get_context("spawn")
    for case in list(cases(device))[: 3 if quick else None]:
        if case in done or (device == "cpu" and spent > ON_CPU_SECONDS):
            continue
        done.add(case)
        with context.Pool(1) as pool:
            record = pool.apply(run_case, (data, case, device))
        spent += record["cpu_seconds"]
        with path.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
    return summary([json.loads(line) for line in path.read_text().splitlines()])


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each dataset, number of labels and method: means over its draws."""
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for record in records:
        key = (record["set"], record["labels"], record["method"])
        groups.setdefault(key, []).append(record)
    order = list(METHODS)
    table = []
    for key in sorted(groups, key=lambda key: (*key[:2], order.index(key[2]))):
        name, n, method = key
        of = groups[key]
        row: dict[str, Any] = {"set": name, "labels": n, "method": METHODS[method]}
        row |= {"draws": len(of), "unlabelled": int(np.mean([r["unlabeled"] for r in of]))}
        for i, error in enumerate(("zero_one", "mae")):
            row[error] = float(np.mean([r[error] for r in of]))
            gaps = np.array([r["estimated"][i] - r[error] for r in of if "estimated" in r])
            widths = np.array([r["margins"][i] for r in of if "margins" in r])
            row[f"bias of {error}"] = float(gaps.mean()) if len(gaps) else "-"
            inside = int((np.abs(gaps) <= widths).sum())
            row[f"covered {error}"] = f"{inside} of {len(gaps)}" if len(gaps) else "-"
        row["CPU s"] = float(np.mean([r["cpu_seconds"] for r in of]))
        row["peak MB"] = round(max(r["peak_mb"] for r in of))
        table.append(row)
    show("Reviews: errors on unlabelled texts, and estimated minus true error", table)
    return table
