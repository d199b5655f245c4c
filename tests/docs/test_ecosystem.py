"""What docs/guide/ecosystem.md says works with tordinal."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from problems import ordinal_problem
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from tordinal import MTSVM, REDSVM, SVOR, TOR, TORCV, rate_table
from tordinal.datasets import make_reviews
from tordinal.metrics import SCORERS
from tordinal.model_selection import TransductiveKFold
from tordinal.text import LatentAxes, ReviewVectorizer, TextVectorizer, TextViews

MODELS = [TOR(), REDSVM(), SVOR(), MTSVM(), TORCV(C=[1.0], kernel="linear")]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
each_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def problem(model):
    X, ranks = ordinal_problem(60, 3)
    y = ranks if isinstance(model, (REDSVM, SVOR)) else np.where(np.arange(60) < 30, ranks, -1)
    return X, y


@each_model
def test_estimators_are_shown_in_notebooks(model):
    html = model._repr_html_()
    assert type(model).__name__ in html
    assert "<style>" in html


@each_model
@each_frame
def test_frames_go_in_and_give_feature_names(model, make):
    X, y = problem(model)
    frame = make({f"x{j}": X[:, j] for j in range(X.shape[1])})
    fitted = clone(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == [f"x{j}" for j in range(X.shape[1])]
    np.testing.assert_array_equal(fitted.predict(frame), clone(model).fit(X, y).predict(X))


@each_model
@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array], ids=lambda f: f.__module__)
def test_columns_are_labels(model, column):
    X, y = problem(model)
    ours = clone(model).fit(X, column(y)).predict(X)
    np.testing.assert_array_equal(ours, clone(model).fit(X, y).predict(X))


@each_frame
def test_tables_of_every_library_are_rated_and_the_result_is_a_pandas_frame(make):
    X, y = problem(TOR())
    table = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "r": [v if v > -1 else None for v in y]}
    rated = rate_table(make(table), "r", method="tor")
    assert isinstance(rated.frame, pd.DataFrame)
    assert rated.frame["r_predicted"].notna().all()
    new = rated.model.predict(make({"a": [0.0], "b": [1.0]}))
    assert isinstance(new, pd.DataFrame)
    assert pl.from_pandas(rated.frame)["r_predicted"].to_list() == list(rated.frame["r_predicted"])


@each_model
def test_pickled_models_predict_the_same(model):
    X, y = problem(model)
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@each_model
@pytest.mark.parametrize(
    "kind", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array], ids=lambda k: k.__name__
)
def test_sparse_rows_of_every_format(model, kind):
    X, y = problem(model)
    fitted = clone(model).fit(kind(X), y)
    np.testing.assert_array_equal(fitted.predict(kind(X)), clone(model).fit(X, y).predict(X))


@pytest.mark.parametrize("model", [TOR(), REDSVM(loss="logistic")], ids=["TOR", "REDSVM"])
def test_sparse_rows_stay_float32_and_are_not_copied(model):
    X, y = problem(model)
    X = sp.csr_array(X.astype(np.float32))
    before = X.data.copy()
    read = clone(model).fit(X, y)._read_rows(X, reset=False)
    assert np.shares_memory(read.data, X.data)
    np.testing.assert_array_equal(X.data, before)


@each_model
def test_models_can_be_saved_with_joblib_and_skops(model, tmp_path):
    X, y = problem(model)
    fitted = clone(model).fit(X, y)
    joblib.dump(fitted, tmp_path / "model.joblib")
    again = [joblib.load(tmp_path / "model.joblib")]
    skops.io.dump(fitted, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    again.append(skops.io.load(tmp_path / "model.skops", trusted=trusted))
    for other in again:
        np.testing.assert_array_equal(other.predict(X), fitted.predict(X))


@pytest.mark.parametrize("model", [TOR, TORCV], ids=lambda kind: kind.__name__)
def test_sample_weights_are_routed(model):
    X, y = problem(TOR())
    weight = np.linspace(0.5, 2, 60)
    options = {"kernel": "linear"} if model is TORCV else {}
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model(**options).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            routed,
            {"C": [1.0]},
            cv=TransductiveKFold(3, random_state=0),
            scoring=SCORERS["neg_mean_absolute_error"],
        ).fit(X, y, sample_weight=weight)
        plain = model(C=1.0, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.predict(X), plain.predict(X))


@pytest.mark.parametrize("drop", ["review", "n"])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_the_output_that_is_set_for_transformers_does_not_break_tables(output, drop):
    texts, stars = make_reviews(60, random_state=0)
    table = pd.DataFrame({"review": texts, "n": np.arange(60.0) % 7, "stars": stars})
    table["stars"] = table["stars"].where(table.index < 30).astype("Int64")
    plain = rate_table(table, "stars", method="tor", drop=drop).frame
    with sklearn.config_context(transform_output=output):
        assert sp.issparse(TextViews().fit_transform(texts))
        rated = rate_table(table, "stars", method="tor", drop=drop)
        new = rated.model.predict(table[["review", "n"]])
    pd.testing.assert_frame_equal(rated.frame, plain)
    assert len(new) == 60


@pytest.mark.parametrize("vectorizer", [TextVectorizer(), ReviewVectorizer(), TextViews()])
def test_vectorizers_return_the_sparse_kind_that_is_set(vectorizer):
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("this scikit-learn has no such option")
    texts = ["a good story", "a bad story", "a good plot"] * 4
    for name, kind in (("sparray", sp.csr_array), ("spmatrix", sp.csr_matrix)):
        with sklearn.config_context(sparse_interface=name):
            assert isinstance(clone(vectorizer).fit_transform(texts), kind)


def test_text_transformers_without_set_output():
    for transformer in (TextViews(), TextVectorizer(), LatentAxes(TextVectorizer())):
        assert not hasattr(transformer, "set_output")


TENSORS = """
import numpy as np, sklearn, torch
from problems import ordinal_problem
from tordinal import TOR, metrics
X, y = ordinal_problem(60, 3)
y[30:] = -1
expected = TOR().fit(X, y).predict(X)
with sklearn.config_context(array_api_dispatch=DISPATCH):
    fitted = TOR().fit(torch.asarray(X), torch.asarray(y))
    answers, p = fitted.predict(torch.asarray(X)), fitted.predict_proba(torch.asarray(X))
    error = metrics.mean_absolute_error(torch.asarray([1, 2]), torch.asarray([2, 3]))
assert type(answers) is type(p) is np.ndarray and type(error) is float
assert error == 1.0 and (answers == expected).all()
"""


@pytest.mark.parametrize("dispatch", [False, True])
def test_tensors_are_converted(dispatch):
    pytest.importorskip("torch")
    code = TENSORS.replace("DISPATCH", str(dispatch))
    folder = Path(__file__).parents[1]
    # SciPy reads its variable when it is imported.
    env = os.environ | {"SCIPY_ARRAY_API": str(int(dispatch)), "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, check=True)
