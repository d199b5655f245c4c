from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.transduction import CostSchedule, class_counts, transduce


@dataclass
class FixedFit:
    """A model that stands still."""

    h: np.ndarray
    thresholds: np.ndarray
    objective: float = 0.0
    n_iter: int = 1
    converged: bool = True


@given(
    st.lists(st.floats(0, 10), min_size=2, max_size=8).filter(lambda r: sum(r) > 1e-3),
    st.integers(0, 5000),
)
def test_class_counts_match_the_ratio_to_rounding(ratio, n):
    counts = class_counts(np.array(ratio), n)
    exact = np.array(ratio) / sum(ratio) * n
    assert counts.sum() == n
    assert np.all(np.abs(counts - exact) < 1 + 1e-6)
    more = counts > exact + 1e-6  # rows that are left go to the largest remainders
    less = counts < exact - 1e-6
    remainders = exact - np.floor(exact + 1e-6)
    if more.any() and less.any():
        assert remainders[more].min() >= remainders[less].max() - 1e-6


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 200), st.data())
def test_class_counts_do_not_depend_on_the_order_of_the_classes(ratio, n, data):
    # Different predictions for every class: only where all rules tie does the lowest class count.
    predicted = np.array(data.draw(st.permutations(range(0, 1000 * len(ratio), 1000))))
    counts = class_counts(np.array(ratio), n, lambda: predicted)
    reversed_counts = class_counts(np.array(ratio[::-1]), n, lambda: predicted[::-1])
    np.testing.assert_array_equal(counts, reversed_counts[::-1])


def test_the_schedule_is_the_papers():
    assert list(CostSchedule(1e-5).values()) == []
    levels = list(CostSchedule(1.0).values())
    assert len(levels) == len(CostSchedule(1.0)) == 17
    assert levels[-1] == pytest.approx(0.65536)
    assert list(CostSchedule(1.0, C2_max=3e-5).values()) == [1e-5, 2e-5, 3e-5]


@dataclass
class StubbornTrainer:
    """Its model changes two rows once, so that a swap is due, but its objective never falls."""

    coarse: float = 10.0
    asked: list = field(default_factory=list)

    def train(self, C1, C2, warm, precision):
        self.asked.append(precision)
        h = [-2.0, 2.0, 1.0, -1.0] if warm is None else [-2.0, 2.0, -1.0, 1.0]
        return FixedFit(np.array(h), np.array([0.0]), objective=1.0)

    def gain(self, d):
        return d

    def wrong_side_loss(self, d):
        return 1 + d


@dataclass
class ContentTrainer(StubbornTrainer):
    """Its model leaves nothing to swap."""

    def train(self, C1, C2, warm, precision):
        self.asked.append(precision)
        h = np.array([-2.0, 2.0, 1.0, -1.0])
        return FixedFit(h, np.array([0.0]), objective=2 * C1 + 2 * C2 - 0.01 / precision)


def run(trainer, levels, rough=False, **options):
    """Algorithm 1 for two labelled rows and two others, at some values of C2."""
    labels = HostLabels(np.array([0, 1, -1, -1]), np.ones(4))
    factor = levels[1] / levels[0] if len(levels) > 1 else 2.0
    schedule = CostSchedule(1.0, levels[0], factor, levels[-1], rough=rough)
    return transduce(trainer, labels, schedule, lambda _: np.array([1, 1]), **options)


@pytest.mark.parametrize("rough", [False, True])
def test_the_last_training_of_the_last_level_alone_is_fine(rough):
    trainer = ContentTrainer()
    result = run(trainer, [0.1, 0.2, 0.4], rough)
    assert trainer.asked == ([1.0, 1.0, 1.0, 1.0] if rough else [1.0, 10.0, 10.0, 10.0, 1.0])
    assert [record["C2"] for record in result.history] == [0.0, 0.1, 0.2, 0.4]
    assert result.history[-1]["objective"] == result.fit.objective
    assert result.fit.objective == pytest.approx(2.8 - 0.01)


@dataclass
class LostTrainer(ContentTrainer):
    """It converges from nothing alone."""

    def train(self, C1, C2, warm, precision):
        fit = super().train(C1, C2, warm, precision)
        return fit if warm is None else replace(fit, objective=9.0, converged=False)


def test_a_last_training_that_fails_is_tried_again_from_nothing():
    result = run(LostTrainer(), [0.1])
    assert result.fit.converged
    assert result.history[-1]["objective"] == result.fit.objective < 9.0


def test_a_search_that_is_told_to_stop_ends_with_a_fine_training():
    trainer = ContentTrainer()
    result = run(trainer, [0.1, 0.2], on_training=lambda record, fit: record["C2"] == 0.1)
    assert trainer.asked == [1.0, 10.0, 1.0]
    assert result.fit.objective == pytest.approx(2.2 - 0.01)


def test_a_swap_whose_gain_cannot_be_measured_is_not_made_and_the_search_ends():
    trainer = StubbornTrainer()
    result = run(trainer, [0.5])
    assert trainer.asked[:3] == [1.0, 10.0, 10.0]  # the first training on swapped labels is coarse
    assert min(trainer.asked) < 1e-3  # the training was refined before the swap was given up
    assert [record["swaps"] for record in result.history] == [0, 0]
    assert result.labels.y.tolist() == [0, 1, 1, 0]


def test_a_unit_of_work_can_be_repeated():
    """As a cluster does that loses a worker: what was done of it must leave nothing behind."""
    plain, trainer, units = run(ContentTrainer(), [0.1, 0.2, 0.4]), ContentTrainer(), []

    def twice(work):
        units.append(work)
        work()
        return work()

    repeated = run(trainer, [0.1, 0.2, 0.4], protect=twice)
    assert len(units) == 2 + 3  # the supervised training, Algorithm 2, and each value of C2
    assert repeated.history == plain.history
    np.testing.assert_array_equal(repeated.labels.y, plain.labels.y)
