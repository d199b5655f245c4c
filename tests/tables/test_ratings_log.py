import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tordinal.tables.ratings_log import Event, Header, RatingsLog, ratings_path
from tordinal.tables.values import TableError

CODE = "0123456789abcdef"
HEADER = Header(target="stars", classes=["1", "2", "3"], columns=["text"], n_rows=9, n_unrated=8)


def rate(row, rating="2", **fields):
    return Event(event="rate", row=row, fingerprint=CODE, rating=rating, **fields)


@pytest.fixture
def log(tmp_path):
    return RatingsLog(tmp_path / "reviews.ratings.jsonl", HEADER)


def test_the_log_is_beside_the_table_however_its_path_is_spelt(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reviews.csv").write_text("text,stars\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "data" / "reviews.csv")
    monkeypatch.chdir(tmp_path / "data")
    expected = tmp_path / "data" / "reviews.ratings.jsonl"
    for path in ("reviews.csv", "../data/reviews.csv", str(tmp_path / "link.csv")):
        assert ratings_path(path) == expected
    assert ratings_path("a.b.csv.gz").name == "a.b.ratings.jsonl"
    assert ratings_path("notes.2024.xlsx").name == "notes.2024.ratings.jsonl"


def test_what_is_appended_is_read_again_and_the_same_event_counts_once(log):
    first = rate(2, probability=0.25, audit=True, rater="Ann", note="é\u2028\x00")
    assert log.append(first, rate(3)) == 2
    assert log.append(first) == 0
    again = RatingsLog(log.path)
    assert again.header == log.header == HEADER
    assert again.events == log.events
    assert again.events[0] == first
    assert len(log.path.read_bytes().splitlines()) == 3


def test_two_readers_see_each_others_events(log):
    other = RatingsLog(log.path, HEADER)
    log.append(rate(2))
    assert [e.row for e in other.refresh()] == [2]
    assert other.refresh() == []
    other.append(rate(3))
    log.append(rate(4))
    assert [e.row for e in log.events] == [2, 3, 4]


def test_a_choice_that_rests_on_old_ratings_is_not_written(log):
    other = RatingsLog(log.path, HEADER)
    other.append(rate(5))
    choice = Event(event="choose", row=3, fingerprint=CODE, probability=0.5)
    assert log.append(choice, if_unchanged=True) == 0
    assert [e.row for e in log.events] == [5]
    assert log.append(choice, if_unchanged=True) == 1


def test_a_line_cut_at_any_byte_is_removed_and_nothing_before_it_is_lost(tmp_path, log):
    log.append(rate(2))
    before = log.path.read_bytes()
    log.append(rate(3))
    whole = log.path.read_bytes()
    for n in range(len(before), len(whole) + 1):
        path = tmp_path / f"{n}.ratings.jsonl"
        path.write_bytes(whole[:n])
        rows = [e.row for e in RatingsLog(path).events]  # reading alone changes nothing
        assert rows == ([2, 3] if n == len(whole) else [2])
        assert path.read_bytes() == whole[:n]
        torn = RatingsLog(path, HEADER)
        torn.append(rate(4))
        kept = [2, 3, 4] if n >= len(whole) - 1 else [2, 4]
        assert [e.row for e in RatingsLog(path).events] == kept == [e.row for e in torn.events]
    for n in range(len(before.split(b"\n")[0])):  # the very first line
        path = tmp_path / f"first{n}.ratings.jsonl"
        path.write_bytes(before[:n])
        RatingsLog(path, HEADER).append(rate(2))
        assert [e.row for e in RatingsLog(path).events] == [2]


def test_zeros_that_a_power_failure_leaves_are_removed(log):
    log.append(rate(2))
    with open(log.path, "ab") as file:
        file.write(b"\0" * 100)
    log.append(rate(3))
    assert [e.row for e in RatingsLog(log.path).events] == [2, 3]


