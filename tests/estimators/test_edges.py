"""Problems that used to run for ever, or to end with a wrong answer and no word about it."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tordinal import MTSVM, REDSVM, SVOR, TOR, TORCV
from tordinal.datasets import make_reviews
from tordinal.engines.host import gram
from tordinal.losses import LOSSES, Hinge
from tordinal.projection import Projection
from tordinal.solvers.newton import square_root
from tordinal.solvers.smo import driver as smo
from tordinal.text import ReviewVectorizer


def ends(model, X, y):
    """Fit, whatever warning there is; the objective is a number and so are the thresholds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.thresholds_).all()
    return model


@pytest.mark.parametrize("loss", ["hinge", "laplacian"])
def test_many_sparse_rows_with_a_large_cost(loss):
    texts, stars = make_reviews(1500, random_state=0)
    X = ReviewVectorizer().fit_transform(texts)
    model = ends(REDSVM(C=1000, loss=loss), X, stars)
    # The optimum cannot be above the objective of a model that was fitted with another cost.
    other = REDSVM(C=100, loss=loss).fit(X, stars)
    distances = np.abs(1 - np.where(stars[:, None] > np.arange(1, 5), 1, -1) * _margins(other, X))
    if loss == "hinge":
        inside = np.where(stars[:, None] > np.arange(1, 5), 1, -1) * _margins(other, X) < 1
        distances = distances * inside
    t = other.thresholds_
    value = 0.5 * other.coef_ @ other.coef_ + 0.5 * np.sum((t - t.mean()) ** 2)
    assert model.objective_ <= (value + 1000 * distances.sum()) * (1 + 1e-3)


def _margins(model, X):
    return model.predict_projection(X)[:, None] - model.thresholds_


def test_unscaled_features():
    X, y = ordinal_problem(20, 3, n_features=2)
    plain = ends(REDSVM(), X * 1e10, y)
    # With features of any scale the penalty on w vanishes; only that on the thresholds is left.
    larger = ends(REDSVM(), X * 1e12, y)
    assert larger.objective_ <= plain.objective_ * (1 + 1e-3)
    rng = np.random.default_rng(0)
    milliseconds = 1.6e12 + 1e10 * rng.random(60)
    X, y = ordinal_problem(60, 3, n_features=2)
    with_time = ends(REDSVM(), np.column_stack([X, milliseconds]), y)
    assert np.mean(with_time.predict(np.column_stack([X, milliseconds])) == y) > 0.5


@pytest.mark.parametrize("constraints", ["implicit", "explicit"])
def test_svor_with_a_large_cost_and_many_classes(constraints):
    X, y = ordinal_problem(1500, 5, n_features=3, noise=0.3)
    ends(SVOR(C=1000, constraints=constraints), X, y)
    rng = np.random.default_rng(0)
    model = ends(SVOR(constraints=constraints), rng.normal(size=(60, 3)), np.arange(60) % 50)
    assert (np.diff(model.thresholds_) >= 0).all()


@pytest.mark.parametrize("C", [1e4, 1e6])
def test_the_laplacian_loss_with_a_large_cost(C):
    X, y = ordinal_problem(200, 4)
    hidden = hide(y, 40)
    tor = ends(TOR(loss="laplacian", kernel="rbf", C=C), X, hidden)
    weight = np.where(hidden < 0, tor.history_[-1]["C2"] / C, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cold = REDSVM(loss="laplacian", kernel="rbf", C=C).fit(
            X, tor.transduction_, sample_weight=weight
        )
    # A fit from nothing may end early here, with a warning; one that followed C2 must not be worse.
    assert tor.objective_ <= 1.01 * cold.objective_
    assert tor.objective_ >= 0.9 * cold.objective_


@pytest.mark.parametrize("change", [{"C2_factor": 1 + 1e-9}, {"C2_factor": 1.0001}])
def test_a_schedule_without_end_is_rejected(change):
    X, y = ordinal_problem(30, 3)
    with pytest.raises(ValueError, match=r"values of C2.*larger factor"):
        TOR(**change).fit(X, hide(y, 10))


def test_the_smallest_start_there_is():
    X, y = ordinal_problem(30, 3)
    for factor in (1.4, 2.0):
        model = TOR(C2_start=5e-324, C2_factor=factor).fit(X, hide(y, 10))
        # Levels at which unlabelled rows are lost in rounding are skipped.
        levels = sorted({record["C2"] for record in model.history_})
        assert 1e-25 < levels[1] < 1e-12
        assert len(levels) < 200
        same = TOR(C2_start=levels[1], C2_factor=factor).fit(X, hide(y, 10))
        assert model.objective_ == same.objective_
        np.testing.assert_array_equal(model.transduction_, same.transduction_)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "perceptron"])
