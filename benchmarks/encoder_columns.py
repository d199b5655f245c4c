"""Columns of sentence encoders for `benchmarks text`: frozen, tuned, and SetFit's recipe.

``python -m benchmarks.encoder_columns --seconds 400 --jobs 12`` needs a GPU. With ``--cpu`` it
tunes as `label --tune` does without one: one draw of 100 labels. Each result is a file of its own
in results/text-columns (text-columns-cpu), written when it is complete: interrupt it at any moment,
and the same command goes on. TORDINAL_ENCODER is the model: a folder or a name.
"""

import argparse
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_board import AMAZON, choose, reviews

COLUMNS = Path(__file__).parent / "results" / "text-columns"
COLUMNS_CPU = COLUMNS.with_name("text-columns-cpu")
LABELS, DRAWS = (100, 60, 20, 400), 5
LABELS_CPU, DRAWS_CPU = (100,), 1


@dataclass(frozen=True)
class Job:
    """One file: the embeddings of a dataset, or what one encoder makes of a draw."""

    kind: str  # frozen, tuned or setfit
    name: str
    labels: int = 0
    seed: int = 0

    def path(self, folder: Path) -> Path:
        draw = f"-{self.labels}-{self.seed}" if self.labels else ""
        return folder / f"{self.name}{draw}-{self.kind}.npz"


def jobs(quick: bool = False, cpu: bool = False) -> Iterator[Job]:
    """What matters most first."""
    if cpu:
        yield from (Job("tuned", name, n, 0) for n in LABELS_CPU for name in AMAZON)
        yield from (Job("setfit", name, n, 0) for n in LABELS_CPU for name in AMAZON)
        yield from (Job("frozen", name) for name in AMAZON)
        return
    sets = AMAZON[3:] if quick else AMAZON
    yield from (Job("frozen", name) for name in sets)
    for n in (20,) if quick else LABELS:
        for seed in range(1 if quick else DRAWS):
            yield from (Job(kind, name, n, seed) for name in sets for kind in ("tuned", "setfit"))


@lru_cache(maxsize=1)
def rows(data: Path, name: str, quick: bool = False) -> tuple[list[str], np.ndarray]:
    """Texts and their ranks."""
    texts, stars = reviews(data, name)
    y = np.unique(stars, return_inverse=True)[1]
    if quick:
        some = choose(y, 0, 60)
        texts, y = [" ".join(texts[i].split()[:30]) for i in some], y[some]
    return texts, y


