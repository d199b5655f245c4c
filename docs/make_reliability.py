"""Draw docs/reliability.png: are the probabilities of held-out rows right as often as they say?"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.bench_board import choose, load
from tordinal import REDSVM, TOR, TORCV
from tordinal.plotting import COLOURS

SETS, SEEDS = ("ESL", "LEV", "SWD", "car", "balance-scale"), range(2)
MODELS = {"REDSVM": REDSVM, "TOR": TOR, "TORCV": TORCV}


def said_and_true(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Cumulative probabilities said of hidden rows, and whether they came true."""
    said, true = [], []
    for data in SETS:
        X, y = load(ROOT.parent / "shared" / "data", data)
        for seed in SEEDS:
            kept = choose(y, seed)
            hidden = np.full(len(y), -1)
            hidden[kept] = y[kept]
            model = MODELS[name]()
            model = model.fit(X[kept], y[kept]) if name == "REDSVM" else model.fit(X, hidden)
            rest = hidden == -1
            above = 1.0 - np.cumsum(model.predict_proba(X[rest]), axis=1)[:, :-1]
            said.append(above.ravel())
            true.append((y[rest][:, None] > np.arange(above.shape[1])).ravel())
    return np.concatenate(said), np.concatenate(true)


figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.2), layout="constrained", sharey=True)
for ax, (name, colour) in zip(axes, zip(MODELS, COLOURS, strict=False), strict=True):
    said, true = said_and_true(name)
    bins = np.clip((said * 10).astype(int), 0, 9)
    x = [said[bins == b].mean() for b in range(10) if (bins == b).any()]
    share = [true[bins == b].mean() for b in range(10) if (bins == b).any()]
    ax.plot([0, 1], [0, 1], color="0.8", zorder=0)
    ax.plot(x, share, "o-", color=colour)
    error = sum(
        (bins == b).mean() * abs(true[bins == b].mean() - said[bins == b].mean())
        for b in np.unique(bins)
    )
    ax.set(
        title=f"{name} (calibration error {error:.3f})",
        xlabel="P(y > k) as predicted",
        aspect="equal",
    )
axes[0].set_ylabel("share of rows with y > k")
figure.savefig(Path(__file__).parent / "reliability.png", dpi=90, bbox_inches="tight")