def test_a_model_without_support_vectors_projects_to_zero(kernel):
    X, y = ordinal_problem(12, 2)
    model = REDSVM(kernel=kernel).fit(X, y)
    model._projection = Projection.of(model._projection.kernel, X, np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict_projection(X), np.zeros(len(X)))
    two = Projection.of(model._projection.kernel, X, np.zeros((len(X), 2)))
    assert two(X).shape == (len(X), 2)


def test_rows_to_score_need_labels():
    X, y = ordinal_problem(40, 3)
    hidden = hide(y, 20)
    model = TOR().fit(X, hidden)
    assert model.score(X, y) == pytest.approx(np.mean(model.predict(X) == y))
    with pytest.raises(ValueError, match=r"20 of 40 rows to score.*TransductiveKFold"):
        model.score(X, hidden)


def test_strings_without_an_order_are_warned_about():
    X, y = ordinal_problem(40, 3)
    words = np.array(["low", "mid", "top"])[y]
    with pytest.warns(
        UserWarning, match="ordered alphabetically: 'low' < 'mid' < 'top'. Pass `classes`"
    ):
        REDSVM().fit(X, words)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        REDSVM(classes=["low", "mid", "top"]).fit(X, words)
        REDSVM().fit(X, pd.Categorical(words, ["low", "mid", "top"], ordered=True))


@pytest.mark.parametrize("factor", [1e-8, 1e7, 1e8])
@pytest.mark.parametrize("loss", ["square", "squared_hinge", "logistic"])
def test_smooth_losses_at_any_scale(loss, factor):
    """The problem is the same when features grow and C shrinks by the square, but for theta."""
    X, y = ordinal_problem(80, 2)
    plain = REDSVM(loss=loss, C=1.0).fit(X, y)
    scaled = REDSVM(loss=loss, C=1.0 / factor**2).fit(X * factor, y)
    assert scaled.objective_ * factor**2 == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_array_equal(scaled.predict(X * factor), plain.predict(X))


def test_the_square_loss_by_its_closed_form():
    X, y = ordinal_problem(80, 2)
    X = 1e8 * (X - X.mean(axis=0))
    model = REDSVM(loss="square").fit(X, y)
    s = np.where(y > 0, 1.0, -1.0)
    A = np.column_stack([X, np.ones(80)])
    w = np.linalg.lstsq(A, s, rcond=None)[0]  # the penalty on w is nothing at this scale
    assert model.objective_ == pytest.approx(float(np.sum((A @ w - s) ** 2)), rel=1e-6)


def test_kernel_values_beyond_single_precision(monkeypatch):
    X, y = ordinal_problem(1100, 3, n_features=2)
    for model, rows in (
        (REDSVM(kernel="poly", gamma=1, C=1e-48), X * 1e8),
        (SVOR(), X * 1e20),
    ):
        ends(model, rows, y)
        assert np.mean(model.predict(rows) == y) > 0.5
    # With C = 1 a weight counts 1e48 times its row: whatever is found, it beats no model at all.
    model = ends(REDSVM(kernel="poly", gamma=1, loss="square"), X * 1e8, y)
    assert model.objective_ <= 2 * 1100
    # The hinge loss takes long over it: fewer rows, which are treated as many.
    monkeypatch.setattr(gram, "SINGLE_PRECISION_ROWS", 100)
    monkeypatch.setattr(square_root, "TUNING", replace(square_root.TUNING, rows=100))
    monkeypatch.setattr(smo, "TUNING", replace(smo.TUNING, refine_rows=100))
    X, y = ordinal_problem(150, 3, n_features=2)
    model = ends(REDSVM(kernel="poly", gamma=1), X * 1e8, y)
    assert model.objective_ <= 2 * 150


