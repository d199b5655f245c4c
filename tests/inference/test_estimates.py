import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.inference import (
    estimate_mean,
    estimate_share_at_least,
    estimate_shares,
    estimate_table,
)

# Value and interval, and classical interval, of ppi_py 0.2.3 on `numbers`, by noise:
# ppi_mean_pointestimate and ppi_mean_ci.
PPI = {
    0.2: (3.0057910612074874, 2.9880925931379334, 3.0234895292770414),
    0.5: (3.000893496002004, 2.978653384077761, 3.0231336079262467),
    2.0: (2.9799075889674027, 2.9458802078166344, 3.013934970118171),
}
PPI_CLASSICAL = (2.9351871054338114, 3.008761722854476)


def numbers(noise):
    rng = np.random.default_rng(0)
    truth = rng.normal(3.0, 1.0, 10_000)
    predicted = truth + noise * rng.normal(size=10_000) + 0.3
    return np.where(np.arange(10_000) < 2000, truth, np.nan), predicted


def ratings(n=60, n_rows=400, K=4, sharpness=2.0, seed=0):
    """Ratings of a random sample, class probabilities, and all true ratings."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, n_rows)
    seen = truth + rng.normal(size=n_rows)
    p = np.exp(-sharpness * np.abs(seen[:, None] - np.arange(K)))
    y = np.full(n_rows, -1)
    rated = rng.choice(n_rows, n, replace=False)
    y[rated] = truth[rated]
    return y, p / p.sum(axis=1, keepdims=True), truth


@pytest.mark.parametrize("noise", sorted(PPI))
def test_as_ppi_py(noise):
    y, predicted = numbers(noise)
    ours = estimate_mean(y, predicted, finite_population=False)
    value, low, high = PPI[noise]
    assert ours.value == pytest.approx(value, abs=0.05 * ours.standard_error)
    assert ours.high - ours.low == pytest.approx(high - low, rel=0.01)
    classical = estimate_mean(y, predicted, finite_population=False, lam=0)
    assert (classical.low, classical.high) == pytest.approx(PPI_CLASSICAL, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_as_ppi_py_where_it_is_installed(seed):
    ppi_py = pytest.importorskip("ppi_py")
    y, P, _ = ratings(1000, 20_000, seed=seed)
    rated = y >= 0
    z, f = y[rated].astype(float), P @ np.arange(4)
    low, high = ppi_py.ppi_mean_ci(z, f[rated], f[~rated], alpha=0.1)
    ours = estimate_mean(y, P, finite_population=False)
    width = float(np.ravel(high)[0] - np.ravel(low)[0])
    middle = float(np.ravel(high)[0] + np.ravel(low)[0]) / 2
    assert ours.high - ours.low == pytest.approx(width, rel=0.01)
    assert ours.value == pytest.approx(middle, abs=0.05 * width)


@pytest.mark.parametrize("k", range(4))
def test_shares_as_ppi_py(k):
    ppi_py = pytest.importorskip("ppi_py")
    y, P, _ = ratings(1000, 20_000)
    rated = y >= 0
    low, high = ppi_py.ppi_mean_ci(
        (y[rated] == k).astype(float), P[rated, k], P[~rated, k], alpha=0.1
    )
    ours = estimate_shares(y, P, finite_population=False).loc[k]
    width = float(np.ravel(high)[0] - np.ravel(low)[0])
    assert ours["high"] - ours["low"] == pytest.approx(width, rel=0.02)  # Wilson's, not Wald's
    assert ours["value"] == pytest.approx(float(np.ravel(high + low)[0]) / 2, abs=0.05 * width)


def drawn(seed=0):
    """Ratings that were drawn more often where they are predicted to be high."""
    _, P, truth = ratings(1000, 40_000, seed=seed)
    chosen = 0.02 + 0.03 * (P @ np.arange(4) > 1.5)
    rated = np.random.default_rng(seed).random(len(truth)) < chosen
    return np.where(rated, truth, -1), P, chosen, truth


# 90 % interval of the mean on `drawn` by ASIMeanEstimator of glide-py 0.11.0, no power tuning.
GLIDE = (1.4932278210825036, 1.5668659215604321)


def test_weights_as_glide():
    y, P, chosen, truth = drawn()
    ours = estimate_mean(y, P, probabilities=chosen, finite_population=False, lam=1.0)
    width = GLIDE[1] - GLIDE[0]
    assert (ours.low, ours.high) == pytest.approx(GLIDE, abs=0.02 * width)
    # Without the probabilities it is another average.
    assert estimate_mean(y, P, lam=0).low > truth.mean()


def test_coverage_of_mean_and_shares():
    held = {"mean": [], "share": [], "at least": []}
    ratios = []
    for seed in range(120):
        y, P, truth = ratings(seed=seed)
        estimates = estimate_table(y, P)
        held["mean"].append(estimates.mean.low <= truth.mean() <= estimates.mean.high)
        for k, row in estimates.shares.iterrows():
            held["share"].append(row.low <= np.mean(truth == k) <= row.high)
        for k, row in estimates.at_least.iterrows():
            held["at least"].append(row.low <= np.mean(truth >= k) <= row.high)
        classical = estimate_mean(y, P, lam=0)
        ratios.append((estimates.mean.high - estimates.mean.low) / (classical.high - classical.low))
    for quantity, covered in held.items():
        assert 0.84 < np.mean(covered) < 0.96, quantity
    assert np.mean(ratios) < 0.8
    assert max(ratios) <= 1.0


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(5, 80), st.floats(0.0, 5.0))
def test_values_lie_in_their_intervals_and_shares_sum_to_one(seed, K, n, sharpness):
    y, P, _ = ratings(n, 100, K, sharpness, seed)
    estimates = estimate_table(y, P, classes=range(K))
    shares = estimates.shares
    assert shares["value"].sum() == pytest.approx(1.0)
    for frame in (shares, estimates.at_least):
        assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()
        assert ((frame["low"] >= 0) & (frame["high"] <= 1)).all()
    # What the rated rows alone make certain.
    given = np.bincount(y[y >= 0], minlength=K)
    assert (shares["low"] >= given / 100 - 1e-12).all()
    assert (shares["high"] <= 1 - (n - given) / 100 + 1e-12).all()
    assert 0 <= estimates.mean.low <= estimates.mean.value <= estimates.mean.high <= K - 1


@given(st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(seed):
    y, P, _ = ratings(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = estimate_mean(y, P), estimate_mean(y[order], P[order])
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    a, b = estimate_shares(y, P), estimate_shares(y[order], P[order])
    np.testing.assert_allclose(
        a[["value", "low", "high"]].to_numpy(), b[["value", "low", "high"]].to_numpy()
    )


@given(st.integers(0, 1000), st.floats(0.1, 100), st.floats(-50, 50), st.booleans())
def test_a_mean_follows_its_scores(seed, factor, shift, finite):
    y, P, _ = ratings(seed=seed)
    scores = np.array([0.0, 1, 3, 7])
    one = estimate_mean(y, P, scores=scores, finite_population=finite)
    other = estimate_mean(y, P, scores=factor * scores + shift, finite_population=finite)
    expected = (factor * one.value + shift, factor * one.low + shift, factor * one.high + shift)
    assert (other.value, other.low, other.high) == pytest.approx(expected)
    # From the highest to the lowest is no different.
    mirrored = estimate_mean(y, P, scores=-scores, finite_population=finite)
    assert (-mirrored.high, -mirrored.low) == pytest.approx((one.low, one.high))


def test_useless_predictions_give_the_interval_of_the_ratings_alone():
    y, P, _ = ratings()
    constant = np.tile(P.mean(axis=0), (len(y), 1))
    for useless in (constant, P[::-1], np.eye(4)[(3 - P.argmax(axis=1))]):
        ours, classical = estimate_mean(y, useless), estimate_mean(y, P, lam=0)
        assert ours.high - ours.low <= classical.high - classical.low + 1e-12
    ours = estimate_mean(y, constant)
    assert ours.method == "ratings only"
    assert (ours.low, ours.high) == pytest.approx((classical.low, classical.high))


def test_no_interval_is_visibly_wider_than_that_of_the_ratings_alone():
    ratios = []
    for seed in range(60):
        y, P, _ = ratings(60, 400, 6, 1.0, seed)
        ours = estimate_shares(y, P, classes=range(6))
        classical = estimate_shares(y, P, classes=range(6), lam=0)
        ratios.append((ours["high"] - ours["low"]) / (classical["high"] - classical["low"]))
    assert np.max(ratios) < 1.1
    assert np.mean(ratios) < 1.0


def test_perfect_predictions():
    y, P, truth = ratings()
    z = np.where(y >= 0, y, np.nan)
    exact = estimate_mean(z, truth.astype(float))
    assert exact.value == pytest.approx(truth.mean())
    assert exact.high - exact.low < 1e-9
    # On a scale sixty right predictions do not prove that all are right.
    ours, classical = estimate_mean(y, np.eye(4)[truth]), estimate_mean(y, P, lam=0)
    assert 0 < ours.high - ours.low < 0.15 * (classical.high - classical.low)
    assert ours.value == pytest.approx(truth.mean())


def test_where_all_rows_are_rated_everything_is_known():
    _, P, truth = ratings()
    estimates = estimate_table(truth, P)
    assert estimates.mean.low == estimates.mean.value == estimates.mean.high
    assert estimates.mean.value == pytest.approx(truth.mean())
    assert estimates.mean.method == "all rows rated"
    np.testing.assert_allclose(estimates.shares["value"], np.bincount(truth) / len(truth))
    np.testing.assert_allclose(estimates.shares["low"], estimates.shares["high"])
    # But not the expectation of the population that they were drawn from.
    drawn = estimate_mean(truth, P, finite_population=False)
    assert drawn.low < truth.mean() < drawn.high


def test_a_class_without_a_rating_has_an_interval():
    y, P, _ = ratings()
    y[y == 3] = -1
    shares = estimate_shares(y, P, classes=range(4))
    assert shares.loc[3, "n_rated"] == 0
    assert shares.loc[3, "high"] > 0.02
    same = estimate_table(np.where(y >= 0, 2, -1), P, classes=range(4))
    assert same.mean.low < 2.0
    assert same.shares.loc[2, "low"] < 0.99


def test_more_ratings_and_a_lower_level_make_narrower_intervals():
    widths = []
    for n in (20, 60, 200):
        y, P, _ = ratings(n)
        estimate = estimate_mean(y, P)
        widths.append(estimate.high - estimate.low)
    assert widths == sorted(widths, reverse=True)
    narrow, wide = (estimate_mean(y, P, level=level) for level in (0.5, 0.99))
    assert narrow.high - narrow.low < widths[-1] < wide.high - wide.low


def test_scores_are_the_ratings_where_they_are_numbers_else_ranks():
    y, P, _ = ratings()
    assert estimate_mean(np.where(y >= 0, 10 * y, -1), P).value == pytest.approx(
        10 * estimate_mean(y, P).value
    )
    words = ["poor", "fair", "good", "best"]
    named = pd.Series(
        pd.Categorical([words[k] if k >= 0 else None for k in y], words, ordered=True)
    )
    assert estimate_mean(named, P).value == pytest.approx(1 + estimate_mean(y, P).value)
    share = estimate_share_at_least(named, pd.DataFrame(P), "good")
    assert share.value == pytest.approx(estimate_share_at_least(y, P, 2).value)
    assert estimate_table(named, P).at_least.index.tolist() == words[1:]


def test_an_estimate_is_a_sentence():
    y, P, _ = ratings()
    assert str(estimate_mean(y, P)).endswith("60 of 400 rows are rated)")
    y[np.flatnonzero(y >= 0)[3:]] = -1
    with pytest.warns(UserWarning, match="y has 3 ratings"):
        estimate = estimate_mean(y, P, classes=range(4))
    assert "too few ratings for an interval" in str(estimate)
    assert estimate.method == "too few ratings"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 90}, "level=90 must be between 0 and 1"),
        ({"lam": 2}, "lam=2 must be between 0 and 1"),
        ({"scores": [1, 2]}, "must be 4 finite numbers"),
        ({"scores": [1, 2, 3, np.nan]}, "must be 4 finite numbers"),
        ({"classes": [0, 1, 2, 3, 4]}, "predicted has 4 columns, but there are 5 classes"),
        ({"predicted": np.zeros((400, 4))}, "row 0 has the sum 0 and the minimum 0"),
        ({"predicted": np.full((400, 4), np.nan)}, "1600 values that are NaN"),
        ({"predicted": np.full((10, 4), 0.25)}, "y has 400 rows and predicted 10"),
        ({"predicted": np.zeros(400), "classes": range(4)}, "classes and scores need"),
        ({"predicted": np.zeros((4, 4, 4))}, r"predicted has shape \(4, 4, 4\)"),
        ({"y": np.full(400, np.inf), "predicted": np.zeros(400)}, "y contains infinity"),
    ],
)
def test_errors_name_the_argument_and_the_value(change, message):
    y, P, _ = ratings()
    arguments = {"y": y, "predicted": P, **change}
    with pytest.raises(ValueError, match=message):
        estimate_mean(**arguments)


def test_a_rating_must_be_one_of_the_classes():
    y, P, _ = ratings()
    with pytest.raises(ValueError, match=r"rating=7 is not among the classes \[0, 1, 2, 3\]"):
        estimate_share_at_least(y, P, 7)
    with pytest.raises(ValueError, match="pass class probabilities"):
        estimate_shares(y, P[:, 0])
