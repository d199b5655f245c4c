"""The cluster's answers are those of one machine, whatever the blocks and workers."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from clusters import in_blocks, labels_in_blocks, start
from distributed import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import hide, ordinal_problem

import tordinal
from tordinal.dask import REDSVM, TOR
from tordinal.losses import LOSSES

QUICK = {"loss": "square", "C2_start": 0.1}
FINE = {"tol": 1e-6, "C2_start": 0.1}


def problem(n=120, K=3, labels=30, seed=0):
    X, y = ordinal_problem(n, K, seed=seed)
    return X, y, hide(y, labels)


def same(model, local, X):
    np.testing.assert_allclose(model.objective_, local.objective_, rtol=1e-4)
    assert np.mean(model.transduction_.compute() == local.transduction_) >= 0.999
    assert np.mean(model.predict(X) == local.predict(X)) >= 0.99


@pytest.mark.parametrize(
    ("loss", "swaps"),
    [("hinge", "single"), ("hinge", "optimal"), ("squared_hinge", 3), ("squared_hinge", "single"),
     ("logistic", "all"), ("square", "optimal"), ("laplacian", "all")],
)  # fmt: skip
def test_tor_is_that_of_one_machine(client, loss, swaps):
    X, _, hidden = problem()
    model = TOR(loss=loss, swaps=swaps, **FINE).fit(in_blocks(X, [50, 0, 40, 30]), hidden)
    local = tordinal.TOR(loss=loss, swaps=swaps, kernel="linear", **FINE).fit(X, hidden)
    same(model, local, X)
    assert [r["C2"] for r in model.history_] == [r["C2"] for r in local.history_]
    assert model.n_round_trips_ > 0
    with pytest.warns(FutureWarning, match="now n_round_trips_"):
        assert model.n_exchanges_ == model.n_round_trips_


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_many_sparse_features(client, loss):
    X, _y, hidden = problem(120, 3, 40)
    wide = sp.hstack([sp.csr_matrix(X), sp.random(120, 400, 0.02, random_state=0)]).tocsr()
    model = TOR(loss=loss, swaps="all", **FINE).fit(in_blocks(wide, [60, 60]), hidden)
    local = tordinal.TOR(loss=loss, swaps="all", kernel="linear", **FINE).fit(wide, hidden)
    same(model, local, wide)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_redsvm_is_that_of_one_machine(client, loss):
    X, y, _ = problem()
    model = REDSVM(loss=loss, tol=1e-7).fit(in_blocks(X, [80, 40]), y)
    local = tordinal.REDSVM(loss=loss, kernel="linear", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.objective_, local.objective_, rtol=1e-6)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-2)


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=6),
    st.sampled_from(["all", "optimal"]),
    st.booleans(),
)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_partitioning_gives_the_same_answer(client, sizes, swaps, sparse):
    X, _, hidden = problem(100, 3, 30)
    if sparse:
        X = sp.csr_matrix(X)
    sizes = [s for s, end in zip(sizes, np.cumsum(sizes), strict=True) if end <= 100]
    sizes.append(100 - sum(sizes))
    model = TOR(loss="squared_hinge", swaps=swaps, **FINE).fit(in_blocks(X, sizes), hidden)
    whole = TOR(loss="squared_hinge", swaps=swaps, **FINE).fit(in_blocks(X, [100]), hidden)
    np.testing.assert_allclose(model.objective_, whole.objective_, rtol=1e-9)
    np.testing.assert_array_equal(model.transduction_.compute(), whole.transduction_.compute())


def test_any_number_of_workers_gives_the_same_answer(client):
    """Also with a client that is not the one of the process."""
    X, _, hidden = problem()
    answers = []
    for n_workers in (1, 2, 4):
        with (
            start(n_workers, processes=False) as cluster,
            Client(cluster, set_as_default=False) as other,
        ):
            model = TOR(loss="squared_hinge", **FINE, client=other)
            model.fit(in_blocks(X, [30, 30, 30, 30]), hidden)
            answers.append((model.objective_, other.compute(model.transduction_).result()))
    for objective, labels in answers[1:]:
        np.testing.assert_allclose(objective, answers[0][0], rtol=1e-10)
        np.testing.assert_array_equal(labels, answers[0][1])


def test_equal_rows_are_unique_names_as_on_one_machine(client):
    X, _, hidden = problem(90, 3, 30)
    X = np.round(X)  # many ties
    for swaps in ("all", "optimal", 2):
        model = TOR(loss="squared_hinge", swaps=swaps, **FINE)
        model.fit(in_blocks(X, [20, 40, 30]), hidden)
        local = tordinal.TOR(loss="squared_hinge", swaps=swaps, kernel="linear", **FINE)
        local.fit(X, hidden)
        np.testing.assert_allclose(model.objective_, local.objective_, rtol=1e-6)


def test_many_pairs_are_chosen_by_counting(client, monkeypatch):
    from tordinal.engines.dask import pseudo_labels

    X, _, hidden = problem(150, 3, 20, seed=8)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 150)
    few = TOR(swaps="all", **FINE).fit(in_blocks(X, [80, 70]), hidden, weight)
    monkeypatch.setattr(pseudo_labels, "MOST_CANDIDATES", 0)
    many = TOR(swaps="all", **FINE).fit(in_blocks(X, [80, 70]), hidden, weight)
    assert sum(r["swaps"] for r in many.history_) > 0
    np.testing.assert_array_equal(many.transduction_.compute(), few.transduction_.compute())
    local = tordinal.TOR(swaps="all", kernel="linear", **FINE).fit(X, hidden, weight)
    np.testing.assert_allclose(many.objective_, local.objective_, rtol=1e-4)


@pytest.mark.parametrize(
    "ratio", ["labeled", "predicted", "blended", "estimated", "uniform", [1, 2, 3]]
)
def test_class_ratios(client, ratio):
    X, _, hidden = problem()
    shared = {"class_ratio": ratio, "loss": "square", "swaps": "all", **FINE}
    # Folds of labelled rows are dealt block by block: only those of one block are the same.
    model = TOR(**shared).fit(in_blocks(X, [120] if ratio == "estimated" else [60, 60]), hidden)
    local = tordinal.TOR(kernel="linear", **shared).fit(X, hidden)
    counts = np.bincount(model.transduction_.compute()[hidden == -1], minlength=3)
    np.testing.assert_array_equal(
        counts, np.bincount(local.transduction_[hidden == -1], minlength=3)
    )


def test_unknown_sizes_and_labels_of_many_kinds(client):
    X, _, hidden = problem(100, 3, 30)
    sizes = [60, 40]
    expected = TOR(**QUICK).fit(in_blocks(X, sizes), hidden).transduction_.compute()
    unknown = TOR(**QUICK).fit(in_blocks(X, sizes, known=False), labels_in_blocks(hidden, sizes))
    np.testing.assert_array_equal(unknown.transduction_.compute(), expected)
    names = np.array(["low", "mid", "top"], dtype=object)
    words = np.where(hidden == -1, None, names[hidden])
    said = TOR(classes=["low", "mid", "top"], **QUICK).fit(in_blocks(X, sizes), words)
    np.testing.assert_array_equal(said.transduction_.compute(), names[expected])
    series = dd.from_pandas(
        pd.Series(pd.Categorical(words, categories=names, ordered=True)), npartitions=2, sort=False
    )
    lengths = series.map_partitions(len).compute().tolist()
    rated = TOR(**QUICK).fit(in_blocks(X, lengths), series)
    np.testing.assert_array_equal(rated.transduction_.compute(), names[expected])
    assert rated.classes_.tolist() == names.tolist()
    floats = np.where(hidden == -1, np.nan, hidden)
    assert TOR(**QUICK).fit(in_blocks(X, sizes), floats).classes_.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0}, "'C' parameter of TOR must be a float in the range"),
        ({"swaps": "some"}, "'swaps' parameter of TOR"),
        ({"C2_factor": 0.5}, "'C2_factor' parameter of TOR"),
        ({"C2_factor": 1.0}, "'C2_factor' parameter of TOR"),
        ({"C2_max": -1}, "'C2_max' parameter of TOR"),
        ({"class_ratio": "guessed"}, "'class_ratio' parameter of TOR"),
        ({"class_ratio": [1, 2]}, "class_ratio"),
        ({"loss": "cubic"}, "cubic"),
    ],
)
def test_bad_parameters_are_named(client, change, message):
    X, _, hidden = problem(60, 4, 20)
    with pytest.raises(ValueError, match=message):
        TOR(**change).fit(in_blocks(X, [60]), hidden)


def test_bad_data_are_named(client):
    X, _y, hidden = problem(60, 3, 20)
    rows = in_blocks(X, [30, 30])
    with pytest.raises(ValueError, match="must be a Dask array"):
        TOR().fit(X, hidden)
    with pytest.raises(ValueError, match="59 entries for 60 rows"):
        TOR().fit(rows, hidden[:-1])
    with pytest.raises(ValueError, match="1 blocks and X has 2"):
        TOR().fit(rows, labels_in_blocks(hidden, [60]))
    with pytest.raises(ValueError, match="block 0 has 30 rows and 20 labels"):
        TOR().fit(rows, labels_in_blocks(hidden, [20, 40]))
    with pytest.raises(ValueError, match="no row is labelled"):
        TOR().fit(rows, np.full(60, -1))
    with pytest.raises(ValueError, match="40 labels are missing"):
        REDSVM().fit(rows, np.where(hidden == -1, np.nan, hidden))
    with pytest.raises(ValueError, match="every labelled row has weight 0"):
        TOR().fit(rows, hidden, np.zeros(60))
    with pytest.raises(ValueError, match="sample_weight: block"):
        TOR().fit(rows, hidden, -np.ones(60))
    X[40, 0] = np.nan
    with pytest.raises(ValueError, match="block 1 contains NaN"):
        TOR().fit(in_blocks(X, [30, 30]), hidden)


def test_without_dask_the_command_that_helps_is_named(monkeypatch):
    import tordinal.dask as package

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(package, "import_module", missing)
    for name in ("TOR", "REDSVM"):
        with pytest.raises(ImportError, match=rf'dask.{name} needs Dask.*pip install "tordinal'):
            getattr(package, name)
    with pytest.raises(AttributeError):
        package.SVOR  # noqa: B018
