import pytest

from tordinal.tables.filled import fill_in, to_fill_in
from tordinal.tables.table import Table
from tordinal.tables.values import TableError


def table():
    return Table(
        ["review", "stars"], [["a", "b", "c"], ["5", "", ""]], "csv", above=1, delimiter=";"
    )


def test_a_form_that_was_filled_in_comes_back_to_its_rows():
    form = to_fill_in(table(), "stars", [2, 1])
    assert form.delimiter == ";"
    form["stars"][:] = ["1", ""]
    whole = table()
    assert fill_in(whole, "stars", form) == ["1 ratings were filled in from the form"]
    assert whole["stars"] == ["5", "", "1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda form: form["review"].__setitem__(0, "changed"), "row 4 is not what it was"),
        (lambda form: form["row"].__setitem__(0, 99), "no row 99"),
        (lambda form: form["row"].__setitem__(0, "x"), "no row x"),
        (lambda form: form.names.__setitem__(0, "nr"), "no column 'row'"),
    ],
)
def test_a_form_that_does_not_fit_is_refused_and_nothing_is_filled_in(change, message):
    form = to_fill_in(table(), "stars", [2])
    form["stars"][:] = ["1"]
    change(form)
    whole = table()
    with pytest.raises(TableError, match=message):
        fill_in(whole, "stars", form)
    assert whole["stars"] == ["5", "", ""]


def test_two_ratings_of_one_row_must_agree():
    form = to_fill_in(table(), "stars", [0])
    form["stars"][:] = [5.0]
    assert fill_in(table(), "stars", form)[0].startswith("1 ")
    form["stars"][:] = ["4"]
    with pytest.raises(TableError, match="rated 4 there and 5 in the table"):
        fill_in(table(), "stars", form)


def test_an_answer_that_may_not_be_a_rating_is_kept_and_said():
    form = to_fill_in(table(), "stars", [1, 2])
    form["stars"][:] = ["none", "?"]
    whole = table()
    done, doubt = fill_in(whole, "stars", form)
    assert whole["stars"] == ["5", "none", "?"]
    assert done.startswith("0 ratings")
    assert "row 3: 'none', row 4: '?'" in doubt
    whole = table()
    done, doubt = fill_in(whole, "stars", form, order=["none", "5"])
    assert done.startswith("1 ratings")
    assert "none" not in doubt


def test_none_is_a_rating_in_the_form_where_the_scale_of_the_column_says_so():
    def on_a_scale():
        cells = ["none"] * 5 + ["mild", "moderate", "severe", "", "", ""]
        return Table(["review", "pain"], [list("abcdefghijk"), cells], "csv", above=1)

    form = to_fill_in(on_a_scale(), "pain", [8, 9])
    form["pain"][:] = ["none", "mild"]
    whole = on_a_scale()
    assert fill_in(whole, "pain", form) == ["2 ratings were filled in from the form"]
    assert whole["pain"][8:10] == ["none", "mild"]
    form = to_fill_in(on_a_scale(), "pain", [0])
    form["pain"][:] = ["mild"]
    with pytest.raises(TableError, match="rated mild there and none in the table"):
        fill_in(on_a_scale(), "pain", form)
