from collections import Counter

import pytest

from tordinal.tables.rating_order import (
    order_by_name,
    order_by_value,
    rank_of,
    rating_value,
    spelled,
)
from tordinal.tables.values import TableError


def order(*ratings):
    """Classes that the ratings are ordered as, and the notes."""
    notes = []
    return order_by_value("t", Counter(ratings), notes, {})[1], notes


def test_a_cell_is_found_among_known_classes():
    classes = ["none", "mild", "4"]
    cells = ["none", "None ", "4.0", 4, "", None, float("nan"), "n/a"]
    assert [rank_of(c, classes) for c in cells] == [0, 0, 2, 2, None, None, None, None]
    assert rank_of("a", ["A", "a"]) == 1
    assert rank_of("Aa", ["aa", "aA"]) is None
    assert [rank_of(c, ["true", "false"]) for c in (True, False, 1)] == [0, 1, None]


@pytest.mark.parametrize(
    "ratings",
    [
        ["-1", "0", "+1"],
        ["\u22122", "-1", "0", "1"],  # the minus sign of typesetting
        ["900", "1 000", "10 000"],  # by their leading numbers 1 < 10 < 900
        ["5%", "10%", "100%"],
        ["0,5", "1,5", "10,0"],
        ["2 stars", "10 stars"],
        ["9007199254740992", "9007199254740993"],  # equal as floats
        ["31/12/2023", "01/02/2024", "02/02/2024", "13/02/2024"],
        ["2023-12-31", "2024-01-01", "2024-02-01"],
        ["--", "-", "+/-", "+"],
    ],
    ids=str,
)
def test_numbers_and_signs_are_ordered_however_they_are_written(ratings):
    assert order(*reversed(ratings))[0] == ratings


@pytest.mark.parametrize(
    "ratings",
    [["900", "1,000"], ["900 points", "1.000 points"], ["01/02/2024", "02/01/2024"]],
    ids=str,
)
def test_numbers_and_dates_that_can_be_read_in_two_ways_are_asked_about(ratings):
    with pytest.raises(TableError, match="order cannot be known"):
        order(*ratings)


def test_spellings_of_one_number_are_reported():
    classes, notes = order("1", "1", "1.0", "01", "2")
    assert classes == ["1", "2"]
    assert "'1.0' and '01' are taken as '1'; to keep them apart" in notes[0]
    assert order("1", "2") == (["1", "2"], [])


def test_an_order_names_numbers_by_their_value():
    groups, classes = order_by_name("t", Counter({1: 3, 0: 1, -1: 2}), ["+1", "0", "-1"])
    assert groups == {1: 0, 0: 1, -1: 2}
    assert classes == [1, 0, -1]
    groups, classes = order_by_name("t", Counter({"4.0": 1, "4": 1}), ["4", "4.0"])
    assert groups == {"4": 0, "4.0": 1}
    with pytest.raises(TableError, match="'B', which `order` does not name"):
        order_by_name("t", Counter("AB"), ["A", "B-"])


def test_values_are_exact():
    assert rating_value("0.10") == rating_value(0.1) == rating_value("1e-1")
    assert rating_value(2**53 + 1) != rating_value(2**53)
    assert rating_value(True) == 1
    assert [rating_value(v) for v in ("inf", "nan", "1_0", "1/2", None, "")] == [None] * 6


def test_nan_is_spelled_as_none():
    assert [spelled(c) for c in (" a ", float("nan"), None, 4)] == ["a", None, None, 4]
