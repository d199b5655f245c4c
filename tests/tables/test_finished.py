import numpy as np
import pytest

from tordinal.tables.finished import estimate_finished
from tordinal.tables.selection import Selection
from tordinal.tables.suggest import draw_rows


def drawn(n_rows, n, K, seed, loss):
    """Rows that are drawn because their loss is large, and a quarter of them uniformly."""
    X = np.arange(n_rows, dtype=float)[:, None]
    p = np.zeros((n_rows, K))
    p[:, 0] = 1.0 - 0.4 * (loss > 0)
    p[:, -1] = 0.4 * (loss > 0)
    draws = draw_rows(X, np.full(n_rows, -1), K, n, probability=p, seed=seed)
    return Selection((), tuple(draws), n_rows)


def test_estimates_hold_though_rows_with_errors_are_rated_first():
    K, n_rows, rng = 4, 400, np.random.default_rng(0)
    truth = rng.integers(0, K, n_rows)
    predicted = np.where(rng.random(n_rows) < 0.3, rng.integers(0, K, n_rows), truth)
    loss = np.abs(truth - predicted)
    held, anytime, errors, true = [], [], [], []
    for seed in range(60):
        selection = drawn(n_rows, 80, K, seed, loss)
        rows = np.array([d.place for d in selection.draws])
        found = estimate_finished(truth[rows], predicted[rows], rows, selection, K)
        left = np.ones(n_rows)
        left[rows] = 0.0
        true.append((loss * left).mean())
        errors.append(found.error)
        held.append(found.low <= true[-1] <= found.high)
        anytime.append(found.low_anytime <= true[-1] <= found.high_anytime)
    assert np.mean(errors) == pytest.approx(np.mean(true), abs=0.02)
    assert np.mean(held) >= 0.85
    assert np.mean(anytime) >= 0.9
    assert loss[rows].mean() > 2 * loss.mean()  # what a plain mean would say


def test_the_whole_table_rated_has_no_error_and_few_ratings_say_nothing():
    truth = np.arange(20) % 2
    whole = Selection(tuple(range(20)), (), 20)
    found = estimate_finished(truth, 1 - truth, np.arange(20), whole, 2)
    assert (found.error, found.low, found.high, found.high_anytime) == (0.0, 0.0, 0.0, 0.0)
    few = Selection(tuple(range(9)), (), 20)
    assert estimate_finished(truth[:9], truth[:9], np.arange(9), few, 2) is None
    some = Selection(tuple(range(12)), (), 20)
    found = estimate_finished(truth[:12], truth[:12], np.arange(12), some, 2)
    assert found.error == 0.0
    assert found.high > 0.05  # twelve right predictions prove little
    assert (found.n_ratings, found.n_uniform) == (12, 12)


def test_the_interval_holds_when_most_of_the_table_is_rated():
    """What is left then are a few rows, whose losses vary by themselves."""
    n_rows, held = 100, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        loss = rng.random(n_rows) < 0.3
        rated = np.arange(75)  # a random sample: rows are exchangeable
        truth, predicted = np.zeros(75, dtype=int), loss[:75].astype(int)
        found = estimate_finished(truth, predicted, rated, Selection(tuple(rated), (), n_rows), 2)
        held.append(found.low <= loss[75:].sum() / n_rows <= found.high)
    assert 0.87 <= np.mean(held) <= 0.99
