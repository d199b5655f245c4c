import datetime

import pytest

from tordinal.tables.table import Table, cell_text, unique_names

TABLE = Table(["a", "b"], [[1, 2, 3], ["x", "y", "z"]], "csv", above=2)


def test_rows_are_numbered_as_in_a_spreadsheet():
    assert [TABLE.number(i) for i in range(3)] == [3, 4, 5]
    part = TABLE.part([0, 2])
    assert part.columns == [[1, 3], ["x", "z"]]
    assert [part.number(i) for i in range(2)] == [3, 5]


def test_columns_of_one_name_get_unique_names_and_a_note():
    notes = []
    assert unique_names(["a", "a", "a (2)", "b"], notes) == ["a", "a (2)", "a (2) (2)", "b"]
    assert notes == ["2 columns are named 'a': here they are called 'a', 'a (2)'"]


@pytest.mark.parametrize(
    ("value", "decimal", "text"),
    [
        (None, ".", ""),
        (float("nan"), ".", ""),
        (0.25, ",", "0,25"),
        (0.25, ".", "0.25"),
        (10**30, ",", "1" + "0" * 30),
        (datetime.datetime(2023, 12, 31), ".", "2023-12-31"),
        (datetime.datetime(2023, 12, 31, 8, 30), ".", "2023-12-31 08:30:00"),
        ([1, "é"], ".", '[1, "é"]'),
    ],
)
def test_values_as_text(value, decimal, text):
    assert cell_text(value, decimal) == text
