import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tordinal.active import (
    Coverage,
    Entropy,
    ExpectedCost,
    ExpectedError,
    ExpectedErrorReduction,
    LeastConfidence,
    Mixture,
    Random,
)
from tordinal.active.base import Strategy, generator, read_ratings

STRATEGIES = [
    Random(), Coverage(), ExpectedError(), ExpectedError(power=None, diversity=1.0),
    ExpectedErrorReduction(), LeastConfidence(), Entropy(), ExpectedCost(), Mixture(),
    Mixture(Coverage()), Mixture(Entropy(power=2.0, diversity=0.5), audit=0.5),
    Mixture(ExpectedCost()),
]  # fmt: skip
every = pytest.mark.parametrize("strategy", STRATEGIES, ids=str)


def problem(n=40, K=3, seed=0, n_rated=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.argsort(np.argsort(X[:, 0] + 0.3 * rng.normal(size=n))) * K // n
    rated = np.concatenate([[int(np.flatnonzero(y == k)[0]) for k in range(K)]])
    rated = np.union1d(rated, rng.permutation(n)[: n_rated - K])
    given = np.full(n, -1)
    given[rated] = y[rated]
    return X, given


def check(rows, probabilities, y, n):
    unrated = np.flatnonzero(np.asarray(y) == -1)
    assert len(rows) == len(probabilities) == min(n, len(unrated))
    assert len(set(rows.tolist())) == len(rows)
    assert set(rows.tolist()) <= set(unrated.tolist())
    assert ((probabilities > 0) & (probabilities <= 1 + 1e-12)).all()


@every
@pytest.mark.parametrize("K", range(2, 11))
def test_only_unrated_rows_each_once(strategy, K):
    X, y = problem(K=K, seed=K)
    check(*strategy.query(X, y, 7), y, 7)


@every
def test_more_rows_than_there_are(strategy):
    X, y = problem()
    check(*strategy.query(X, y, 1000), y, 1000)
    rows, probabilities = strategy.query(X[y >= 0], y[y >= 0], 3)
    assert rows.shape == probabilities.shape == (0,)


@every
def test_the_order_of_the_rows_plays_no_part(strategy):
    X, y = problem(seed=3)
    order = np.random.default_rng(1).permutation(len(y))
    rows, probabilities = strategy.query(X, y, 6)
    others, same = strategy.query(X[order], y[order], 6)
    assert order[others].tolist() == rows.tolist()
    assert same.tolist() == probabilities.tolist()


@every
def test_the_same_query_twice(strategy):
    X, y = problem()
    parameters = strategy.get_params(deep=False)
    first, again = strategy.query(X, y, 5), clone(strategy).query(X, y, 5)
    assert first[0].tolist() == again[0].tolist()
    assert first[1].tolist() == again[1].tolist()
    assert strategy.get_params(deep=False) == parameters


@every
def test_constant_features_are_ties(strategy):
    _, y = problem()
    chosen = [
        clone(strategy).set_params(random_state=seed).query(np.ones((len(y), 2)), y, 4)
        for seed in range(8)
    ]
    for rows, probabilities in chosen:
        check(rows, probabilities, y, 4)
        assert probabilities[0] == pytest.approx(1 / (y == -1).sum())
    assert len({tuple(rows.tolist()) for rows, _ in chosen}) > 4


@every
def test_sparse_rows(strategy):
    X, y = problem()
    X[np.abs(X) < 0.5] = 0.0
    long = sp.csr_array(X)  # as of very many non-zeros
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for S in (sp.csr_matrix(X), sp.csr_array(X), sp.coo_array(X), long):
        check(*strategy.query(S, y, 5), y, 5)


@pytest.mark.parametrize(
    "strategy", [ExpectedError(power=None), LeastConfidence(diversity=2.0), Entropy()]
)
def test_sparse_and_dense_rows_give_the_same_answer(strategy):
    X, y = problem()
    p = np.random.default_rng(0).dirichlet(np.ones(3), len(y))
    rows = strategy.query(X, y, 5, y_proba=p)[0]
    assert strategy.query(sp.csr_array(X), y, 5, y_proba=p)[0].tolist() == rows.tolist()


@every
@pytest.mark.parametrize("label", [None, 2])
def test_before_two_classes_are_rated(strategy, label):
    X, _ = problem()
    y = [None] * len(X)
    y[5] = label
    rows, probabilities = strategy.query(X, y, 5)
    assert len(set(rows.tolist())) == 5
    assert label is None or 5 not in rows
    assert (probabilities < 1).all()


@every
def test_marks_of_unrated_rows(strategy):
    X, y = problem()
    rows = strategy.query(X, y, 4)[0].tolist()
    for marked in (
        np.where(y < 0, np.nan, y),
        [None if v < 0 else int(v) for v in y],
        pd.Series(y, dtype="Int64").mask(y < 0),
    ):
        assert strategy.query(X, marked, 4)[0].tolist() == rows


@every
def test_words_with_an_order(strategy):
    X, y = problem()
    words = np.array(["poor", "fair", "good"], dtype=object)
    given = pd.Series([None if v < 0 else words[v] for v in y])
    ordered = given.astype(pd.CategoricalDtype(words.tolist(), ordered=True))
    assert strategy.query(X, ordered, 4)[0].tolist() == strategy.query(X, y, 4)[0].tolist()


@given(st.integers(0, 10**6), st.sampled_from(STRATEGIES), st.integers(1, 12), st.integers(2, 10))
def test_duplicates_and_small_pools(seed, strategy, n, K):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(rng.integers(1, 15), 2)).astype(float)
    y = rng.integers(-1, K, len(X))
    check(*strategy.query(X, y, n), y, n)


def test_minus_one_is_a_rank_among_classes():
    X, y = np.arange(4.0)[:, None], [-1, 0, 1, None]
    assert Random(classes=[-1, 0, 1]).query(X, y, 4)[0].tolist() == [3]
    ranks = read_ratings([-1, None], [-1, 0])[1]
    assert ranks.tolist() == [0, -1]
    assert read_ratings([7, None], [5, 7])[1].tolist() == [1, -1]


def test_errors_name_the_value():
    X, y = problem()
    with pytest.raises(ValueError, match="n=-1"):
        Random().query(X, y, -1)
    with pytest.raises(ValueError, match="40 rows but y has the shape"):
        Random().query(X, y[:3])
    with pytest.raises(ValueError, match="not among classes"):
        Random(classes=[5, 6]).query(X, [7] + [None] * 39)
    with pytest.raises(ValueError, match=r"must have \(40, 3\)"):
        Entropy().query(X, y, y_proba=np.full((40, 2), 0.5))
    with pytest.raises(ValueError, match="sum 1"):
        Entropy().query(X, y, y_proba=np.full((40, 3), 0.5))
    with pytest.raises(ValueError, match="NaN"):
        Random().query(np.full((2, 1), np.nan), [None, None])


def test_strategies_are_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Strategy()


def test_random_numbers_change_with_the_ratings():
    draws = [generator(0, n).random() for n in range(50)]
    assert len(set(draws)) == 50
    assert generator(0, 3).random() == draws[3]
    stream = np.random.RandomState(0)
    assert generator(stream, 3).random() != generator(stream, 3).random()
