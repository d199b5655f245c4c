import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.cells import is_mark, read_dates, read_day, read_number, read_numbers


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("12", 12.0, 12.0), ("-3.5", -3.5, None), ("1e5", 1e5, None), (".5", 0.5, None),
        ("12.5%", 12.5, None), ("12,5 %", None, 12.5), ("$1,234.50", 1234.5, None),
        ("1.234,50 EUR", None, 1234.5), ("€ 1.234,50", None, 1234.5), ("-$3", -3.0, -3.0),
        ("$-3", -3.0, -3.0), ("(1,234)", -1234.0, -1.234), ("1 234,5", None, 1234.5),
        ("1'234.5", 1234.5, None), ("1,234", 1234.0, 1.234), ("1.234", 1.234, 1234.0),
        ("1,234,567", 1234567.0, None), ("1.234.567", None, 1234567.0), ("1,23,4", None, None),
        ("12,34", None, 12.34), ("1_000", None, None), ("abc", None, None), ("$", None, None),
        ("12 apples", None, None), ("3/4", None, None), (7, 7.0, 7.0), (True, None, None),
        ("\u22125", -5.0, -5.0), ("nan", None, None), ("1e999", None, None), ("", None, None),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(cell, point, comma):
    assert read_number(cell, ".") == point
    assert read_number(cell, ",") == comma


@given(st.floats(-1e9, 1e9).map(lambda v: round(v, 2)))
def test_what_is_written_with_separators_is_read_back(value):
    written = f"{value:,.2f}"
    swapped = written.translate(str.maketrans(",.", ".,"))
    assert read_number(written) == value
    assert read_number(swapped, ",") == value
    assert read_number(f"$ {written}") == value


@pytest.mark.parametrize(
    ("cells", "decimal", "marks", "doubt"),
    [
        (["1", "2", "?", "4", "?"], ".", {"?": 2}, ""),
        (["1,5", "2,5", "1.000,5"], ",", {}, ""),
        (["$1,234.50", "$12.00"], ".", {}, ""),
        (["1,234", "5,678"], ".", {}, "'1,234' is read as 1234"),
        (["1,234", "5.5"], ".", {}, ""),
        (["1.234", "5.678", "2"], ".", {}, ""),
        (["10%", "20%", "0.5"], ".", {}, "2 of 3 cells have a % sign, and are read without it"),
        (["#N/A", "3", "TBD", "-", "4"], ".", {"#N/A": 1, "TBD": 1, "-": 1}, ""),
    ],
)
def test_how_a_column_of_numbers_is_read(cells, decimal, marks, doubt):
    reading = read_numbers(cells)
    assert reading.style == {"decimal": decimal}
    assert reading.marks == marks
    assert reading.doubt == doubt


def test_what_is_no_column_of_numbers():
    assert read_numbers(["1", "two", "3"]) is None
    assert read_numbers(["?", "-"]) is None
    assert read_numbers(["1"] * 30 + ["two"]).odd == ["two"]
    assert read_numbers(["1", "two", "3"], more=["two"]).marks == {"two": 1}


@pytest.mark.parametrize(
    ("cells", "day_first", "first", "doubtful"),
    [
        (["31/12/2023", "01/02/2024"], True, (2023, 12, 31), False),
        (["12/31/2023", "01/02/2024"], False, (2023, 12, 31), False),
        (["03.04.2024", "05.06.2024"], True, (2024, 4, 3), True),
        (["03/04/2024", "05/06/2024"], False, (2024, 3, 4), True),
        (["2024-01-31", "2023-01-31 10:30"], True, (2024, 1, 31), False),
        (["1.2.99", "31.2.98", "5.5.05"], None, None, False),
        (["1.2.99", "28.2.98", "?"], True, (1999, 2, 1), False),
        (["04/04/2024", "05/05/2024"], False, (2024, 4, 4), False),
        (["November 17, 2006", "May 3, 2007"], True, (2006, 11, 17), False),
        (["17 Nov. 2006", "3rd May 2007", "1-Sep-2008", "?"], True, (2006, 11, 17), False),
        (["November 17, 2006", "Mai 3, 2007"], None, None, False),
    ],
)
def test_how_a_column_of_dates_is_read(cells, day_first, first, doubtful):
    reading = read_dates(cells)
    if day_first is None:
        assert reading is None  # there is no 31st of February, either way, and no Mai
        return
    assert reading.style == {"day_first": day_first}
    assert read_day(cells[0], day_first) == datetime.date(*first).toordinal()
    assert bool(reading.doubt) == doubtful


def test_times_and_date_objects():
    noon = read_day("31/12/2023 12:00")
    assert noon == datetime.date(2023, 12, 31).toordinal() + 0.5
    assert read_day("12/31/2023 12:30 PM", False) == pytest.approx(noon + 1 / 48)
    assert read_day(datetime.datetime(2023, 12, 31, 12)) == noon
    assert read_day("hello") is None
    assert read_dates(["1.5", "2.5"]) is None


def test_marks():
    assert is_mark(" n.a. ")
    assert is_mark("#DIV/0!")
    assert not is_mark("good")
    assert not is_mark(None)
    assert is_mark("nix", ["nix"])


def test_each_cell_is_parsed_once_for_each_decimal_separator(monkeypatch):
    calls = []

    def counted(cell, decimal="."):
        calls.append(cell)
        return read_number(cell, decimal)

    monkeypatch.setattr("tordinal.tables.cells.read_number", counted)
    n = 500
    assert read_numbers([f"${i},000.50" for i in range(1, n + 1)]) is not None
    assert len(calls) <= n + 2  # and the example
    calls.clear()
    assert read_numbers([f"1.{i:03d},50 EUR" for i in range(n)]) is not None
    assert len(calls) <= 2 * n + 2
