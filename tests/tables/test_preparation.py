import pytest

from tordinal.tables.preparation import prepare
from tordinal.tables.table import Table
from tordinal.tables.values import TableError


def table():
    return Table(
        ["city", "stars", "stars_predicted", "stars_rows_left"],
        [["Rome", "Oslo", "Total"], ["4", "", "4"], ["4", "3", ""], ["", "9", ""]],
        "csv", above=1,
    )  # fmt: skip


def test_totals_and_columns_of_earlier_runs_are_excluded_with_a_note():
    prepared = prepare(table(), "stars", read=None, drop=["city"], missing=["none"])
    assert prepared.part.names == ["city", "stars"]
    assert prepared.part["city"] == ["Rome", "Oslo"]
    assert (prepared.rows, len(prepared.table)) == ([0, 1], 3)
    assert prepared.earlier == ["stars_predicted", "stars_rows_left"]
    assert "stars_predicted, stars_rows_left" in prepared.notes[0]
    assert "row 4 looks like a total" in prepared.notes[1]
    assert (prepared.encoder.drop, prepared.encoder.missing) == (["city"], ["none"])


def test_the_column_of_ratings_is_needed_unless_they_come_from_elsewhere():
    plain = table().without(["stars", "stars_predicted", "stars_rows_left"])
    with pytest.raises(TableError, match="stars: no such column"):
        prepare(plain, "stars", read=None)
    form = Table(["row", "stars"], [["3"], ["5"]], "csv")
    prepared = prepare(plain, "stars", read=lambda f: f, filled=form)
    assert prepared.part["stars"] == [None, "5"]
    assert "1 ratings were filled in from the form" in prepared.notes


def test_a_column_that_only_has_a_name_of_an_answer_is_not_removed():
    own = Table(["text", "stars", "stars_source"], [["a", "b"], ["1", ""], ["imdb", "yelp"]], "csv")
    with pytest.raises(TableError, match=r"has a column stars_source, .* rename it"):
        prepare(own, "stars", read=None)
