"""Time and memory of `SentenceEncoder` on 2,000 and 20,000 texts, on a GPU or a CPU.

TORDINAL_ENCODER is the model: a folder or a name. 100 texts are rated. Where there is no GPU, the
settings are those of `tordinal label --tune` there. Each result is a line of results/encoder.jsonl:
interrupt it at any moment, and the same command goes on; results of other devices stay.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_board import AMAZON, reviews
from benchmarks.harness import show

SIZES, LABELS = (2_000, 20_000), 100
METHODS = {"frozen": "embeddings", "labels only": "tuned by ratings", "tuned": "tuned by all texts"}
NAMES = ("processor", "texts", "method")


def texts_and_stars(data: Path, n: int) -> tuple[list[str], np.ndarray]:
    """Reviews of all products; again with their words in another order where they are too few."""
    pairs = [pair for name in AMAZON for pair in zip(*reviews(data, name), strict=True)]
    rng = np.random.default_rng(0)
    pairs = [pairs[i] for i in rng.permutation(len(pairs))]
    more = [pairs[i % len(pairs)] for i in range(len(pairs), n)]
    pairs += [(" ".join(rng.permutation(text.split())), star) for text, star in more]
    return [text for text, _ in pairs[:n]], np.array([star for _, star in pairs[:n]])


def processor() -> str:
    """Name of the GPU, or the number of threads."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"CPU, threads: {torch.get_num_threads()}"


def encode(data: Path, n: int, method: str, quick: bool) -> dict[str, Any]:
    """Fit in this process; seconds and peak memory."""
    import torch

    from tordinal.text import SentenceEncoder
    from tordinal.text.encoder import ON_CPU

    texts, stars = texts_and_stars(data, n)
    hidden = np.where(np.arange(n) < LABELS, np.unique(stars, return_inverse=True)[1], -1)
    on_gpu = torch.cuda.is_available()
    settings: dict[str, Any] = {} if on_gpu else ON_CPU
    if quick:
        settings = {"n_folds": 2, "epochs": 1, "window": 16}
    if method == "frozen":
        settings = {}
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    encoder = SentenceEncoder(
        os.environ["TORDINAL_ENCODER"], tune=method != "frozen", transduce=method == "tuned",
        random_state=0, **settings,
    )  # fmt: skip
    encoder.fit_transform(texts, hidden)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "processor": processor(),
        "texts": n, "method": METHODS[method], **settings, "s": seconds,
        "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak MB": after.ru_maxrss / 1024,
        "GPU MB": torch.cuda.max_memory_reserved() / 2**20 if on_gpu else 0.0,
        "torch": torch.__version__,
    }  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    """Measure what has not been measured on this processor, the fastest first."""
    path = Path(__file__).parent / "results" / f"encoder{'-quick' if quick else ''}.jsonl"
    path.parent.mkdir(exist_ok=True)
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    here = processor()
    done = {tuple(r[name] for name in NAMES) for r in records}
    cases = [(n, method) for method in METHODS for n in ((200, 400) if quick else SIZES)]
    for n, method in cases:
        if (here, n, METHODS[method]) in done:
            continue
        # A process of its own: memory of one run is not that of another.
        code = (
            "import json, sys; from pathlib import Path\n"
            "from benchmarks.bench_encoder import encode\n"
            "print(json.dumps(encode(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], "
            "sys.argv[4] == 'quick')))"
        )
        given = [str(data), str(n), method, "quick" if quick else "all"]
        answer = subprocess.run(
            [sys.executable, "-c", code, *given], stdout=subprocess.PIPE, text=True, check=True
        )
        records.append(json.loads(answer.stdout.splitlines()[-1]))
        with path.open("a") as stream:
            stream.write(json.dumps(records[-1]) + "\n")
        print(records[-1], flush=True)
    keys = (*NAMES, "s", "CPU s", "peak MB", "GPU MB")
    rows = [{key: record[key] for key in keys} for record in records]
    show(f"SentenceEncoder.fit_transform, {LABELS} ratings", rows)
    return rows
