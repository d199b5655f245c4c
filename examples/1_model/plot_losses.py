"""
What does each loss punish?
===========================

The loss of a class is the sum of a binary loss over all thresholds (equation 6), so a row that is
off by three ranks costs more than one that is off by one. Each picture shows the loss of classes 1,
3 and 5 against the projection, for thresholds at 4, 8, 12 and 16.
"""

# %%
# The hinge grows in straight lines and is zero inside its own interval. The squared losses punish
# distant errors hardest, and "square" and "laplacian" also rows that are far on the right side. Only
# the logistic loss gives probabilities without a further step.
import matplotlib.pyplot as plt

from tordinal.losses import LOSSES
from tordinal.plotting import OrdinalLossDisplay

fig, axes = plt.subplots(3, 2, figsize=(9, 9), layout="constrained")
for ax, loss in zip(axes.flat, LOSSES, strict=False):
    OrdinalLossDisplay.from_loss(loss, classes=[1, 3, 5], ax=ax)
    ax.legend_.remove()
axes.flat[-1].axis("off")
axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", frameon=False)
plt.show()
