import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tordinal.active import ExpectedErrorReduction, Mixture, estimate_error
from tordinal.active import error_reduction as module
from tordinal.active.base import Pool
from tordinal.active.error_reduction import _estimate_noise, _GaussianProcess, _kernel


def pool_of(X, y, n=1, seed=0):
    rank = np.asarray(y)
    return Pool(X, rank, rank, np.arange(3), None, n, np.random.default_rng(seed))


def scattered(n=30, n_rated=8, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), np.full(n, -1)
    y[:n_rated] = np.arange(n_rated) % 3
    return X, y


@pytest.mark.parametrize("sparse", [False, True])
def test_rating_a_row_reduces_variances_as_conditioning_does(sparse):
    X, y = scattered()
    X = sp.csr_array(X) if sparse else X
    process = _GaussianProcess(pool_of(X, y))
    unrated, rated = np.flatnonzero(y == -1), np.flatnonzero(y != -1)
    K = _kernel(X[np.concatenate([unrated, rated])], len(unrated))
    for chosen in ([], [unrated[4]], [unrated[4], unrated[9]]):
        process._pool.chosen = list(chosen)
        process.add_chosen()
        known = np.concatenate([np.arange(len(unrated), len(K)), np.searchsorted(unrated, chosen)])
        known = known.astype(int)
        given_ratings = K[np.ix_(known, known)] + process.noise * np.eye(len(known))
        expected = K - K[:, known] @ np.linalg.solve(given_ratings, K[known])
        assert np.allclose(process._covariance, expected[: len(unrated), : len(unrated)], atol=1e-5)


def test_the_reduction_is_that_of_the_standard_deviations():
    X, y = scattered()
    pool = pool_of(X, y)
    process = _GaussianProcess(pool)
    error = np.random.default_rng(1).random(len(y))
    found = process.reduction(error)
    before = process._covariance.diagonal() + process.noise
    for i, row in enumerate(process.rows[:6]):
        others = np.arange(len(process.rows)) != i
        after = _GaussianProcess(pool)
        pool.chosen = [int(row)]
        after.add_chosen()
        pool.chosen = []
        shrunk = 1.0 - np.sqrt((after._covariance.diagonal() + process.noise) / before)
        # To first order in the share of the variance.
        share = (before - after._covariance.diagonal() - process.noise) / before
        exact = shrunk[others] @ error[process.rows][others]
        first_order = 0.5 * share[others] @ error[process.rows][others]
        assert found[i] == pytest.approx(first_order, rel=1e-4)
        assert first_order <= exact


def test_kernels_are_positive_definite_whatever_the_units():
    X, _ = scattered()
    K = _kernel(X, 20)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert K.diagonal()[:20].mean() == pytest.approx(2.0)
    assert np.allclose(_kernel(1000.0 * X, 20), K)


def test_noise_of_ratings_is_distinguished_from_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    values, vectors = np.linalg.eigh(_kernel(X, 100))
    values = np.maximum(values, 0.0)
    signal = np.digitize(X[:, 0], [-1.0, 0.0, 1.0])
    noise = rng.permutation(signal)
    clear = _estimate_noise(values, vectors, signal)
    mixed = _estimate_noise(values, vectors, np.where(rng.random(100) < 0.6, noise, signal))
    assert clear < 0.1 < mixed < _estimate_noise(values, vectors, noise)
    # Ratings that are all the same tell nothing.
    middle = float(np.exp(np.log(module.NOISE).mean()))
    assert _estimate_noise(values, vectors, np.ones(100)) == pytest.approx(middle)


def test_the_less_signal_the_more_even_are_the_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    signal = np.digitize(X[:, 0], [-1.0, 0.0, 1.0])
    p = rng.dirichlet(np.ones(4), 300)
    largest = {}
    for name, rank in {"signal": signal, "noise": rng.permutation(signal)}.items():
        y = np.where(np.arange(300) < 80, rank, -1)
        pool = Pool(X, y, y, np.arange(4), p, 1, np.random.default_rng(0))
        strategy = ExpectedErrorReduction()
        largest[name] = strategy._distribution(strategy._scores(pool)(), pool).max()
    assert largest["noise"] < 0.1
    assert largest["signal"] > 2 * largest["noise"]


def test_many_alike_rows_are_preferred_to_one_far_out():
    rng = np.random.default_rng(0)
    X = np.vstack([[[0.0, 9.0]], rng.normal(scale=0.1, size=(40, 2)), [[3.0, 0.0], [3.1, 0.0]]])
    y, p = np.full(43, -1), np.tile([0.5, 0.5], (43, 1))
    y[-2:] = 0, 1
    strategy = ExpectedErrorReduction(power=50.0)
    rows = [
        strategy.set_params(random_state=seed).query(X, y, 1, y_proba=p)[0][0] for seed in range(20)
    ]
    assert all(1 <= row <= 40 for row in rows)


