import datetime

import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.datasets import make_reviews
from tordinal.tables.columns import TableEncoder
from tordinal.tables.values import TableError

N = 60
TEXTS, _ = make_reviews(N, random_state=0)
RNG = np.random.default_rng(0)
TABLE = {
    "id": [str(i) for i in range(N)],
    "uuid": [f"{i * 7919:08x}" for i in range(N)],
    "empty": [""] * N,
    "constant": ["x"] * N,
    "price": ["" if i % 9 == 0 else f"{v:.3f}" for i, v in enumerate(RNG.normal(size=N))],
    "year": [str(1990 + i % 30) for i in range(N)],
    "shop": [("north", "south", "")[i % 3] for i in range(N)],
    "flag": [i % 2 == 0 for i in range(N)],
    "day": [f"2026-01-{1 + i % 28:02d}" for i in range(N)],
    "when": [datetime.datetime(2026, 1, 1 + i % 28, i % 24) for i in range(N)],
    "nested": [{"a": i} for i in range(N)],
    "review": TEXTS,
}


def roles(encoder):
    return {c["name"]: c["role"] for c in encoder.plan_}


def test_columns_are_understood_by_themselves():
    encoder = TableEncoder()
    X = encoder.fit_transform(TABLE)
    expected = {
        **dict.fromkeys(["id", "uuid", "empty", "constant", "nested"], "excluded"),
        "price": "number",
        "year": "number",
        "shop": "category",
        "flag": "category",
        "day": "date",
        "when": "date",
        "review": "text",
    }
    assert roles(encoder) == expected
    assert {c["name"]: c["missing"] for c in encoder.plan_}["price"] == 7
    assert sp.issparse(X)
    assert X.shape == (N, len(encoder.get_feature_names_out()))
    assert np.isfinite(X.data).all()


def test_new_rows_are_encoded_as_the_old_ones_were():
    encoder = TableEncoder()
    X = encoder.fit_transform(TABLE)
    part = {name: cells[10:20] for name, cells in TABLE.items() if name not in ("id", "nested")}
    assert abs(encoder.transform(part) - X[10:20]).max() < 1e-12
    part["shop"] = ["somewhere else"] * 10
    part["price"] = ["not a number"] * 10
    assert np.isfinite(encoder.transform(part).data).all()


def test_words_and_all_other_columns_together_weigh_the_same():
    encoder = TableEncoder(text=["review"], columns=["price", "year"])
    X = encoder.fit_transform({**TABLE, "price": [str(v) for v in RNG.normal(size=N)]}).toarray()
    names = encoder.get_feature_names_out()
    of_text = np.array([column == "review" for column, _ in names])
    of_axes = np.array([value.startswith("(phrases") for _, value in names])
    words = np.array([column == "review" and not value.startswith("(") for column, value in names])
    np.testing.assert_allclose((X[:, words] ** 2).sum(axis=1), 1.0)
    np.testing.assert_allclose((X[:, of_axes] ** 2).sum(axis=1), 1.0)
    np.testing.assert_allclose((X[:, ~of_text] ** 2).sum(axis=1).mean(), 1.0)


def test_named_columns_are_used_and_no_others():
    encoder = TableEncoder(columns=["id", "price"]).fit(TABLE)
    assert [n for n, r in roles(encoder).items() if r != "excluded"] == ["id", "price"]
    encoder = TableEncoder(text=["shop"]).fit(TABLE)
    assert [n for n, r in roles(encoder).items() if r != "excluded"] == ["shop"]
    encoder = TableEncoder(drop=["review", "price"]).fit(TABLE)
    assert roles(encoder)["price"] == roles(encoder)["review"] == "excluded"
    assert not sp.issparse(encoder.transform(TABLE))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": ["revew"]}, "`text` revew: no such column; did you mean 'review'"),
        ({"columns": ["qqqq"]}, "`columns` qqqq: no such column; there are: id"),
        ({"columns": ["empty"]}, "no columns to learn from"),
    ],
)
def test_bad_choices_are_rejected(options, message):
    with pytest.raises(TableError, match=message):
        TableEncoder(**options).fit(TABLE)


def test_a_name_in_another_case_is_found_out():
    with pytest.raises(TableError, match="`columns` PRICE: no such column; did you mean 'price'"):
        TableEncoder(columns=["PRICE"]).fit({"price": ["1", "2"], "x": ["3", "4"]})


def test_a_table_without_columns_to_learn_from_is_rejected():
    with pytest.raises(TableError, match="only the column of ratings"):
        TableEncoder().fit({})


def test_a_missing_column_is_named():
    encoder = TableEncoder(columns=["price", "shop"]).fit(TABLE)
    with pytest.raises(TableError, match="no column 'shop'"):
        encoder.transform({"price": ["1"]})


def test_a_text_of_stop_words_is_excluded():
    encoder = TableEncoder(text=["t"], columns=["n"]).fit(
        {"t": ["the", "and", "of"], "n": [1, 2, 3]}
    )
    assert roles(encoder) == {"t": "excluded", "n": "number"}


