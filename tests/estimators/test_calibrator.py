import numpy as np
import pytest
from problems import hide, ordinal_problem

from tordinal import REDSVM, TOR
from tordinal.estimators import _calibrator


def test_only_some_of_many_rows_take_part(monkeypatch):
    monkeypatch.setattr(_calibrator, "MOST_LABELED", 30)
    monkeypatch.setattr(_calibrator, "MOST_UNLABELED", 10)
    X, y = ordinal_problem(200, 3)
    model = TOR().fit(X, hide(y, 80))
    rows = model.evidence().rows
    assert len(rows) <= 30
    assert len(rows) >= 25
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_rows_without_weight_are_no_evidence():
    X, y = ordinal_problem(80, 3)
    weight = (np.arange(80) % 2).astype(float)
    rows = REDSVM().fit(X, y, sample_weight=weight).evidence().rows
    assert (weight[rows] > 0).all()


def test_too_few_labels_are_reported_to_be():
    X, y = ordinal_problem(40, 4)
    evidence = TOR().fit(X, hide(y, 4)).evidence()
    assert evidence.errors == {}
    assert evidence.verdict == "too few ratings for an estimate of the error"


def test_rows_are_freed_when_no_result_needs_them():
    X, y = ordinal_problem(80, 3)
    for model, target in ((REDSVM(), y), (TOR(), hide(y, 40))):
        calibrator = model.fit(X, target)._calibrator
        assert calibrator._rows.X.base is None  # no view of a second copy
        assert not np.shares_memory(calibrator._rows.X, X)
        first = model.evidence()
        assert calibrator._rows.X is None
        again = model.evidence()
        assert again.errors == first.errors
        np.testing.assert_array_equal(again.probability, first.probability)


def test_a_compact_copy_says_why_it_has_no_estimate():
    X, y = ordinal_problem(80, 3)
    with pytest.raises(ValueError, match="of the original model"):
        REDSVM().fit(X, y).compact().evidence()
