import io

import pytest

from tordinal.tables.delimited import read_delimited, write_delimited
from tordinal.tables.values import TableError


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a;b;c, d\n1;2;3\n4;5;6\n", ";"),  # a comma in a name
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("sep=|\na|b\n1|2\n", "|"),
        ('"x;y",b\n"1;2",3\n', ","),
        ("review,stars\nGood; very good,5\nBad; so bad,1\n", ","),
        ("stars\n5\n1\n", ","),
    ],
)
def test_the_delimiter_is_found_out(text, delimiter):
    assert read_delimited("t", text, "csv").delimiter == delimiter


@pytest.mark.parametrize(
    ("top", "above"),
    [
        ("Reviews of 2023\n", 2),
        ("Reviews of 2023,\n", 2),
        ("Reviews of 2023\n\nby the shop\n", 3),
        ("", 1),
    ],
)
def test_titles_above_the_header_are_seen_and_kept(top, above):
    text = top + "name,stars\nTea,5\nJam,\n"
    table = read_delimited("t", text, "csv")
    assert table.names == ["name", "stars"]
    assert table["name"] == ["Tea", "Jam"]
    assert table.above == above
    assert bool(table.notes) == bool(top)
    out = io.StringIO(newline="")
    write_delimited(table, {"p": [1, 2]}, out, "csv")
    assert out.getvalue() == top.replace("\n\n", "\n") + "name,stars,p\nTea,5,1\nJam,,2\n"


def test_a_line_that_names_the_delimiter_is_kept():
    table = read_delimited("t", "sep=;\r\na;b\r\n1;2\r\n", "csv")
    assert (table.names, table.number(0)) == (["a", "b"], 2)
    out = io.StringIO(newline="")
    write_delimited(table, {"p": [0.5]}, out, "csv", ",")
    assert out.getvalue() == "sep=;\r\na;b;p\r\n1;2;0,5\r\n"


def test_two_columns_of_one_name_go_out_as_they_came():
    table = read_delimited("t", "a,a\n1,2\n", "csv")
    assert table.names == ["a", "a (2)"]
    out = io.StringIO(newline="")
    write_delimited(table, {"p": [3]}, out, "csv")
    assert out.getvalue() == "a,a,p\n1,2,3\n"


def test_a_header_without_rows_is_rejected():
    with pytest.raises(TableError, match="is empty"):
        read_delimited("t", "\n\n", "csv")
