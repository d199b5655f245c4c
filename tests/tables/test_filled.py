import pytest

from tordinal.tables.filled import draws_of, fill_in, recorded, to_fill_in
from tordinal.tables.selection import Draw
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


def test_a_form_has_no_vectors():
    whole = table()
    whole = Table([*whole.names, "v"], [*whole.columns, [[0.5, 1.0]] * 3], "jsonl", above=0)
    form = to_fill_in(whole, "stars", [2])
    assert form.names == ["row", "stars", "review"]
    form["stars"][0] = "1"
    fill_in(whole, "stars", form)
    assert whole["stars"] == ["5", "", "1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda form: form["review"].__setitem__(0, "changed"),
            "row 4 has changed since the form was written: its review differs",
        ),
        (lambda form: form["row"].__setitem__(0, 99), "no row 99"),
        (lambda form: form["row"].__setitem__(0, "x"), "no row x"),
        (lambda form: form["row"].__setitem__(0, 3.5), "no row 3.5"),
        (lambda form: form["row"].__setitem__(0, [3]), r"no row \[3\]"),
        (lambda form: form.names.__setitem__(0, "nr"), "no column 'row'"),
    ],
)
def test_a_form_that_does_not_fit_is_rejected_and_nothing_is_filled_in(change, message):
    form = to_fill_in(table(), "stars", [2])
    form["stars"][:] = ["1"]
    change(form)
    whole = table()
    with pytest.raises(TableError, match=message):
        fill_in(whole, "stars", form)
    assert whole["stars"] == ["5", "", ""]


def test_a_form_of_another_format_has_ratings_of_another_type():
    for cells, answers, filled in (
        (["1", "2", "", ""], [2], "2"),
        ([1, 2, None, None], ["1.0"], 1),
        (["1.0", "2.5", "", ""], [2.5], "2.5"),
    ):
        whole = Table(["review", "stars"], [list("abcd"), list(cells)], "jsonl")
        form = to_fill_in(whole, "stars", [2])
        form["stars"][:] = answers
        assert fill_in(whole, "stars", form) == ["1 ratings were filled in from the form"]
        assert whole["stars"][2] == filled
        assert type(whole["stars"][2]) is type(filled)


def test_two_ratings_of_one_row_must_agree():
    form = to_fill_in(table(), "stars", [0])
    form["stars"][:] = [5.0]
    assert fill_in(table(), "stars", form)[0].startswith("1 ")
    form["stars"][:] = ["4"]
    with pytest.raises(TableError, match="rated 4 in the form and 5 in the table"):
        fill_in(table(), "stars", form)


def test_an_answer_that_may_not_be_a_rating_is_kept_and_reported():
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
    with pytest.raises(TableError, match="rated mild in the form and none in the table"):
        fill_in(on_a_scale(), "pain", form)


def test_how_rows_were_drawn_comes_back_with_the_form():
    draws = [Draw(2, 0.125, 2, True), Draw(1, 1 / 3, 1, False)]
    form = to_fill_in(table(), "stars", [d.place for d in draws])
    for name, cells in recorded(draws, "stars").items():
        form.names.append(name)
        form.columns.append(cells)
    form["stars"][:] = ["1", "2"]
    assert draws_of(form, table(), "stars") == (draws, [])
    form["stars_chance"][:] = ["0,125", " "]  # a decimal comma, and a lost record
    found, (note,) = draws_of(form, table(), "stars")
    assert found == draws[:1]
    assert note.startswith("1 ratings of the form have no record")
    form["stars"][0] = ""
    assert draws_of(form, table(), "stars")[0] == []


@pytest.mark.parametrize("cell", ["0", "-1", "1.5", "nan", "x", None])
def test_a_record_that_is_no_probability_is_no_record(cell):
    form = to_fill_in(table(), "stars", [2])
    for name, cells in recorded([Draw(2, 0.5, 2, False)], "stars").items():
        form.names.append(name)
        form.columns.append(cells)
    form["stars"][:] = ["1"]
    form["stars_chance"][:] = [cell]
    assert draws_of(form, table(), "stars")[0] == []


def test_a_form_without_a_record_still_works_with_a_note():
    form = to_fill_in(table(), "stars", [2])
    form["stars"][:] = ["1"]
    draws, (note,) = draws_of(form, table(), "stars")
    assert draws == []
    assert "count as a random sample" in note


def test_a_row_that_is_in_a_form_twice_must_be_rated_alike():
    form = to_fill_in(table(), "stars", [2, 2])
    form["stars"][:] = ["1", "2"]
    with pytest.raises(TableError, match="row 4 is in the form twice, rated 1 and 2"):
        fill_in(table(), "stars", form)


@pytest.mark.parametrize(
    ("given", "answers", "filled"),
    [
        ([1, 3], ["2", "3.0"], [2, 3]),  # a workbook, and a form in CSV
        ([1.5, 3.0], ["2.5", 3], [2.5, 3.0]),
        (["1", "3"], [2.0, 3], ["2", "3"]),  # the other way round
        ([1, "3"], [2.0, "2"], [2.0, "2"]),
        ([True, False], ["True", "yes"], [True, "yes"]),
    ],
    ids=str,
)
def test_answers_have_the_type_of_the_ratings_in_the_table(given, answers, filled):
    whole = Table(["a", "t"], [list("abcd"), [*given, None, None]], "xlsx", above=1)
    form = to_fill_in(whole, "t", [2, 3])
    form["t"][:] = answers
    fill_in(whole, "t", form)
    assert [repr(c) for c in whole["t"][2:]] == [repr(c) for c in filled]
