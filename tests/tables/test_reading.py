import numpy as np
import pytest

from tordinal.tables.reading import CellReader, text_of
from tordinal.tables.values import TableError

PLAN = [
    {"name": "price", "role": "number", "style": {"decimal": "."}},
    {"name": "kind", "role": "category"},
    {"name": "review", "role": "text"},
]
TABLE = {"price": ["1.5", "?", "many"], "kind": [" a ", "", "none"], "review": ["Good", None, ""]}


def test_cells_are_read_as_planned():
    frame = CellReader(["none"]).frame(PLAN, TABLE)
    assert np.array_equal(frame["price"], [1.5, np.nan, np.nan], equal_nan=True)
    assert frame["kind"].tolist() == ["a", "(missing)", "(missing)"]
    assert frame["review"].tolist() == ["Good", "", ""]
    assert text_of(float("nan")) == ""


def test_cells_are_counted_by_what_they_hold():
    reader = CellReader(["none"])
    price, kind, review = reader.cells(PLAN, TABLE, reader.frame(PLAN, TABLE))
    assert (price.missing, dict(price.words), price.values.tolist()) == (1, {"many": 1}, [1.5])
    assert (kind.missing, dict(kind.words)) == (2, {"a": 1})
    assert review.missing == 2


def test_numbers_too_large_to_learn_from_are_named():
    with pytest.raises(TableError, match=r"column price holds 1e\+200, too large"):
        CellReader(()).frame(PLAN[:1], {"price": ["1e200", "1"]})
    with pytest.raises(TableError, match="no column 'price'"):
        CellReader(()).frame(PLAN[:1], {})
