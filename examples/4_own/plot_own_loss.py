"""
How do I use a loss of my own?
==============================

An object with `value`, `slope` (its derivative) and `curvature` (its second derivative) as functions
of the margin is a loss, if it is convex and larger for wrong rows than for right ones. This one is
the modified Huber loss: a squared hinge that continues as a straight line, so that one absurd label
cannot pull the model far.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from tordinal import REDSVM
from tordinal.plotting import COLOURS, STYLES, OrdinalLossDisplay


class ModifiedHuber:
    """(1 - g)^2 between -1 and 1, -4 g below, 0 above."""

    def value(self, g):
        return np.where(g < -1, -4 * g, np.maximum(0, 1 - g) ** 2)

    def slope(self, g):
        return np.where(g < -1, -4.0, -2 * np.maximum(0, 1 - g))

    def curvature(self, g):
        return np.where((g > -1) & (g < 1), 2.0, 0.0)


OrdinalLossDisplay.from_loss(ModifiedHuber(), classes=[1, 3, 5])
plt.show()

# %%
# Sixty rows lie on a line, with ranks that rise from 1 to 4. Two more, at the right, were given the
# rank 1 by mistake. Losses that grow with the square of the distance give way to these two; the hinge
# does so least.
x = np.concatenate([np.linspace(0, 4, 60), [6, 7]])
ranks = np.concatenate([np.repeat([1, 2, 3, 4], 15), [1, 1]])

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.scatter(x, ranks, s=14, color="0.55", label="given ranks")
grid = np.linspace(-0.5, 7.5, 800)
losses = {"squared hinge": "squared_hinge", "modified Huber": ModifiedHuber(), "hinge": "hinge"}
for (name, loss), colour, style in zip(losses.items(), COLOURS, STYLES, strict=False):
    model = REDSVM(C=1, loss=loss).fit(x[:, None], ranks)
    wrong = np.mean(model.predict(x[:60, None]) != ranks[:60])
    label = f"{name}: {wrong:.0%} of the sixty wrong"
    ax.plot(grid, model.predict(grid[:, None]), style, color=colour, label=label)
ax.set(xlabel="x", ylabel="rank", yticks=[1, 2, 3, 4])
ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.12))
plt.show()
