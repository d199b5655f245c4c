"""
Can the probabilities be believed?
==================================

`predict_proba` of models with the logistic loss is the model's own; with any other loss a curve is
fitted to labelled rows that were held out. `ReliabilityDisplay` compares probabilities with what
happened, on rows that no model has seen.
"""

# %%
# Dots on the diagonal: of the cumulative probabilities P(y > k) near 0.7, seven in ten came true.
# Vertical lines are 95 % intervals.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from tordinal import REDSVM
from tordinal.datasets import quantize
from tordinal.plotting import ReliabilityDisplay

X, progression = load_diabetes(return_X_y=True)
y = quantize(progression, 4)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=150, random_state=0)

fig, ax = plt.subplots(figsize=(4.8, 4.4), layout="constrained")
for loss in ("logistic", "hinge"):
    model = REDSVM(C=10, loss=loss).fit(X_train, y_train)
    ReliabilityDisplay.from_estimator(model, X_test, y_test, n_bins=6, name=loss, ax=ax)
plt.show()