def test_a_few_odd_cells_leave_a_column_of_numbers_one():
    cells = [f"{v:.3f}" for v in RNG.normal(size=98)] + ["inf", "?"]
    encoder = TableEncoder()
    X = encoder.fit_transform({"price": cells})
    assert encoder.plan_[0]["role"] == "number"
    assert "as missing: '?' (1), 'inf' and the like (1)" in encoder.plan_[0]["why"]
    assert encoder.plan_[0]["missing"] == 2
    assert np.isfinite(X).all()


def test_names_may_hold_anything():
    encoder = TableEncoder(text=["review__text", "x__y"])
    X = encoder.fit_transform({"review__text": TEXTS, "x__y": TEXTS[::-1]})
    assert X.shape[1] == len(encoder.get_feature_names_out())


def test_missing_text_is_no_word():
    encoder = TableEncoder(text=["t"]).fit({"t": ["good story", float("nan"), None, "N/A"]})
    assert {word for _, word in encoder.get_feature_names_out()} == {"good", "stori"}


def test_numbers_and_dates_as_people_write_them():
    table = {
        "share": ["12.5%", "3%", "?", "50%"] * 5,
        "price": ["1.234,50 EUR", "12,00 EUR", "7,10 EUR", "-"] * 5,
        "sold": ["31/12/2023", "01/02/2024", "", "15/03/2024"] * 5,
        "when": ["03/04/2024", "05/06/2024", "07/08/2024", "09/10/2024"] * 5,
        "kind": ["?", "a", "b", "a"] * 5,
    }
    encoder = TableEncoder()
    X = encoder.fit_transform(table)
    plan = {c["name"]: c for c in encoder.plan_}
    roles = {name: c["role"] for name, c in plan.items()}
    assert roles == {
        "share": "number", "price": "number", "sold": "date", "when": "date", "kind": "category",
    }  # fmt: skip
    assert "'1.234,50 EUR' is 1234.5" in plan["price"]["why"]
    assert "as missing: '?' (5)" in plan["share"]["why"]
    assert "'31/12/2023' is 2023-12-31" in plan["sold"]["why"]
    assert [d.split(":")[0] for d in encoder.doubts_] == ["column when"]
    again = encoder.transform({name: cells[:4] for name, cells in table.items()})
    np.testing.assert_allclose(again, X[:4])


def test_a_column_of_numbers_with_many_question_marks_stays_one():
    cells = [str(v) for v in RNG.normal(size=91)] + ["?"] * 9
    encoder = TableEncoder().fit({"a": cells})
    assert encoder.plan_[0]["role"] == "number"
    other = [c.replace("?", "weiss nicht") for c in cells]
    doubted = TableEncoder().fit({"a": other})
    assert doubted.plan_[0]["role"] == "number"
    assert "9 of 100 cells are not numbers, such as 'weiss nicht' (9)" in doubted.doubts_[0]
    named = TableEncoder(missing=["weiss nicht"]).fit({"a": other})
    assert named.plan_[0]["role"] == "number"


def test_a_category_that_is_mostly_numbers_is_doubted():
    cells = [f"{v:.1f}" for v in RNG.normal(size=70)] + ["krank"] * 30
    encoder = TableEncoder().fit({"a": cells})
    assert encoder.plan_[0]["role"] == "category"
    assert "30 of 100 cells are not numbers, such as 'krank' (30)" in encoder.doubts_[0]
    assert "`missing` krank" in encoder.doubts_[0]
    cells = [f"{v:.3f}" for v in RNG.normal(size=200)] + ["krank"] * 70
    encoder = TableEncoder()
    encoder.plan({"lab": cells}, "stars")
    assert encoder.plan_[0]["why"] == "values that hardly come twice"
    assert "'krank' (70), so the column is excluded" in encoder.doubts_[0]
    assert TableEncoder().fit({"a": ["x", "y", "1"] * 9}).doubts_ == []


def test_views_of_texts_hold_all_other_columns():
    table = {"a": TEXTS, "b": TEXTS[::-1], "size": [str(i % 7 + 0.5) for i in range(len(TEXTS))]}
    encoder = TableEncoder(text=["a", "b"], columns=["size"])
    X = encoder.fit_transform(table)
    views = encoder.views()
    names = encoder.get_feature_names_out()
    assert len(views["words, phrases and letters"]) == X.shape[1]
    seen = {names[i] for i in views["words"]}
    assert ("size", "") in seen
    assert {column for column, _ in seen} == {"a", "b", "size"}
    assert not any(value.startswith("(") for _, value in seen)
    letters = [names[i] for i in views["phrases and letters"] if names[i][0] != "size"]
    assert all(value.startswith("(") for _, value in letters)
    encoder.describe_texts("words (2 of 3 models)")
    assert [c["why"] for c in encoder.plan_ if c["role"] == "text"] == ["words (2 of 3 models)"] * 2
    assert TableEncoder(columns=["size"]).fit(table).views() is None
