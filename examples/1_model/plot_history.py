"""
What did Algorithm 1 do?
========================

`history_` has a record for every training: the cost C2 of the unlabelled rows, the objective, and
how many pairs of labels were swapped afterwards. The objective rises when C2 rises, because
unlabelled rows cost more, and falls with the swaps.
"""

# %%
# The data are those of :ref:`sphx_glr_gallery_1_model_plot_pseudo_labels.py`.
import matplotlib.pyplot as plt
import numpy as np

from tordinal import TOR
from tordinal.plotting import HistoryDisplay

rng = np.random.default_rng(0)
band = np.repeat([1, 2, 3], 100)
rows = np.column_stack([rng.uniform(-0.7, 0.7, 300), band + 0.2 * rng.normal(size=300)])
X = np.vstack([[(-1, 1), (0, 2), (1, 3)], rows])
truth = np.concatenate([[1, 2, 3], band])
y = np.concatenate([[1, 2, 3], np.full(300, -1)])

model = TOR(C=10, C2_start=1e-3, C2_max=0.1).fit(X, y)
HistoryDisplay.from_estimator(model)
plt.show()

# %%
# The labels of Algorithm 2, before any swap, are in `initial_labels_`.
print(len(model.history_), "trainings,", sum(r["swaps"] for r in model.history_), "pairs swapped")
print("wrong at first:  ", np.sum(model.initial_labels_ != truth), "of 300")
print("wrong at the end:", np.sum(model.transduction_ != truth), "of 300")
