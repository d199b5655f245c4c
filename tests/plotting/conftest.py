import matplotlib as mpl
import pytest

mpl.use("Agg")

from tordinal import TOR
from tordinal.datasets import make_ordinal_clusters


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def fitted():
    """A TOR, its rows, their labels with unlabelled ones, and the true labels."""
    X, truth = make_ordinal_clusters(150, p=0.1, random_state=0)
    y = truth.copy()
    y[50:] = -1
    return TOR(kernel="perceptron", swaps="all", C2_start=0.1).fit(X, y), X, y, truth
