"""
How do I rate things that are not numbers?
==========================================

With ``kernel="precomputed"`` all a model needs is a matrix of similarities between rows. Here the
rows are product codes with typing errors, and two codes are similar if they share many short runs of
letters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from tordinal import TOR
from tordinal.plotting import ProjectionDisplay

rng = np.random.default_rng(0)
sizes = ["x-small", "small", "medium", "large", "x-large"]
truth = rng.integers(0, 5, 200)
letters = list("abcdefghijklmnopqrstuvwxyz")


def misspell(word):
    """Replace one letter, and put a number in front."""
    place = rng.integers(len(word))
    return f"{rng.integers(100, 999)}/{word[:place]}{rng.choice(letters)}{word[place + 1 :]}"


codes = np.array([misspell(sizes[k]) for k in truth])
print(codes[:5])

# %%
# The Gram matrix: products of counts of runs of two and three letters.
counts = normalize(CountVectorizer(analyzer="char", ngram_range=(2, 3)).fit_transform(codes))
K = (counts @ counts.T).toarray()

y = np.array([sizes[k] for k in truth], dtype=object)
y[40:] = None
model = TOR(C=10, kernel="precomputed", classes=sizes).fit(K, y)
wrong = np.mean(model.transduction_[40:] != np.array(sizes)[truth[40:]])
print(f"{wrong:.0%} of the codes without a size were given a wrong one")

# %%
# The projection of all codes; the order of the sizes was given, the similarities know nothing of it.
ProjectionDisplay.from_estimator(model, K, np.array(sizes)[truth])
plt.show()
