import numpy as np
import pytest

from tordinal.search.candidates import Candidate
from tordinal.search.trials import Trial


def test_means_and_errors_of_the_folds_that_were_tried():
    trial = Trial(Candidate(1.0, "rbf", "hinge"), {0: -1.0, 1: -3.0, 2: -2.0})
    assert trial.mean() == -2.0
    assert trial.mean([0, 1]) == -2.0
    assert trial.error(1) == pytest.approx(np.std([1, 3, 2]) / np.sqrt(3))
    trial.scores[3] = np.nan
    assert trial.mean() == -np.inf
