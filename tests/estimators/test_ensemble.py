import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, islands, ordinal_problem
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier

from tordinal import TOR, TORCV
from tordinal.calibration import agree_with
from tordinal.search.ensemble import mean_probabilities

QUICK = {"C": [0.1, 1.0], "kernel": ["linear", "rbf"], "cv": 3}
FOREST = RandomForestClassifier(50, random_state=0)


@pytest.mark.parametrize(
    "scoring", ["absolute", "zero_one", "both", "accuracy", "quadratic_weighted_kappa"]
)
def test_the_answer_has_the_least_expected_error_by_the_members_probabilities(scoring):
    X, y = ordinal_problem(120, 4)
    hidden = hide(y, 40)
    model = TORCV(**QUICK, scoring=scoring).fit(X, hidden)
    p = mean_probabilities(
        [
            calibration.probabilities(member.predict_projection(X)[:, None] - member.thresholds_)
            for member, calibration in zip(model.estimators_, model._calibrations, strict=True)
        ],
        model._weights,
    )
    off = np.abs(np.arange(4)[:, None] - np.arange(4))
    wrong = off > 0
    cost = {"zero_one": wrong, "accuracy": wrong, "both": off + wrong}.get(scoring, off)
    answer = model.classes_[np.argmin(np.round(p @ cost, 9), axis=1)]
    np.testing.assert_array_equal(model.predict(X), answer)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), answer)
    rest = hidden == -1
    assert np.mean(model.transduction_[rest] == answer[rest]) > 0.98  # but for rounding


def test_an_ensemble_of_one_is_the_best_estimator():
    X, y = ordinal_problem(120, 3)
    model = TORCV(**QUICK, ensemble_size=1).fit(X, hide(y, 40))
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.best_estimator_.predict(X)]
    )
    if isinstance(model.best_estimator_, TOR):
        np.testing.assert_array_equal(model.transduction_, model.best_estimator_.transduction_)


def test_a_gram_matrix_serves_new_rows_too():
    X, y = ordinal_problem(90, 3)
    model = TORCV(C=[1.0], kernel=["precomputed"], cv=3).fit(X @ X.T, hide(y, 30))
    p = model.predict_proba(X @ X.T)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X @ X.T))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_an_ensemble_of_several_views_predicts(make):
    X, y = ordinal_problem(120, 3)
    X = make(X)
    views = {"first": [0], "all": np.ones(X.shape[1], dtype=bool)}
    model = TORCV(**QUICK, views=views).fit(X, hide(y, 40))
    assert set(model.views_) == {"first", "all"}
    members = [
        m.predict_projection(model.seen(X, i)).shape for i, m in enumerate(model.estimators_)
    ]
    assert members == [(120,)] * len(model.estimators_)
    assert model.predict(X).shape == (120,)
    assert model.compact().predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("scoring", ["accuracy", None])
def test_an_expert_alone_answers_with_its_own_class(scoring):
    X, y = islands()
    model = TORCV(
        C=[1.0], kernel="linear", cv=3, ensemble_size=1, scoring=scoring, experts=[FOREST]
    ).fit(X, hide(y, 100))
    assert model.best_params_ == {"expert": "randomforestclassifier"}
    assert len(model.estimators_) == 1
    p = model.best_estimator_.predict_proba(X)
    answer = p.argmax(axis=1) if scoring else (p.cumsum(axis=1) < 0.5).sum(axis=1)
    assert np.mean(model.predict(X) == answer) > 0.98  # but for ties


def test_an_expert_that_fails_in_the_last_fit_is_named():
    class Moody(DummyClassifier):
        def fit(self, X, y):
            if len(y) == 100:
                raise RuntimeError("too many rows")
            return FOREST.fit(X, y)

    X, y = islands()
    with pytest.raises(ValueError, match=r"expert 'moody' failed .* too many rows"):
        TORCV(C=[1.0], kernel="linear", cv=3, experts=[Moody()]).fit(X, hide(y, 100))


def test_members_keep_no_rows_to_calibrate_with():
    X, y = ordinal_problem(90, 3)
    model = TORCV(**QUICK).fit(X, hide(y, 30))
    assert all(member._calibrator._rows is None for member in model.estimators_)
    # A member's probabilities are calibrated by the search.
    member, calibration = model.best_estimator_, model._calibrations[0]
    distances = member.predict_projection(X)[:, None] - member.thresholds_
    expected = agree_with(calibration.probabilities(distances), member.predict(X))
    np.testing.assert_array_equal(member.predict_proba(X), expected)
