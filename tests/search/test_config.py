import dataclasses

import numpy as np
import pytest
from problems import ordinal_problem, search_data

from tordinal.search.candidates import Candidate


@pytest.fixture(scope="module")
def config():
    X, y = ordinal_problem(40, 3)
    given = {"C": [0.1, 1.0, 0.1], "kernel": ["linear", "rbf"], "loss": "hinge"}
    views = {"first": [0], "all": slice(None)}
    return search_data(X, y, **given, views=views, C2_max=[None, "balanced", 0.025]).config


def test_every_combination_is_a_supervised_candidate(config):
    assert config.supervised_candidates() == [
        Candidate(C, kernel, "hinge", view=view)
        for view in ("first", "all") for kernel in ("linear", "rbf") for C in (0.1, 1.0)
    ]  # fmt: skip


def test_every_way_to_transduce_is_a_candidate_once(config):
    setting = Candidate(0.1, "rbf", "hinge", view="first")
    candidates = config.transductive_candidates([setting], 10, 40)
    assert [(c.class_ratio, c.swaps, c.C2_max) for c in candidates] == [
        (ratio, swaps, C2_max)
        for ratio in ("blended", "estimated") for swaps in ("single", "optimal")
        for C2_max in (None, 0.025)  # "balanced" is 0.1 * 10 / 40, too
    ]  # fmt: skip
    assert all(c.transductive and c.setting == setting for c in candidates)
    assert config.transductive_candidates([setting], 40, 10)[1].C2_max == 0.1


def test_a_search_cannot_change_its_parameters(config):
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.cv = 3
    np.testing.assert_array_equal(config.views["all"], [0, 1, 2])
