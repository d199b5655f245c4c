"""
When do unlabelled rows help?
=============================

They help where classes are clusters. Algorithm 3 of the paper makes such data in a space of many
features: the larger p, the more the classes overlap. 50 of 1,500 rows are labelled.
"""

# %%
# Three answers for the unlabelled rows. `REDSVM` puts them between thresholds that come from the
# labelled rows alone. With the same projection, Algorithm 2 hands out the ranks in the proportions of
# the labelled rows. `TOR` continues from there, with training and swaps. Means of three draws; vertical
# lines are standard errors of the difference to the line above.
import matplotlib.pyplot as plt
import numpy as np

from tordinal import REDSVM, TOR
from tordinal.datasets import make_ordinal_clusters
from tordinal.plotting import COLOURS

overlaps, n_draws = (0.02, 0.1, 0.3), 3
errors = np.zeros((3, len(overlaps), n_draws))
for i, p in enumerate(overlaps):
    for seed in range(n_draws):
        X, truth = make_ordinal_clusters(1500, p=p, random_state=seed)
        y, hidden = np.where(np.arange(1500) < 50, truth, -1), slice(50, None)
        red = REDSVM(C=10).fit(X[:50], y[:50])
        tor = TOR(C=10, swaps="all").fit(X, y)
        answers = (red.predict(X[hidden]), tor.initial_labels_[hidden], tor.transduction_[hidden])
        errors[:, i, seed] = [np.mean(answer != truth[hidden]) for answer in answers]

names = ("REDSVM", "the same, by class proportions", "TOR")
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for k, name in enumerate(names):
    spread = 0.0
    if k:
        spread = (errors[k - 1] - errors[k]).std(axis=1, ddof=1) / np.sqrt(n_draws)
    ax.errorbar(
        overlaps, errors[k].mean(axis=1), yerr=spread, marker="o", color=COLOURS[k], label=name
    )
ax.set(xscale="log", xlabel="overlap p", ylabel="zero-one error", ylim=(0, 1))
ax.set_xticks(overlaps, map(str, overlaps))
ax.minorticks_off()
ax.legend(frameon=False, loc="lower right")
plt.show()
