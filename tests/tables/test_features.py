import numpy as np
import scipy.sparse as sp

from tordinal.datasets import make_reviews
from tordinal.tables.columns import TableEncoder
from tordinal.tables.features import (
    feature_names,
    known_categories,
    make_transformer,
    text_parts,
    texts_that_differ,
    use_words,
)
from tordinal.tables.reading import CellReader
from tordinal.text import TextViews

TEXTS, _ = make_reviews(40, random_state=0)
TABLE = {
    "review": TEXTS,
    "title": [text[:15] for text in TEXTS],
    "price": [None if i % 9 == 0 else float(i) for i in range(40)],
    "shop": [("north", "south", "")[i % 3] for i in range(40)],
}
ROLES = {"review": "text", "title": "text", "price": "number", "shop": "category"}


def fitted():
    plan = [{"name": n, "role": role, "style": {"decimal": "."}} for n, role in ROLES.items()]
    frame = CellReader(()).frame(plan, TABLE)
    texts = {name: TABLE[name] for name in ("review", "title")}
    transformer = make_transformer(["price"], ["shop"], texts, TextViews(n_axes=0))
    return transformer, transformer.fit_transform(frame), frame


def test_every_feature_has_the_name_of_its_column():
    transformer, X, frame = fitted()
    names = feature_names(transformer)
    assert sp.issparse(X)
    assert len(names) == X.shape[1]
    assert [column for _, _, column in text_parts(transformer)] == ["review", "title"]
    shop = [value for column, value in names if column == "shop"]
    assert shop == ["(missing)", "north", "south"]
    assert known_categories(transformer) == {"shop": {"(missing)", "north", "south"}}
    assert [value for column, value in names if column == "price"] == ["", "(missing)"]
    indicator = X.toarray()[:, names.index(("price", "(missing)"))]
    assert len(set(indicator[np.isnan(frame["price"])])) == 1
    word = next(value for column, value in names if column == "review")
    has_it = X[:, names.index(("review", word))].toarray().ravel() > 0
    assert has_it.any()
    assert all(word[:3] in text.lower() for text in np.array(TEXTS)[has_it])


def test_without_texts_features_are_dense_and_nothing_is_weighted():
    transformer = make_transformer(["price"], [], {}, TextViews())
    assert transformer.transformer_weights is None
    assert isinstance(transformer.fit_transform(fitted()[2][["price"]]), np.ndarray)
    assert known_categories(transformer) == {}


def test_a_long_text_outweighs_a_short_one():
    _, X, _ = fitted()
    transformer, _, _ = fitted()
    weights = transformer.transformer_weights
    words = [sum(len(c.split()) for c in TABLE[name]) for name in ("review", "title")]
    assert weights["text 0"] == 1.0
    np.testing.assert_allclose(weights["text 1"] ** 2, words[1] / words[0], rtol=0.05)
    names = feature_names(transformer)
    length = np.sqrt((X.toarray()[:, [c == "review" for c, _ in names]] ** 2).sum(axis=1))
    np.testing.assert_allclose(length, 1.0)


def test_more_words_move_the_places_of_what_follows():
    transformer, X, _ = fitted()
    counts = {"review": {"tea": 30, "cup": 20, "milk": 10}, "title": {"tea": 9}}
    use_words(transformer, counts, 60)
    places = transformer.output_indices_
    assert places["text 0"] == slice(0, 3)
    assert places["text 1"] == slice(3, 4)
    numbers = places["numbers"].stop - places["numbers"].start
    assert numbers == 2
    assert places["numbers"].start == 4
    assert places["categories"].stop == len(feature_names(transformer)) < X.shape[1]


def test_rare_categories_share_a_column():
    names = [f"city {i // 2}" for i in range(200)]
    encoder = TableEncoder(columns=["city"])
    X = encoder.fit_transform({"city": names})
    assert X.shape[1] == 50
    assert feature_names(encoder.encoder_)[-1] == ("city", "(rare)")


def test_a_text_that_repeats_or_is_short_is_not_the_rows_own():
    longest = {"review": TEXTS, "product": ["a kettle of steel, two litres"] * 40}
    assert texts_that_differ(longest) == ["review"]
    assert texts_that_differ({**longest, "word": [f"w{i}" for i in range(40)]}) == ["review"]
    assert texts_that_differ({**longest, "title": TABLE["title"]})[0] == "review"
    assert texts_that_differ({"product": longest["product"]}) == ["product"]
