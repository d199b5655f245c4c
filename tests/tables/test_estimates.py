from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tordinal import rate_table
from tordinal.inference import estimate_by_group, estimate_mean, estimate_shares
from tordinal.tables.estimates import (
    describe,
    estimate_groups,
    estimate_rating,
    representativeness_note,
    scale_of,
)
from tordinal.tables.selection import Draw, select_rows

N, K = 400, 4
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, K, N)
GIVEN = RNG.permutation(N) < 80
SHOPS = np.array(["north", "south", "east", "west", "inland"])[RNG.integers(0, 5, N)]


def rating(classes=("1", "2", "3", "5"), held_out=None, whole=None):
    """A rated table; the model's own probabilities of rated rows are certain, and so useless."""
    noise = RNG.dirichlet(np.ones(K), N)
    honest = 0.6 * np.eye(K)[TRUTH] + 0.4 * noise
    fitted = np.where(GIVEN[:, None], np.eye(K)[TRUTH], honest)
    held_out = np.flatnonzero(GIVEN) if held_out is None else held_out
    target = SimpleNamespace(rank=np.where(GIVEN, TRUTH, -1), classes=list(classes))
    return SimpleNamespace(
        target=target, probability=fitted, held_out=held_out, cv_probability=honest[held_out],
        whole=whole, given=GIVEN, honest=honest, selection=None,
        reweighted=False, differs=False,
    )  # fmt: skip


def test_the_numbers_of_the_scale_are_averaged():
    rated = rating()
    estimates = estimate_rating(rated)
    scores = [1, 2, 3, 5]
    y = rated.target.rank
    expected = estimate_mean(y, rated.honest, classes=range(K), scores=scores)
    assert estimates.mean == expected
    assert expected.low <= np.array(scores)[TRUTH].mean() <= expected.high
    shares = estimate_shares(y, rated.honest, classes=range(K))
    np.testing.assert_allclose(estimates.shares["value"], shares["value"])
    assert f"{expected.value:.2f} (90 % interval" in describe(rated, estimates)


def test_words_are_averaged_by_their_ranks():
    np.testing.assert_array_equal(scale_of(["low", "mid", "top"]), [1, 2, 3])
    rated = rating(("poor", "fair", "good", "best"))
    said = describe(rated, estimate_rating(rated))
    assert "on the scale from 1 (poor) to 4 (best)" in said


LARGE = [("-1e300", "1", "2", "1e300"), tuple(str(10**17 + k) for k in range(4))]


@pytest.mark.parametrize("ratings", LARGE)
def test_ratings_too_large_to_be_averaged_are_averaged_by_their_ranks(ratings):
    rated = rating(ratings)
    estimates = estimate_rating(rated)
    assert np.isfinite([estimates.mean.low, estimates.mean.high]).all()
    assert 1 < estimates.mean.value < 4
    assert f"on the scale from 1 ({ratings[0]}) to 4 ({ratings[-1]})" in describe(rated, estimates)


def test_without_held_out_ratings_or_all_rows_there_is_no_estimate():
    assert estimate_rating(rating(held_out=np.empty(0, dtype=int))) is None
    assert estimate_rating(rating(whole=object())) is None


def test_groups_have_rows_ratings_averages_and_shares():
    rated = rating()
    cells = ["" if i < 7 else shop for i, shop in enumerate(SHOPS)]
    groups = estimate_groups(rated, {"shop": cells}, ["shop"])
    assert sorted(groups["group"]) == ["east", "inland", "north", "south", "west"]
    assert groups["rows"].sum() == N - 7
    assert groups["ratings"].sum() == GIVEN[7:].sum()
    assert (np.diff(groups["average"]) <= 0).all()
    long = estimate_by_group(
        rated.target.rank, rated.honest, np.array([c or None for c in cells], dtype=object),
        classes=range(K), scores=[1, 2, 3, 5],
    )  # fmt: skip
    mean = long[long["quantity"] == "mean"].set_index("group")["value"]
    np.testing.assert_allclose(groups.set_index("group")["average"], mean[groups["group"]])
    total = groups[[f"share_{c}" for c in ("1", "2", "3", "5")]].sum(axis=1)
    np.testing.assert_allclose(total, 1.0, atol=0.05)  # each share is estimated by itself


def test_a_selection_by_a_column_is_noticed():
    X = np.random.default_rng(0).normal(size=(300, 3))
    frame = pd.DataFrame(X, columns=["age", "size", "weight"])
    frame["grade"] = pd.array(1 + np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1]), dtype="Int64")

    def note(rows):
        some = frame.copy()
        some.loc[~rows, "grade"] = pd.NA
        return representativeness_note(rate_table(some, "grade", method="redsvm").rating)

    assert note(np.random.default_rng(1).permutation(300) < 80) is None
    assert "differ, most in the columns weight" in note(X[:, 2] > 0.7)


def test_averages_of_rows_that_were_chosen_as_difficult_are_weighted():
    rng = np.random.default_rng(3)
    rated = rating(classes=("1", "2", "3", "4"))
    rank = rated.target.rank = np.full(N, -1)
    left, draws = np.ones(N, dtype=bool), []
    for _ in range(100):  # high ratings are drawn five times as often
        p = np.where(left, np.where(TRUTH >= 2, 5.0, 1.0), 0.0)
        p = p / p.sum()
        i = int(rng.choice(N, p=p))
        draws.append(Draw(i, float(p[i]), int(left.sum()), False))
        left[i], rank[i] = False, TRUTH[i]
    rated.held_out = np.flatnonzero(rank >= 0)
    # A model that says nothing, so that only the ratings count.
    rated.probability = np.full((N, K), 1 / K)
    rated.cv_probability = rated.probability[rated.held_out]
    biased = estimate_rating(rated)
    rated.selection = select_rows(rank >= 0, draws, range(N))
    weighted = estimate_rating(rated)
    truth = TRUTH.mean() + 1
    assert weighted.mean.low <= truth <= weighted.mean.high
    assert not biased.mean.low <= truth <= biased.mean.high
    assert "weighted by the probabilities" in describe(rated, weighted)
    assert "random sample" not in describe(rated, weighted)
    assert representativeness_note(rated) is None
