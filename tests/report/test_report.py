"""The report holds what it should, and hostile text stays text."""

import re
import shutil
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tordinal.datasets import make_reviews
from tordinal.report import render_report
from tordinal.tables.columns import TableEncoder
from tordinal.tables.files import Table
from tordinal.tables.rating import Settings, rate
from tordinal.tables.target import read_target

HOSTILE = [
    "<script>document.title = 'ran'; window.ran = true</script> awful",
    "<img src=x onerror=\"document.title='ran'\"><img src=http://tracker.invalid/pixel.png> awful",
    "</td></table><svg onload=\"document.title='ran'\"> superb",
    "=cmd|' /C calc'!A0 excellent",
    "\x00\x07\x1b[31m red \x9b control",
    "\u202egnp.exe right to left \u2066 isolate",
    "{{ 7 * 7 }} {% raw %} template & entities &lt;b&gt;",
    "javascript:alert(1) ' \" ` ]]> --> <!-- excellent",
    "wonderful " * 100_000,
]
CLASSES = ["<b>low</b>", "mid & 'so'", "<script>document.title='ran'</script>"]


def make_rating(method="tor", **options):
    texts, stars = make_reviews(120, random_state=0)
    texts = HOSTILE + texts[len(HOSTILE) :]
    cells = [CLASSES[(s - 1) // 2] if i % 3 == 0 else "" for i, s in enumerate(stars)]
    columns = {
        "<i>review</i>": texts,
        "n": [str(i % 11) for i in range(120)],
        "<script>ran</script>": ["a", "b"] * 60,
    }
    target = read_target("grade<u>", cells, CLASSES)
    rating = rate(columns, target, TableEncoder(), Settings(method, **options), lambda *_: None)
    return rating, Table([*columns, "grade<u>"], [*columns.values(), cells], "csv")


@pytest.fixture(scope="module")
def page():
    rating, table = make_rating()
    rating.confidence  # noqa: B018
    return render_report(rating, table, "in<script>.csv", "out.csv")


def test_hostile_text_is_shown_as_text(page):
    assert "<script" not in page
    assert "<img" not in page
    assert "onload=" not in re.sub(r"&lt;.*?&gt;", "", page)
    assert "&lt;script&gt;" in page
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert len(page) < 200_000


def test_the_page_needs_nothing_from_outside(page):
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=", re.sub(r"<bdi>.*?</bdi>", "", page))
    assert "url(" not in page
    assert "@import" not in page


def test_every_part_is_there(page):
    for part in (
        "How well it can be expected to do",
        "Given and predicted ratings",
        "Where the rows lie",
        "in cross-validation",
        "How the objective fell",
        "What pushes the rating down and up",
        "Worth rating next",
        "Examples of each rating",
        "What was done with each column",
        "transduction",
    ):
        assert part in page, part


def test_pictures_are_well_formed_and_described(page):
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(drawings) == 5
    ids = set(re.findall(r'id="(\w+)"', page))
    for drawing in drawings:
        root = ET.fromstring(drawing)
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") in ids
        assert root.get("aria-describedby") in ids
        width, height = (float(v) for v in root.get("viewBox").split()[2:])
        for rect in root.iter("rect"):
            assert -1 <= float(rect.get("x")) <= width
            assert 0 <= float(rect.get("y")) + float(rect.get("height")) <= height + 1


def test_a_supervised_model_has_no_swaps_to_show():
    rating, table = make_rating("redsvm", kernel="rbf")
    page = render_report(rating, table, "a", "b")
    assert "How the objective fell" not in page
    assert "no labels were swapped" in page
    assert page.count("<svg") == 4


def test_suggested_rows_are_unrated_and_among_the_least_certain():
    from tordinal.report.page import _worth_labelling

    rating, _ = make_rating()
    rows = _worth_labelling(rating)
    assert len(rows) == len(set(rows)) == 10
    assert not rating.given[rows].any()
    unrated = np.sort(rating.confidence[~rating.given])
    assert rating.confidence[rows[0]] == unrated[0]


def find_chromium():
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


def test_in_a_browser_no_script_runs_and_nothing_is_requested(page, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no chromium on this machine")
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width, scheme in ((1200, "light"), (390, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            requested, dialogs = [], []
            tab.on("request", lambda request, seen=requested: seen.append(request.url))
            tab.on(
                "dialog",
                lambda dialog, seen=dialogs: (seen.append(dialog.message), dialog.dismiss()),
            )
            tab.goto((tmp_path / "report.html").as_uri())
            assert tab.title().endswith("rows rated")
            assert tab.evaluate("window.ran") is None
            assert dialogs == []
            assert requested == [(tmp_path / "report.html").as_uri()]
            assert tab.evaluate("document.scripts.length") == 0
            sizes = tab.evaluate(
                "[...document.querySelectorAll('figure svg')]"
                ".map(s => s.getBoundingClientRect().height)"
            )
            assert len(sizes) == 5
            assert min(sizes) > 80
            shown = tab.evaluate(
                "[...document.querySelectorAll('figure svg')]"
                ".every(s => s.querySelectorAll('rect').length > 3)"
            )
            assert shown
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert "<script>document.title" in tab.inner_text("body")
        browser.close()
