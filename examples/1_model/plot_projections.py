"""
Where do the rows lie between the thresholds?
=============================================

Every model here except `MTSVM` puts rows on one axis and cuts it at thresholds. The projection of a
row says more than its rank: how close it is to the next one. The data are scikit-learn's diabetes
patients; the disease progression after one year is cut into four ranks.
"""

# %%
# A dot in the band of its own colour is predicted correctly. The bottom rows of labels were given to
# the model, the grey ones were not.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from tordinal import TOR
from tordinal.datasets import quantize
from tordinal.plotting import ProjectionDisplay

X, progression = load_diabetes(return_X_y=True)
truth = quantize(progression, 4)
y = np.where(np.arange(len(truth)) % 4 == 0, truth, -1)  # every fourth row is labelled
model = TOR(C=10, kernel="linear", class_ratio="blended").fit(X, y)
ProjectionDisplay.from_estimator(model, X, y)
plt.show()

# %%
# The same axis with the true ranks of the rows that had no label.
hidden = y == -1
ProjectionDisplay.from_estimator(model, X[hidden], truth[hidden])
plt.show()
