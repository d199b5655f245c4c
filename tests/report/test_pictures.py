import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tordinal.report.drawing import WIDTH, class_colour
from tordinal.report.pictures import (
    by_rating,
    class_shares,
    confusion,
    learning,
    objective,
    projection,
    reliability,
)
from tordinal.tables.curve import Curve

NAMES = ["poor", "fair", "good"]


def drawn(picture):
    """The shapes as XML, which must lie within the picture."""
    root = ET.fromstring(f"<svg>{''.join(picture.shapes)}</svg>")
    for rect in root.iter("rect"):
        x, y, width, height = box(rect)
        assert -0.1 <= x <= x + width <= WIDTH + 0.1
        assert -0.1 <= y <= y + height <= picture.height + 0.1
    for row in picture.rows:
        assert len(row) == len(picture.header)
    return root


def box(rect):
    return tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))


def rects(root, fill):
    return [rect for rect in root.iter("rect") if rect.get("fill") == fill]


def texts(root):
    return [text.text for text in root.iter("text")]


def test_shares_have_a_bar_for_the_given_and_the_predicted_of_each_rating():
    picture = class_shares(NAMES, np.array([1, 1, 2]), np.array([0, 25, 75]))
    root = drawn(picture)
    given = [box(r)[2] for r in rects(root, "var(--faint)")]
    predicted = [[box(r)[2] for r in rects(root, class_colour(k, 3))] for k in range(3)]
    assert len(given) == 3 + 1  # the last one is the legend's
    assert [len(bars) for bars in predicted] == [2, 2, 2]  # the second one is the legend's
    longest = predicted[2][0]
    np.testing.assert_allclose(given[:3], np.array([0.25, 0.25, 0.5]) / 0.75 * longest, atol=0.1)
    np.testing.assert_allclose([predicted[0][0], predicted[1][0]], [0, longest / 3], atol=0.1)
    assert [t for t in texts(root) if t in NAMES] == NAMES
    assert [t for t in texts(root) if t.endswith("%")] == [
        "25.0 %", "0.0 %", "25.0 %", "25.0 %", "50.0 %", "75.0 %",
    ]  # fmt: skip
    assert picture.rows[2] == ["good", "2", "50.0 %", "75", "75.0 %"]


def test_shares_of_no_rows_are_nothing():
    picture = class_shares(NAMES, np.array([2, 0, 0]), np.zeros(3, dtype=int))
    assert [row[3:] for row in picture.rows] == [["0", "0.0 %"]] * 3
    drawn(picture)


def test_the_histogram_holds_every_row_in_the_colour_of_its_rating():
    rng = np.random.default_rng(0)
    h = np.concatenate([rng.normal(size=997), [-50.0, 50.0, 60.0]])  # some lie far outside
    thresholds = np.array([-0.5, 0.5])
    rank = np.searchsorted(thresholds, h)
    picture = projection(NAMES, h, thresholds, rank)
    root = drawn(picture)
    areas = []
    for k in range(3):
        *bars, legend = rects(root, class_colour(k, 3))
        assert box(legend)[2:] == (10.0, 10.0)
        areas.append(sum(box(bar)[3] for bar in bars))
    counts = np.bincount(rank)
    np.testing.assert_allclose(np.array(areas) / sum(areas), counts / 1000, atol=0.005)
    assert [row[:2] for row in picture.rows] == [
        [name, str(n)] for name, n in zip(NAMES, counts, strict=True)
    ]
    assert [row[2:] for row in picture.rows] == [["", "-0.5"], ["-0.5", "0.5"], ["0.5", ""]]
    assert "1,000 rows" in picture.description
    assert [t for t in texts(root) if t in NAMES] == NAMES


def test_thresholds_lie_between_the_bars_of_the_ratings_they_part():
    h = np.array([-3.0, -2.5, -2.0, 2.0, 2.5, 3.0])
    picture = projection(["low", "high"], h, np.array([0.0]), (h > 0).astype(int))
    root = drawn(picture)
    (threshold,) = (line for line in root.iter("line") if line.get("class") == "threshold")
    x = float(threshold.get("x1"))
    assert x == float(threshold.get("x2")) == pytest.approx(WIDTH / 2)
    *low, _ = rects(root, class_colour(0, 2))
    *high, _ = rects(root, class_colour(1, 2))
    assert len(low) == len(high) == 3
    assert max(box(bar)[0] + box(bar)[2] for bar in low) < x < min(box(bar)[0] for bar in high)


def test_a_projection_that_is_the_same_everywhere_can_be_drawn():
    picture = projection(["low", "high"], np.ones(5), np.array([1.0]), np.array([0, 0, 0, 1, 1]))
    assert [row[1] for row in picture.rows] == ["3", "2"]
    drawn(picture)


def test_many_long_names_wrap_in_the_legend():
    names = [f"rating number {k}" for k in range(20)]
    h = np.arange(20.0)
    picture = projection(names, h, h[:-1] + 0.5, np.arange(20))
    root = drawn(picture)
    assert [t for t in texts(root) if t.startswith("rating")] == names
    assert picture.height > projection(NAMES, h[:3], h[:2] + 0.5, np.arange(3)).height


