import json

import pytest

from tordinal.studio.assessor import Assessor
from tordinal.studio.finishing import Finishing
from tordinal.studio.session import RatingSession
from tordinal.studio.view import estimates_view, history_view, keys_of, state_view


def rate(session, truth, n):
    for _ in range(n):
        item = session.item()
        session.rate(item.place, truth[item.place], item.kind)


def test_keys():
    assert keys_of([1, 2, 3]) == ["1", "2", "3"]
    assert keys_of([0, 2, 4]) == ["0", "2", "4"]
    assert keys_of(["poor", "fair", "good"]) == ["1", "2", "3"]
    assert keys_of(list(range(1, 11))) == [*"123456789", "a"]
    assert keys_of([-1, 0, 1]) == ["a", "0", "1"]
    assert keys_of([1, 1.5, 2, 2.5]) == ["1", "a", "2", "b"]
    many = keys_of(list(range(40)))
    used = [key for key in many if key]
    assert len(used) == len(set(used))
    assert not set("snu") & set(used)  # those of undo, skip and unsure


def test_the_state(opened, grades):
    session = RatingSession(opened())
    assessor, finishing = Assessor(session), Finishing(lambda listen: None)
    state = state_view(session, assessor, finishing, ["look out"])
    assert state["rated"] == state["mine"] == 0
    assert state["rows"] == 120
    assert state["item"]["kind"] == "new"
    assert dict(state["item"]["others"])["name"].startswith("n")
    assert state["notes"] == ["look out"]
    rate(session, grades[1], 4)
    session.skip(session.item().place)
    state = json.loads(json.dumps(state_view(session, assessor, finishing, [])))
    assert (state["rated"], state["mine"], state["skipped"]) == (4, 4, 1)
    assert estimates_view(session, assessor, None)["rated"] == 4
    assert [e["event"] for e in state["history"]] == ["skip", *["rate"] * 4]
    assert len(history_view(session)) == 5


def test_nothing_is_reported_about_the_row_that_is_asked(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    rate(session, grades[1], 30)
    while not assessor.update():
        pass
    state = state_view(session, assessor, Finishing(lambda listen: None), [])
    assert set(state["item"]) == {"place", "row", "kind", "rating", "texts", "others"}
    if state["item"]["kind"] != "change":
        assert state["item"]["rating"] is None
    assert all(e["predicted"] in ("1", "2", "3") for e in state["history"] if e["event"] == "rate")


def test_the_estimates(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    empty = estimates_view(session, assessor, None)
    assert empty["error"] is None
    rate(session, grades[1], 60)
    while not assessor.update():
        pass
    view = json.loads(json.dumps(estimates_view(session, assessor, 0.3), allow_nan=False))
    error = view["error"]
    assert 0 <= error["low"] <= error["value"] <= error["high"]
    assert error["value"] < 0.3
    assert sum(s["value"] for s in view["shares"]) == pytest.approx(1)
    told = " ".join(view["sentences"])
    assert "20 more ratings" in told
    assert "error of 0.3 steps" in told or "0.3 steps or less already" in told
    assert "Average of all rows: " in told
    assert view["goal"] == 0.3


def test_a_slip_is_shown_for_a_second_look(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    rate(session, grades[1], 50)
    place = next(i for i in session.logged.combined() if grades[1][i] == 3)
    session.rate(place, 1, "change")
    while not assessor.update():
        pass
    looks = {e["place"]: e for e in estimates_view(session, assessor, None)["looks"]}
    assert looks[place]["predicted"] == "3"
    # Looked at again and kept, it is not shown any more.
    version = estimates_view(session, assessor, None)["version"]
    session.look_again(place)
    session.back()
    view = estimates_view(session, assessor, None)
    assert place not in {e["place"] for e in view["looks"]}
    assert view["version"] > version
    # The same after a key press; another rating is looked at anew.
    session.rate(place, 3, "change")
    assert session.confirmed == set()
    session.rate(place, 3, "change")
    assert session.confirmed == {place}
    assert RatingSession(opened()).confirmed == {place}  # it is in the log
    session.undo()
    assert session.confirmed == set()


def test_two_raters(opened, grades):
    one = RatingSession(opened(), rater="one")
    rate(one, grades[1], 30)
    two = RatingSession(opened(), rater="two")
    for place in list(one.logged.of("one"))[:8]:
        two.rate(place, 4 - grades[1][place], "shared")
    view = estimates_view(two, Assessor(two), None)
    assert any(s.startswith("You and one: of 8 rows rated by both") for s in view["sentences"])
    assert view["discuss"][0]["rater"] == "one"
    assert view["discuss"][0]["rating"] != view["discuss"][0]["other"]


def test_a_changed_table_is_reported(opened, grades):
    path, truth = grades
    session = RatingSession(opened())
    rate(session, truth, 5)
    place = next(iter(session.logged.combined()))
    lines = path.read_text().splitlines()
    lines[place + 1] = "other,9.0"
    path.write_text("\n".join(lines) + "\n")
    again = RatingSession(opened())
    notes = state_view(again, Assessor(again), Finishing(lambda listen: None), [])["notes"]
    assert notes == [
        f"1 rated row has changed since it was rated, so its rating is not used: row {place + 2}"
    ]
