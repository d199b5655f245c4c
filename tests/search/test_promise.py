import numpy as np
from problems import hide

from tordinal import TORCV


def noise(n, n_labels, seed):
    """Rows that say nothing about their labels: whatever is chosen, half of them will be wrong."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 4)), rng.permutation(np.arange(n) % 2)
    return X, y, hide(y, n_labels, seed)


def test_the_best_of_many_candidates_does_not_promise_its_own_score():
    own, promised = [], []
    for seed in range(12):
        X, _, labels = noise(60, 40, seed)
        model = TORCV(C=np.logspace(-3, 3, 7), transduce=False, committee=1).fit(X, labels)
        own.append(-model.best_score_)
        promised.append(model.cv_errors_["this model"][1])
    assert np.mean(own) < 0.45  # flattered: 0.5 is the truth
    assert np.mean(promised) > np.mean(own) + 0.02


def test_what_is_said_of_a_row_does_not_depend_on_its_own_label():
    """The committee of a fold is chosen by the other folds."""
    X, y, labels = noise(40, 30, 3)
    model = TORCV(C=[0.1, 1.0, 10.0], transduce=False).fit(X, labels)
    evidence = model.evidence()
    assert len(evidence.rows) == 30
    np.testing.assert_array_equal(model.cv_predictions_[evidence.rows].astype(int), evidence.ranks)
    wrong = np.mean(evidence.ranks != y[evidence.rows])
    assert model.cv_errors_["this model"][0] == wrong


def test_confidence_is_as_large_as_the_share_that_is_right():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=400), [-0.5, 0.5])
    labels = hide(y, 120)
    model = TORCV(C=[0.1, 1.0, 10.0], kernel=["linear", "rbf"]).fit(X, labels)
    evidence = model.evidence()
    right = np.mean(evidence.ranks == y[evidence.rows])
    confidence = evidence.probability.max(axis=1).mean()
    assert abs(confidence - (right * 120 + 1) / 122) < 1e-6
    rest = labels == -1
    p = model.predict_proba(X[rest])
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X[rest]))
    assert abs(p.max(axis=1).mean() - np.mean(model.predict(X[rest]) == y[rest])) < 0.1
