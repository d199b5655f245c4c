import numpy as np
import pytest

from tordinal.tables.finished import FinishedError
from tordinal.tables.simulate import Simulation, simulate_rating


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    return X, np.digitize(X[:, 0] + 0.4 * rng.normal(size=500), [-0.8, 0.0, 0.8])


@pytest.fixture(scope="module")
def simulation(data):
    return simulate_rating(*data, 4, step=20, most=120)


def test_every_row_is_rated_once_and_errors_fall(data, simulation):
    assert simulation.ratings == [20, 40, 60, 80, 100, 120]
    assert len(set(simulation.order)) == 120
    assert simulation.errors[-1] < simulation.errors[0]
    again = simulate_rating(*data, 4, step=20, most=120)
    assert again == simulation


def test_estimates_are_near_the_truth(simulation):
    for true, found in zip(simulation.errors[1:], simulation.estimates[1:], strict=True):
        assert found.low - 0.05 <= true <= found.high + 0.05
        assert found.low_anytime <= true <= found.high_anytime


def test_rows_in_random_order_are_for_comparison(data):
    plain = simulate_rating(*data, 4, step=50, most=100, audit=1.0)
    assert plain.estimates[-1].n_uniform == 100


def test_a_table_with_fewer_rows_is_rated_to_its_end():
    X = np.arange(12.0)[:, None]
    simulation = simulate_rating(X, np.arange(12) // 6, 2, step=5, most=100)
    assert simulation.ratings == [5, 10, 12]
    assert simulation.errors[-1] == 0.0
    assert simulation.enough(0.0) is not None


def test_one_class_alone_is_predicted_everywhere():
    simulation = simulate_rating(np.arange(30.0)[:, None], np.zeros(30, dtype=int), 2, most=20)
    assert simulation.errors == [0.0, 0.0]


def estimate(high, high_anytime):
    return FinishedError(0.2, 0.1, high, 0.0, high_anytime, 20, 5)


def test_enough_is_where_the_error_stays_below_the_goal():
    simulation = Simulation(
        [10, 20, 30, 40], [0.5, 0.3, 0.4, 0.2],
        [None, estimate(0.5, 1.0), estimate(0.35, 0.9), estimate(0.2, 0.3)], [],
    )  # fmt: skip
    assert simulation.enough(0.35) == 40
    assert simulation.enough(0.45) == 20
    assert simulation.enough(0.1) is None
    assert simulation.stopped(0.4) == 30
    assert simulation.stopped(0.4, anytime=True) == 40
    assert simulation.stopped(0.1) is None
