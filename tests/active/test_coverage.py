import numpy as np
import pytest

from tordinal.active import Coverage


def test_every_cluster_gets_a_row():
    rng = np.random.default_rng(0)
    centre = np.repeat(np.arange(5) * 100.0, 20)
    X = centre[:, None] + rng.normal(size=(100, 2))
    rows, _ = Coverage().query(X, np.full(100, np.nan), 5)
    assert len(set(centre[rows])) == 5


def test_probabilities_are_squared_distances():
    X, y = np.array([[0.0], [1.0], [3.0]]), [1, None, None]
    rows, probabilities = Coverage().query(X, y, 2)
    first = {1: 1 / 10, 2: 9 / 10}[int(rows[0])]
    assert probabilities[0] == pytest.approx(first)
    assert probabilities[1] == 1.0
