import numpy as np
import pandas as pd
import pytest

from tordinal.inference import estimate_by_group, estimate_mean
from tordinal.inference.groups import _pool


def grouped(seed, n=100, n_groups=12, n_rows=1200, spread=0.5):
    """Ratings from 0 to 4 in groups whose means differ, with probabilities that do not know."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n_rows)
    latent = rng.normal(size=n_rows)
    noise = rng.normal(size=n_rows) + spread * rng.normal(size=n_groups)[group]
    truth = np.clip(np.round(2 + latent + 0.7 * noise), 0, 4).astype(int)
    p = np.exp(-((2 + latent[:, None] - np.arange(5)) ** 2))
    y = np.full(n_rows, -1)
    rated = rng.choice(n_rows, n, replace=False)
    y[rated] = truth[rated]
    return y, p / p.sum(axis=1, keepdims=True), group, truth


def means(table):
    return table[table["quantity"] == "mean"].set_index("group")


@pytest.mark.parametrize(("pooling", "least"), [(True, 0.84), (False, 0.86)])
def test_coverage_by_group(pooling, least):
    held = {"mean": [], "share": [], "at least": []}
    for seed in range(12):
        y, P, group, truth = grouped(seed)
        table = estimate_by_group(y, P, group, pooling=pooling)
        for row in table[table["low"].notna()].itertuples():
            of = truth[group == row.group]
            value = {
                "mean": of, "share": of == row.rating, "at least": of >= (row.rating or 0),
            }[row.quantity].mean()  # fmt: skip
            held[row.quantity].append(row.low <= value <= row.high)
    for quantity, covered in held.items():
        assert least < np.mean(covered) < 0.97, quantity


def test_intervals_of_small_groups_that_are_unlike_the_others_hold():
    held = []
    for seed in range(25):
        y, P, group, truth = grouped(seed, n=200, n_groups=20, spread=0.0)
        strange = group >= 17  # three of twenty groups are rated a step and a half higher
        truth = np.where(strange, np.minimum(truth + 2, 5), truth)
        y = np.where(strange & (y >= 0), truth, y)
        P = np.column_stack([P, np.zeros(len(P))])
        table = means(estimate_by_group(y, P, group, classes=range(6)))
        for g in (17, 18, 19):
            row = table.loc[g]
            held.append(row["low"] <= truth[group == g].mean() <= row["high"])
    assert np.mean(held) > 0.8


def test_pooling_makes_groups_of_few_ratings_more_exact():
    errors, widths = {True: [], False: []}, {True: [], False: []}
    for seed in range(12):
        y, P, group, truth = grouped(seed, spread=0.2)
        true = np.array([truth[group == g].mean() for g in range(12)])
        for pooling in (True, False):
            table = means(estimate_by_group(y, P, group, pooling=pooling))
            errors[pooling] += ((table["value"] - true) ** 2).tolist()
            widths[pooling] += (table["high"] - table["low"]).tolist()
    assert np.mean(errors[True]) < 0.9 * np.nanmean(errors[False])
    assert np.nanmean(widths[True]) < 0.95 * np.nanmean(widths[False])


def test_one_group_of_all_rows_is_the_table():
    y, P, _, _ = grouped(0)
    alone = means(estimate_by_group(y, P, np.zeros(len(y)), pooling=False))
    table = estimate_mean(y, P)
    assert alone.loc[0.0, "value"] == pytest.approx(table.value)
    assert alone.loc[0.0, "standard_error"] == pytest.approx(table.standard_error, rel=0.02)


def test_groups_that_are_rated_as_a_whole_or_not_at_all():
    y, P, group, truth = grouped(0)
    y = np.where(group == 3, truth, np.where(group == 4, -1, y))
    table = means(estimate_by_group(y, P, group))
    whole, none = table.loc[3], table.loc[4]
    assert whole["method"] == "all rows rated"
    assert whole["low"] == whole["value"] == whole["high"]
    assert whole["value"] == pytest.approx(truth[group == 3].mean())
    assert none["method"] == "too few ratings"
    assert none["n_rated"] == 0
    assert np.isnan(none["low"])
    assert 0 <= none["value"] <= 4  # predictions, corrected as in the other groups
    alone = means(estimate_by_group(y, P, group, pooling=False)).loc[4]
    assert np.isnan(alone["value"])


def test_three_groups_are_too_few_to_pool():
    y, P, group, _ = grouped(0, n_groups=3)
    assert set(estimate_by_group(y, P, group)["method"]) == {"prediction-powered"}
    y, P, group, _ = grouped(0, n_groups=4)
    assert set(estimate_by_group(y, P, group)["method"]) == {"pooled"}


def test_rows_without_a_group_belong_to_none():
    y, P, group, _ = grouped(0)
    names = np.array([None if g == 11 else f"shop {g}" for g in group], dtype=object)
    table = means(estimate_by_group(y, P, names))
    assert len(table) == 11
    assert table["n_rows"].sum() == np.sum(group != 11)
    assert table.loc["shop 2", "n_rated"] == np.sum(y[group == 2] >= 0)


def test_the_order_of_rows_does_not_matter_and_every_quantity_is_there():
    y, P, group, _ = grouped(1)
    order = np.random.default_rng(0).permutation(len(y))
    one, other = estimate_by_group(y, P, group), estimate_by_group(y[order], P[order], group[order])
    columns = ["value", "low", "high"]
    np.testing.assert_allclose(one[columns].to_numpy(), other[columns].to_numpy())
    assert len(one) == 12 * (1 + 5 + 4)
    assert one["quantity"].iloc[:10].tolist() == ["mean"] + ["share"] * 5 + ["at least"] * 4


def test_a_mean_is_moved_by_half_a_standard_error_at_most():
    mean = np.array([0.0, 0.1, -0.1, 0.05, 4.0])
    variance = np.array([0.01, 0.01, 0.01, 0.01, 1.0])
    centre, spread = _pool(mean, variance)
    assert (np.abs(centre - mean) <= 0.5 * np.sqrt(variance) + 1e-12).all()
    assert centre[4] == pytest.approx(3.5)
    assert spread[4] >= 1.0
    # Equal means are known better together.
    centre, spread = _pool(np.zeros(5), variance)
    np.testing.assert_allclose(centre, 0.0, atol=1e-12)
    assert (spread < variance).all()


def test_groups_of_no_name_or_another_length_are_rejected():
    y, P, group, _ = grouped(0)
    with pytest.raises(ValueError, match="the group of every row is missing"):
        estimate_by_group(y, P, [None] * len(y))
    with pytest.raises(ValueError, match="groups has 5 rows and predicted 1200"):
        estimate_by_group(y, P, group[:5])


@pytest.mark.parametrize("pooling", [True, False])
def test_shares_of_a_group_sum_to_one_within_their_intervals(pooling):
    y, P, group, _ = grouped(3, n=60, n_groups=40)
    table = estimate_by_group(y, P, group, classes=range(5), pooling=pooling)
    shares = table[table["quantity"] == "share"].dropna(subset=["value"])
    assert shares.groupby("group")["value"].sum().to_numpy() == pytest.approx(1.0)
    shown = shares.dropna(subset=["low"])
    assert len(shown) >= 100 * pooling
    assert (shown["low"] <= shown["value"]).all()
    assert (shown["value"] <= shown["high"]).all()
    # Rated rows are known.
    rated = pd.Series(y[y >= 0]).groupby(group[y >= 0]).agg(lambda v: (v == 4).sum())
    sizes = pd.Series(group).value_counts()
    of_4 = shares[shares["rating"] == 4].set_index("group")["value"]
    assert (of_4 >= (rated / sizes).reindex(of_4.index).fillna(0) - 1e-12).all()