def test_a_malformed_line_is_named_and_nothing_is_written(log):
    log.append(rate(2), rate(3))
    lines = log.path.read_bytes().split(b"\n")
    lines[1] = lines[1][:20] + b"\x1b[31m"
    log.path.write_bytes(b"\n".join(lines))
    content = log.path.read_bytes()
    for header in (None, HEADER):
        with pytest.raises(TableError, match="line 2 is not JSON") as caught:
            RatingsLog(log.path, header)
        assert "\x1b" not in str(caught.value)
    assert log.path.read_bytes() == content


def test_a_log_about_other_ratings_and_other_files_are_rejected(tmp_path, log):
    other = Header(target="stars", classes=["1", "2"], columns=["text"], n_rows=9, n_unrated=8)
    with pytest.raises(TableError, match=r"ratings with the classes \['1', '2', '3'\], not"):
        RatingsLog(log.path, other)
    (tmp_path / "table.jsonl").write_text('{"review": "fine"}\n')
    with pytest.raises(TableError, match="line 1 must be the start of a log"):
        RatingsLog(tmp_path / "table.jsonl", HEADER)
    assert (tmp_path / "table.jsonl").read_text() == '{"review": "fine"}\n'
    with pytest.raises(TableError, match="no such file"):
        RatingsLog(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(TableError, match="is empty"):
        RatingsLog(tmp_path / "empty.jsonl")
    with pytest.raises(TableError, match="cannot be written"):
        RatingsLog(tmp_path / "no folder" / "log.jsonl", HEADER)


def test_only_what_is_there_can_be_undone(log):
    log.append(rate(2, id="one"))
    assert log.append(Event(event="undo", of="one")) == 1
    with pytest.raises(TableError, match="no such event"):
        log.append(Event(event="undo", of="two"))
    assert len(RatingsLog(log.path).events) == 2


def test_a_file_that_was_replaced_is_read_from_its_beginning(tmp_path, log):
    log.append(rate(2), rate(3))
    new = RatingsLog(tmp_path / "new.jsonl", HEADER)
    new.append(rate(7))
    os.replace(new.path, log.path)
    log.append(rate(8))
    assert [e.row for e in log.events] == [7, 8]


WRITER = """
import sys
from tordinal.tables.ratings_log import Event, RatingsLog
log = RatingsLog(sys.argv[1])
for k in range(int(sys.argv[3])):
    # The odd events are written by all processes.
    name = f"{sys.argv[2]}-{k}" if k % 2 == 0 else f"shared-{k}"
    log.append(Event(event="rate", row=k, fingerprint="0" * 16, rating="1", id=name))
    print(name, flush=True)
"""


def start(log, name, n):
    command = [sys.executable, "-c", WRITER, str(log.path), name, str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())


def test_processes_that_write_at_once_lose_and_double_nothing(log):
    processes = [start(log, name, 40) for name in ("a", "b", "c")]
    confirmed = set()
    for process in processes:
        confirmed |= set(process.communicate()[0].split())
        assert process.returncode == 0
    lines = log.path.read_text().splitlines()
    assert len(lines) == 1 + 3 * 20 + 20
    assert {e.id for e in RatingsLog(log.path).events} == confirmed


def test_a_process_that_is_killed_loses_nothing_that_it_confirmed(log):
    process = start(log, "a", 100_000)
    confirmed = [process.stdout.readline().strip() for _ in range(5)]
    os.kill(process.pid, signal.SIGKILL)
    confirmed += process.communicate()[0].split("\n")[:-1]
    log.append(rate(2, id="after"))
    found = [e.id for e in RatingsLog(log.path).events]
    assert set(confirmed) <= set(found)
    assert len(found) <= len(confirmed) + 2  # one more may have been on disk, unconfirmed
    assert found[-1] == "after"


def test_a_log_that_was_removed_is_not_begun_in_the_middle(log):
    os.remove(log.path)
    with pytest.raises(TableError, match="cannot be written"):
        log.append(Event(event="rate", row=2, fingerprint="0" * 16, rating="3"))
    assert not log.path.exists()
