import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tordinal.report.answers import abstaining, importance, words
from tordinal.report.drawing import WIDTH, class_colour


def drawn(picture):
    """The shapes as XML; all of them lie within the picture, with their texts."""
    root = ET.fromstring(f"<svg>{''.join(picture.shapes)}</svg>")
    for shape in root.iter():
        for name, most in (
            ("x", WIDTH),
            ("x1", WIDTH),
            ("x2", WIDTH),
            ("cx", WIDTH),
            ("y", picture.height),
            ("y1", picture.height),
            ("cy", picture.height),
        ):
            if shape.get(name) is not None:
                assert -0.1 <= float(shape.get(name)) <= most + 0.1, ET.tostring(shape)
    for text in root.iter("text"):
        # Letters are at most 7.4 wide: no text is clipped.
        wide, x, anchor = 7.4 * len(text.text or ""), float(text.get("x")), text.get("text-anchor")
        begin = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        assert begin >= -8, text.text
        assert begin + wide <= WIDTH + 14, text.text
    for row in picture.rows:
        assert len(row) == len(picture.header)
    return root


def columns(n=3):
    return pd.DataFrame({
        "column": ["review", "a very long name of a column, which must be cut", "x<b>"][:n],
        "rise": [0.8, 0.2, -0.01][:n], "margin": [0.1, 0.15, 0.05][:n],
        "clear": [True, True, False][:n], "direction": ["", "down", ""][:n],
    })  # fmt: skip


def test_columns_have_a_dot_an_interval_and_a_word_on_their_effect():
    picture = importance(columns())
    root = drawn(picture)
    dots = [float(c.get("cx")) for c in root.iter("circle")]
    assert dots == sorted(dots, reverse=True)
    assert [c.get("class") for c in root.iter("circle")] == ["dot", "dot", "ring"]
    assert [row[3] for row in picture.rows] == ["clear", "larger, lower rating", "no clear effect"]
    assert picture.rows[0][:3] == ["review", "0.80", "0.70 to 0.90"]
    assert "<b>" not in "".join(picture.shapes)
    zero = next(float(line.get("x1")) for line in root.iter("line")
                if line.get("class") == "threshold")  # fmt: skip
    np.testing.assert_allclose((dots[0] - zero) / (dots[1] - zero), 0.8 / 0.2, atol=0.02)


def effects(names=("review", "review", "title")):
    return pd.DataFrame({
        "column": list(names), "term": ["awful", "not so good", "superb <b>"],
        "effect": [-0.5, -0.25, 0.75], "rows": [12, 7, 1300],
    })  # fmt: skip


def test_words_have_bars_on_one_scale_in_steps():
    picture = words(effects(), 0.83)
    root = drawn(picture)
    low, high = ([r for r in root.iter("rect") if r.get("fill") == class_colour(k, 2)]
                 for k in (0, 1))  # fmt: skip
    widths = [float(r.get("width")) for r in (*low, *high)]
    np.testing.assert_allclose(np.array(widths) / widths[0], [1.0, 0.5, 1.5], atol=0.01)
    assert float(low[0].get("x")) + widths[0] == pytest.approx(float(high[0].get("x")), abs=0.2)
    shown = [text.text for text in root.iter("text")]
    assert shown[:3] == ["review: awful", "review: not so good", "title: superb <b>"]
    assert {"-0.4", "0", "+0.4"} <= set(shown)  # the scale
    assert picture.rows[2] == ["title: superb <b>", "+0.75", "1,300"]
    assert "explains 83 % of their variance" in picture.description


def test_a_single_column_is_named_once():
    picture = words(effects(["review"] * 3), 0.5)
    assert [row[0] for row in picture.rows] == ["awful", "not so good", "superb <b>"]
    assert "(column review)" in picture.description
    drawn(picture)


def test_the_error_of_the_rows_that_are_kept_falls_to_the_left():
    curve = pd.DataFrame({
        "confidence": [0.0, 0.6, 0.9], "share": [1.0, 0.5, 0.1], "ratings": [120, 61, 12],
        "accuracy": [0.6, 0.8, 0.9], "accuracy_margin": [0.1, 0.12, 0.2],
        "mae": [0.5, 0.25, 0.1], "mae_margin": [0.1, 0.1, 0.2],
    })  # fmt: skip
    picture = abstaining(curve)
    root = drawn(picture)
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter("circle")]
    assert dots[0][0] > dots[1][0] > dots[2][0]
    assert dots[0][1] < dots[1][1] < dots[2][1]
    assert picture.rows[1] == ["0.60", "50.0 %", "61", "80 ± 12 %", "0.25 ± 0.10"]
