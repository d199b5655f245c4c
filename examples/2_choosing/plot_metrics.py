"""
Why not just count wrong labels?
================================

Two models can be wrong equally often and still differ: one misses by one rank, the other by three.
Ordinal metrics see that. The data are scikit-learn's diabetes patients; the disease progression is
cut into five ranks.
"""

# %%
# `LogisticRegression` knows no order of the classes. It is right a little more often than the ordinal
# model, but its errors are larger.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from tordinal import REDSVM, metrics
from tordinal.datasets import quantize
from tordinal.plotting import OrdinalConfusionDisplay

X, progression = load_diabetes(return_X_y=True)
y = quantize(progression, 5)
parts = train_test_split(X, y, train_size=150, random_state=0, stratify=y)
X_train, X_test, y_train, y_test = parts
models = {
    "LogisticRegression": LogisticRegression(C=10).fit(X_train, y_train),
    "REDSVM": REDSVM(C=10).fit(X_train, y_train),
}

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    display = OrdinalConfusionDisplay.from_estimator(model, X_test, y_test, ax=ax)
    ax.set_title(f"{name}: {ax.get_title()}")
plt.show()

# %%
# The same models by the metrics of `tordinal.metrics`.
for name, model in models.items():
    predicted = model.predict(X_test)
    print(name)
    print("  zero-one error        ", round(metrics.mean_zero_one_error(y_test, predicted), 3))
    print("  mean absolute error   ", round(metrics.mean_absolute_error(y_test, predicted), 3))
    print(
        "  macro-averaged MAE    ", round(metrics.macro_mean_absolute_error(y_test, predicted), 3)
    )
    print("  quadratic kappa       ", round(metrics.quadratic_weighted_kappa(y_test, predicted), 3))
    score = metrics.ranked_probability_score(y_test, model.predict_proba(X_test))
    print("  ranked probability sc.", round(score, 3))
