"""
Which rows should be rated next?
================================

Rating the rows whose ratings help the model most saves ratings. `tordinal.active` picks them and
records the probability of each choice, so that unbiased estimates remain possible. Here ten random
ratings come first, then five at a time.
"""

# %%
# Mean absolute error of the finished table, in which rated rows count as correct: means of eight
# draws.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from tordinal import REDSVM
from tordinal.active import ExpectedErrorReduction, Random
from tordinal.plotting import COLOURS

X, truth = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
classes = [0, 1, 2]


def finished_error(y):
    rated = y != -1
    predicted = REDSVM(C=1, classes=classes).fit(X[rated], y[rated]).predict(X)
    return np.mean(np.abs(np.where(rated, truth, predicted) - truth))


numbers = range(10, 61, 5)
curves = {"Random": [], "ExpectedErrorReduction": []}
for seed in range(8):
    for name, strategy in zip(curves, (Random, ExpectedErrorReduction), strict=True):
        first, _ = Random(random_state=seed).query(X, np.full(len(truth), -1), 10)
        y = np.full(len(truth), -1)
        y[first] = truth[first]
        errors = [finished_error(y)]
        for _ in numbers[1:]:
            rows, _ = strategy(random_state=seed, classes=classes).query(X, y, 5)
            y[rows] = truth[rows]
            errors.append(finished_error(y))
        curves[name].append(errors)

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, errors), colour, style in zip(
    curves.items(), (COLOURS[1], COLOURS[0]), ("--", "-"), strict=True
):
    ax.plot(numbers, np.mean(errors, axis=0), style, marker="o", color=colour, label=name)
ax.set(xlabel="rows rated", ylabel="mean absolute error of the table", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
