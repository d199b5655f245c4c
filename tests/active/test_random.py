import numpy as np

from tordinal.active import Random


def test_all_rows_are_equally_likely():
    X, y = np.arange(6.0)[:, None], [1, None, None, None, None, 2]
    counts = np.zeros(6)
    for seed in range(2000):
        rows, probabilities = Random(random_state=seed).query(X, y, 2)
        counts[rows] += 1
        assert np.allclose(probabilities, [1 / 4, 1 / 3])
    assert counts[[0, 5]].sum() == 0
    share = counts[1:5] / 2000
    assert np.abs(share - 0.5).max() < 4 * np.sqrt(0.25 / 2000)
