import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.rating_events import (
    EVENTS,
    Event,
    Header,
    check_event,
    checked_header,
    decode,
    encode,
    is_object,
    new_id,
    now,
    read_event,
    read_header,
    written,
)
from tordinal.tables.values import TableError

HEADER = Header(
    target="stars", classes=[-1, 0, 0.5, 1, 2, 3], columns=["text"], n_rows=9, n_unrated=8
)
CODE = "0123456789abcdef"

events = st.builds(
    Event,
    event=st.sampled_from(["choose", "rate", "repeat", "skip", "unsure"]),
    row=st.integers(0, 10**9) | st.text(),
    fingerprint=st.just(CODE),
    rating=st.sampled_from(HEADER.classes),
    rater=st.text(max_size=100),
    probability=st.none() | st.floats(0, 1, exclude_min=True),
    audit=st.booleans(),
    note=st.text(max_size=50),
)


@given(events)
def test_an_event_comes_back_from_its_line(event):
    check_event(event, HEADER)
    line = encode(event.event, written(event))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert read_event("line 2", decode("line 2", line), HEADER) == event


def test_a_header_comes_back_from_its_line():
    line = encode("start", checked_header(HEADER))
    assert read_header("line 1", decode("line 1", line)) == HEADER
    assert is_object(line)
    assert not is_object(line[:-5])
    assert not is_object(b"[1]")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"event": "rated"}, "must be one of choose, rate"),
        ({"event": "rate", "row": 2, "fingerprint": CODE, "rating": 4}, "'4' is not on the scale"),
        ({"event": "rate", "row": 2, "fingerprint": CODE, "rating": True}, "text or a number"),
        ({"event": "rate", "row": 2, "fingerprint": CODE}, "needs a rating"),
        ({"event": "rate", "row": 2, "rating": 1}, "needs the row and its fingerprint"),
        ({"event": "rate", "row": -1, "fingerprint": CODE, "rating": 1}, "the number of a row"),
        ({"event": "skip", "row": 2, "fingerprint": "XYZ"}, "16 hexadecimal digits"),
        ({"event": "skip", "row": 2, "fingerprint": CODE, "probability": 0}, "above 0"),
        ({"event": "skip", "row": 2, "fingerprint": CODE, "probability": 1.5}, "above 0"),
        ({"event": "skip", "row": 2, "fingerprint": CODE, "audit": 1}, "true or false"),
        ({"event": "skip", "row": 2, "fingerprint": CODE, "rater": "x" * 101}, "at most 100"),
        ({"event": "skip", "row": 2, "fingerprint": CODE, "note": "x" * 10_001}, "at most 10,000"),
        ({"event": "undo"}, "must name the event"),
    ],
)
def test_a_wrong_event_is_rejected_with_the_line(values, message):
    with pytest.raises(TableError, match=message) as caught:
        read_event("log: line 7", {"id": "a", **values}, HEADER)
    assert str(caught.value).startswith("log: line 7")


@pytest.mark.parametrize("identifier", ["", "a b", "x" * 65, 3, "\x1b[2J"])
def test_identifiers_are_letters_and_digits(identifier):
    values = {"event": "skip", "row": 2, "fingerprint": CODE, "id": identifier}
    with pytest.raises(TableError, match="1 to 64 letters or digits") as caught:
        read_event("line 2", values, HEADER)
    assert "\x1b" not in str(caught.value)


def test_an_event_that_could_not_be_read_again_is_not_written():
    for event in (
        Event(event="rate", row=2, fingerprint=CODE, rating=9),
        Event(event="rate", row=2, fingerprint=CODE, rating=1, probability=math.nan),
        Event(event="sing", row=2, fingerprint=CODE),
    ):
        with pytest.raises(TableError):
            check_event(event, HEADER)


def test_later_fields_are_passed_over_and_later_versions_rejected():
    values = {"event": "skip", "row": 2, "fingerprint": CODE, "id": "a", "mood": "good"}
    assert read_event("line 2", values, HEADER).row == 2
    with pytest.raises(TableError, match="later version of tordinal"):
        read_header("line 1", {"event": "start", **checked_header(HEADER), "version": 2})
    for broken in ({"event": "start"}, {"event": "start", "version": 1}, {"review": "fine"}):
        with pytest.raises(TableError, match="line 1"):
            read_header("line 1", broken)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"event": "ra\x1b[2J', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "not an object"),
        (b'{"probability": NaN}', "holds NaN"),
        (b"\xff\xfe", "not JSON"),
        (b'{"note": "' + b"x" * 2**20 + b'"}', "longer than"),
    ],
)
def test_a_line_that_is_no_event_is_shown_without_control_characters(line, message):
    with pytest.raises(TableError, match=message) as caught:
        decode("log: line 3", line)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_times_are_utc_and_identifiers_differ():
    assert now().endswith("Z")
    assert new_id() != new_id()
    assert "undo" in EVENTS
    assert json.loads(encode("undo", written(Event(event="undo", of="a"))))["of"] == "a"
