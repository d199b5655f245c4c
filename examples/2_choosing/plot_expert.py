"""
How can a random forest take part?
==================================

Some tables suit a forest better than any kernel. `TORCV(experts=[...])` cross-validates any
classifier with `predict_proba` beside its own candidates, and gives it a place in the ensemble only
if that helps. Here the first column, a category, decides about the rating, in no order that a kernel
could follow; the forest is told to look at that column only.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from tordinal import TORCV
from tordinal.plotting import COLOURS

rng = np.random.default_rng(0)
codes = rng.integers(0, 12, 240)
truth = np.array([0, 2, 1, 0, 2, 0, 1, 2, 1, 0, 1, 2])[codes]
X = np.column_stack([codes, rng.normal(size=(240, 2))])
y = np.where(np.arange(240) < 100, truth, -1)
hidden = y == -1

forest = RandomForestClassifier(100, random_state=0)
options = {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"], "loss": "logistic"}
alone = TORCV(**options).fit(X, y)
helped = TORCV(**options, experts=[("forest", forest, [0])]).fit(X, y)
print(helped.best_params_)

# %%
# Zero-one errors on the rows without a label.
errors = {
    "TORCV": np.mean(alone.transduction_[hidden] != truth[hidden]),
    "TORCV with the forest as expert": np.mean(helped.transduction_[hidden] != truth[hidden]),
}
fig, ax = plt.subplots(figsize=(6.4, 1.8), layout="constrained")
bars = ax.barh(list(errors), list(errors.values()), color=[COLOURS[5], COLOURS[0]])
ax.bar_label(bars, [f"{e:.0%}" for e in errors.values()], padding=4)
ax.invert_yaxis()
ax.set(xlabel="zero-one error", xlim=(0, 1.15 * max(errors.values())))
plt.show()
