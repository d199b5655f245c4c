"""The page on choosing rows shows the stored results of its benchmark."""

import re
from pathlib import Path

import pytest

from benchmarks.bench_active import SETS, compare, past, strategies

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "active.jsonl"
PAGE = (ROOT / "docs" / "active.md").read_text()


@pytest.fixture(scope="module")
def needed():
    """Ratings needed on each dataset, and their medians, by method."""
    if not RESULTS.exists():
        pytest.skip("the source distribution has no raw results")
    methods = list(strategies([0, 1], 0))
    records = [record for record in past(RESULTS) if "method" in record]
    rows, _ = compare(records, SETS, methods)
    return {row.pop("method"): row for row in rows}


def shown(ratings):
    return "> 120" if ratings == float("inf") else f"{ratings:.0f}"


def test_the_table_of_savings_shows_the_stored_results(needed):
    columns = list(needed)[1:]  # the first are the random rows that are the measure
    for name in [*SETS, "median of tables", "median of texts"]:
        (row,) = re.findall(rf"^\| {name} \| (.*) \|$", PAGE, re.MULTILINE)
        assert row.split(" | ") == [shown(needed[method][name]) for method in columns]


def test_the_savings_in_the_text_are_those_of_the_table(needed):
    text = " ".join(PAGE.split())
    ours, mixed = needed["expected error reduction"], needed["the same, a quarter audit rows"]
    saved = [
        100 - round(r[f"median of {kind}"]) for r in (ours, mixed) for kind in ("tables", "texts")
    ]
    assert (
        f"saves {saved[0]} % of the ratings in the median of the twelve tables, and {saved[1]} %"
        in text
    )
    assert f"the studio use) it saves {saved[2]} % and {saved[3]} %." in text
    assert {name for name in SETS if ours[name] > 110} == {"SWD", "LEV"}
