"""Numbers, categories and texts as features: one `ColumnTransformer`, and what each feature is."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tordinal.tables.reading import text_of
from tordinal.tables.roles import MAX_CATEGORIES, WORDS_OF_TEXT
from tordinal.tables.values import is_missing
from tordinal.text import TextViews
from tordinal.text.vectorizers import spaced_words

__all__ = [
    "feature_names",
    "known_categories",
    "make_transformer",
    "text_parts",
    "texts_that_differ",
    "use_words",
]

NUMBERS, CATEGORIES, TEXT = "numbers", "categories", "text "  # names of the parts
REPEATED = 0.1  # different cells per cell up to which a text is the same in many rows


def make_transformer(
    numbers: list[str],
    categories: list[str],
    texts: Mapping[str, Sequence[Any]],
    views: TextViews,
) -> ColumnTransformer:
    """Numbers scaled, categories one-hot encoded, each text in views; sparse if there is a text.

    Parameters
    ----------
    numbers, categories : list of str
        Columns; dates are numbers.
    texts : mapping of str to list
        Cells of the columns of texts.
    views : TextViews
        How a text is read; each column gets a copy.

    Returns
    -------
    transformer : ColumnTransformer
        Not fitted yet.
    """
    parts: list[tuple[str, Any, Any]] = [
        (f"{TEXT}{place}", clone(views), name) for place, name in enumerate(texts)
    ]
    if numbers:
        scale = make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
        )
        parts.append((NUMBERS, scale, numbers))
    if categories:
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=MAX_CATEGORIES,
            sparse_output=bool(texts),
        )
        parts.append((CATEGORIES, one_hot, categories))
    return ColumnTransformer(
        parts,
        sparse_threshold=1.0 if texts else 0.0,
        transformer_weights=_weights(list(texts.values()), len(numbers) + len(categories)),
    )


def _weights(texts: list[Sequence[Any]], others: int) -> dict[str, float] | None:
    """Weights of the parts of a table with texts, each of whose rows has length 1.

    Kernel values of texts add up in proportion to their words, nearly as if they were one text: a
    title of four words must not outweigh a review of two hundred. All other columns together have
    the weight of the longest text.
    """
    if not texts:
        return None
    words = [sum(spaced_words(text_of(c)) for c in cells) for cells in texts]
    weights = {f"{TEXT}{i}": math.sqrt(n / max(words)) for i, n in enumerate(words)}
    other = 1.0 / math.sqrt(others) if others else 1.0
    return {**weights, NUMBERS: other, CATEGORIES: other}


def text_parts(transformer: ColumnTransformer) -> list[tuple[str, TextViews, str]]:
    """The fitted views of texts: the name of the part, the views, and their column."""
    return [
        (name, part, column)
        for name, part, column in transformer.transformers_
        if name.startswith(TEXT)
    ]


def known_categories(transformer: ColumnTransformer) -> dict[str, set[str]]:
    """The categories seen at training, by column."""
    for name, part, columns in transformer.transformers_:
        if name == CATEGORIES:
            return dict(zip(columns, map(set, part.categories_), strict=True))
    return {}


def feature_names(transformer: ColumnTransformer) -> list[tuple[str, str]]:
    """The column of each feature, and its word or value; empty for a number."""
    names: list[tuple[str, str]] = []
    for name, part, columns in transformer.transformers_:
        if name == NUMBERS:
            missing = part[0].indicator_.features_ if part[0].indicator_ is not None else []
            names += [(c, "") for c in columns] + [(columns[i], "(missing)") for i in missing]
        elif name == CATEGORIES:
            places = part.feature_names_in_.tolist()
            for column, values in zip(columns, part.categories_, strict=True):
                rare = part.infrequent_categories_[places.index(column)]
                rare = set() if rare is None else set(rare)
                names += [(column, str(v)) for v in values if v not in rare]
                names += [(column, "(rare)")] * bool(rare)
        elif name != "remainder":
            names += [(columns, word) for word in part.get_feature_names_out()]
    return names


def use_words(
    transformer: ColumnTransformer, counts: Mapping[str, Mapping[str, int]], n_rows: int
) -> None:
    """Learn the words of texts from the number of rows with each, by column, among `n_rows`."""
    sizes = {name: place.stop - place.start for name, place in transformer.output_indices_.items()}
    for name, part, column in text_parts(transformer):
        part.use_words(counts[column], n_rows)
        sizes[name] = len(part.get_feature_names_out())
    start = 0
    for name, size in sizes.items():
        transformer.output_indices_[name] = slice(start, start + size)
        start += size


def texts_that_differ(texts: Mapping[str, Sequence[Any]]) -> list[str]:
    """Texts that differ between rows, the longest first; the name of a product, say, repeats.

    Parameters
    ----------
    texts : mapping of str to list
        Cells by column.

    Returns
    -------
    columns : list of str
        The longest text, and those with many different cells.

    Examples
    --------
    >>> names = ["Tea of the house, green"] * 20
    >>> reviews = [f"I liked it {n} times as much as that one" for n in range(20)]
    >>> texts_that_differ({"product": names, "review": reviews})
    ['review']
    """
    cells = {name: [str(c) for c in texts[name] if not is_missing(c)] for name in texts}
    words = {name: sum(map(spaced_words, cells[name])) for name in texts}
    longest = sorted(words, key=lambda name: -words[name])
    return [
        name
        for name in longest
        if name == longest[0]
        or (
            len(set(cells[name])) > REPEATED * len(cells[name])
            and words[name] >= WORDS_OF_TEXT * len(cells[name])
        )
    ]
