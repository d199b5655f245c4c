"""
How do I use a kernel of my own?
================================

A kernel is a function of two matrices, or a class registered under a name, which every estimator
then knows. This one compares histograms by what they have in common; the histograms are the grey
values of handwritten digits, row by row.
"""

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from tordinal import TORCV
from tordinal.kernels import Kernel, register
from tordinal.plotting import OrdinalConfusionDisplay


@register
@dataclass(frozen=True)
class Intersection(Kernel):
    """The sum of the smaller of the two values of each feature."""

    name = "intersection"

    def __call__(self, A, B):
        return np.array([np.minimum(a, B).sum(axis=1) for a in A])


# %%
# `TORCV` finds out which kernel is best for 50 labelled digits, which are read as numbers.
X, digit = load_digits(n_class=4, return_X_y=True)
rows = np.random.default_rng(3).permutation(len(X))[:400]
X, digit = X[rows] / 16, digit[rows]
y = np.where(np.arange(400) < 50, digit, -1)
search = TORCV(C=[0.01, 0.1, 1], kernel=["intersection", "linear", "rbf"], loss="hinge").fit(X, y)
print("best:", search.best_params_)
print(search.verdict_)

# %%
# The rows without a label.
OrdinalConfusionDisplay.from_predictions(digit[50:], search.transduction_[50:])
plt.show()
