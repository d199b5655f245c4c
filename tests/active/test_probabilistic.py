import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tordinal import REDSVM, TOR
from tordinal.active import Entropy, ExpectedError, LeastConfidence


def problem():
    X = np.linspace(0, 1, 30)[:, None]
    y = np.full(30, -1)
    y[[0, 1, 2, 14, 15, 27, 28, 29]] = [0, 0, 0, 1, 1, 2, 2, 2]
    return X, y


class Recorder(LogisticRegression):
    seen = None

    def fit(self, X, y):
        Recorder.seen = (X.shape, sorted(set(y.tolist())))
        return super().fit(X, y)


def test_a_supervised_estimator_sees_rated_rows_only():
    X, y = problem()
    Entropy(Recorder()).query(X, y, 2)
    assert Recorder.seen == ((8, 1), [0, 1, 2])


def test_a_transductive_estimator_sees_all_rows():
    X, y = problem()
    words = [None if v < 0 else ["low", "mid", "top"][v] for v in y]
    strategy = Entropy(TOR(), classes=["low", "mid", "top"])
    pipeline = Entropy(make_pipeline(StandardScaler(), TOR()), classes=["low", "mid", "top"])
    assert set(strategy.query(X, words, 2)[0]) <= set(np.flatnonzero(y < 0))
    assert len(pipeline.query(X, words, 2)[0]) == 2


def test_a_class_without_a_rating_has_probability_zero():
    X, y = problem()
    expected = Entropy(LogisticRegression()).query(X, y, 3)[0]
    more = Entropy(LogisticRegression(), classes=[0, 1, 2, 3]).query(X, y, 3)[0]
    assert more.tolist() == expected.tolist()


def test_the_default_is_a_redsvm_and_fitted_estimators_stay_as_they_are():
    X, y = problem()
    model = REDSVM(10.0, kernel="perceptron")
    chosen = ExpectedError(model).query(X, y, 3)[0]
    assert chosen.tolist() == ExpectedError().query(X, y, 3)[0].tolist()
    assert not hasattr(model, "classes_")
    assert model.classes is None


def test_diversity_spreads_the_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(scale=0.01, size=(10, 2)), rng.normal(scale=0.01, size=(10, 2)) + 5])
    p = np.array([[0.5, 0.5]] * 10 + [[0.6, 0.4]] * 10)
    unrated = [None] * 20
    alike = LeastConfidence().query(X, unrated, 4, y_proba=p)[0]
    spread = LeastConfidence(diversity=1.0).query(X, unrated, 4, y_proba=p)[0]
    assert (alike < 10).all()
    assert (spread >= 10).any()


def test_estimators_need_probabilities():
    X, y = problem()
    with pytest.raises(ValueError, match="estimator"):
        Entropy("redsvm").query(X, y)
