import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.active import Entropy, Mixture, estimate_error, lure_weights

N, K = 30, 4
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 2))
P = RNG.dirichlet(np.full(K, 0.5), N)
LOSS = np.round(3 * (1 - P.max(axis=1)) + RNG.random(N)).clip(0, 3)  # larger where rows are chosen


def chosen(seed, n, audit=0.5, power=None):
    strategy = Mixture(Entropy(power=power), audit=audit, random_state=seed)
    rows, probabilities = strategy.query(X, [None] * N, n, y_proba=P)
    return LOSS[rows], probabilities, strategy.audit_


@pytest.mark.parametrize("parameters", [{"audit": 0.5}, {"audit": 0.25, "power": 1.0}], ids=str)
@pytest.mark.parametrize("rated_as_correct", [False, True])
def test_weights_make_the_estimate_unbiased(parameters, rated_as_correct):
    misses, plain = [], []
    for seed in range(2500):
        loss, q, _ = chosen(seed, 8, **parameters)
        truth = LOSS.mean() - (loss.sum() / N if rated_as_correct else 0.0)
        found = estimate_error(loss, q, N, rated_as_correct=rated_as_correct)
        misses.append(found.error - truth)
        plain.append(loss.mean() - LOSS.mean())
    error = np.std(misses) / np.sqrt(len(misses))
    assert abs(np.mean(misses)) < 4 * error
    assert np.mean(plain) > 10 * np.std(plain) / np.sqrt(len(plain))  # what the weights correct


def test_audit_rows_are_unbiased_without_weights():
    misses = []
    for seed in range(2500):
        loss, q, audit = chosen(seed, 10, audit=0.4)
        if audit.any():
            misses.append(estimate_error(loss, q, N, audit=audit).error - LOSS.mean())
    assert abs(np.mean(misses)) < 4 * np.std(misses) / np.sqrt(len(misses))


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=20), st.integers(0, 30))
def test_the_estimate_is_the_weighted_mean(q, more):
    loss = np.arange(len(q)) % 3
    weights = lure_weights(q, len(q) + more)
    found = estimate_error(loss, q, len(q) + more)
    assert found.error == pytest.approx(np.mean(weights * loss), abs=1e-9)
    assert found.low <= found.high


@given(st.integers(1, 40), st.integers(0, 40))
def test_uniform_rows_have_weight_one(n, more):
    q = 1.0 / (n + more - np.arange(n))
    assert np.allclose(lure_weights(q, n + more), 1.0)
    assert lure_weights(q, n + more).sum() == pytest.approx(n)


def test_weights_have_the_mean_one():
    means = [lure_weights(chosen(seed, 8, audit=0.5)[1], N).mean() for seed in range(2000)]
    assert abs(np.mean(means) - 1) < 4 * np.std(means) / np.sqrt(len(means))


def test_all_rows_rated_leaves_no_doubt():
    loss, q, audit = chosen(0, N)
    for options in ({}, {"audit": audit}, {"audit": audit, "max_loss": 3}):
        found = estimate_error(loss, q, N, **options)
        assert found.error == found.low == found.high == pytest.approx(LOSS.mean())
    table = estimate_error(loss, q, N, rated_as_correct=True)
    assert table.error == pytest.approx(0.0)


def draw(rng, n_rows, p, n):
    """A pool of losses of which three quarters are chosen by their size, the others at random."""
    loss = rng.choice(len(p), size=n_rows, p=p).astype(float)
    order, left = np.argsort(-loss, kind="stable"), np.ones(n_rows, dtype=bool)
    rows, audit = [], []
    for _ in range(n):
        audit.append(rng.random() < 0.25)
        row = rng.choice(np.flatnonzero(left)) if audit[-1] else order[left[order]][0]
        left[row] = False
        rows.append(row)
    return loss, loss[rows], np.array(audit)


def test_intervals_hold_at_all_times():
    rng, missed, late = np.random.default_rng(0), 0, 0
    for _ in range(150):
        loss, found, audit = draw(rng, 300, [0.6, 0.25, 0.1, 0.05], 120)
        q = np.full(120, 0.5)
        estimates = [
            estimate_error(found[:n], q[:n], 300, audit=audit[:n], interval="anytime", max_loss=3)
            for n in range(20, 121, 10) if audit[:n].any()
        ]  # fmt: skip
        missed += any(not e.low <= loss.mean() <= e.high for e in estimates)
        late += estimates[-1].high - estimates[-1].low < 1.0
    assert missed <= 150 * 0.05
    assert late > 140


def test_students_interval_covers():
    rng, held = np.random.default_rng(1), 0
    for _ in range(600):
        loss, found, audit = draw(rng, 400, [0.5, 0.3, 0.2], 160)
        estimate = estimate_error(found, np.full(160, 0.5), 400, audit=audit)
        held += estimate.low <= loss.mean() <= estimate.high
    assert held / 600 > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 600)


@pytest.mark.parametrize("p", [[0.95, 0.05], [0.7, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]], ids=str)
def test_intervals_hold_with_few_rows(p):
    rng, held, tried = np.random.default_rng(2), 0, 0
    for _ in range(300):
        loss, found, audit = draw(rng, 400, p, 40)
        options = {"audit": audit, "max_loss": len(p) - 1}
        if not audit.any():
            continue
        estimate = estimate_error(found, np.full(40, 0.5), 400, **options)
        held += estimate.low <= loss.mean() <= estimate.high
        tried += 1
    assert held / tried > 0.95


def test_one_audit_row_says_nothing_but_the_bounds():
    found = estimate_error([2, 0], [0.5, 0.5], 4, audit=[False, True], max_loss=3)
    assert (found.low, found.high, found.n_rows_used) == (0.5, 2.0, 1)
    assert estimate_error([1.0], [0.5], 4).high == np.inf


def test_errors_name_the_value():
    with pytest.raises(ValueError, match="one number"):
        estimate_error([1.0, 2.0], [0.5], 4)
    with pytest.raises(ValueError, match="at least 0"):
        estimate_error([-1.0], [0.5], 4)
    with pytest.raises(ValueError, match="larger than max_loss=1"):
        estimate_error([2.0], [0.5], 4, max_loss=1)
    with pytest.raises(ValueError, match="'anytime' needs audit"):
        estimate_error([2.0], [0.5], 4, interval="anytime")
    with pytest.raises(ValueError, match="interval='exact'"):
        estimate_error([2.0], [0.5], 4, interval="exact")
    with pytest.raises(ValueError, match="drawn uniformly"):
        estimate_error([2.0], [0.5], 4, audit=[False])
    with pytest.raises(ValueError, match="confidence=1"):
        estimate_error([2.0], [0.5], 4, confidence=1)
    with pytest.raises(ValueError, match="audit has the shape"):
        estimate_error([2.0], [0.5], 4, audit=[True, True])
    with pytest.raises(ValueError, match="above 0"):
        lure_weights([0.0], 4)
    with pytest.raises(ValueError, match="n_rows=1"):
        lure_weights([0.5, 0.5], 1)