def test_one_feature_and_a_large_cost_end_soon():
    """A kernel matrix of low rank, on which SMO would crawl for millions of steps."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.normal(size=(1100, 1)), axis=0)
    y = np.digitize(X[:, 0] + rng.normal(size=1100), [-0.7, 0.0, 0.7])
    hidden = np.where(rng.permutation(1100) < 100, y, -1)
    model = TOR(kernel="rbf", C=1e5, swaps="optimal", tol=1e-2).fit(X, hidden)
    assert model.n_iter_ < 300_000
    h, t = model.predict_projection(X), model.thresholds_
    K, a = model._projection.kernel(X, X), np.zeros(1100)
    a[model.support_] = model.dual_coef_
    np.testing.assert_allclose(h, K @ a, atol=1e-6)
    cost = np.where(hidden >= 0, 1e5, model.history_[-1]["C2"])
    signs = np.where(model.transduction_[:, None] > np.arange(3), 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - signs * (h[:, None] - t)).sum(axis=1)
    objective = 0.5 * a @ h + 0.5 * np.sum((t - t.mean()) ** 2) + cost @ losses
    assert model.objective_ == pytest.approx(objective, rel=1e-6)


def test_a_box_with_its_kink_elsewhere():
    class Far:
        box = (0.0, 1.0)

        def value(self, g):
            return np.maximum(0, 3 - g)

        def slope(self, g):
            return np.where(g < 3, -1.0, 0.0)

    X, y = ordinal_problem(40, 3)
    model = REDSVM(loss=Far(), kernel="rbf").fit(X, y)
    g = np.where(y[:, None] > np.arange(2), 1, -1) * _margins(model, X)
    t, K = model.thresholds_, np.exp(-_gamma(X) * ((X[:, None] - X) ** 2).sum(axis=2))
    a = np.zeros(40)
    a[model.support_] = model.dual_coef_
    value = 0.5 * a @ K @ a + 0.5 * np.sum((t - t.mean()) ** 2) + Far().value(g).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.objective_ > 2 * REDSVM(loss=Hinge(), kernel="rbf").fit(X, y).objective_


def _gamma(X):
    return 1 / (X.shape[1] * X.var())


def test_a_search_scores_the_kernel_that_it_fits():
    """Candidates were scored with the gamma of all rows and fitted with that of the labelled."""
    X, y = ordinal_problem(120, 3)
    X[40:] *= 5.0  # the rows without labels spread wider
    labels = np.where(np.arange(120) < 40, y, -1)
    search = TORCV(kernel="rbf", C=[1.0], transduce=False, ensemble_size=1).fit(X, labels)
    assert search.best_estimator_.gamma == pytest.approx(_gamma(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_with_little_memory_in_threads(n_jobs):
    """A partial kernel matrix was shared between threads, which overwrote each other's rows."""
    X, y = ordinal_problem(150, 3)
    labels = hide(y, 40)
    plain = TORCV(kernel="rbf", C=[0.1, 1.0, 10.0]).fit(X, labels)
    small = TORCV(kernel="rbf", C=[0.1, 1.0, 10.0], cache_size=0.05, n_jobs=n_jobs).fit(X, labels)
    np.testing.assert_allclose(
        small.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.03
    )


@pytest.mark.parametrize("model", [REDSVM(kernel="rbf"), TOR(kernel="rbf")], ids=str)
def test_probabilities_are_fixed_at_fit(model):
    X, y = ordinal_problem(100, 3)
    labels = y if isinstance(model, REDSVM) else hide(y, 50)
    rows, X_new = X.copy(), ordinal_problem(50, 3, seed=1)[0]
    expected = model.fit(X.copy(), labels).predict_proba(X_new)
    again = model.fit(rows, labels)
    rows[:] = 0.0
    again.set_params(C=1000.0, kernel="linear", gamma=7.0)
    np.testing.assert_allclose(again.predict_proba(X_new), expected)


@pytest.mark.parametrize("kernel", ["perceptron", "rbf", "linear"])
def test_permuted_rows_get_permuted_classes(kernel):
    for seed in range(4):
        X, y = ordinal_problem(50, 4, seed=seed)
        labels = hide(y, 20)
        order = np.random.default_rng(seed).permutation(50)
        one = MTSVM(kernel=kernel).fit(X, labels)
        two = MTSVM(kernel=kernel).fit(X[order], labels[order])
        np.testing.assert_array_equal(two.transduction_, one.transduction_[order])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
def test_explicit_zeros_and_unsorted_indices(kernel):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.4)
    y = np.digitize(dense.sum(axis=1), [-0.5, 0.5])
    whole = sp.csr_array(np.ones((60, 6)))
    whole.data = dense.ravel()  # zeros that are stored
    whole.indices = whole.indices.reshape(60, 6)[:, ::-1].ravel().copy()
    whole.data = whole.data.reshape(60, 6)[:, ::-1].ravel().copy()
    whole.has_sorted_indices = False
    whole.has_canonical_format = False
    one = REDSVM(kernel=kernel).fit(sp.csr_array(dense), y)
    two = REDSVM(kernel=kernel).fit(whole, y)
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-8)
    np.testing.assert_array_equal(two.predict(whole), one.predict(dense))


SUPERVISED = [REDSVM(), SVOR(), SVOR(constraints="explicit")]
TRANSDUCTIVE = [TOR(), MTSVM()]


