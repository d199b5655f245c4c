"""
How do pseudo-labels move as C2 grows?
======================================

`TOR` first fits the labelled rows alone and gives the others pseudo-labels. Then the cost of the
unlabelled rows, C2, rises, and labels are swapped wherever that lowers the objective. Here three
classes lie in three bands, and the one labelled row of each class misleads: the three of them suggest
bands that are tilted.
"""

# %%
# Large dots are labelled, lines are thresholds. With C2 near 0 only the labelled rows count. As C2
# grows the lines turn into the gaps between the bands, because there they pass few rows closely.
import matplotlib.pyplot as plt
import numpy as np

from tordinal import TOR
from tordinal.plotting import class_colours

rng = np.random.default_rng(0)
band = np.repeat([1, 2, 3], 100)
rows = np.column_stack([rng.uniform(-0.7, 0.7, 300), band + 0.2 * rng.normal(size=300)])
X = np.vstack([[(-1, 1), (0, 2), (1, 3)], rows])
truth = np.concatenate([[1, 2, 3], band])
y = np.concatenate([[1, 2, 3], np.full(300, -1)])

colours = np.array(class_colours(3))
fig, axes = plt.subplots(1, 4, figsize=(11, 4), layout="constrained", sharey=True)
for ax, C2 in zip(axes, (1e-5, 0.002, 0.01, 1.0), strict=True):
    model = TOR(C=10, C2_max=C2).fit(X, y)
    wrong = np.mean(model.transduction_ != truth)
    ax.scatter(*X[3:].T, s=9, color=colours[model.transduction_[3:] - 1], alpha=0.8)
    ax.scatter(*X[:3].T, s=110, color=colours, edgecolor="black", zorder=3)
    across = np.array([-1.2, 1.2])
    for t in model.thresholds_:
        ax.plot(across, (t - model.coef_[0] * across) / model.coef_[1], color="0.3", linewidth=1)
    ax.set(
        title=f"C2 = {C2:g}: {wrong:.1%} wrong",
        xlim=(-1.2, 1.2),
        ylim=(0.2, 3.8),
        xticks=[],
        yticks=[],
    )
plt.show()
