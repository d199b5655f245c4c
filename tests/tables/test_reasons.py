import numpy as np
import pandas as pd
import pytest

from tordinal import rate_table
from tordinal.datasets import make_reviews
from tordinal.datasets._reviews import OPINIONS
from tordinal.exceptions import InputError

LOW, HIGH = (set(" ".join(OPINIONS[k : k + 2]).split()) for k in (0, 3))


@pytest.fixture(scope="module")
def rated():
    texts, stars = make_reviews(500, random_state=1)
    price = np.random.default_rng(0).normal(50, 10, 500).round(2)
    stars = np.clip(stars + (price > 58).astype(int) - (price < 42), 1, 5)
    frame = pd.DataFrame({"review": texts, "price": price, "stars": stars}, dtype=object)
    frame.loc[150:, "stars"] = None
    frame.index = [f"r{i}" for i in range(500)]
    options = {"text": "review", "columns": ["review", "price"], "quick": True, "reasons": True}
    return rate_table(frame, "stars", **options)


def test_words_push_the_rating_the_way_they_are_meant(rated):
    words = rated.reasons.words
    down, up = words[words["effect"] < 0], words[words["effect"] > 0]
    assert len(HIGH.intersection(up["term"])) >= 8
    assert len(LOW.intersection(down["term"])) >= 8
    assert not LOW.intersection(up["term"])
    assert not HIGH.intersection(down["term"])
    assert words["term"].is_unique
    assert words["effect"].is_monotonic_increasing
    assert set(words["column"]) == {"review"}
    texts = rated.frame["review"].str.lower()
    for term, rows in zip(words["term"], words["rows"], strict=True):
        found = texts.str.contains(rf"\b{term}\b").sum()
        assert found <= 1.1 * rows + 2  # the form that is shown is in the texts
        assert found > 0


def test_columns_with_their_direction(rated):
    columns = rated.reasons.columns.set_index("column")
    assert columns.index.tolist() == ["review", "price"]
    assert columns["clear"].all()
    assert columns.loc["price", "direction"] == "up"
    assert rated.reasons.agreement > 0.6


def test_a_row_is_explained_by_its_own_words(rated):
    for label in ("r200", "r300"):
        why = rated.explain(label)
        text = rated.frame.loc[label, "review"].lower()
        words = why[why["column"] == "review"]["what"]
        assert len(words) > 0
        assert all(word.split()[0][:4] in text for word in words)
        assert (why["effect"].abs().diff().dropna() <= 1e-12).all()
        assert "price" in set(why["column"])
    with pytest.raises(KeyError):
        rated.explain("r900")


def test_the_column_of_reasons_names_what_explains_most(rated):
    column = rated.frame["stars_reasons"]
    assert column.str.fullmatch(r"((higher|lower): [^;]+(; )?)*").all()
    high = rated.frame[rated.frame["stars_predicted"] == 5].iloc[:20]["stars_reasons"]
    assert high.str.startswith("higher: ").mean() > 0.9
    first = rated.explain("r200").iloc[0]
    assert f"{first['what']} ({abs(first['effect']):.1f})" in column["r200"]


def test_reasons_are_not_shown_where_the_additive_model_does_not_agree(rated, monkeypatch):
    monkeypatch.setattr("tordinal.tables.reasons.AGREES", 1.1)
    assert len(rated.reasons.explain(0)) == 0
    assert rated.reasons.sentences([0, 1]) == ["", ""]


def test_a_label_that_is_not_unique_is_rejected():
    frame = pd.DataFrame({"cm": [1, 2, 3, 8, 9, 10] * 5, "size": ["small", None, "large"] * 10})
    frame.index = [0, 0, *range(2, 30)]
    rated = rate_table(frame, "size", method="tor")
    with pytest.raises(InputError, match="2 rows have this label"):
        rated.explain(0)


def test_effects_too_small_to_matter_are_not_listed():
    rng = np.random.default_rng(0)
    price = rng.normal(50, 10, 300)
    frame = pd.DataFrame({"price": price.round(2), "shop": rng.choice(["north", "south"], 300)})
    frame["stars"] = pd.array(1 + np.digitize(price, [40, 50, 60]), dtype="Int64")
    frame.loc[100:, "stars"] = pd.NA
    reasons = rate_table(frame, "stars", method="redsvm").reasons
    assert reasons.agrees
    assert (reasons.words["effect"].abs() >= 0.05).all()
