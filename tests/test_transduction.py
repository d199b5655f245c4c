from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.losses import LOSSES, swap_gain
from tordinal.reduction import signs
from tordinal.transduction import (
    c2_schedule,
    class_counts,
    exchange_labels,
    initial_labels,
    labeling_gain,
    optimal_labels,
    transduce,
)


@dataclass
class FixedFit:
    """A model that stands still."""

    h: np.ndarray
    thresholds: np.ndarray
    objective: float = 0.0
    n_iter: int = 1
    converged: bool = True


def total_loss(loss, fit, y):
    return float(
        loss.value(signs(y, len(fit.thresholds)) * (fit.h[:, None] - fit.thresholds)).sum()
    )


scores = st.lists(st.floats(-6, 6).map(lambda v: round(v, 3)), min_size=2, max_size=7)


@given(
    st.lists(st.floats(0, 10), min_size=2, max_size=8).filter(lambda r: sum(r) > 1e-3),
    st.integers(0, 5000),
)
def test_class_counts_match_the_ratio_to_rounding(ratio, n):
    counts = class_counts(np.array(ratio), n)
    assert counts.sum() == n
    assert np.all(np.abs(counts - np.array(ratio) / sum(ratio) * n) < 1 + 1e-6)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 200), st.data())
def test_class_counts_do_not_depend_on_the_order_of_the_classes(ratio, n, data):
    # Different predictions for every class: only where all rules tie does the lowest class count.
    predicted = np.array(data.draw(st.permutations(range(0, 1000 * len(ratio), 1000))))
    counts = class_counts(np.array(ratio), n, lambda: predicted)
    reversed_counts = class_counts(np.array(ratio[::-1]), n, lambda: predicted[::-1])
    np.testing.assert_array_equal(counts, reversed_counts[::-1])


@given(scores, st.data())
def test_algorithm_2_hands_out_ranks_in_order(h, data):
    h = np.array(h)
    cut = data.draw(st.integers(0, len(h)))
    y = initial_labels(h, np.array([cut, len(h) - cut]))
    assert (y == 0).sum() == cut
    if 0 < cut < len(h):
        assert h[y == 0].max() <= h[y == 1].min()


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(h=scores, data=st.data())
def test_optimal_labels_are_the_best_of_all_permutations(name, h, data):
    loss = LOSSES[name]()
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(h), max_size=len(h))))
    fit = FixedFit(np.array(h), np.array([-2.0, 0.1, 2.5]))
    best = min(total_loss(loss, fit, np.array(p)) for p in set(permutations(y.tolist())))
    sorted_labels = optimal_labels(fit.h, y)
    assert total_loss(loss, fit, sorted_labels) == pytest.approx(best)
    assert sorted(sorted_labels) == sorted(y)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("swaps", ["single", "all", 2, "optimal"])
@given(h=st.lists(st.floats(-6, 6), min_size=4, max_size=30), data=st.data())
def test_every_exchange_lowers_the_loss_and_keeps_the_counts(name, swaps, h, data):
    loss = LOSSES[name]()
    h = np.array(h)
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(h), max_size=len(h))))
    unlabeled = np.arange(len(h)) % 4 != 0
    fit = FixedFit(h, np.array([-2.0, 0.1, 2.5]))
    weight = np.ones(len(h))
    new, n_swaps = exchange_labels(fit, y, unlabeled, weight, lambda d: swap_gain(loss, d), swaps)
    np.testing.assert_array_equal(np.bincount(new, minlength=4), np.bincount(y, minlength=4))
    np.testing.assert_array_equal(new[~unlabeled], y[~unlabeled])
    before, after = total_loss(loss, fit, y), total_loss(loss, fit, new)
    if n_swaps:
        gain = labeling_gain(fit, y, new, weight, lambda d: swap_gain(loss, d))
        assert gain > 0
        assert gain == pytest.approx(before - after, abs=1e-9)
        # Two sums of some thirty losses agree to their rounding.
        assert after < before or gain < 1e-12 * before
    else:
        np.testing.assert_array_equal(new, y)


