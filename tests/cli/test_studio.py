"""The studio as a user meets it: the command, and the page in a real browser."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
from importlib import resources

import numpy as np
import pandas as pd
import psutil
import pytest
from commands import COMMAND, command, run

from tordinal.tables.ratings_log import RatingsLog

HOSTILE = [
    "<script>window.ran=1</script>", "<img src=x onerror='window.ran=1'>", "</p></main><h1>big",
    "{{ 7*7 }}", "' onclick='window.ran=1", "javascript:window.ran=1", "\u202egnp.exe", "&lt;b&gt;",
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """A table of 150 rows without ratings; the grade is known from the size."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=150).round(2)
    names = [HOSTILE[i % len(HOSTILE)] if i < 40 else f"item {i}" for i in range(150)]
    texts = [
        f"It arrived on day {i} and is {HOSTILE[i % len(HOSTILE)]} all over" for i in range(150)
    ]
    path = tmp_path / "items.csv"
    pd.DataFrame({"name": names, "size": size, "text": texts}).to_csv(path, index=False)
    return path


def grade_of(size):
    return int(np.digitize(size, [-0.5, 0.5])) + 1


@contextlib.contextmanager
def studio(path, *options):
    """A running studio: its process and the address with the token."""
    process = subprocess.Popen(
        [*COMMAND, "studio", str(path), "--target", "grade", "--order", "1,2,3", "--no-browser",
         *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    try:
        told = ""
        for line in process.stderr:
            told += line
            if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
                yield process, found[0]
                return
        raise AssertionError(told)
    finally:
        process.kill()
        process.wait(30)
        process.stderr.close()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


def opened(browser, address, **options):
    """A new tab with the studio, which fails the test on errors in the page."""
    tab = browser.new_context(**options).new_page()
    tab.set_default_timeout(60_000)
    tab.problems = []
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.on("console", lambda m: tab.problems.append(m.text) if m.type == "error" else None)
    tab.goto(address)
    tab.wait_for_selector("#row-title:has-text('Row ')")
    return tab


def press(tab, key):
    """Press a key, and wait until the page has confirmed it."""
    tab.evaluate("document.getElementById('status').textContent = ''")
    tab.keyboard.press(key)
    tab.wait_for_function("() => document.getElementById('status').textContent !== ''")


def size_of(tab):
    return float(tab.evaluate("state.item.others.find(([name]) => name === 'size')[1]"))


def rate(tab, n):
    for _ in range(n):
        press(tab, str(grade_of(size_of(tab))))


def test_thirty_rows_by_keyboard_a_crash_and_the_finish(table, browser, tmp_path):
    before = table.read_bytes()
    with studio(table, "--goal", "0.2") as (process, address):
        listening = [
            c.laddr.ip
            for c in psutil.Process(process.pid).net_connections()
            if c.status == "LISTEN"
        ]
        assert listening == ["127.0.0.1"]
        tab = opened(browser, address)
        assert "token" not in tab.url
        rate(tab, 8)
        # Keys that are not on the scale do nothing.
        row = tab.inner_text("#row-title")
        for key in ("0", "4", "9", "x", "Control+1"):
            tab.keyboard.press(key)
        assert tab.inner_text("#row-title") == row
        # Undo brings the last row back, skip passes over one.
        press(tab, "u")
        assert tab.evaluate("state.mine") == 7
        rate(tab, 1)
        press(tab, "s")
        assert tab.evaluate("[state.mine, state.skipped]") == [8, 1]
        # An old rating is changed in the history, and changed back.
        tab.click("#history li:nth-child(3) button")
        tab.wait_for_function("() => state.item.kind === 'change'")
        right, place = str(grade_of(size_of(tab))), tab.evaluate("state.item.place")
        assert tab.get_attribute(f"button[data-rating='{right}']", "aria-pressed") == "true"
        press(tab, "1" if right != "1" else "2")
        tab.click(f"#history li:has-text('row {place + 2}') button")
        tab.wait_for_function("() => state.item.kind === 'change'")
        press(tab, right)
        tab.reload()
        tab.wait_for_selector("#row-title:has-text('Row ')")
        assert tab.evaluate("[state.mine, state.skipped]") == [8, 1]
        rate(tab, 7)
        confirmed = tab.evaluate("state.history.map(e => [e.place, e.rating])")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        assert tab.problems == []
    log = tmp_path / "items.ratings.jsonl"
    places = {e.row - 2: str(e.rating) for e in RatingsLog(log).events if e.event == "rate"}
    assert all(places[place] == rating for place, rating in confirmed if rating is not None)

    # The same command goes on, however the path is spelt.
    (tmp_path / "sub").mkdir()
    with studio(tmp_path / "sub" / ".." / "items.csv", "--goal", "0.2") as (process, address):
        tab = opened(browser, address)
        n = tab.evaluate("state.mine")
        assert n >= 14
        rate(tab, 30 - n + 2)
        tab.wait_for_selector("#error b:has-text('off by')")
        tab.wait_for_selector("#course svg")
        tab.click("#finish")
        tab.click("#finish-ok")
        tab.wait_for_function("() => state.finish.state === 'done'", timeout=240_000)
        assert (
            tab.frame_locator("#report iframe").locator("h1").inner_text().endswith("given ratings")
        )
        assert tab.problems == []
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert "resumes from there" in process.stderr.read()
    assert table.read_bytes() == before

    # What Finish has written is what label writes, byte for byte.
    folder = tmp_path / "again"
    folder.mkdir()
    done = command(
        "label", table, "--target", "grade", "--order", "1,2,3", "--ratings", log,
        "-o", folder / "items.rated.csv", "--report", folder / "items.report.html",
        "--model", folder / "items.model.skops",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    for name in ("items.rated.csv", "items.report.html", "items.model.skops"):
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes(), name
    rated = pd.read_csv(folder / "items.rated.csv")
    truth = np.digitize(rated["size"], [-0.5, 0.5]) + 1
    assert (rated["grade_predicted"] == truth).mean() > 0.8


def test_hostile_cells_two_tabs_and_accessibility(table, browser):
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    guide = table.with_name("guide.txt")
    guide.write_text("Rate the size.\n<script>window.ran=1</script>\n")
    with studio(table, "--guide", str(guide), "--rater", "<b>Ann</b>") as (_, address):
        tab = opened(browser, address, viewport={"width": 1200, "height": 900})
        for i in range(13):
            press(tab, str(grade_of(size_of(tab))))
            if i == 5:
                other = tab.context.new_page()
                other.goto(tab.url)
                other.wait_for_selector("#row-title:has-text('Row ')")
        # The other tab still shows a row that has been rated since.
        other.keyboard.press("1")
        other.wait_for_selector("#alerts p:has-text('in another window')")
        n = other.evaluate("state.mine + state.skipped")
        assert n == tab.evaluate("state.mine + state.skipped")
        assert tab.evaluate("window.ran") is None
        assert "<script>window.ran=1</script>" in tab.inner_text(".guide")
        tab.wait_for_selector("#error b")
        for width, scheme in ((1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            tab.evaluate(axe)
            for prepare in ("", "find('unsure').click()", "find('finish').click()"):
                tab.evaluate(prepare or "0")
                found = tab.evaluate(
                    "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html)]))"
                )
                assert found == [], (width, scheme, prepare)
                tab.evaluate("document.querySelectorAll('dialog[open]').forEach(d => d.close())")
        # Keyboard alone: a note, and the row is left unrated.
        press_dialog(tab)
        assert tab.evaluate("state.history[0].note") == "too blurred"


def press_dialog(tab):
    while tab.evaluate("document.getElementById('unsure').hidden"):
        press(tab, str(grade_of(size_of(tab))))
    tab.keyboard.press("n")
    tab.keyboard.type("too blurred")
    tab.evaluate("document.getElementById('status').textContent = ''")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.getElementById('status').textContent !== ''")


def test_a_simulation(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=300).round(2)
    path = tmp_path / "full.csv"
    pd.DataFrame({"size": size, "grade": [grade_of(s) for s in size]}).to_csv(path, index=False)
    result = run("studio", path, "--target", "grade", "--simulate", "--goal", "0.1")
    assert re.search(r"\d+ ratings would have been enough for a table that is off by 0.1 steps",
                     " ".join(result.output.split()))  # fmt: skip
    assert not (tmp_path / "full.ratings.jsonl").exists()
    # Without a goal: enough for an error near that of a model with all ratings.
    told = " ".join(run("studio", path, "--target", "grade", "--simulate").output.split())
    limit = float(
        re.search(r"that learn from all other ratings are off by (0\.\d+) steps", told)[1]
    )
    enough, goal = re.search(r"(\d+) ratings would .* off by (\S+) steps or less", told).groups()
    assert float(goal) == pytest.approx(1.1 * limit, abs=0.01)
    assert int(enough) < 200
    few = tmp_path / "few.csv"
    pd.DataFrame({"size": size[:9], "grade": [grade_of(s) for s in size[:9]]}).to_csv(few)
    result = run("studio", few, "--target", "grade", "--simulate", code=2)
    assert "only 9 rows are rated" in " ".join(result.output.split())


def test_ratings_to_and_from_other_tools(table, tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("row,grade,rater\n2,1,Ann\n3,2,Ann\n3,3,Bob\n")
    start = ["studio", table, "--target", "grade", "--order", "1,2,3"]
    assert "3 ratings were taken over" in run(*start, "--import", given).output
    assert "0 ratings were taken over" in run(*start, "--import", given).output
    for name in ("out.csv", "out.json", "out.jsonl"):
        result = run(*start, "--export", tmp_path / name)
        assert "2 rated rows" in result.output
    assert (tmp_path / "out.csv").read_text().count("\n") == 4
    assert len(json.loads((tmp_path / "out.json").read_text())) == 2
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3
    given.write_bytes(b"row,grade\n2,1\xf6\n")
    assert "not UTF-8 text" in run(*start, "--import", given, code=2).output
    assert "no such file" in run(*start, "--import", tmp_path / "no.csv", code=2).output
    (tmp_path / "empty.jsonl").touch()
    said = run(*start, "--import", tmp_path / "empty.jsonl", code=2).output
    assert "no ratings were found" in " ".join(said.split())
    result = run(*start, "--export", tmp_path / "out.csv", code=2)
    assert "--force" in result.output
    assert "must end in" in " ".join(run(*start, "--export", "a.txt", code=2).output.split())
    log = tmp_path / "items.ratings.jsonl"
    before = log.read_bytes()
    result = run(*start, "--export", log, "--force", code=2)
    assert "same file as the log of ratings" in " ".join(result.output.split())
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--target", "grade"], "--order"),
        (["--target", "grade", "--order", "1"], "name at least two ratings"),
        (["--target", "grade", "--order", "1,2", "--goal", "inf"], "--goal inf: must be a number"),
        (["--target", "grade", "--order", "1,2", "-o", "items.ratings.jsonl"], "the same file as"),
        (["--target", "siz", "--order", "1,2"], "size"),
        (["--target", "grade", "--order", "1,2", "--guide", "no.txt"], "--guide no.txt: no such"),
        (["--target", "grade", "--order", "1,2", "--rater", "x" * 101], "at most 100 letters"),
        (["--target", "grade", "--order", "1,2", "-o", "items.csv"], "is the same file"),
        (["--target", "grade", "--order", "1,2", "--report", "no/such/r.html"], "no folder"),
    ],
)
def test_wrong_options(table, monkeypatch, options, told):
    monkeypatch.chdir(table.parent)
    result = run("studio", "items.csv", "--no-browser", *options, code=2)
    assert told in " ".join(result.output.split())
    assert sorted(p.name for p in table.parent.iterdir()) == ["items.csv"]
