"""
What if the labelled rows have another class ratio?
===================================================

`TOR` hands out pseudo-labels in given class proportions. The paper takes those of the labelled
rows. Here that is wrong on purpose: all ranks are about equally frequent among 442 patients, but
ratings were mostly given to low ones.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from tordinal import TOR
from tordinal.datasets import quantize
from tordinal.metrics import mean_absolute_error
from tordinal.plotting import class_colours

X, progression = load_diabetes(return_X_y=True)
truth = quantize(progression, 4)
rng = np.random.default_rng(0)
y = np.full(len(truth), -1)
for rank, count in zip((1, 2, 3, 4), (40, 20, 10, 5), strict=True):
    rows = rng.choice(np.flatnonzero(truth == rank), count, replace=False)
    y[rows] = rank
hidden = y == -1

# %%
# Bars are the shares of the four ranks among the rows without a rating, and the mean absolute error
# of these rows. No ratio that is computed from the ratings finds the truth: nothing in them says that
# they were chosen by rank. Those who know the proportions should pass them; here equal ones,
# "uniform", are nearly right.
ratios = {"truth": truth[hidden]}
for ratio in ("labeled", "predicted", "blended", "estimated", "uniform"):
    model = TOR(C=10, class_ratio=ratio, swaps="optimal").fit(X, y)
    ratios[ratio] = model.transduction_[hidden]

fig, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
left = np.zeros(len(ratios))
for rank, colour in zip((1, 2, 3, 4), class_colours(4), strict=True):
    share = [np.mean(labels == rank) for labels in ratios.values()]
    ax.barh(list(ratios), share, left=left, color=colour, label=f"rank {rank}")
    left += share
for place, labels in enumerate(ratios.values()):
    error = mean_absolute_error(truth[hidden], labels)
    ax.text(1.02, place, f"off by {error:.2f}" if place else "", va="center")
ax.invert_yaxis()
ax.set(xlim=(0, 1.18), xticks=[0, 0.25, 0.5, 0.75, 1], xlabel="share of the unrated rows")
ax.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.42, 1.0))
plt.show()
