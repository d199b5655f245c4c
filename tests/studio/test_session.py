import json
import threading

import numpy as np
import pytest

from tordinal.exceptions import InputError
from tordinal.studio.session import PREFETCHED, ConflictError, RatingSession
from tordinal.tables.assessment import assess
from tordinal.tables.selection import drawn_in
from tordinal.tables.suggest import draw_rows


def rate(session, truth, n):
    """Rate some rows correctly; returns their items."""
    items = []
    for _ in range(n):
        item = session.item()
        items.append(item)
        session.rate(item.place, truth[item.place], item.kind)
    return items


def test_rows_are_drawn_with_recorded_probabilities(opened, grades):
    session = RatingSession(opened())
    items = rate(session, grades[1], 8)
    draws = drawn_in(session.logged)
    assert [d.place for d in draws] == [i.place for i in items]
    assert [d.n_left for d in draws] == list(range(120, 112, -1))
    assert all(0 < d.probability <= 1 for d in draws)
    assert {i.kind for i in items} == {"new"}
    assert session.logged.combined() == {i.place: grades[1][i.place] for i in items}


def test_what_is_confirmed_is_on_disk(opened, grades):
    session = RatingSession(opened())
    item = session.item()
    session.rate(item.place, "2", item.kind, id="abc")
    lines = session.project.log.path.read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [e["event"] for e in events] == ["start", "choose", "rate"]
    assert events[2]["rating"] == 2
    assert events[2]["id"] == "abc"


def test_the_same_row_comes_after_a_restart(opened, grades):
    session = RatingSession(opened())
    rate(session, grades[1], 3)
    waiting = session.item()
    again = RatingSession(opened())
    assert again.item() == waiting
    assert again.logged.combined() == session.logged.combined()


def test_sent_twice_it_happens_once(opened, grades):
    session = RatingSession(opened())
    item = session.item()
    session.rate(item.place, 2, item.kind, id="one")
    session.rate(item.place, 2, item.kind, id="one")
    assert sum(e.event == "rate" for e in session.project.log.events) == 1


def test_undo_brings_the_row_back(opened, grades):
    session = RatingSession(opened())
    first, second = rate(session, grades[1], 2)
    assert session.undo().place == second.place
    assert session.item().place == second.place
    assert second.place not in session.logged.combined()
    assert session.undo().place == first.place
    assert session.undo() is None
    rate(session, grades[1], 2)
    assert len(session.logged.combined()) == 2


def test_undo_of_a_change_restores_the_rating(opened, grades):
    session = RatingSession(opened())
    (item,) = rate(session, grades[1], 1)
    other = 1 if grades[1][item.place] != 1 else 3
    assert session.look_again(item.place).kind == "change"
    session.rate(item.place, other, "change")
    assert session.logged.combined()[item.place] == other
    session.undo()
    assert session.logged.combined()[item.place] == grades[1][item.place]


def test_skip_and_unsure(opened):
    session = RatingSession(opened())
    first = session.item()
    session.skip(first.place)
    second = session.item()
    session.unsure(second.place, note="blurred")
    assert session.item().place not in (first.place, second.place)
    assert session.logged.skipped[second.place][""].note == "blurred"
    assert session.logged.combined() == {}
    assert [i for i, _ in session.history()] == [second.place, first.place]
    session.undo()
    assert session.item().place == second.place


def test_a_row_that_was_rated_in_another_window(opened, grades):
    session = RatingSession(opened())
    (item,) = rate(session, grades[1], 1)
    with pytest.raises(ConflictError, match="in another window"):
        session.rate(item.place, 1, item.kind)
    with pytest.raises(ConflictError, match="in another window"):
        session.skip(item.place)


def test_only_ratings_of_the_scale_and_rows_of_the_table(opened):
    session = RatingSession(opened())
    item = session.item()
    for rating in (0, 4, "x", "", None, "1 "):
        with pytest.raises(InputError, match="not on the scale"):
            session.rate(item.place, rating, item.kind)
    for place in (-1, 120, 10**9):
        with pytest.raises(InputError, match="no row at place"):
            session.rate(place, 1, "new")


