"""
What share of all rows has each rating?
=======================================

Often nobody needs single ratings, but the average or the share of each rating in the whole table.
`tordinal.inference` estimates them from the rated rows and the predictions together, with intervals
that hold however poor the model is.
"""

# %%
# 80 of 442 patients are rated. Dots are estimates, lines 90 % intervals, crosses the truth, which is
# known here.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from tordinal import REDSVM
from tordinal.inference import cross_fitted_proba, estimate_table
from tordinal.plotting import COLOURS

X, progression = load_diabetes(return_X_y=True)
truth = np.digitize(progression, [100, 180, 260]) + 1
y = np.full(len(truth), -1)
rated = np.random.default_rng(0).choice(len(truth), 80, replace=False)
y[rated] = truth[rated]

p = cross_fitted_proba(REDSVM(C=10, loss="logistic"), X, y)
estimates = estimate_table(y, p)
print("average:", estimates.mean, " truth:", round(truth.mean(), 3))

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
no_help = estimate_table(y, np.full_like(p, 0.25)).shares  # a model that knows nothing
for shift, colour, name, found in (
    (-0.08, COLOURS[0], "ratings and predictions", estimates.shares),
    (0.08, COLOURS[1], "ratings alone", no_help),
):
    value = found["value"].to_numpy()
    bars = [value - found["low"], found["high"] - value]
    ax.errorbar(np.arange(4) + shift, value, yerr=bars, fmt="o", color=colour, label=name)
ax.plot(range(4), [np.mean(truth == k) for k in (1, 2, 3, 4)], "x", color="black", label="truth")
ax.set_xticks(range(4), ["1", "2", "3", "4"])
ax.set(xlabel="rank", ylabel="share of all rows", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
