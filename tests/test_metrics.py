import numpy as np
import pytest
import sklearn.metrics

from tordinal.metrics import mean_absolute_error, mean_zero_one_error


def test_equal_to_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 6, 100), rng.integers(1, 6, 100)
    assert mean_zero_one_error(a, b) == pytest.approx(1 - sklearn.metrics.accuracy_score(a, b))
    assert mean_absolute_error(a, b) == pytest.approx(sklearn.metrics.mean_absolute_error(a, b))


def test_words_need_their_order():
    with pytest.raises(ValueError, match="classes"):
        mean_absolute_error(["a", "b"], ["b", "b"])
    with pytest.raises(ValueError, match="shapes"):
        mean_zero_one_error([1, 2], [1])
