"""
How much better are the ratings that the model is sure of?
==========================================================

Nobody has to accept every prediction. Rows are sorted by the probability of their predicted rank;
the less certain ones are left to people. Both errors fall with the share of rows that are rated.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from tordinal import TORCV
from tordinal.datasets import quantize
from tordinal.plotting import COLOURS

X, progression = load_diabetes(return_X_y=True)
truth = quantize(progression, 4)
y = np.where(np.arange(len(truth)) % 4 == 0, truth, -1)
model = TORCV(C=[1, 10, 100], kernel="linear").fit(X, y)

hidden = y == -1
p = model.predict_proba(X[hidden])
predicted = model.classes_[p.argmax(axis=1)]
order = np.argsort(-p.max(axis=1), kind="stable")
off = np.abs(predicted - truth[hidden])[order]
rated = np.arange(1, len(off) + 1)

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
first = 30  # fewer rows say nothing
share = rated[first:] / len(off)
ax.plot(share, (np.cumsum(off > 0) / rated)[first:], color=COLOURS[0], label="wrong")
ax.plot(
    share,
    (np.cumsum(off > 1) / rated)[first:],
    "--",
    color=COLOURS[1],
    label="off by more than one",
)
ax.set(
    xlabel="share of the rows that are rated, the most certain first",
    ylabel="share",
    ylim=(0, None),
)
ax.legend(frameon=False)
plt.show()
