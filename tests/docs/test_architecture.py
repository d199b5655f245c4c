"""The diagram of the architecture, by the script that draws it for the docs."""

import re
import runpy
from pathlib import Path

from test_layers import layer_of

from tordinal import tables

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "architecture.py"))
NAMES = [name for _, rows in SCRIPT["boxes"]() for names in rows for name in names]
LINES = SCRIPT["shortest_description"](SCRIPT["true_imports"]())


def test_every_box_and_line_is_drawn_once():
    svg = SCRIPT["diagram"]()
    assert sorted(re.findall(r'class="name"[^>]*>([\w.]+)<', svg)) == sorted(NAMES)
    drawn = re.findall(r"<title>(\S+) imports (\S+)</title>", svg)
    assert sorted(drawn) == sorted(LINES)
    assert ("fitting", "transduction") in LINES


def test_every_line_leads_up():
    svg = SCRIPT["diagram"]()
    ends = re.findall(r'class="import" d="M\S+ (\S+) C\S+ \S+ \S+ \S+ \S+ (\S+)"', svg)
    assert len(ends) == len(LINES)
    for name, other in LINES:
        assert layer_of(other) <= layer_of(name)
    assert all(float(start) > float(end) for start, end in ends)


def test_what_is_excluded_follows():
    shortest = SCRIPT["shortest_description"]
    assert shortest({("a", "b"), ("b", "c"), ("a", "c")}) == {("a", "b"), ("b", "c")}
    everything = SCRIPT["true_imports"]()
    assert everything > LINES


def test_the_contributors_page_names_every_box():
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## Where things are")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w./]+)`", table))
    missing = {name for name in NAMES if not {name, *_spellings(name)} & named}
    assert missing == set()


def test_the_map_of_the_tables_names_every_module():
    folder = Path(tables.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    named = set(re.findall(r"`(\w+)`", tables.__doc__))
    assert named == modules


def _spellings(name):
    path = name.replace(".", "/")
    return path, f"{path}/"
