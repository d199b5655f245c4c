"""The report holds what it should, and hostile text stays text."""

import re
import shutil
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tordinal import rate_table
from tordinal.datasets import make_reviews
from tordinal.report import page as page_module
from tordinal.report import render_report
from tordinal.tables.columns import TableEncoder
from tordinal.tables.files import Table
from tordinal.tables.rating import Settings, rate
from tordinal.tables.suggest import rows_to_rate
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
    texts, stars = make_reviews(120, random_state=3)
    texts = HOSTILE + texts[len(HOSTILE) :]
    cells = [CLASSES[(s - 1) // 2] if i % 6 == 0 else "" for i, s in enumerate(stars)]
    columns = {
        "<i>review</i>": texts,
        "n": [str(i % 11) for i in range(120)],
        "<script>ran</script>": ["a", "b"] * 60,
    }
    target = read_target("grade<u>", cells, CLASSES)
    rating = rate(
        columns,
        target,
        TableEncoder(),
        Settings(method=method, choose_columns=False, **options),
        lambda *_: None,
    )
    return rating, Table([*columns, "grade<u>"], [*columns.values(), cells], "csv")


@pytest.fixture(scope="module")
def rated():
    return make_rating()


@pytest.fixture(scope="module")
def page(rated):
    rating, table = rated
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
        "What can be expected",
        "Given and predicted ratings",
        "Where the rows lie",
        "in cross-validation",
        "How the objective fell",
        "Rows to check first",
        "Rows to rate next",
        "Examples of each rating",
        "What was done with each column",
        "How often each rating is right",
        "Can the confidence be believed?",
        "Would more ratings help?",
        "The unrated rows",
    ):
        assert part in page, part


def test_pictures_are_well_formed_and_described(page):
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(drawings) == 10
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
    assert "No model used the unrated rows" in page
    assert "What lowers and raises the rating" not in page  # by 0.05 steps or more: no word does
    assert page.count("<svg") == 8


def test_the_page_says_how_many_rows_of_how_many_and_their_errors(rated, page):
    rating, _ = rated
    wrong, off = rating.errors["this model"]
    assert "<h1>100 rows rated from 20 given ratings</h1>" in page
    shown = re.sub(r"\s+", " ", re.sub("<.*?>", "", page))
    expected = rating.expected_error
    assert (
        f"{100 * (1 - wrong):.0f} % ± {100 * expected.accuracy_margin:.0f} rated exactly right"
        in shown
    )
    assert f"{off:.2f} ± {expected.mae_margin:.2f} mean absolute error, in steps" in shown
    given = rating.target.rank[rating.held_out]
    off_by_guess = [np.mean(np.abs(given - k)) for k in range(3)]
    label, constant_wrong, _, constant_off, error = rating.error_rows[-1]
    assert label == "always the same rating"
    assert constant_off == min(off_by_guess)
    assert constant_wrong == 1 - np.bincount(given).max() / len(given)
    assert error > 0
    moved = np.sum(rating.transducer.initial_labels_ != rating.transducer.transduction_)
    assert f"up to {moved} rows got another rating" in shown
    sure = int(np.sum(rating.confidence[~rating.given] >= 0.8))
    assert f"{sure} of 100 rows with a confidence of 80 % or more" in shown


def test_examples_are_the_predicted_rows_that_the_model_is_surest_of(rated):
    rating, _ = rated
    for k in range(3):
        rows = page_module._typical(rating, k)
        predicted = np.flatnonzero((rating.rank == k) & ~rating.given)
        assert len(rows) == min(page_module.EXAMPLES, len(predicted)) > 0
        assert set(rows) <= set(predicted)
        others = np.setdiff1d(predicted, rows)
        assert rating.confidence[rows].min() >= rating.confidence[others].max(initial=0.0)


def test_texts_are_shown_first_and_cut_where_they_are_long(rated, page):
    rating, table = rated
    columns = page_module._shown_columns(rating, table)
    assert columns == ["<i>review</i>", "n", "<script>ran</script>"]
    row = page_module._row(rating, table, columns, len(HOSTILE) - 1, CLASSES)
    assert row["number"] == str(len(HOSTILE))  # this table has no header
    assert row["cells"][0] == ("wonderful " * 100)[: page_module.LONGEST] + "…"
    assert row["cells"][1:] == [str((len(HOSTILE) - 1) % 11), "a"]
    assert row["class"] == CLASSES[row["k"]] == rating.labels[len(HOSTILE) - 1]
    assert "wonderful " * 101 not in page


def test_reasons_and_rows_to_check_are_on_the_page():
    texts, stars = make_reviews(300, random_state=1)
    cells = [str(s) if i < 150 else None for i, s in enumerate(stars)]
    cells[3] = "1" if stars[3] >= 3 else "5"  # a slip
    texts[10], cells[10], cells[11] = texts[11], "1", "2"
    frame = pd.DataFrame({"review": texts, "x": np.arange(300) % 7, "stars": cells})
    rated = rate_table(frame, "stars", method="redsvm", abstain=0.5)
    page = rated.to_html()
    shown = re.sub(r"\s+", " ", re.sub("<.*?>", " ", page))
    assert "What the ratings depend on" in shown
    assert "Which columns matter" in shown
    assert rated.reasons.words["term"].iloc[-1] in shown
    assert "Given ratings that the model contradicts" in shown
    assert "Equal rows with different ratings" in shown
    assert "Predictions with the largest expected error" in shown
    assert "The error if doubtful rows stay unrated" in shown
    assert "have a confidence of 0.5 or more" in shown
    example = page_module._typical(rated.rating, 4)[0]
    assert rated.reasons.sentences([example])[0] in page
    assert "--rank-20" in page


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
            assert len(sizes) == 10
            assert min(sizes) > 80
            shown = tab.evaluate(
                "[...document.querySelectorAll('figure svg')]"
                ".every(s => s.querySelectorAll('rect, circle, line').length > 3)"
            )
            assert shown
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert "<script>document.title" in tab.inner_text("body")
        browser.close()


def test_the_whole_table_is_estimated_with_its_groups():
    frame = pd.DataFrame({"x": np.arange(200) % 20, "shop": np.repeat(["a<b", "c"], 100)})
    grades = pd.array(np.arange(200) % 20 // 7, dtype="Int64")
    frame["grade"] = grades
    frame.loc[np.arange(200) % 3 > 0, "grade"] = pd.NA
    rated = rate_table(frame, "grade", by="shop", method="redsvm")
    page = rated.to_html()
    assert " %" not in page  # no line break between a number and its sign
    page = page.replace("\u00a0", " ")
    assert "The whole table" in page
    assert f"{rated.estimates.mean.value:.2f} (90 % interval" in page
    assert "Average by shop" in page
    assert "a&lt;b" in page
    assert "a<b" not in page
    groups = rated.groups.set_index("group")
    assert groups.loc["c", "rows"] == 100
    for low, high in zip(groups["average_low"], groups["average_high"], strict=True):
        assert f"{low:.2f} to {high:.2f}" in page
    for shop in "c", "a<b":
        share, low, high = 100 * groups.loc[shop, ["share_2", "share_2_low", "share_2_high"]]
        assert f"{share:.0f} % <small>{low:.0f} to {high:.0f} %</small>" in page
    for e in rated.estimates.at_least.itertuples():
        assert f"{100 * e.low:.0f} to {100 * e.high:.0f} %" in page
    assert page.count("if the rated rows are a random sample") == 1


def test_the_largest_of_many_groups_are_listed():
    frame = pd.DataFrame(
        {"x": np.arange(300) % 20, "shop": [f"s{int(i**0.7)}" for i in range(300)]}
    )
    frame["grade"] = pd.array(np.arange(300) % 20 // 7, dtype="Int64")
    frame.loc[np.arange(300) % 3 > 0, "grade"] = pd.NA
    rated = rate_table(frame, "grade", by="shop", method="redsvm")
    page = rated.to_html()
    sizes = frame["shop"].value_counts()
    assert len(sizes) > 50
    assert f"The 40 largest of {len(sizes)} groups" in page
    listed = re.findall(r"<tr><td><bdi>(s\d+)</bdi>", page)
    assert len(listed) == 40
    assert sizes[listed].min() >= sizes.drop(listed).max()


def test_rows_are_listed_with_what_identifies_them_and_with_reasons():
    texts, stars = make_reviews(300, random_state=1)
    cells = [str(s) if i < 150 else None for i, s in enumerate(stars)]
    cells[3] = "1" if stars[3] >= 3 else "5"  # a slip
    frame = pd.DataFrame(
        {"shop_id": np.arange(300) % 60, "patient_id": [f"P{i}" for i in range(300)]}
    )
    frame = frame.assign(review=texts, stars=cells)
    rated = rate_table(frame, "stars", method="redsvm")
    page = rated.to_html()

    def table_after(title):
        part = page[page.index(f">{title}<") :]
        return part[: part.index("</table>")]

    for title, rows in (
        ("Rows to rate next", [d.place for d in rows_to_rate(rated.rating, 10)]),
        ("Given ratings that the model contradicts", [3]),
        ("Predictions with the largest expected error", rated.checks.query("other.isna()")["row"]),
    ):
        listed = table_after(title)
        assert "<th>patient_id</th>" in listed, title
        assert "<th>shop_id</th>" not in listed
        for row, why in zip(rows, rated.reasons.sentences(rows), strict=True):
            assert f"<bdi>P{row}</bdi>" in listed
            assert why
            # The model behind the reasons has seen the rating that it contradicts without it.
            assert (why in listed) is ("contradicts" not in title)