def test_confusion_shows_a_count_in_every_cell_and_shades_by_the_share_of_its_row():
    truth, predicted = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 0, 0, 2, 1, 1])
    picture = confusion(NAMES, truth, predicted)
    root = drawn(picture)
    cells = rects(root, "var(--cell)")
    tips = [cell.find("title").text for cell in cells]
    assert len(cells) == 9
    assert tips[0] == "given poor, predicted poor: 3"
    assert tips[2] == "given poor, predicted good: 1"
    assert tips[7] == "given good, predicted fair: 1"
    shades = [float(r.get("opacity")) for r in root.iter("rect") if r.get("class") == "heat"]
    expected = 0.85 * np.array([0.75, 0, 0.25, 0, 1, 0, 0, 1, 0])
    np.testing.assert_allclose(shades, expected, atol=0.006)
    counts = ["3", "0", "1", "0", "1", "0", "0", "1", "0"]
    assert [t for t in texts(root) if t.isdigit()] == counts
    assert [row[1:] for row in picture.rows] == [counts[:3], counts[3:6], counts[6:]]
    assert picture.header[1:] == [row[0] for row in picture.rows] == NAMES
    assert "4 were predicted correctly and 1 missed it by more than one step" in picture.description


def test_cells_that_are_too_small_for_a_number_still_have_their_tip():
    names = [str(k) for k in range(30)]
    root = drawn(confusion(names, np.arange(30), np.arange(30)))
    assert len(rects(root, "var(--cell)")) == 900
    assert len(texts(root)) == 2 + 2 * 30  # the two axes and the names along them


def record(C2, value, swaps):
    return {"C2": C2, "objective": value, "swaps": swaps}


def test_the_objective_has_two_bars_for_each_level_of_C2():
    history = [
        record(0.0, 99.0, 0),  # the supervised training, which is no level
        record(0.1, 10.0, 3),
        record(0.1, 8.0, 1),
        record(1.0, 20.0, 2),
        record(1.0, 19.0, 0),
        record(10.0, 5.0, 0),
    ]
    picture = objective(history)
    root = drawn(picture)
    falls = [box(r)[3] for r in rects(root, "var(--accent)")]
    swaps = [box(r)[3] for r in rects(root, "var(--second)")]
    np.testing.assert_allclose(falls, [82, 82 * 0.05 / 0.2, 0], atol=0.1)
    np.testing.assert_allclose(swaps, [82, 41, 0], atol=0.1)
    assert [r.find("title").text for r in rects(root, "var(--second)")] == [
        "C2 = 0.1: 4",
        "C2 = 1: 2",
        "C2 = 10: 0",
    ]
    assert picture.rows == [
        ["0.1", "2", "10", "8", "4"],
        ["1", "2", "20", "19", "2"],
        ["10", "1", "5", "5", "0"],
    ]
    assert "6 trainings over 3 levels of C2" in picture.description
    assert "6 pairs in all" in picture.description
    assert {"20.0 %", "4", "0.1", "1", "1e+01"} <= set(texts(root))


def test_a_single_training_is_a_level():
    picture = objective([record(0.5, 7.0, 0)])
    assert picture.rows == [["0.5", "1", "7", "7", "0"]]
    assert len(rects(drawn(picture), "var(--second)")) == 1


def test_text_in_a_picture_stays_text():
    name = "<b>&\"'"
    picture = class_shares([name, "x"], np.array([1, 1]), np.array([1, 1]))
    assert texts(drawn(picture))[0] == name
    assert "<b>" not in "".join(picture.shapes)
    tip = "given <b>&\"', predicted <b>&\"': 1"
    root = drawn(confusion([name, "x"], np.array([0]), np.array([0])))
    assert rects(root, "var(--cell)")[0].find("title").text == tip


def test_each_rating_has_a_bar_as_long_as_the_share_that_is_right():
    truth = np.array([0, 0, 0, 0, 1, 1, 2])
    picture = by_rating(NAMES, truth, np.array([0, 0, 0, 1, 1, 0, 0]))
    assert picture.rows == [
        ["poor", "4", "75.0 %", "100.0 %"],
        ["fair", "2", "50.0 %", "100.0 %"],
        ["good", "1", "0.0 %", "0.0 %"],
    ]
    root = drawn(picture)
    wide = [box(rects(root, class_colour(k, 3))[0])[2] for k in range(3)]
    np.testing.assert_allclose([wide[1] / wide[0], wide[2]], [2 / 3, 0.0], atol=1e-3)


def test_confidence_stands_against_how_often_it_was_right():
    confidence = np.repeat([0.5, 0.9], 12)
    right = np.array([True, False] * 6 + [True] * 11 + [False])
    picture = reliability(confidence, right)
    assert picture.rows == [["50.0 %", "50.0 %", "12"], ["90.0 %", "91.7 %", "12"]]
    dots = list(drawn(picture).iter("circle"))
    assert float(dots[0].get("cx")) < float(dots[1].get("cx"))
    assert float(dots[0].get("cy")) > float(dots[1].get("cy"))


def test_the_learning_curve_ends_in_an_estimate():
    curve = Curve([10, 20, 30, 40], [1.0, 0.8, 0.7, 0.65], 50, 0.6, 0.5)
    picture = learning(curve)
    assert picture.rows[-1] == ["100", "0.500", "estimate"]
    assert "Twice as many ratings (100)" in picture.description
    assert len(list(drawn(picture).iter("circle"))) == 5
