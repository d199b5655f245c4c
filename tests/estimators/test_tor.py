import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import hide, ordinal_problem

from tordinal import REDSVM, TOR
from tordinal.losses import LOSSES
from tordinal.transduction import class_counts


@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from(["linear", "perceptron", "rbf"]),
    loss=st.sampled_from(sorted(LOSSES)),
    C=st.sampled_from([0.1, 1.0, 10.0]),
    swaps=st.sampled_from(["single", "all", 3, "optimal"]),
)
def test_properties_of_algorithm_1(seed, kernel, loss, C, swaps):
    """At one C2 the objective falls, class counts are kept, and thresholds are ordered."""
    X, y = ordinal_problem(50, 4, noise=2.0, seed=seed)
    hidden = hide(y, 12, seed)
    model = TOR(C=C, kernel=kernel, loss=loss, swaps=swaps).fit(X, hidden)
    for before, after in zip(model.history_, model.history_[1:], strict=False):
        if before["C2"] == after["C2"]:
            assert before["swaps"] > 0
            assert after["objective"] < before["objective"]
        else:
            assert before["swaps"] == 0
            assert after["C2"] > before["C2"]
    unlabeled = hidden == -1
    exact = np.bincount(hidden[~unlabeled], minlength=4) / 12 * unlabeled.sum()
    counts = np.bincount(model.initial_labels_[unlabeled], minlength=4)
    assert np.abs(counts - exact).max() < 1
    np.testing.assert_array_equal(np.bincount(model.transduction_[unlabeled], minlength=4), counts)
    np.testing.assert_array_equal(model.transduction_[~unlabeled], hidden[~unlabeled])
    assert np.all(np.diff(model.thresholds_) >= 0)


def test_swaps_happen_and_help_on_data_with_clusters():
    from tordinal.datasets import make_ordinal_clusters

    X, y = make_ordinal_clusters(1200, p=0.1, random_state=0)
    hidden = np.where(np.arange(1200) < 100, y, -1)
    model = TOR().fit(X, hidden)
    assert sum(record["swaps"] for record in model.history_) > 10
    unlabeled = hidden == -1
    error = np.mean(model.transduction_[unlabeled] != y[unlabeled])
    assert error < np.mean(model.initial_labels_[unlabeled] != y[unlabeled])
    assert error < np.mean(
        REDSVM().fit(X[~unlabeled], y[~unlabeled]).predict(X[unlabeled]) != y[unlabeled]
    )


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("swaps", ["single", "all", "optimal"])
def test_reversing_the_ranks_reverses_the_answer(loss, swaps):
    X, y = ordinal_problem(61, 3, seed=4)  # 46 unlabelled rows of three equal shares: 46 / 3
    hidden = hide(y, 15)
    one = TOR(loss=loss, swaps=swaps, tol=1e-6).fit(X, hidden)
    other = TOR(loss=loss, swaps=swaps, tol=1e-6).fit(X, np.where(hidden == -1, -1, 2 - hidden))
    np.testing.assert_array_equal(2 - one.transduction_, other.transduction_)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kernel", ["linear", "perceptron", "rbf"])
def test_permuting_rows_permutes_the_answer(loss, kernel):
    X, y = ordinal_problem(60, 3, seed=4)
    hidden = hide(y, 15)
    order = np.random.default_rng(0).permutation(60)
    one = TOR(loss=loss, kernel=kernel, tol=1e-6).fit(X, hidden)
    other = TOR(loss=loss, kernel=kernel, tol=1e-6).fit(X[order], hidden[order])
    np.testing.assert_array_equal(one.transduction_[order], other.transduction_)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)


@pytest.mark.parametrize("kernel", ["perceptron", "rbf"])
def test_shifting_the_features_changes_nothing(kernel):
    X, y = ordinal_problem(60, 3, seed=5)
    hidden = hide(y, 15)
    one = TOR(kernel=kernel, gamma=0.3, tol=1e-6).fit(X, hidden)
    other = TOR(kernel=kernel, gamma=0.3, tol=1e-6).fit(X + 1000.0, hidden)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_without_unlabelled_rows_tor_is_redsvm(loss):
    X, y = ordinal_problem(60, 4)
    tor, red = TOR(loss=loss).fit(X, y), REDSVM(loss=loss).fit(X, y)
    np.testing.assert_array_equal(tor.decision_function(X), red.decision_function(X))
    np.testing.assert_array_equal(tor.transduction_, y)
    assert tor.objective_ == red.objective_
    assert len(tor.history_) == 1


