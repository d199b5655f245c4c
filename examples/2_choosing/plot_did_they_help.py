"""
Did the unlabelled rows help?
=============================

`TORCV` tries models with and without the unlabelled rows and measures both on labelled rows that
were held out. Its `verdict_` says the result in one line, and `cv_errors_` has the numbers.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from tordinal import TORCV
from tordinal.datasets import make_ordinal_clusters
from tordinal.plotting import COLOURS

X, truth = make_ordinal_clusters(400, p=0.05, random_state=0)
y = np.where(np.arange(400) < 60, truth, -1)
model = TORCV(C=[0.1, 1, 10], kernel="perceptron", loss="hinge").fit(X, y)
print(model.verdict_)

# %%
# The truth is known here, so the estimate can be compared with the error on the unlabelled rows.
hidden = y == -1
true_error = np.mean(model.transduction_[hidden] != truth[hidden])

names = {"supervised": "labelled rows alone", "transductive": "all rows", "this model": "ensemble"}
found = [name for name in names if name in model.cv_errors_]
fig, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
ax.barh([names[n] for n in found], [model.cv_errors_[n][0] for n in found], color=COLOURS[5])
ax.axvline(true_error, color=COLOURS[1])
ax.set_title("line: true error of the ensemble", color=COLOURS[1], fontsize="medium")
ax.invert_yaxis()
ax.set(xlabel="zero-one error, cross-validated")
plt.show()
