import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics.pairwise import rbf_kernel

from tordinal.active import ExpectedCost
from tordinal.active.base import Pool


def kelmor(X, y, K, C, gamma):
    """Kernel ridge regression onto the squared distances between ranks, fitted anew."""
    codes = (np.arange(K)[:, None] - np.arange(K)) ** 2.0
    beta = np.linalg.inv(np.eye(len(X)) / C + rbf_kernel(X, X, gamma=gamma)) @ codes[y]

    def predict_proba(Z):
        predicted = rbf_kernel(Z, X, gamma=gamma) @ beta
        return softmax(-np.linalg.norm(predicted[:, None] - codes, axis=2), axis=1)

    return predict_proba


@pytest.mark.parametrize("K", [2, 3, 6])
def test_costs_are_those_of_models_fitted_anew(K):
    rng = np.random.default_rng(K)
    X = rng.normal(size=(40, 3))
    rank = np.full(40, -1)
    rank[:12] = np.arange(12) % K
    pool = Pool(X, rank, rank, np.arange(K), None, 1, rng)
    candidates = np.array([20, 33])
    cost = ExpectedCost(C=10, gamma=0.3)._cost(pool, candidates)
    distance = np.abs(np.arange(K)[:, None] - np.arange(K))
    for i, row in enumerate(candidates):
        p = kelmor(X[:12], rank[:12], K, 10, 0.3)(X[[row]])[0]
        expected = 0.0
        for k in range(K):
            rows, ranks = [*range(12), row], [*rank[:12], k]
            q = kelmor(X[rows], np.array(ranks), K, 10, 0.3)(X[12:])
            expected += p[k] * (q * distance[q.argmax(axis=1)]).sum(axis=1).mean()
        margin = np.sort(p)[-1] - np.sort(p)[-2]
        assert cost[i] == pytest.approx(0.9 * expected + 0.1 * margin)


def test_rows_of_a_query_come_from_clusters_without_ratings():
    rng = np.random.default_rng(0)
    centre = np.repeat(np.arange(6) * 50.0, 15)
    X = centre[:, None] + rng.normal(size=(90, 2))
    y = np.full(90, -1)
    y[0], y[75] = 0, 1
    rows, probabilities = ExpectedCost(gamma=1e-4).query(X, y, 4)
    assert set(centre[rows]) == {50.0, 100.0, 150.0, 200.0}
    assert probabilities.tolist() == [1.0] * 4


def test_many_rows_and_few_unrated_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    y = np.where(np.arange(2500) < 2450, np.arange(2500) % 3, -1)
    y[:2400] = -1
    rows, _ = ExpectedCost(max_rows=100).query(X, y, 3)
    assert (y[rows] == -1).all()
    few = np.where(np.arange(2500) < 1200, -1, np.arange(2500) % 3)
    rated = np.r_[0:1200, 2300:2500]
    rows, _ = ExpectedCost(max_rows=100).query(X[rated], few[rated], 2)
    assert (few[rated][rows] == -1).all()