def test_the_pair_with_the_largest_decrease_is_swapped():
    fit = FixedFit(np.array([0.5, 2.0, -0.1, -3.0, 1.0]), np.array([0.0]))
    y = np.array([0, 0, 1, 1, 0])
    new, n_swaps = exchange_labels(
        fit, y, np.ones(5, bool), np.ones(5), lambda d: np.minimum(d, 0.5), "single"
    )
    assert n_swaps == 1  # all gains tie at 0.5 but for row 2: the larger violation decides
    assert new.tolist() == [0, 1, 1, 0, 0]


def test_the_schedule_is_the_papers():
    assert list(c2_schedule(1e-5, 1e-5, 2, None)) == []
    levels = list(c2_schedule(1.0, 1e-5, 2, None))
    assert len(levels) == 17
    assert levels[-1] == pytest.approx(0.65536)
    assert list(c2_schedule(1.0, 1e-5, 2, 3e-5)) == [1e-5, 2e-5, 3e-5]


@dataclass
class StubbornTrainer:
    """Its model changes two rows once, so that a swap is due, but its objective never falls."""

    coarse: float = 10.0
    asked: list = field(default_factory=list)

    def train(self, y, cost, warm, precision):
        self.asked.append(precision)
        h = [-2.0, 2.0, 1.0, -1.0] if warm is None else [-2.0, 2.0, -1.0, 1.0]
        return FixedFit(np.array(h), np.array([0.0]), objective=1.0)

    def gain(self, d):
        return d


@dataclass
class ContentTrainer(StubbornTrainer):
    """Its model leaves nothing to swap."""

    def train(self, y, cost, warm, precision):
        self.asked.append(precision)
        h = np.array([-2.0, 2.0, 1.0, -1.0])
        return FixedFit(h, np.array([0.0]), objective=cost.sum() - 0.01 / precision)


@pytest.mark.parametrize("rough", [False, True])
def test_the_last_training_of_the_last_level_alone_is_fine(rough):
    trainer, y = ContentTrainer(), np.array([0, 1, -1, -1])
    schedule = iter([0.1, 0.2, 0.4])
    result = transduce(
        trainer, y, np.ones(4), 1.0, schedule, lambda _: np.array([1, 1]), "single", rough=rough
    )
    assert trainer.asked == ([1.0, 1.0, 1.0, 1.0] if rough else [1.0, 10.0, 10.0, 10.0, 1.0])
    assert [record["C2"] for record in result.history] == [0.0, 0.1, 0.2, 0.4]
    assert result.history[-1]["objective"] == result.fit.objective
    assert result.fit.objective == pytest.approx(2.8 - 0.01)


@dataclass
class LostTrainer(ContentTrainer):
    """It converges from nothing alone."""

    def train(self, y, cost, warm, precision):
        fit = super().train(y, cost, warm, precision)
        return fit if warm is None else replace(fit, objective=9.0, converged=False)


def test_a_last_training_that_fails_is_tried_again_from_nothing():
    trainer, y = LostTrainer(), np.array([0, 1, -1, -1])
    result = transduce(trainer, y, np.ones(4), 1.0, [0.1], lambda _: np.array([1, 1]), "single")
    assert result.fit.converged
    assert result.history[-1]["objective"] == result.fit.objective < 9.0


def test_a_search_that_is_told_to_stop_ends_with_a_fine_training():
    trainer, y = ContentTrainer(), np.array([0, 1, -1, -1])
    result = transduce(
        trainer, y, np.ones(4), 1.0, [0.1, 0.2], lambda _: np.array([1, 1]), "single",
        on_training=lambda record, fit: record["C2"] == 0.1,
    )  # fmt: skip
    assert trainer.asked == [1.0, 10.0, 1.0]
    assert result.fit.objective == pytest.approx(2.2 - 0.01)


def test_a_swap_whose_gain_cannot_be_measured_is_not_made_and_the_search_ends():
    trainer, y = StubbornTrainer(), np.array([0, 1, -1, -1])
    result = transduce(trainer, y, np.ones(4), 1.0, [0.5], lambda _: np.array([1, 1]), "single")
    assert trainer.asked[:3] == [1.0, 10.0, 10.0]  # the first training on swapped labels is coarse
    assert min(trainer.asked) < 1e-3  # the training was refined before the swap was given up
    assert [record["swaps"] for record in result.history] == [0, 0]
    assert result.y.tolist() == [0, 1, 1, 0]
    assert y.tolist() == [0, 1, -1, -1]  # the input is left alone
