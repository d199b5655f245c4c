import itertools
import xml.etree.ElementTree as ET

import pytest

from tordinal.report.drawing import STEPS, Picture, class_colour, margin, percent, short, ticks


def test_colours_run_from_one_end_of_the_scale_to_the_other_and_differ():
    for n in (2, 5, 11):
        colours = [class_colour(k, n) for k in range(n)]
        assert [colours[0], colours[-1]] == ["var(--rank-0)", f"var(--rank-{STEPS})"]
        assert len(set(colours)) == n
    assert class_colour(0, 1) == "var(--rank-0)"


def test_names_are_cut_and_shares_rounded():
    assert short("x" * 24) == "x" * 24
    assert short("x" * 25) == "x" * 23 + "…"
    assert short("rating", 2) == "r…"
    assert percent(0.12345) == "12.3 %"
    assert percent(1.0) == "100.0 %"


def test_names_have_room_on_the_left_up_to_a_limit():
    assert margin(["a"]) == 56.0
    assert margin(["a"]) < margin(["willing to serve"]) < margin(["WILLING TO SERVE"])
    # 24 letters of DejaVu Sans at 15 pixels are 199 wide, and the name ends 8 before the margin.
    assert margin(["2022-01-23 to 2022-07-23"]) > 207
    assert margin(["x" * 200]) == 222.0
    assert margin(["x" * 200], 166.0) == 166.0


@pytest.mark.parametrize("high", [0.013, 0.9, 3.76, 42.0, 1e6])
def test_ticks_are_round_and_within_the_range(high):
    places = ticks(0.5 * high, high)
    assert 2 <= len(places) <= 6
    assert 0.5 * high <= places[0] < places[-1] <= high
    steps = {f"{b - a:.2e}"[0] for a, b in itertools.pairwise(places)}
    assert steps <= {"1", "2", "5"}


def test_a_shape_without_a_tip_has_no_title():
    picture = Picture("t", "d", [], [], 10)
    picture.circle(1, 2, "dot")
    picture.circle(3, 4, "ring", "<b>")
    picture.rect(0, 0, -5, 1, "red")  # no width is negative
    plain, hinted, rect = ET.fromstring(f"<svg>{''.join(picture.shapes)}</svg>")
    assert plain.find("title") is None
    assert hinted.find("title").text == "<b>"
    assert [hinted.get(name) for name in ("cx", "cy", "class")] == ["3.0", "4.0", "ring"]
    assert rect.get("width") == "0.0"
