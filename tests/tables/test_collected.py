import pytest

from tordinal.tables.collected import collect_ratings, is_ratings_log, with_target
from tordinal.tables.filled import to_fill_in
from tordinal.tables.logged_ratings import new_header, table_fingerprints
from tordinal.tables.ratings_log import Event, RatingsLog
from tordinal.tables.selection import Draw
from tordinal.tables.table import Table
from tordinal.tables.values import TableError


def table(stars=("", "", "5", ""), kind="csv"):
    return Table(["text", "stars"], [list("abcd"), list(stars)], kind, above=1)


@pytest.fixture
def log(tmp_path):
    return make_log(tmp_path, [1, 2, 3, 4, 5])


def make_log(folder, classes):
    header = new_header(table(), "stars", classes, 3, "reviews.csv")
    return RatingsLog(folder / "reviews.ratings.jsonl", header)


def rate(log, i, rating, **fields):
    code = table_fingerprints(log.header, table())[i]
    log.append(Event(event="rate", row=i + 2, fingerprint=code, rating=rating, **fields))


def collect(of, filled=None, ratings=None, order=None):
    return collect_ratings(of, "stars", filled, ratings, lambda form: form, order)


def test_ratings_of_a_log_are_put_into_the_table_as_its_cells_are_written(log):
    rate(log, 0, 4, probability=0.5)
    rate(log, 3, 2)
    text, typed = table(), table([None, None, 5, None], "parquet")
    collected = collect(text, ratings=log.path)
    assert text["stars"] == ["4", "", "5", "2"]
    assert collected.draws == [Draw(0, 0.5, 3, False)]
    assert collected.order is None  # numbers have their order
    assert collected.notes == ["2 ratings were read from reviews.ratings.jsonl"]
    collect(typed, ratings=str(log.path))
    assert typed["stars"] == [4, None, 5, 2]


def test_the_log_counts_where_it_differs_and_what_does_not_fit_is_reported(log):
    rate(log, 2, 1, rater="A")
    rate(log, 0, 3, rater="A")
    rate(log, 0, 5, rater="B")
    code = "f" * 16
    log.append(
        Event(event="rate", row=3, fingerprint=code, rating=1),
        Event(event="rate", row=99, fingerprint=code, rating=1),
    )
    whole = table()
    notes = " / ".join(collect(whole, ratings=log.path).notes)
    assert whole["stars"] == ["5", "", "1", ""]
    for words in (
        "2 ratings were read",
        "1 rows have another rating in the table; the one in the log is used",
        "1 rows are rated differently by different raters",
        "1 rated rows have changed since they were rated, so their ratings are not used: row 3",
        "1 rated rows are gone since they were rated, so their ratings are not used: row 99",
    ):
        assert words in notes


def test_words_bring_their_order_along(tmp_path):
    log = make_log(tmp_path, ["poor", "fair", "good"])
    rate(log, 0, "good")
    whole = table(["", "", "poor", ""])
    assert collect(whole, ratings=log.path).order == ["poor", "fair", "good"]
    assert collect(whole, ratings=log.path, order=["fair", "good"]).order == ["fair", "good"]
    assert whole["stars"][0] == "good"


def test_several_forms_and_tables_of_ratings_are_read(log):
    one, two = to_fill_in(table(), "stars", [0]), to_fill_in(table(), "stars", [1])
    one["stars"][:], two["stars"][:] = ["4"], ["3"]
    whole = table()
    collect(whole, [one, two])
    assert whole["stars"] == ["4", "3", "5", ""]
    whole = table()
    notes = collect(whole, one, Table(["row", "stars"], [["5"], ["1"]], "csv")).notes
    assert whole["stars"] == ["4", "", "5", "1"]
    assert sum("1 ratings were filled in" in note for note in notes) == 2


def test_a_log_about_another_column_is_rejected_and_distinguished_from_other_files(tmp_path, log):
    with pytest.raises(TableError, match="`ratings`: the form has no column 'row'"):
        collect(table(), ratings=table())
    with pytest.raises(TableError, match="holds ratings of 'stars', not of 'grade'"):
        collect_ratings(with_target(table(), "grade"), "grade", None, log.path, table, None)
    assert is_ratings_log(log.path)
    for name, content in (("a.jsonl", '{"row": 2}\n'), ("b.jsonl", "x"), ("c.csv", "row,stars\n")):
        (tmp_path / name).write_text(content)
        assert not is_ratings_log(tmp_path / name)
    assert not is_ratings_log(tmp_path / "none.jsonl")
    assert not is_ratings_log(table())


def test_a_table_without_the_column_gets_an_empty_one():
    plain = table().without(["stars"])
    assert with_target(plain, "stars")["stars"] == [None] * 4
    assert "stars" not in plain.names
    assert with_target(plain, "text") is plain