def test_two_sessions_on_one_table_neither_lose_nor_double(opened, grades):
    sessions = [RatingSession(opened(), rater=name) for name in "ab"]
    problems = []

    def work(session):
        try:
            rate(session, grades[1], 12)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(s,)) for s in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    logged = RatingSession(opened()).logged
    rates = [e for s in "ab" for e in logged.of(s)]
    n_repeats = len(logged.repeats)
    assert len(rates) + n_repeats == 24
    drawn = [c.place for c in logged.choices]
    assert len(drawn) == len(set(drawn))  # no row is drawn for both


def test_a_rating_during_a_draw_does_not_make_it_invalid(opened, grades, monkeypatch):
    session = RatingSession(opened())
    session.prefetch()
    n_draws = 0

    def slow_draw(*args, **options):
        nonlocal n_draws
        n_draws += 1
        item = session.item()
        if item is not None and n_draws < 3:  # the rater is quicker than the draw
            session.rate(item.place, grades[1][item.place], item.kind)
        return draw_rows(*args, **options)

    monkeypatch.setattr("tordinal.studio.session.draw_rows", slow_draw)
    rate(session, grades[1], 1)
    session.prefetch()
    assert n_draws == 3  # each of them was used
    assert sum(c.state == "open" for c in session.logged.choices) == PREFETCHED
    left = [c.n_left for c in session.logged.choices]
    assert left == list(range(120, 120 - len(left), -1))


def test_a_row_that_was_rated_while_it_was_drawn_is_not_drawn(opened, grades, monkeypatch):
    session, other = RatingSession(opened()), RatingSession(opened(), rater="other")
    drawn = []

    def rated_meanwhile(*args, **options):
        draws = draw_rows(*args, **options)
        drawn.append(draws[0].place)
        if len(drawn) == 1:
            other.rate(draws[0].place, 1, "new")
        return draws

    monkeypatch.setattr("tordinal.studio.session.draw_rows", rated_meanwhile)
    item = session.item()
    assert item.place in (drawn[-1], drawn[0])
    assert [c.place for c in session.logged.choices] == drawn[1:]


def test_a_second_rater_also_gets_rows_of_the_first(opened, grades):
    one = RatingSession(opened(), rater="one")
    rate(one, grades[1], 30)
    two = RatingSession(opened(), rater="two")
    items = rate(two, grades[1], 40)
    kinds = [i.kind for i in items]
    assert 3 <= kinds.count("shared") <= 20
    assert all(i.place in one.logged.of("one") for i in items if i.kind == "shared")


def test_some_rows_are_asked_twice(opened, grades):
    session = RatingSession(opened())
    items = rate(session, grades[1], 30)
    repeats = [i for i in items if i.kind == "repeat"]
    assert len(repeats) == 2
    assert len(session.logged.combined()) == 28
    assert len(session.logged.repeats) == 2


def test_predictions_stay_hidden_until_a_row_is_rated(opened, grades):
    session = RatingSession(opened())
    rate(session, grades[1], 9)
    project = session.project
    session.assessment = assess(project.X, project.ranks(session.logged), project.classes, None)
    item = session.item()
    assert session.predicted(item.place) is None
    session.rate(item.place, grades[1][item.place], item.kind)
    assert session.predicted(item.place) in (1, 2, 3)


def test_every_row_can_be_rated(opened, grades):
    session = RatingSession(opened())
    n = 0
    while (item := session.item()) is not None:
        session.rate(item.place, grades[1][item.place], item.kind)
        n += 1
        assert n < 200
    assert len(session.logged.combined()) == 120
    assert np.array_equal(session.project.ranks(session.logged) + 1, grades[1])


def test_an_undo_that_is_sent_twice_happens_once(opened, grades):
    session = RatingSession(opened())
    for _ in range(2):
        item = session.item()
        session.rate(item.place, 1, item.kind)
    for _ in range(2):
        session.undo(id="U1")
    assert len(session.logged.of("")) == 1


def test_a_skipped_row_can_be_looked_at_and_left(opened, grades):
    session = RatingSession(opened())
    skipped = session.item().place
    session.skip(skipped)
    assert session.look_again(skipped).kind == session.item().kind == "skipped"
    session.back()
    assert session.item().place != skipped
    session.look_again(skipped)
    session.rate(skipped, 1, "skipped")
    assert session.logged.of("") == {skipped: 1}
