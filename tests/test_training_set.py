import numpy as np

from tordinal.training_set import TrainingSet


def test_rows_without_a_rank_are_unlabeled():
    rows = TrainingSet(np.zeros((4, 2)), np.array([0, -1, 2, -1]), np.ones(4), 3)
    assert rows.unlabeled.tolist() == [False, True, False, True]
