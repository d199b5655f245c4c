import csv
import io
import json

import pytest

from tordinal.tables.collected import collect_ratings
from tordinal.tables.delimited import read_delimited
from tordinal.tables.logged_ratings import new_header, read_logged_ratings, table_fingerprints
from tordinal.tables.rating_events import Event
from tordinal.tables.ratings_exchange import (
    EXPORTS,
    IMPORTS,
    export_ratings,
    import_ratings,
    news_of,
)
from tordinal.tables.ratings_log import RatingsLog
from tordinal.tables.table import Table
from tordinal.tables.values import TableError

TEXTS = ["fine, really", 'he said "no"', "zwei\nZeilen", "=cmd|' /C calc'!A0"]


def table():
    return Table(["review", "stars"], [list(TEXTS), [""] * 4], "csv", above=1)


HEADER = new_header(table(), "stars", [1, 2, 3], 4)
PRINTS = table_fingerprints(HEADER, table())


def rate(i, rating, rater="", **fields):
    return Event(event="rate", row=i + 2, fingerprint=PRINTS[i], rating=rating, rater=rater,
                 time="2026-03-01T12:00:00.000Z", **fields)  # fmt: skip


EVENTS = [
    rate(0, 1, "Ann", probability=0.25, audit=True, note="hm, sure?"), rate(1, 3, "Ben"),
    rate(2, 2, "Ann", probability=0.0125), rate(2, 3, "Ben"),
]  # fmt: skip


def logged(events):
    return read_logged_ratings(HEADER, events, table())


def export(kind, text=None, events=EVENTS):
    return export_ratings(kind, table(), HEADER, logged(events), text)


def bring_in(kind, content):
    return import_ratings(kind, content, table(), HEADER, PRINTS)


@pytest.mark.parametrize("text", [None, "review"])
@pytest.mark.parametrize("kind", ["csv", "label-studio", "prodigy"])
def test_what_is_exported_comes_back_with_raters_and_once_only(kind, text, tmp_path):
    content = export(kind, text)
    events = bring_in(kind, content)
    here, there = logged(EVENTS), logged(events)
    assert there.combined() == here.combined() == {0: 1, 1: 3, 2: 3}
    assert [there.of(r) for r in ("Ann", "Ben")] == [here.of(r) for r in ("Ann", "Ben")]
    assert {e.time[:19] for e in events} == {"2026-03-01T12:00:00"}
    log = RatingsLog(tmp_path / "t.ratings.jsonl", HEADER)
    assert log.append(*events) == 4
    assert log.append(*bring_in(kind, content)) == 0


def test_a_csv_keeps_how_rows_were_drawn_and_is_read_by_label():
    content = export("csv")
    there, here = logged(bring_in("csv", content)), logged(EVENTS)
    assert there.choices == here.choices
    one_rater = export("csv", events=EVENTS[:3])
    form = read_delimited("ratings.csv", one_rater, "csv")
    whole = table()
    collected = collect_ratings(whole, "stars", None, form, lambda f: f, None)
    assert whole["stars"] == ["1", "3", "2", ""]
    assert [d.probability for d in collected.draws] == [0.25, 0.0125]
    assert next(csv.DictReader(io.StringIO(content)))["note"] == "hm, sure?"


def test_a_csv_that_a_spreadsheet_saved_with_semicolons():
    (event,) = bring_in("csv", "row;stars;note;stars_chance\n3;2;one, two;0,25\n")
    assert (event.row, event.rating, event.note) == (3, 2, "one, two")
    assert event.probability == 0.25


def test_label_studio_reads_what_we_write_and_we_read_what_it_writes():
    tasks = json.loads(export("label-studio", "review"))
    assert [task["data"]["review"] for task in tasks] == TEXTS[:3]
    (result,) = tasks[0]["annotations"][0]["result"]
    assert (result["to_name"], result["type"]) == ("review", "choices")
    assert result["value"] == {"choices": ["1"]}
    theirs = [
        {"data": {"row": 2}, "annotations": [
            {"was_cancelled": True, "result": [{"value": {"choices": ["1"]}}]},
            {"completed_by": 7, "result": [{"value": {"start": 0}}, {"value": {"rating": 3}}]},
        ]},
        {"data": {"row": 3}, "annotations": []},
    ]  # fmt: skip
    (event,) = bring_in("label-studio", json.dumps(theirs))
    assert (event.row, event.rating, event.rater) == (2, 3, "7")


def test_prodigy_rejects_and_ignored_tasks_are_passed_over():
    lines = export("prodigy", "review").splitlines()
    first = json.loads(lines[0])
    assert first["text"] == TEXTS[0]
    assert [option["id"] for option in first["options"]] == ["1", "2", "3"]
    first["answer"] = "ignore"
    events = bring_in("prodigy", "\n".join([json.dumps(first), *lines[1:], ""]))
    assert [e.row for e in events] == [3, 4, 4]


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("csv", "row,grade\n2,1\n", "no column 'stars'"),
        ("csv", "row,stars\n99,1\n", "line 2: the table has no row '99'"),
        (
            "csv",
            "row,stars\n2,1\n3,9\n",
            "line 3: the rating '9' of row 3 is not on the scale 1, 2, 3",
        ),
        ("csv", "row,stars\n\x1b[2J,1\n", "no row '␛"),
        ("label-studio", "{", "not JSON"),
        ("label-studio", "{}", "must be a list of tasks"),
        ("label-studio", '[{"data": {}}]', "task 1 has no data with a row"),
        ("prodigy", "[1]", "line 1 must be an object"),
        ("prodigy", '{"text": "x"}', "line 1 has no row in its meta"),
        ("doccano", "", "choose from csv, label-studio, prodigy"),
        ("csv", "row,stars,time\n2,1,yesterday", "line 2: the time 'yesterday' must be"),
        ("label-studio", '[{"data": {"row": 2}, "annotations": 5}]', "annotations must be a list"),
        (
            "label-studio",
            '[{"data": {"row": 2}, "annotations": ["x"]}]',
            "has an annotation that",
        ),
        (
            "label-studio",
            '[{"data": {"row": 2}, "annotations": [{"result": 7}]}]',
            "task 1: result must be a list",
        ),
    ],
)
def test_wrong_content_is_rejected_with_its_place(kind, content, message):
    with pytest.raises(TableError, match=message):
        bring_in(kind, content)


def test_both_ways_know_the_same_formats():
    assert list(EXPORTS) == list(IMPORTS)
    with pytest.raises(TableError, match="choose from"):
        export("xml")


def test_what_is_imported_again_neither_doubles_nor_overrides_what_is_newer():
    places = {str(table().number(i)): i for i in range(len(table()))}
    head, n = "row,stars,rater,time\n", [0]

    def take(log, lines):
        before = len(log)
        known = {event.id for event in log}
        log += news_of(bring_in("csv", head + lines), known, logged(log), places)
        return len(log) - before

    log = []
    for stars, expected in ((1, 1), (3, 3), (1, 1), (1, 1)):  # changed, and changed back
        n.append(take(log, f"2,{stars},Ann,\n"))
        assert logged(log).of("Ann") == {0: expected}
    assert n == [0, 1, 1, 1, 0]
    assert take(log, "2,3,Ann,2020-01-01T00:00:00Z\n") == 0, "older than what Ann says now"
    assert take(log, "2,3,Ann,2999-01-01T00:00:00\n") == 1
    assert logged(log).of("Ann") == {0: 3}
