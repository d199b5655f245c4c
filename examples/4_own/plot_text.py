"""
Which words push a rating up or down?
=====================================

A linear model of words can be read: `coef_` has one weight per word. The reviews are made up, 100 of
2,000 have stars.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from tordinal import TOR
from tordinal.datasets import make_reviews
from tordinal.plotting import COLOURS
from tordinal.text import ReviewVectorizer

texts, stars = make_reviews(2000, random_state=0)
y = np.where(np.arange(2000) < 100, stars, -1)
vectorizer = ReviewVectorizer()
X = vectorizer.fit_transform(texts)
model = TOR(kernel="linear", swaps="all").fit(X, y)
off = np.abs(model.transduction_ - stars)[100:].mean()
print(f"off by {off:.2f} stars on average on the 1,900 reviews without stars")

# %%
# The ten smallest and the ten largest weights. Words are stems.
words = vectorizer.get_feature_names_out()
order = np.argsort(model.coef_)
shown = np.r_[order[:10], order[-10:]]
fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
weight = model.coef_[shown]
ax.barh(words[shown], weight, color=np.where(weight > 0, COLOURS[0], COLOURS[1]))
ax.set(xlabel="weight in the projection: left lowers the rating, right raises it")
plt.show()