def test_rows_of_one_query_are_not_alike():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(3) * 10, 10, axis=0)
    X = np.vstack([centres + rng.normal(scale=0.01, size=(30, 3)), [[5.0, 5.0, 5.0]] * 2])
    y, p = np.full(32, -1), np.tile([0.5, 0.5], (32, 1))
    y[-2:] = 0, 1
    strategy = ExpectedErrorReduction(power=100.0)
    assert set(strategy.query(X, y, 3, y_proba=p)[0] // 10) == {0, 1, 2}


def test_of_many_rows_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    monkeypatch.setattr(module, "MOST_RATED", 5)
    X, y = scattered(n=60)
    pool = pool_of(X, y)
    process = _GaussianProcess(pool)
    assert len(set(process.rows)) == 10
    assert np.flatnonzero(pool.sample).tolist() == process.rows.tolist()
    assert (y[process.rows] == -1).all()
    # The rows chosen so far count as rated, as in a query that looks at all rows.
    pool.choose(int(process.rows[3]))
    again = _GaussianProcess(pool, process.noise)
    assert set(again.rows) != set(process.rows)
    assert pool.chosen[0] not in again.rows
    assert again.noise == process.noise
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    rows, _ = ExpectedErrorReduction().query(X, y, 52, y_proba=p)
    assert sorted(rows) == list(range(8, 60))


def test_weights_vary_no_more_for_looking_at_a_sample(monkeypatch):
    X, y = scattered(n=400)
    p = np.tile([0.2, 0.6, 0.2], (400, 1))
    sizes = {}
    for most in (1000, 40):
        monkeypatch.setattr(module, "MOST_ROWS", most)
        q = Mixture(ExpectedErrorReduction(power=2.0)).query(X, y, 30, y_proba=p)[1]
        weights = 1.0 / (q * (392 - np.arange(30)))
        sizes[most] = weights.sum() ** 2 / (weights**2).sum()
    assert sizes[40] > 0.8 * sizes[1000] > 20


@pytest.mark.parametrize("audit", [None, 0.3])
def test_probabilities_of_a_sample_are_frequencies_on_average(monkeypatch, audit):
    monkeypatch.setattr(module, "MOST_ROWS", 6)
    X, y = scattered(n=20, n_rated=6)
    p = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    n, counts, sums, audits = 3000, np.zeros(20), np.zeros(20), np.zeros(20)
    for seed in range(n):
        inner = ExpectedErrorReduction(random_state=seed)
        strategy = inner if audit is None else Mixture(inner, audit=audit, random_state=seed)
        rows, q = strategy.query(X, y, 1, y_proba=p)
        counts[rows[0]] += 1
        sums[rows[0]] += 1.0 / q[0]
        audits[rows[0]] += audit is not None and strategy.audit_[0]
    # The mean of 1 / q over the draws of a row estimates 1; q varies with the sample.
    assert np.abs(sums[6:] / n - 1.0).max() < 0.35
    assert np.mean(sums[6:] / n) == pytest.approx(1.0, abs=0.05)
    if audit is not None:
        share = audits[6:] / audits.sum()
        assert np.abs(share - 1 / 14).max() < 5 * np.sqrt(1 / 14 / audits.sum())


def test_certain_rows_leave_the_choice_to_chance():
    X, y = scattered()
    p = np.tile([0.0, 1.0, 0.0], (30, 1))
    probabilities = ExpectedErrorReduction().query(X, y, 3, y_proba=p)[1]
    assert np.allclose(probabilities, [1 / 22, 1 / 21, 1 / 20])


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([None, 1.0, 4.0]), st.sampled_from([0.25, 0.6]))
def test_recorded_probabilities_are_frequencies(seed, power, audit):
    X, y = scattered(n=14, n_rated=6, seed=seed)
    p = np.random.default_rng(seed).dirichlet(np.ones(3), 14)
    counts, recorded, n = np.zeros(14), np.zeros(14), 1500
    for draw in range(n):
        inner = ExpectedErrorReduction(power=power)
        rows, q = Mixture(inner, audit=audit, random_state=draw).query(X, y, 1, y_proba=p)
        counts[rows[0]] += 1
        recorded[rows[0]] = q[0]
    assert recorded.sum() == pytest.approx(1.0)
    # Eight rows in eight examples: five standard errors.
    error = np.sqrt(recorded * (1 - recorded) / n)
    assert (np.abs(counts / n - recorded) <= 5 * error).all()


@pytest.mark.parametrize("most", [1000, 12])
def test_weights_make_the_estimate_unbiased(monkeypatch, most):
    # Also where a query looks at some of the rows only.
    monkeypatch.setattr(module, "MOST_ROWS", most)
    X, y = scattered(n=30, n_rated=0)
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.full(3, 0.5), 30)
    loss = np.round(2 * (1 - p.max(axis=1)) + 0.7 * rng.random(30))
    misses, plain = [], []
    for seed in range(1500):
        strategy = Mixture(ExpectedErrorReduction(), audit=0.5, random_state=seed)
        rows, q = strategy.query(X, y, 8, y_proba=p)
        misses.append(estimate_error(loss[rows], q, 30).error - loss.mean())
        plain.append(loss[rows].mean() - loss.mean())
    assert abs(np.mean(misses)) < 4 * np.std(misses) / np.sqrt(len(misses))
    assert np.mean(plain) > 10 * np.std(plain) / np.sqrt(len(plain))  # what the weights correct


def test_parameters_are_checked():
    X, y = scattered()
    with pytest.raises(ValueError, match="power"):
        ExpectedErrorReduction(power=0.0).query(X, y)
    with pytest.raises(ValueError, match="estimator"):
        ExpectedErrorReduction("redsvm").query(X, y)
