import pytest

from tordinal.tables.reading import CellReader
from tordinal.tables.roles import RolePlanner, find_columns
from tordinal.tables.values import TableError


def plan(table, **given):
    options = {"decimal": ".", "text": (), "drop": (), "chosen": None} | given
    planner = RolePlanner(CellReader(()), **options)
    return {c["name"]: c["role"] for c in planner.plan(table)}, planner.doubts


def test_roles_follow_from_cells_and_names():
    table = {
        "id": ["1", "2", "3", "4"],
        "price": ["3.5", "2", "", "4"],
        "kind": ["red", "blue", "red", "red"],
        "same": ["x"] * 4,
    }
    roles, doubts = plan(table)
    assert list(roles.values()) == ["excluded", "number", "category", "excluded"]
    assert doubts == []
    assert plan(table, drop=["price"])[0]["price"] == "excluded"
    assert plan(table, chosen={"id"})[0] == {
        "id": "number", "price": "excluded", "kind": "excluded", "same": "excluded"
    }  # fmt: skip
    assert plan(table, text=["kind"], chosen={"kind"})[0]["kind"] == "text"


def test_doubtful_readings_are_listed():
    _, doubts = plan({"price": ["1,234", "2,345", "3,456", "4,567"] * 3})
    assert len(doubts) == 1
    assert doubts[0].startswith("column price: ")


def test_unknown_columns_are_named_with_near_misses():
    assert find_columns(["a"], ["a", "b"], "drop") == ["a"]
    with pytest.raises(TableError, match="`drop` pricee: no such column; did you mean 'price'"):
        find_columns(["pricee"], ["price", "kind"], "drop")
