import numpy as np
from problems import hide

from tordinal import TORCV


def noise(n, n_labels, seed):
    """Rows unrelated to their labels: any model is wrong for half of them."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 4)), rng.permutation(np.arange(n) % 2)
    return X, y, hide(y, n_labels, seed)


def test_the_estimated_error_of_the_best_candidate_is_not_its_own_score():
    own, estimated = [], []
    for seed in range(12):
        X, _, labels = noise(60, 40, seed)
        model = TORCV(C=np.logspace(-3, 3, 7), transduce=False, ensemble_size=1).fit(X, labels)
        own.append(-model.best_score_)
        estimated.append(model.cv_errors_["this model"][1])
    assert np.mean(own) < 0.45  # flattered: 0.5 is the truth
    assert np.mean(estimated) > np.mean(own) + 0.02


def test_errors_are_those_of_the_held_out_predictions():
    """The ensemble of a fold is chosen by the other folds."""
    X, y, labels = noise(40, 30, 3)
    model = TORCV(C=[0.1, 1.0, 10.0], transduce=False).fit(X, labels)
    evidence = model.evidence()
    assert len(evidence.rows) == 30
    np.testing.assert_array_equal(model.cv_predictions_[evidence.rows].astype(int), evidence.ranks)
    wrong = np.mean(evidence.ranks != y[evidence.rows])
    assert model.cv_errors_["this model"][0] == wrong


def test_differences_with_and_without_unlabelled_rows_vary_less_than_both():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=200), [-0.5, 0.5])
    spread = TORCV(C=[1.0, 10.0], kernel="linear").fit(X, hide(y, 60)).evidence().spread
    both = spread["supervised"] ** 2 + spread["transductive"] ** 2
    assert 0 <= spread["difference"] ** 2 < both  # as of independent errors


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
