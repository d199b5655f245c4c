"""
What is the average of each group?
==================================

The average rating of each product, ward or school, with an interval, from a few ratings.
`rate_table` takes the column of the groups as `by`. Groups with few ratings borrow strength from
the others.
"""

# %%
# Made-up reviews of eight products; every third review is rated. Crosses are the true averages.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tordinal import rate_table
from tordinal.datasets import make_reviews
from tordinal.plotting import COLOURS

texts, stars = make_reviews(600, random_state=1)
rng = np.random.default_rng(0)
# Better products are more often the ones that happy customers write about.
product = np.array(list("ABCDEFGH"))[np.clip(rng.binomial(7, (stars + 0.5) / 6), 0, 7)]
table = pd.DataFrame({"product": product, "review": texts, "stars": pd.array(stars, dtype="Int64")})
table.loc[np.arange(600) % 3 > 0, "stars"] = pd.NA

rated = rate_table(table, "stars", text="review", by="product", quick=True)
groups = rated.groups
print(groups.filter(regex="^(group|rows|ratings|average)").round(2).to_string(index=False))

# %%
truth = pd.Series(stars).groupby(product).mean()
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
value = groups["average"]
ax.errorbar(
    value, groups["group"], xerr=[value - groups["average_low"], groups["average_high"] - value],
    fmt="o", color=COLOURS[0], label="estimate, 90 % interval",
)  # fmt: skip
ax.plot(truth[groups["group"]], groups["group"], "x", color="black", label="truth")
ax.set(xlabel="average stars", ylabel="product")
ax.legend(frameon=False)
plt.show()
