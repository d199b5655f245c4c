import numpy as np
import pytest

from tordinal.inference.difference import draw_sample
from tordinal.inference.ratings import (
    class_scores,
    mean_quantity,
    read_numbers,
    read_ratings,
    share_quantity,
)


def test_quantities_are_numbers_per_row():
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]])
    rank, p, labels = read_ratings([5, -1, 1], p, [1, 3, 5])
    assert labels.tolist() == [1, 3, 5]
    with pytest.warns(UserWarning, match="too few"):
        sample = draw_sample(rank >= 0, None)
    scores = class_scores(labels, None)
    mean = mean_quantity(rank, p, scores, sample)
    assert mean.known.tolist() == [5.0, 1.0]
    np.testing.assert_allclose(mean.predicted, p @ [1, 3, 5])
    assert (mean.limits, mean.step) == ((1.0, 5.0), 2.0)
    share = share_quantity(rank, p, [1, 2], sample)
    assert share.known.tolist() == [1.0, 0.0]
    np.testing.assert_allclose(share.predicted, [0.5, 0.9, 0.8])
    assert share.is_share


def test_ratings_of_one_class_can_be_counted():
    rank, _, labels = read_ratings([2, 2, -1], np.full((3, 3), 1 / 3), [1, 2, 3])
    assert rank.tolist() == [1, 1, -1]
    assert labels.tolist() == [1, 2, 3]


def test_words_are_scored_by_rank_and_numbers_by_themselves():
    assert class_scores(np.array(["low", "high"], dtype=object), None).tolist() == [1.0, 2.0]
    assert class_scores(np.array([0.5, 2.0]), None).tolist() == [0.5, 2.0]
    assert class_scores(np.array([False, True]), None).tolist() == [1.0, 2.0]
    assert class_scores(np.array([1, 2]), [10, 40]).tolist() == [10.0, 40.0]


def test_a_prediction_that_is_missing_is_named():
    with pytest.raises(ValueError, match=r"predicted has 1 values that are NaN.*first in row 2"):
        read_numbers([0.0, 1.0, np.nan], "predicted")
