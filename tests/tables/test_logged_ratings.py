import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.logged_ratings import (
    Choice,
    find_rows,
    fingerprint_columns,
    new_header,
    read_logged_ratings,
    table_fingerprints,
)
from tordinal.tables.rating_events import Event
from tordinal.tables.table import Table
from tordinal.tables.values import TableError

TEXTS = ["bad", "poor", "fair", "good", "good"]


def table(texts=TEXTS, **more):
    stars = [""] * len(texts)
    return Table(["text", "stars", *more], [list(texts), stars, *more.values()], "csv", above=1)


HEADER = new_header(table(), "stars", [1, 2, 3], 5, "reviews.csv")
PRINTS = table_fingerprints(HEADER, table())


def event(kind, i, rating=None, **fields):
    return Event(event=kind, row=i + 2, fingerprint=PRINTS[i], rating=rating, **fields)


def read(*events, of=None):
    return read_logged_ratings(HEADER, events, of or table())


def test_the_last_rating_counts_and_undoing_it_brings_back_the_one_before():
    first, second = event("rate", 0, 1), event("rate", 0, 3)
    undo = Event(event="undo", of=second.id)
    assert read(first, second).combined() == {0: 3}
    assert read(first, second, undo).combined() == {0: 1}
    assert read(first, second, undo, Event(event="undo", of=undo.id)).combined() == {0: 3}
    assert read(first, Event(event="undo", of=first.id)).combined() == {}


def test_raters_are_kept_apart_and_combined_by_their_median():
    ratings = [event("rate", 0, r, rater=n) for n, r in (("A", 3), ("B", 1), ("C", 2))]
    logged = read(*ratings, event("rate", 1, 2, rater="B"))
    assert logged.raters == ["A", "B", "C"]
    assert logged.of("B") == {0: 1, 1: 2}
    assert logged.combined() == {0: 2, 1: 2}
    assert read(*ratings[:2]).combined() == {0: 1}  # of two, the later
    assert read(*ratings[:2], event("rate", 0, 3, rater="A")).combined() == {0: 3}


def test_choices_are_in_the_order_in_which_rows_were_drawn():
    withdrawn = event("choose", 4, probability=0.2)
    undone = event("rate", 2, 2, probability=0.5, audit=True)
    logged = read(
        event("choose", 3, probability=0.1),
        withdrawn,
        undone,
        event("rate", 1, 2),  # looked up, not drawn
        event("rate", 3, 3, probability=0.9),  # what counts is how it was drawn first
        event("skip", 0, probability=0.4),
        Event(event="undo", of=withdrawn.id),
        Event(event="undo", of=undone.id),
    )
    assert logged.choices == [
        Choice(3, 0.1, False, "rated", 5),
        Choice(2, 0.5, True, "open", 4),
        Choice(0, 0.4, False, "skipped", 2),
    ]
    assert logged.combined() == {1: 2, 3: 3}


def test_a_row_is_skipped_until_it_is_rated_and_a_repeat_replaces_nothing():
    logged = read(
        event("skip", 0, rater="A"), event("unsure", 1, 2, rater="A", note="irony?"),
        event("rate", 0, 1, rater="A"), event("repeat", 0, 3, rater="A"),
    )  # fmt: skip
    assert list(logged.skipped) == [1]
    assert logged.skipped[1]["A"].note == "irony?"
    assert logged.combined() == {0: 1}
    assert [(i, e.rating) for i, e in logged.repeats] == [(0, 3)]


def test_rows_that_moved_are_found_and_changed_or_missing_ones_are_reported():
    events = [event("rate", i, r) for i, r in enumerate([1, 1, 2, 3, 2])]
    moved = table(["good", "new", "good", "bad", "fair!"])
    logged = read(*events, of=moved)
    assert logged.combined() == {3: 1, 0: 3, 2: 2}
    assert logged.moved == [(2, 3), (5, 0), (6, 2)]
    assert (logged.changed, logged.missing) == ([3, 4], [])
    drawn = [event("choose", i, probability=0.2) for i in range(5)]
    only = read(*drawn, events[1], of=moved)  # rows that were only drawn are not worth a note
    assert (only.moved, only.changed, only.missing) == ([], [3], [])
    shorter = read(*events, of=table(["bad", "poor"]))
    assert (shorter.combined(), shorter.missing) == ({0: 1, 1: 1}, [4, 5, 6])


def test_a_row_that_was_rated_before_and_after_it_moved_is_one_row():
    moved = table(["poor", "bad", "fair"])
    after = Event(event="rate", row=3, fingerprint=PRINTS[0], rating=3)
    logged = read(event("rate", 0, 1), after, of=moved)
    assert logged.combined() == {1: 3}


def test_columns_of_an_earlier_run_and_new_columns_change_nothing_but_lost_ones_do():
    more = table(stars_predicted=["1"] * 5, price=["9"] * 5)
    assert fingerprint_columns(more, "stars") == ["text", "price"]
    assert read(event("rate", 0, 1), of=more).combined() == {0: 1}
    with pytest.raises(TableError, match="no column 'text'"):
        read(event("rate", 0, 1), of=more.without(["text"]))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.randoms())
def test_rows_are_found_however_the_table_is_sorted(prints, random):
    numbers = list(range(2, 2 + len(prints)))
    keys = list(zip(numbers, prints, strict=True))
    order = random.sample(range(len(prints)), len(prints))
    shuffled = [prints[i] for i in order]
    places = find_rows(keys, numbers, shuffled)
    assert sorted(places.values()) == list(range(len(prints)))  # all, and each once
    assert all(shuffled[place] == code for (_, code), place in places.items())
