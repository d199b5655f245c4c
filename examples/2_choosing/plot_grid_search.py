"""
How do I choose C with scikit-learn's GridSearchCV?
===================================================

An ordinary cross-validation would hold out rows that have no label. `TransductiveKFold` keeps
unlabelled rows in every training set and holds out labelled ones only, and the scorers in
`tordinal.metrics.SCORERS` know the order of the classes.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV

from tordinal import TOR
from tordinal.datasets import quantize
from tordinal.metrics import SCORERS
from tordinal.model_selection import TransductiveKFold

X, progression = load_diabetes(return_X_y=True)
truth = quantize(progression, 4)
y = np.where(np.arange(len(truth)) % 4 == 0, truth, -1)

grid = {"C": [0.1, 1, 10, 100], "C2_max": [1e-3, 0.01, 0.1]}
search = GridSearchCV(
    TOR(kernel="linear", class_ratio="blended", swaps="optimal"),
    grid,
    cv=TransductiveKFold(5, random_state=0),
    scoring=SCORERS["neg_mean_absolute_error"],
).fit(X, y)
print(search.best_params_)

# %%
# The mean absolute error of each combination, on labelled rows that were held out.
error = -search.cv_results_["mean_test_score"].reshape(len(grid["C"]), -1)
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
image = ax.imshow(error, cmap="viridis_r")
for i, j in np.ndindex(error.shape):
    dark = error[i, j] > 0.5 * (error.min() + error.max())
    ax.text(
        j, i, f"{error[i, j]:.2f}", ha="center", va="center", color="white" if dark else "black"
    )
ax.set_xticks(range(len(grid["C2_max"])), grid["C2_max"])
ax.set_yticks(range(len(grid["C"])), grid["C"])
ax.set(xlabel="C2_max", ylabel="C")
fig.colorbar(image, label="mean absolute error")
plt.show()