def test_c2_max_ends_the_schedule_exactly_there():
    X, y = ordinal_problem(40, 3)
    model = TOR(C2_max=3e-5).fit(X, hide(y, 12))
    assert sorted({record["C2"] for record in model.history_}) == [0.0, 1e-5, 2e-5, 3e-5]


@pytest.mark.parametrize(
    ("class_ratio", "shares"),
    [([1, 1, 2], [0.25, 0.25, 0.5]), ("uniform", [1 / 3, 1 / 3, 1 / 3])],
)
def test_class_ratio(class_ratio, shares):
    X, y = ordinal_problem(60, 3)
    hidden = hide(y, 15)
    model = TOR(class_ratio=class_ratio).fit(X, hidden)
    counts = np.bincount(model.transduction_[hidden == -1], minlength=3)
    np.testing.assert_array_equal(counts, class_counts(np.array(shares), 45))


def test_predicted_and_blended_class_ratios():
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 20)
    unlabeled = hidden == -1
    supervised = REDSVM().fit(X[~unlabeled], hidden[~unlabeled]).predict(X[unlabeled])
    predicted = np.bincount(supervised, minlength=3) / unlabeled.sum()
    labeled = np.bincount(hidden[~unlabeled], minlength=3) / 20
    for name, wanted in (("predicted", predicted), ("blended", (predicted + labeled) / 2)):
        model = TOR(class_ratio=name).fit(X, hidden)
        counts = np.bincount(model.transduction_[unlabeled], minlength=3)
        assert np.all(np.abs(counts - class_counts(wanted, unlabeled.sum())) <= 1)


@pytest.mark.parametrize("class_ratio", [[0.5, 0.5], [1, -1, 1], [0, 0, 0], [np.nan, 1, 1]])
def test_a_bad_class_ratio_is_rejected(class_ratio):
    X, y = ordinal_problem(30, 3)
    with pytest.raises(ValueError, match="class_ratio"):
        TOR(class_ratio=class_ratio).fit(X, hide(y, 10))


@pytest.mark.parametrize("swaps", ["single", "optimal"])
def test_duplicate_rows_never_exchange_labels_back_and_forth(swaps):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(300, 3)).astype(float)  # at most 27 distinct rows
    score = X.sum(axis=1) + rng.normal(size=300)
    y = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
    model = TOR(kernel="perceptron", C=10, swaps=swaps).fit(X, np.where(np.arange(300) < 40, y, -1))
    assert len(model.history_) < 500


def test_lev_ends(shared_data):
    data = np.loadtxt(shared_data / "ordinal" / "LEV" / "LEV.txt")
    X, y = data[:, :-1], data[:, -1].astype(int)
    rng = np.random.default_rng(0)
    hidden = np.where(np.isin(np.arange(len(y)), rng.permutation(len(y))[:60]), y, -1)
    model = TOR(kernel="perceptron", C=10).fit(X, hidden)
    assert len(model.history_) < 3000


@pytest.mark.parametrize("kernel", ["linear", "perceptron"])
@pytest.mark.parametrize(
    "case",
    [
        "constant feature",
        "two classes",
        "twenty classes",
        "huge C",
        "one label per class",
        "huge features",
        "one unlabelled",
    ],
)
def test_hard_cases(case, kernel):
    n_classes = {"two classes": 2, "twenty classes": 20}.get(case, 4)
    X, y = ordinal_problem(120, n_classes, noise=0.1)
    n_labels = {"one label per class": n_classes, "one unlabelled": 119}.get(case, 60)
    if case == "constant feature":
        X[:, 2] = 7.0
    if case == "huge features":
        X *= 1e6
    hidden = hide(y, n_labels)
    model = TOR(C=1e5 if case == "huge C" else 1.0, kernel=kernel, swaps="all").fit(X, hidden)
    assert np.isfinite(model.objective_)
    assert np.all(np.diff(model.thresholds_) >= 0)
    assert np.mean(np.abs(model.transduction_ - y)) < n_classes / 4


def test_sample_weight_scales_the_cost():
    X, y = ordinal_problem(60, 3)
    hidden = hide(y, 15)
    weighted = TOR(C=0.5, C2_max=0.1).fit(X, hidden, sample_weight=np.full(60, 2.0))
    plain = TOR(C=1.0, C2_start=2e-5, C2_max=0.2).fit(X, hidden)
    np.testing.assert_array_equal(weighted.transduction_, plain.transduction_)
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-4)
