"""What holds for all estimators."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from tordinal import MTSVM, REDSVM, SVOR, TOR
from tordinal.losses import LOSSES

SUPERVISED = [REDSVM(), SVOR(), SVOR(constraints="explicit")]
TRANSDUCTIVE = [TOR(), MTSVM()]
EVERY = SUPERVISED + TRANSDUCTIVE
names = pytest.mark.parametrize("model", EVERY, ids=str)


def minus_one_marks_unlabelled_rows(estimator):
    if isinstance(estimator, (TOR, MTSVM)):
        return {
            "check_classifiers_classes": "it uses -1 as a class, which here marks unlabelled rows"
        }
    return {}


# The checks set max_iter=1.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(EVERY, expected_failed_checks=minus_one_marks_unlabelled_rows)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def fresh(model, **params):
    return type(model)(**{**model.get_params(), **params})


def kernel_values(kernel, X):
    """Kernel values by scikit-learn and SciPy, with the default parameters of the estimators."""
    gamma = 1.0 / (X.shape[1] * X.var())
    return {
        "linear": lambda: X @ X.T,
        "perceptron": lambda: -cdist(X, X),
        "rbf": lambda: rbf_kernel(X, gamma=gamma),
        "poly": lambda: polynomial_kernel(X, degree=3, gamma=gamma, coef0=0.0),
        "laplacian": lambda: laplacian_kernel(X, gamma=gamma),
    }[kernel]()


@names
@pytest.mark.parametrize(
    "kernel", ["linear", "perceptron", "rbf", "poly", "laplacian", "precomputed", "callable"]
)
@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
def test_every_kernel_and_kind_of_input(model, kernel, kind):
    X, y = ordinal_problem(40, 3)
    named = kernel if kernel not in ("precomputed", "callable") else "linear"
    rows = X.astype(np.float32) if kind == "float32" else X
    if kernel == "precomputed":
        if kind == "csr":
            pytest.skip("a Gram matrix is dense")
        rows = rows @ rows.T
    elif kind == "csr":
        rows = sp.csr_array(X)
    kernel = (
        (lambda A, B: np.asarray((A @ B.T).toarray() if sp.issparse(A) else A @ B.T))
        if kernel == "callable"
        else kernel
    )
    transductive = isinstance(model, (TOR, MTSVM))
    target = hide(y, 15) if transductive else y
    fitted = fresh(model, kernel=kernel, tol=1e-5).fit(rows, target)
    # A model of kernel values that were computed elsewhere separates the rows in the same way.
    K = kernel_values(named, X)
    expected = fresh(model, kernel="precomputed", tol=1e-5).fit(K, target)
    got, wanted = fitted.decision_function(rows), expected.decision_function(K)
    np.testing.assert_allclose(got, wanted, atol=0.02 * np.ptp(wanted))
    assert np.mean(fitted.predict(rows) == expected.predict(K)) > 0.95
    again = fresh(model, kernel=kernel, tol=1e-5).fit(rows, target)
    # Same input, same output, bit for bit.
    np.testing.assert_array_equal(fitted.dual_coef_, again.dual_coef_)


@names
def test_sparse_and_dense_linear_models_agree(model):
    X, y = ordinal_problem(50, 4)
    X[np.abs(X) < 0.5] = 0.0
    X[7] = 0.0  # an empty row
    target = hide(y, 20) if isinstance(model, TOR) else y
    dense, sparse = fresh(model).fit(X, target), fresh(model).fit(sp.csr_array(X), target)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=5e-3)


@names
def test_labels_keep_their_type_and_order(model):
    X, y = ordinal_problem(40, 3)
    words = np.array(["poor", "fair", "good"])
    series = pd.Series(pd.Categorical(words[y], categories=words, ordered=True))
    fitted = fresh(model).fit(X, series)
    assert fitted.classes_.tolist() == words.tolist()
    by_classes = fresh(model, classes=words.tolist()).fit(X, words[y])
    np.testing.assert_array_equal(fitted.predict(X), by_classes.predict(X))
    assert set(fitted.predict(X)) <= set(words)
    numbers = fresh(model).fit(X, y)
    np.testing.assert_array_equal(words[numbers.predict(X)], fitted.predict(X))


@names
def test_data_frames_give_feature_names(model):
    X, y = ordinal_problem(30, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    fitted = fresh(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.predict(frame), fresh(model).fit(X, y).predict(X))


@pytest.mark.parametrize("model", [m for m in EVERY if not isinstance(m, MTSVM)], ids=str)
def test_decision_function_predict_and_projection_agree(model):
    X, y = ordinal_problem(60, 4)
    fitted = fresh(model, kernel="rbf").fit(X, y)
    h, depth = fitted.predict_projection(X), fitted.decision_function(X)
    assert depth.shape == (60, 4)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[depth.argmax(axis=1)])
    np.testing.assert_allclose(-depth[:, 0], h - fitted.thresholds_[0])
    assert np.all(np.diff(fitted.thresholds_) >= 0)


@names
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": -1.0}, "'C' parameter"),
        ({"C": 0.0}, "'C' parameter"),
        ({"kernel": "cosine"}, "'kernel' parameter"),
        ({"gamma": -2.0}, "'gamma' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"cache_size": 0}, "'cache_size' parameter"),
    ],
)
def test_bad_parameters_are_named(model, change, message):
    X, y = ordinal_problem(20, 3)
    with pytest.raises(ValueError, match=message):
        fresh(model, **change).fit(X, y)


@names
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y), "X contains NaN"),
        (lambda X, y: (np.where(X[3, 1] == X, np.inf, X), y), "X contains infinity"),
        (lambda X, y: (X, y[:-1]), "20 rows but y has 19 labels"),
        (lambda X, y: (X, np.zeros(20, int)), "only one class"),
        (lambda X, y: (X, None), "requires y"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type: continuous"),
    ],
)
def test_bad_input_is_rejected_with_its_own_message(model, spoil, message):
    X, y = spoil(*ordinal_problem(20, 3))
    with pytest.raises(ValueError, match=message):
        fresh(model).fit(X, y)


@names
def test_a_label_outside_classes_and_a_bad_gram_matrix_are_rejected(model):
    X, y = ordinal_problem(20, 3)
    with pytest.raises(ValueError, match="label 2 is not among"):
        fresh(model, classes=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        fresh(model, kernel="precomputed").fit(X, y)


@pytest.mark.parametrize("model", SUPERVISED, ids=str)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_supervised_models_reject_missing_labels_and_know_minus_one(model, missing):
    X, y = ordinal_problem(20, 3)
    labels = y.astype(object)
    labels[4] = missing
    with pytest.raises(ValueError, match="use TOR"):
        fresh(model).fit(X, labels)
    assert fresh(model).fit(X, y - 1).classes_.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("model", TRANSDUCTIVE, ids=str)
def test_transductive_models_reject_a_target_without_labels(model):
    X, _ = ordinal_problem(20, 3)
    with pytest.raises(ValueError, match="no row is labelled"):
        fresh(model).fit(X, np.full(20, -1))


@names
def test_stopping_early_warns_and_leaves_a_usable_model(model):
    X, y = ordinal_problem(60, 3)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fitted = fresh(model, max_iter=2, C=100.0).fit(X, y)
    assert fitted.predict(X).shape == (60,)


@pytest.mark.parametrize("model", [REDSVM(), TOR(), MTSVM()], ids=str)
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_every_loss_fits(model, loss):
    X, y = ordinal_problem(50, 3)
    target = y if isinstance(model, REDSVM) else hide(y, 15)
    fitted = fresh(model, loss=loss, kernel="perceptron").fit(X, target)
    assert np.mean(fitted.predict(X) == y) > 0.5


def test_a_loss_of_ones_own():
    class Cubic:
        """max(0, 1 - g)^3."""

        def value(self, g):
            return np.maximum(0, 1 - g) ** 3

        def slope(self, g):
            return -3 * np.maximum(0, 1 - g) ** 2

        def curvature(self, g):
            return 6 * np.maximum(0, 1 - g)

    X, y = ordinal_problem(50, 3)
    for model in (REDSVM(loss=Cubic()), TOR(loss=Cubic())):
        assert np.mean(model.fit(X, y).predict(X) == y) > 0.5


@pytest.mark.parametrize("model", EVERY, ids=str)
def test_callbacks_see_the_levels(model):
    callback = pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")

    class Counter:
        def __init__(self):
            self.began, self.ended = [], []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            self.began.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)

    assert callback.FitCallback
    X, y = ordinal_problem(30, 3)
    counter = Counter()
    target = hide(y, 12) if isinstance(model, (TOR, MTSVM)) else y
    fresh(model).set_callbacks(counter).fit(X, target)
    assert len(counter.began) == len(counter.ended) >= 2


@names
def test_verbose_prints_progress(model, capsys):
    X, y = ordinal_problem(30, 3)
    fresh(model, verbose=1).fit(X, y)
    assert f"[{type(model).__name__}]" in capsys.readouterr().out


@names
def test_plain_lists_words_and_a_frame_with_one_column(model):
    X, y = ordinal_problem(40, 3)
    words = ["poor", "fair", "good"]
    listed = [words[k] for k in y]
    frame = pd.DataFrame({"stars": pd.Categorical(listed, categories=words, ordered=True)})
    assert fresh(model).fit(X, frame).classes_.tolist() == words
    some = [words[k] if i % 2 else None for i, k in enumerate(y)]
    if isinstance(model, (TOR, MTSVM)):
        assert fresh(model, classes=words).fit(X, some).classes_.tolist() == words
    else:
        with pytest.raises(ValueError, match="use TOR"):
            fresh(model).fit(X, some)


@names
def test_bad_kernels_and_weights_are_rejected(model):
    X, y = ordinal_problem(30, 3)
    with pytest.raises(ValueError, match="NaN or infinity"):
        fresh(model, kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        fresh(model, kernel=lambda A, B: np.ones(3)).fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        fresh(model, kernel="precomputed").fit(np.arange(900.0).reshape(30, 30), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        fresh(model, kernel="precomputed").fit(sp.csr_array(X @ X.T), y)
    with pytest.raises(ValueError, match=r"non-zero|every labelled row has weight 0"):
        fresh(model).fit(X, y, sample_weight=np.zeros(30))
    if isinstance(model, (TOR, MTSVM)):
        hidden = hide(y, 10)
        with pytest.raises(ValueError, match="every labelled row has weight 0"):
            fresh(model).fit(X, hidden, sample_weight=(hidden == -1).astype(float))


def test_a_new_kernel_forgets_the_weights_of_the_old_one():
    X, y = ordinal_problem(30, 3)
    model = REDSVM().fit(X, y)
    assert hasattr(model, "coef_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y), "coef_")


def test_sparse_input_is_never_changed():
    X, y = ordinal_problem(30, 3)
    rows = sp.csr_matrix(X)
    rows.indices = np.ascontiguousarray(rows.indices.reshape(30, 3)[:, ::-1].ravel())  # unsorted
    rows.data = np.ascontiguousarray(rows.data.reshape(30, 3)[:, ::-1].ravel())
    rows.has_sorted_indices = False
    rows.has_canonical_format = False
    before = rows.indices.copy()
    REDSVM(kernel="perceptron", cache_size=0.001).fit(rows, y)
    np.testing.assert_array_equal(rows.indices, before)


LONG_FITS = """
import signal
import traceback
import numpy as np
from tordinal import REDSVM, SVOR, TOR
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2500, 5)), rng.integers(0, 4, 2500)
for model in (REDSVM, SVOR, TOR):
    model(kernel="rbf").fit(X[:1100], y[:1100])  # compiles: the compiler heeds no interrupt
    try:
        model(kernel="rbf", C=1e6, tol=1e-9, verbose=1).fit(X, y)
    except BaseException:  # a compiled function makes a SystemError of it, now and then
        assert "KeyboardInterrupt" in traceback.format_exc()
        print("interrupted:", model.__name__)
"""


def test_ctrl_c_ends_a_long_fit():
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", LONG_FITS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for name in ("REDSVM", "SVOR", "TOR"):
        assert any("steps, violation" in line for line in process.stdout)  # amid a training
        process.send_signal(signal.SIGINT)
        too_late = threading.Timer(30, process.kill)
        too_late.start()
        assert any(f"interrupted: {name}" in line for line in process.stdout), name
        too_late.cancel()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
