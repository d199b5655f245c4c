import pytest

from tordinal.cli.table_options import TableOptions, listed, names_in


@pytest.mark.parametrize(
    ("option", "names"),
    [
        (None, []),
        ("poor, fair,good", ["poor", "fair", "good"]),
        ('"so, so",good', ["so, so", "good"]),
        ("a\nb,c\r", ["a\nb", "c"]),
    ],
)
def test_names_are_split_at_commas_outside_quotes(option, names):
    assert names_in(option) == names


def test_names_of_columns_may_hold_commas_and_spaces():
    known = ["a,b", " c", "d"]
    assert listed(["a,b", "c,d", "e"], known) == ["a,b", " c", "d", "e"]


def test_a_selection_reads_its_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;é;stars\n1;2;3\n", encoding="latin-1")
    chosen = TableOptions(
        file=str(path), target="stars", columns=["x,é"], order="1,2,3", encoding="latin-1"
    )
    table = chosen.read()
    assert table.names == ["x", "é", "stars"]
    assert chosen.of(table.names) == {
        "text": [], "columns": ["x", "é"], "drop": [], "order": ["1", "2", "3"], "missing": [],
    }  # fmt: skip


def test_no_order_is_none_because_an_empty_one_would_be_an_order_of_nothing():
    assert TableOptions(file="t.csv", target="stars").of(["stars"])["order"] is None
