from types import SimpleNamespace

import numpy as np
import pytest

from tordinal.tables.abstaining import abstain_curve, describe_abstaining

N = 400


def rating(n=N, seed=0):
    """Confidences that are right: rows with confidence c are right with probability c."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.34, 1.0, 2 * n)
    p = np.column_stack([confidence, (1 - confidence) / 2, (1 - confidence) / 2])
    right = rng.random(n) < confidence[:n]
    truth = np.where(right, 0, rng.integers(1, 3, n))
    given = np.arange(2 * n) < n
    return SimpleNamespace(
        target=SimpleNamespace(rank=np.where(given, np.resize(truth, 2 * n), -1)), given=given,
        held_out=np.arange(n), cv_rank=np.zeros(n, dtype=int), cv_probability=p[:n],
        confidence=np.where(given, 1.0, confidence),
    )  # fmt: skip


def test_the_error_falls_with_the_share_of_rows_that_are_kept():
    curve = abstain_curve(rating())
    assert curve["share"].iloc[0] == 1.0
    assert (np.diff(curve["share"]) < 0).all()
    assert curve["accuracy"].iloc[-1] > curve["accuracy"].iloc[0] + 0.15
    # In this table a row of confidence c is right with probability c.
    expected = (1.0 + curve["confidence"].clip(lower=0.34)) / 2
    assert (np.abs(curve["accuracy"] - expected) <= curve["accuracy_margin"]).all()


def test_the_asked_confidence_has_a_row_and_a_sentence():
    rated = rating()
    curve = abstain_curve(rated, 0.8)
    mine = curve[curve["confidence"] == 0.8].iloc[0]
    kept = rated.cv_probability[:, 0] >= 0.8
    off = rated.target.rank[:N][kept]
    assert mine["ratings"] == kept.sum()
    assert mine["accuracy"] == pytest.approx(np.mean(off == 0))
    assert mine["mae"] == pytest.approx(off.mean())
    said = describe_abstaining(rated, 0.8)
    assert f"{100 * np.mean(off == 0):.0f} % (±" in said
    assert "have a confidence of 0.8 or more" in said


def test_too_few_ratings_make_no_curve():
    assert len(abstain_curve(rating(9))) == 0
    assert "Too few" in describe_abstaining(rating(9), 0.5)
    assert "Too few" in describe_abstaining(rating(), 0.9999)
