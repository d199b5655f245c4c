"""What a rated table answers; the function that makes it is tested in test_rated_table.py."""

import numpy as np
import pandas as pd
import pytest

from tordinal import rate_table
from tordinal.datasets import make_reviews
from tordinal.inference import estimate_mean, selection_probabilities


@pytest.fixture(scope="module")
def frame():
    texts, stars = make_reviews(400, random_state=6)
    rng = np.random.default_rng(0)
    length = np.round(2.0 * stars + rng.normal(size=400), 2)
    frame = pd.DataFrame({"review": texts, "length": length, "stars": stars})
    frame.index = [f"r{i}" for i in range(400)]
    frame["truth"] = stars
    # High ratings are given more often than low ones.
    chosen = rng.choice(400, 120, replace=False, p=np.exp(0.6 * stars) / np.exp(0.6 * stars).sum())
    frame["stars"] = frame["stars"].astype("Int64").mask(~np.isin(np.arange(400), chosen))
    return frame


@pytest.fixture(scope="module")
def rated(frame):
    return rate_table(frame.drop(columns="truth"), "stars", method="redsvm", reweight=True)


def test_a_biased_choice_of_rows_is_noticed_and_weights_help(frame, rated):
    plain = rate_table(frame.drop(columns="truth"), "stars", method="redsvm")
    truth = frame["truth"].mean()
    assert abs(rated.estimates.mean.value - truth) < abs(plain.estimates.mean.value - truth)
    assert any("`reweight` weighs given ratings" in note for note in plain.notes)
    assert any("the column" in note and "length" in note for note in plain.notes)
    assert any("weigh the given ratings" in note for note in rated.notes)
    assert any("have higher ratings than the rest" in note for note in plain.notes)


def test_reweighted_estimates_are_those_of_the_library(rated):
    rating = rated.rating
    p = rating.probability.copy()
    p[rating.held_out] = rating.cv_probability
    expected = estimate_mean(
        rating.target.rank, p, classes=range(p.shape[1]),
        scores=[float(c) for c in rating.target.classes],
        probabilities=selection_probabilities(rating.X, rating.given),
    )  # fmt: skip
    assert rated.estimates.mean == expected


def test_rows_to_check_have_the_labels_of_the_frame(rated):
    check = rated.to_check
    assert set(check["why"]) <= {"contradicted", "rated differently", "large expected error"}
    assert check["row"].isin(rated.frame.index).all()
    doubtful = check[check["why"] == "large expected error"]
    assert (rated.frame.loc[doubtful["row"], "stars_source"] == "predicted").all()


def test_the_curve_of_abstaining_is_that_of_the_held_out_rows(rated):
    curve = rated.abstaining
    assert curve["share"].iloc[0] == 1.0
    assert curve["accuracy"].iloc[0] == pytest.approx(rated.expected_error.accuracy)
    assert curve["accuracy"].iloc[-1] > curve["accuracy"].iloc[0]


def test_it_is_reported_where_no_reasons_can_be_given(frame, monkeypatch):
    frame = frame.drop(columns="truth")

    def notes():
        rated = rate_table(frame, "stars", method="redsvm", reasons=True)
        return rated.frame["stars_reasons"], [n for n in rated.notes if "no reasons" in n]

    column, said = notes()
    assert column.str.contains("higher|lower").mean() > 0.5
    assert said == []
    monkeypatch.setattr("tordinal.tables.reasons.AGREES", 2.0)
    column, said = notes()
    assert (column.fillna("") == "").all()
    assert len(said) == 1


def test_groups_of_many_numbers_are_ranges_and_missing_cells_are_counted(frame):
    frame = frame.drop(columns="truth").assign(shop=["north", "south", ""] * 133 + ["north"])
    rated = rate_table(frame, "stars", method="redsvm", by=["length", "shop"])
    groups = rated.groups
    assert groups["column"].tolist() == ["length"] * 5 + ["shop"] * 2
    assert groups.loc[groups["column"] == "length", "rows"].between(75, 85).all()
    assert groups["rows"].sum() == 400 + 267
    assert groups["average_low"].notna().all()
    assert "133 rows without shop are in no group" in rated.notes
    assert any("length has" in note and "5 ranges" in note for note in rated.notes)


def numbers(n_given):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(120, 3))
    stars = pd.Series(1 + np.digitize(x[:, 0] + 0.3 * rng.normal(size=120), [-0.5, 0.5]))
    frame = pd.DataFrame({"shop": ["a", "b", "c"] * 40, "stars": stars.astype("Int64")})
    frame.loc[n_given:, "stars"] = pd.NA
    return frame, x


def test_a_group_column_is_named_once_and_too_few_ratings_are_said():
    frame, x = numbers(40)
    twice = rate_table(frame, "stars", features=x, method="redsvm", by=["shop", "shop"])
    assert twice.groups["group"].is_unique
    frame["stars"] = pd.array([1, 2, 3] + [pd.NA] * 117, dtype="Int64")
    few = rate_table(frame, "stars", features=x, method="redsvm", by="shop")
    assert len(few.groups) == 0
    assert "too few ratings to estimate averages and shares by shop" in few.notes


@pytest.mark.parametrize("place", ["beside", "lists"])
def test_the_report_of_few_columns_beside_numbers(place, tmp_path):
    frame, x = numbers(40)
    frame["price"] = 1e6 * x[:, 1]
    if place == "beside":
        rated = rate_table(frame, "stars", features=x, method="redsvm")
    else:
        rated = rate_table(frame.assign(vector=list(x)), "stars", method="redsvm")
        assert "vector" not in rated.suggest(3)  # people cannot rate by it
    rated.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "(numbers)" in page
    assert not pd.Series(page).str.contains(r"\d{4}\.\d{6}").any()