def fit_any(model, X, y):
    """Fit with labels, of which a transductive estimator sees some."""
    return model.fit(X, hide(y, 25) if isinstance(model, TOR | MTSVM) else y)


@pytest.mark.parametrize("model", SUPERVISED + TRANSDUCTIVE, ids=str)
def test_features_beyond_double_precision_are_rejected(model):
    X, y = ordinal_problem(60, 3, n_features=4)
    for factor in (1e150, 1e300):
        for rows in (X * factor, sp.csr_array(X * factor)):
            with pytest.raises(ValueError, match=r"X or C is too large.*StandardScaler"):
                fit_any(clone(model), rows, y)


@pytest.mark.parametrize("model", SUPERVISED + TRANSDUCTIVE, ids=str)
def test_costs_lost_in_rounding_are_rejected(model):
    """No row was left to fit: an error of `range` from inside."""
    X, y = ordinal_problem(60, 3, n_features=4)
    with pytest.raises(ValueError, match=r"X or C is too small.*costs of 1e-300 underflow"):
        fit_any(clone(model).set_params(C=1e-300), X * 1e-20, y)


@pytest.mark.parametrize("model", SUPERVISED + TRANSDUCTIVE, ids=str)
def test_kernel_values_that_differ_by_rounding_only_are_rejected(model):
    X, y = ordinal_problem(60, 3, n_features=4)
    model = clone(model).set_params(kernel="poly")
    for offset in (1e8, 1e12):
        with pytest.raises(ValueError, match=r"X is too far from the origin for kernel=Poly"):
            fit_any(model, X + offset, y)


@pytest.mark.parametrize("loss", ["hinge", "laplacian"])
def test_a_kernel_matrix_that_rounding_has_made_indefinite(loss):
    """SMO took a million steps in every training; Newton's method in a square root takes over."""
    X, y = ordinal_problem(60, 3, n_features=4)
    X = X + 1e6
    model = ends(TOR(kernel="poly", loss=loss), X, hide(y, 25))
    assert model.n_iter_ < 1_000_000


def test_kernel_values_below_single_precision():
    """They came out as NaN: a huge curvature was infinite in single precision."""
    X, y = ordinal_problem(27, 10, n_features=8)
    model = ends(REDSVM(kernel="poly", gamma=0.3, C=5e-5), 2.4e-8 * np.round(X), y)
    assert model.objective_ <= 5e-5 * 27 * 9 * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_badly_scaled_columns_and_a_polynomial_kernel(seed):
    """The objective is that of the model as it predicts, or there is a warning."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 7)) * 10.0 ** rng.uniform(-4, 4, 7), np.arange(30) % 4
    loss = ["hinge", "laplacian", "squared_hinge", "logistic"][seed % 4]
    model = REDSVM(
        kernel="poly", degree=2 + seed // 4 % 2, coef0=1, gamma=0.1, C=10.0 ** (seed % 5), loss=loss
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    a, t, kernel = model.dual_coef_, model.thresholds_, model._projection.kernel
    margins = np.where(y[:, None] > np.arange(3), 1, -1) * _margins(model, X)
    value = float(model.C * LOSSES[loss]().value(margins).sum() + 0.5 * np.sum((t - t.mean()) ** 2))
    if len(a):
        value += 0.5 * float(a @ kernel(model.support_vectors_, model.support_vectors_) @ a)
    if not any(issubclass(w.category, ConvergenceWarning) for w in caught):
        assert model.objective_ == pytest.approx(value, rel=1e-3, abs=1e-8 * model.C * 90)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "perceptron", "laplacian"])
@pytest.mark.parametrize("model", [*SUPERVISED, *TRANSDUCTIVE, TORCV(C=[1.0])], ids=str)
def test_features_that_are_all_zero(model, kernel):
    """No row is a support vector then, which is no reason for an error."""
    X, y = np.zeros((40, 3)), np.arange(40) % 3
    model = clone(model).set_params(kernel=kernel)
    model.fit(X, np.where(np.arange(40) < 20, y, -1) if model._transductive else y)
    for name in ("predict", "decision_function", "predict_proba", "predict_projection"):
        if hasattr(model, name):
            values = getattr(model, name)(X[:5])
            assert (values == values[0]).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "square"])
def test_columns_lost_beside_a_huge_one_are_reported(loss):
    """Beside x^3 of the first column the others are mostly rounding, at a cost that matters."""
    X, y = ordinal_problem(30, 3, n_features=8)
    X[:, 0] += 1e5
    with pytest.warns(ConvergenceWarning):
        REDSVM(kernel="poly", gamma=0.3, degree=3, C=1e3, loss=loss).fit(X, y)
