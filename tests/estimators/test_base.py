import numpy as np
import pytest
from problems import hide, ordinal_problem

from tordinal import REDSVM, SVOR, TOR, TORCV

MODELS = [REDSVM(kernel="rbf"), SVOR(kernel="rbf"), TOR(kernel="rbf"), REDSVM(), TOR()]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_compact_copy_predicts_the_same_and_holds_no_rows_beyond(model):
    X, y = ordinal_problem(80, 3)
    model.fit(X, y if isinstance(model, (REDSVM, SVOR)) else hide(y, 40))
    slim = model.compact()
    np.testing.assert_array_equal(slim.predict(X), model.predict(X))
    np.testing.assert_allclose(slim.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="no training rows"):
        slim.evidence()
    model.evidence()  # the model itself is as it was


@pytest.mark.parametrize("model", [REDSVM(), TOR(), TORCV(C=[1.0], kernel="linear", cv=3)], ids=str)
def test_evidence_is_about_labelled_rows_and_adds_up(model):
    X, y = ordinal_problem(90, 3)
    labels = y if isinstance(model, REDSVM) else hide(y, 45)
    evidence = model.fit(X, labels).evidence()
    assert (labels[evidence.rows] >= 0).all()
    distance = np.abs(evidence.ranks - labels[evidence.rows])
    assert evidence.errors["this model"] == (np.mean(distance > 0), np.mean(distance))
    assert "MAE" in evidence.verdict
    assert ("supervised" in evidence.errors) == (not isinstance(model, REDSVM))


def test_a_callback_is_told_what_is_done():
    X, y = ordinal_problem(60, 3)
    told = []
    TOR(callback=lambda *news: told.append(news)).fit(X, hide(y, 20))
    assert told[0][0] == "raising C2"
    done = [news[1] for news in told]
    assert done == sorted(done)
    assert done[-1] == told[-1][2]


@pytest.mark.parametrize("model", [REDSVM(), TOR(), TORCV(C=[1.0], cv=3, ensemble_size=2)])
def test_labels_may_be_objects_when_models_are_scored(model):
    X, y = ordinal_problem(60, 3)
    hidden = hide(y, 40) if model._transductive else y
    objects = np.array([None if label == -1 else int(label) for label in hidden], dtype=object)
    labeled = hidden != -1
    model = model.fit(X, objects)
    assert model.score(X[labeled], objects[labeled]) == model.score(X[labeled], hidden[labeled])


def test_a_compact_ensemble_is_compact_and_keeps_no_evidence():
    X, y = ordinal_problem(60, 3)
    model = TORCV(C=[1.0], cv=3, ensemble_size=2).fit(X, hide(y, 40)).compact()
    assert np.array_equal(model.compact().predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="before compact"):
        model.evidence()
