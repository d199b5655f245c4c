"""
How many ratings does a model save for an average?
==================================================

The average rating of a whole table can be estimated from the rated rows alone, or from these and
the predictions of a model for all others. Both intervals hold; the second is shorter where the
model predicts well.
"""

# %%
# Intervals (90 %) of the average rank of 442 patients, by the number of rated ones; the line is the
# truth.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from tordinal import REDSVM
from tordinal.datasets import quantize
from tordinal.inference import cross_fitted_proba, estimate_mean
from tordinal.plotting import COLOURS

X, progression = load_diabetes(return_X_y=True)
truth = quantize(progression, 5)
order = np.random.default_rng(0).permutation(len(truth))

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for place, n in enumerate((20, 40, 80, 160)):
    y = np.full(len(truth), -1)
    y[order[:n]] = truth[order[:n]]
    p = cross_fitted_proba(REDSVM(C=10, loss="logistic"), X, y)
    for shift, colour, lam in ((-0.1, COLOURS[1], 0), (0.1, COLOURS[0], None)):
        found = estimate_mean(y, p, lam=lam)  # lam=0: the predictions do not count
        bars = [[found.value - found.low], [found.high - found.value]]
        ax.errorbar(place + shift, found.value, yerr=bars, fmt="o", color=colour)
ax.axhline(truth.mean(), color="0.5", linewidth=1, zorder=0)
ax.plot([], [], "o-", color=COLOURS[1], label="ratings alone")
ax.plot([], [], "o-", color=COLOURS[0], label="ratings and predictions")
ax.set_xticks(range(4), ["20", "40", "80", "160"])
ax.set(xlabel="rated rows", ylabel="average rank")
ax.legend(frameon=False)
plt.show()
