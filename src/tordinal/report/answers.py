"""Pictures of reasons and of abstaining."""

import itertools

import numpy as np
import pandas as pd

from tordinal.report.drawing import WIDTH, Picture, class_colour, margin, percent, short
from tordinal.tables.values import visible

__all__ = ["abstaining", "importance", "words"]

STEP, WIDE_STEP = 22, 28  # height of a row
MOST_COLUMNS = 20
LONGEST_NAME = 27


def importance(columns: pd.DataFrame) -> Picture:
    """How much each column matters, with its interval."""
    shown = columns.head(MOST_COLUMNS)
    names = [visible(str(name)) for name in shown["column"]]
    left = margin([short(name, LONGEST_NAME) for name in names], 250.0)
    low = min(0.0, float((shown["rise"] - shown["margin"]).min()))
    high = max(1e-9, float((shown["rise"] + shown["margin"]).max()))
    picture = Picture(
        "Which columns matter",
        "How many steps the error rises when the cells of one column are replaced by those of "
        "other rows, with a 95 % interval. Measured on ratings that the model had not seen. Where "
        "the line reaches 0 there is no clear effect.",
        ["column", "error rises by", "interval", "effect"],
        [
            [
                name,
                f"{row.rise:.2f}",
                f"{row.rise - row.margin:.2f} to {row.rise + row.margin:.2f}",
                _effect(bool(row.clear), row.direction),
            ]
            for name, row in zip(names, shown.itertuples(), strict=True)
        ],
        WIDE_STEP * len(names) + 34,
    )
    scale = (WIDTH - left - 24) / (high - low)

    def place(value: float) -> float:
        return left + 10 + scale * (value - low)

    bottom = WIDE_STEP * len(names) + 8
    picture.line(place(low), bottom, place(high), bottom, "axis")
    picture.line(place(0.0), 4, place(0.0), bottom + 4, "threshold")
    picture.text(place(0.0), bottom + 18, "0", "middle", "small")
    picture.text(place(high), bottom + 18, f"{high:.2f} steps", "end", "small")
    for i, (name, row) in enumerate(zip(names, shown.itertuples(), strict=True)):
        y = 15 + WIDE_STEP * i
        picture.text(left - 2, y + 4, short(name, LONGEST_NAME), "end")
        picture.line(place(row.rise - row.margin), y, place(row.rise + row.margin), y, "whisker")
        tip = f"{name}: {row.rise:.2f} steps"
        picture.circle(place(row.rise), y, "dot" if row.clear else "ring", tip)
    return picture


def _effect(clear: bool, direction: str) -> str:
    """The effect of a column in words."""
    if not clear:
        return "no clear effect"
    return {"up": "larger, higher rating", "down": "larger, lower rating"}.get(direction, "clear")


def words(effects: pd.DataFrame, agreement: float) -> Picture:
    """What lowers and what raises ratings: a bar per word, with a scale in steps."""
    columns = [visible(str(column)) for column in effects["column"].unique()]
    names = [
        visible(f"{column}: {term}" if len(columns) > 1 else term)
        for column, term in zip(effects["column"], effects["term"], strict=True)
    ]
    values = effects["effect"].to_numpy(dtype=np.float64)
    left = margin([short(name, LONGEST_NAME) for name in names] or [""], 250.0)
    picture = Picture(
        "What lowers and raises the rating",
        "How many steps lower or higher rows with a word, a phrase or a value are rated than "
        "otherwise equal rows without it"
        + (f" (column {columns[0]}). " if len(columns) == 1 else ". ")
        + "From a simple model of the predictions, which "
        f"explains {100 * agreement:.0f} % of their variance on rows it was not fitted to.",
        ["word or value", "effect in steps", "rows"],
        [
            [name, f"{value:+.2f}", f"{rows:,}"]
            for name, value, rows in zip(names, values, effects["rows"], strict=True)
        ],
        STEP * len(names) + 34,
    )
    most = float(np.abs(values).max(initial=1e-9))
    low, high = min(float(values.min(initial=0.0)), 0.0), max(float(values.max(initial=0.0)), 0.0)
    scale = (WIDTH - left - 20) / max(high - low, 1e-9)
    zero = left + 8 - scale * low
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        y = 4 + STEP * i
        picture.text(left - 2, y + 14, short(name, LONGEST_NAME), "end")
        fill = class_colour(int(value > 0), 2)
        begin = zero + scale * min(value, 0.0)
        picture.rect(
            begin, y + 1, scale * abs(value), STEP - 5, fill, f"{name}: {value:+.2f} steps"
        )
    bottom = STEP * len(names) + 8
    picture.line(zero, 0, zero, bottom, "axis")
    tick = float(f"{most / 2:.1g}") or most / 2
    for k in range(int(low / tick), int(high / tick) + 1):
        picture.line(zero + scale * k * tick, bottom, zero + scale * k * tick, bottom + 4, "axis")
        label = f"{k * tick:+.2g}" if k else "0"
        picture.text(zero + scale * k * tick, bottom + 18, label, "middle", "small")
    return picture


def abstaining(curve: pd.DataFrame) -> Picture:
    """The error of the rows that are kept, by the share that is."""
    rows = [
        [
            f"{row.confidence:.2f}",
            percent(row.share),
            f"{row.ratings:,}",
            f"{100 * row.accuracy:.0f} ± {100 * row.accuracy_margin:.0f} %",
            f"{row.mae:.2f} ± {row.mae_margin:.2f}",
        ]
        for row in curve.itertuples()
    ]
    picture = Picture(
        "The error if doubtful rows stay unrated",
        "The mean error in steps of the rows that are kept (vertical) by the share of rows without "
        "a rating that is kept (horizontal), with an interval. Rows with the highest confidence "
        "are kept first. Estimated from ratings that the model had not seen.",
        ["confidence from", "rows kept", "ratings", "exactly right", "mean error in steps"],
        rows,
        232,
    )
    left, right, bottom, top = 56.0, 16.0, 190.0, 14.0
    highest = float((curve["mae"] + curve["mae_margin"]).max()) or 1.0

    def place(share: float, error: float) -> tuple[float, float]:
        across = left + (WIDTH - left - right) * share
        return across, bottom - (bottom - top) * max(error, 0.0) / highest

    for part in (0.0, 0.5, 1.0):
        y = place(0, highest * part)[1]
        picture.line(left, y, WIDTH - right, y, "grid")
        picture.text(left - 6, y + 4, f"{highest * part:.2f}", "end", "small")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        anchor = "end" if share == 1.0 else "middle"
        picture.text(place(share, 0)[0], bottom + 16, f"{100 * share:.0f} %", anchor, "small")
    points = list(curve.itertuples())
    for one, other in itertools.pairwise(points):
        picture.line(*place(one.share, one.mae), *place(other.share, other.mae), "axis")
    for row in points:
        x, y = place(row.share, row.mae)
        picture.line(
            x, place(0, row.mae - row.mae_margin)[1], x, place(0, row.mae + row.mae_margin)[1],
            "whisker",
        )  # fmt: skip
        tip = f"{percent(row.share)} of the rows, confidence {row.confidence:.2f} or more"
        picture.circle(x, y, "dot", tip)
    picture.text((left + WIDTH) / 2, bottom + 34, "rows that are kept", "middle", "small")
    return picture
