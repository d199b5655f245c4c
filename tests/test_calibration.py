import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import hide, ordinal_problem
from scipy.special import expit

from tordinal import REDSVM, SVOR, TOR, TORCV
from tordinal.calibration import Calibration, agree_with, fit_calibration, fit_power, sharpen
from tordinal.metrics import ranked_probability_score

numbers = st.floats(-5, 5)


@given(
    st.floats(0.01, 5),
    st.lists(numbers, min_size=3, max_size=3),
    st.lists(numbers, min_size=1, max_size=20),
)
def test_probabilities_are_a_distribution_whatever_the_offsets(slope, offsets, h):
    distances = np.array(h)[:, None] - np.array([-1.0, 0.0, 2.0])
    p = Calibration(slope, np.array(offsets)).probabilities(distances)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    predicted = (distances > 0).sum(axis=1)
    agreed = agree_with(p, predicted)
    np.testing.assert_allclose(agreed.sum(axis=1), 1.0)
    np.testing.assert_array_equal(agreed.argmax(axis=1), predicted)


def test_the_true_curve_is_found_again():
    rng = np.random.default_rng(0)
    h = rng.normal(0, 3, 20_000)
    t, slope, offsets = np.array([-2.0, 0.0, 2.0]), 1.7, np.array([0.3, -0.2, 0.1])
    above = expit(slope * (h[:, None] - t) + offsets)
    y = (rng.uniform(size=(len(h), 1)) < above).sum(axis=1)
    curve = fit_calibration(h[:, None] - t, y, np.ones(len(h)))
    assert curve.slope == pytest.approx(slope, rel=0.05)
    np.testing.assert_allclose(curve.offsets, offsets, atol=0.1)


def test_without_rows_it_is_the_logistic_curve():
    curve = fit_calibration(np.empty((0, 2)), np.empty(0, dtype=int), np.empty(0))
    assert curve.slope == 1.0
    np.testing.assert_array_equal(curve.offsets, 0.0)


@pytest.mark.parametrize(
    "model",
    [
        REDSVM(kernel="rbf"),
        REDSVM(loss="logistic"),
        SVOR(),
        TOR(),
        TOR(loss="square"),
        TORCV(C=[1.0], kernel="linear"),
    ],
    ids=str,
)
def test_every_model_beats_the_class_ratio(model):
    X, y = ordinal_problem(300, 4, noise=0.3)
    train, test = np.arange(120), np.arange(120, 300)
    target = y[train] if isinstance(model, (REDSVM, SVOR)) else hide(y[train], 60)
    p = model.fit(X[train], target).predict_proba(X[test])
    assert p.shape == (180, 4)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[test]))
    ratio = np.tile(np.bincount(y[train]) / 120, (180, 1))
    labels = np.arange(4)
    assert ranked_probability_score(y[test], p, labels=labels) < ranked_probability_score(
        y[test], ratio, labels=labels
    )


def test_one_label_per_class_falls_back_to_the_logistic_curve():
    X, y = ordinal_problem(40, 4)
    model = TOR().fit(X, hide(y, 4))
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_gram_matrix_gives_the_same_probabilities():
    X, y = ordinal_problem(60, 3)
    one, other = REDSVM().fit(X, y), REDSVM(kernel="precomputed").fit(X @ X.T, y)
    # Folds are dealt by content, which differs.
    assert np.abs(one.predict_proba(X) - other.predict_proba(X @ X.T)).max() < 0.2


def test_a_power_makes_the_mean_confidence_the_share_that_is_right():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 500)
    answers = p.argmax(axis=1)
    truth = np.where(rng.random(500) < 0.7, answers, (answers + 1) % 4)
    power = fit_power(p, answers, truth)
    confidence = sharpen(p, power)[np.arange(500), answers]
    assert abs(confidence.mean() - (np.sum(answers == truth) + 1) / 502) < 1e-6
    np.testing.assert_array_equal(sharpen(p, power).argmax(axis=1), answers)
    np.testing.assert_allclose(sharpen(p, power).sum(axis=1), 1.0)
    np.testing.assert_allclose(sharpen(p, 1.0), p)


def test_without_rows_probabilities_stay_as_they_are():
    none = np.empty(0, dtype=int)
    assert fit_power(np.empty((0, 3)), none, none) == 1.0
