import datetime
import unicodedata
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.values import TableError, is_missing, number, plain_cells, visible


@pytest.mark.parametrize(
    "value", ["", "  ", "NA", "n/a", " NaN ", "null", "None", "<NA>", None, float("nan"), np.nan]
)
def test_cells_that_stand_for_no_value_are_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", ["0", "-", "no", "nan?", 0, 0.0, False, float("inf"), [], {}])
def test_other_cells_are_not_missing(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("4", 4.0),
        (" 4.0 ", 4.0),
        ("-1e3", -1000.0),
        (7, 7.0),
        (np.int64(3), 3.0),
        (True, 1.0),
        (datetime.timedelta(days=-1), -86400.0),
        (datetime.timedelta(seconds=0.5), 0.5),
        (datetime.time(1, 1, 1, 500_000), 3661.5),
        (datetime.time(1, tzinfo=datetime.UTC), 3600.0),
    ],
)
def test_numbers_are_read_however_they_are_written(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "four",
        "",
        "1_000",
        "1,5",
        "0x10",
        "inf",
        "-Infinity",
        "nan",
        "1e999",
        float("inf"),
        10**400,
        None,
        [1],
        {"a": 1},
        datetime.date(2026, 1, 1),
    ],
)
def test_what_is_no_finite_number_is_none(value):
    assert number(value) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_being_written(value):
    assert number(repr(value)) == number(value) == value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a b c"),
        ("\x00\x07\x1b[31m", "␀␇␛[31m"),
        ("\r", "␍"),
        ("\x7f", "␡"),
        ("\x9b", "[U+009B]"),
        ("\u202egnp.exe\u2066", "[U+202E]gnp.exe[U+2066]"),
        ("\u2028\u2029\ufeff", "[U+2028][U+2029][U+FEFF]"),
        ("\ud800", "[U+D800]"),
        ("\U000e0041", "[U+E0041]"),
    ],
)
def test_what_would_disturb_is_made_visible(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["", "plain <b>&amp;", "café 日本語 עברית", "soft\u00adhyphen", "नमस्\u200dते", "\u200c"]
)
def test_ordinary_writing_stays_as_it_is(text):
    assert visible(text) == text


@given(st.text(st.characters(codec=None)))
def test_nothing_that_controls_is_left_and_nothing_is_left_to_do(text):
    shown = visible(text)
    kinds = {unicodedata.category(c) for c in shown if c not in "\u00ad\u200c\u200d"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert visible(shown) == shown


def test_an_error_about_a_table_is_a_value_error():
    assert issubclass(TableError, ValueError)


def test_cells_of_databases_lose_nothing():
    exact = [Decimal("0.1234567890123456789"), Decimal("1")]
    assert plain_cells(exact) is exact
    assert plain_cells([Decimal("4.50"), Decimal(3), None]) == [4.5, 3.0, None]
    assert [type(c) for c in plain_cells([Decimal("4.00")])] == [int]
    assert plain_cells([Decimal("NaN")])[0].is_nan()
    assert plain_cells([b"\xff", b"a"]) == [b"\xff", b"a"]
    assert plain_cells([b"na\xc3\xafve", None]) == ["na\u00efve", None]
    assert plain_cells([b"a", "a"]) == [b"a", "a"]