def hide(y: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Ranks with all but n hidden."""
    hidden = np.full(len(y), -1)
    kept = choose(y, seed, n)
    hidden[kept] = y[kept]
    return hidden


def logistic(X: np.ndarray, y: np.ndarray) -> Any:
    """Logistic regression as SetFit has it."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(X, y)


def frozen(encoder: str, texts: list[str]) -> dict[str, np.ndarray]:
    """Embeddings as the model has them."""
    from tordinal.text import SentenceEncoder

    X = SentenceEncoder(encoder, tune=False).fit_transform(texts)
    return {"embeddings": X.astype(np.float16)}


def tuned(encoder: str, texts: list[str], y: np.ndarray, seed: int, **settings: Any) -> Any:
    """Projections as `SentenceEncoder` makes them: by labels only, and by unlabelled texts too.

    The first round of the second is the first: the encoder is tuned once for both. Beside the
    projections there are probabilities by logistic regression on the same embeddings.
    """
    from tordinal.text import encoder as module
    from tordinal.text.cross_tuning import CrossTuning

    n_classes = int(y.max()) + 1
    rounds = [(np.empty(len(texts)), np.empty((len(texts), n_classes))) for _ in range(2)]

    class Both(CrossTuning):
        def run(self, held_out: Any, asked: Any, seed: int) -> Any:
            self.known, self.asked = np.flatnonzero((self.rank >= 0) & ~held_out), asked
            return super().run(held_out, asked, seed)

        def _tune(self, cut: Any, y: Any, seed: int, pseudo: Any = None) -> None:
            if pseudo is not None:
                self.keep(0)
            self.embedded: dict[bytes, Any] = {}
            super()._tune(cut, y, seed, pseudo)

        def _embed(self, rows: Any) -> Any:
            key = rows.tobytes()
            if key not in self.embedded:
                self.embedded[key] = super()._embed(rows)
            return self.embedded[key]

        def _project(self, known: Any, asked: Any) -> Any:
            self.keep(1)
            return super()._project(known, asked)

        def keep(self, of_round: int) -> None:
            h, p = rounds[of_round]
            h[self.asked] = super()._project(self.known, self.asked)[1]
            X, asked = self._embed(self.known), self._embed(np.flatnonzero(self.asked))
            model = logistic(X, self.rank[self.known])
            p[self.asked] = 0.0
            p[np.ix_(self.asked, model.classes_)] = model.predict_proba(asked)

    module.CrossTuning = Both  # type: ignore[misc]
    start = time.perf_counter()
    module.SentenceEncoder(encoder, random_state=seed, **settings).fit_transform(texts, y)
    names = ("labels_only", "unlabelled_too")
    return {
        **{name: h.astype(np.float32) for name, (h, _) in zip(names, rounds, strict=True)},
        **{f"{name}_p": p.astype(np.float16) for name, (_, p) in zip(names, rounds, strict=True)},
        "seconds": np.array(time.perf_counter() - start),
    }  # fmt: skip


def setfit(encoder: str, texts: list[str], y: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """SetFit (Tunstall et al. 2022): 20 positive and 20 negative pairs of each text, one epoch.

    Its recipe, not its package: cosine similarity of a pair regressed on whether the classes are
    equal; AdamW, 2e-5, batches of 16 pairs, linear warm-up of 10 % and decay; texts cut off where
    the encoder ends; logistic regression on the embeddings of the labelled texts.
    """
    import torch

    from tordinal.text.pretrained import choose_device, find_folder, load_model, own_random_state
    from tordinal.text.windows import Windows, embed, forward

    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    device = choose_device("auto")
    model = load_model(find_folder(encoder, download=False), device)
    cut = Windows(model, model.max_seq_length, 1)
    windows = [of_text[0] for of_text in cut(texts)]
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
    with own_random_state(seed):
        model.train()
        for batch in batches:
            sides = [forward(model, [windows[pairs[p][side]] for p in batch]) for side in (0, 1)]
            truth = torch.tensor([pairs[p][2] for p in batch], device=device)
            loss = ((torch.cosine_similarity(*sides) - truth) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            rate.step()
    X = embed(model, cut, texts)
    p = logistic(X[labeled], y[labeled]).predict_proba(X)
    return {
        "probability": p.astype(np.float16), "ranks": p.argmax(axis=1).astype(np.int8),
        "seconds": np.array(time.perf_counter() - start),
    }  # fmt: skip


def run_job(
    job: Job, data: Path, folder: Path, deadline: float, quick: bool, settings: dict[str, int]
) -> str:
    """Make one file, unless there is no time for it."""
    path = job.path(folder)
    if path.exists() or time.time() > deadline:
        return ""
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    encoder = os.environ["TORDINAL_ENCODER"]
    start = time.perf_counter()
    texts, truth = rows(data, job.name, quick)
    y = hide(truth, job.labels, job.seed) if job.labels else truth
    if job.kind == "frozen":
        result = frozen(encoder, texts)
    elif job.kind == "tuned":
        result = tuned(encoder, texts, y, job.seed, **settings)
    else:
        result = setfit(encoder, texts, y, job.seed)
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as stream:
        np.savez_compressed(stream, **result)
    os.replace(part, path)
    return f"{path.name} {time.perf_counter() - start:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--out", type=Path, help="default: results/text-columns, with --cpu ...-cpu"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes on the one device")
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin nothing after them")
    parser.add_argument("--quick", action="store_true", help="a tiny part of it")
    parser.add_argument("--cpu", action="store_true", help="one draw, tuned as without a GPU")
    given = parser.parse_args()
    out = given.out or (COLUMNS_CPU if given.cpu else COLUMNS)
    out.mkdir(parents=True, exist_ok=True)
    settings: dict[str, int] = {}
    if given.cpu:
        from tordinal.text.encoder import ON_CPU

        settings = dict(ON_CPU)
    if given.quick:
        settings = {"epochs": 2, "n_folds": 2}
    wanted = list(jobs(given.quick, given.cpu))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # processes side by side
    start = time.time()
    todo = [
        (job, given.data, out, start + given.seconds, given.quick, settings)
        for job in wanted if not job.path(out).exists()
    ]  # fmt: skip
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for line in pool.imap_unordered(_star, todo, chunksize=1):
            if line:
                print(f"{time.time() - start:.0f} s: {line}", flush=True)
    every = [job.path(out).exists() for job in wanted]
    print(f"{sum(every)} of {len(every)} files are there", flush=True)


def _star(arguments: Any) -> str:
    return run_job(*arguments)


if __name__ == "__main__":
    main()
