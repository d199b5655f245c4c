"""Pictures of the report: the ratings, how good they are, and how the model was fitted."""

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from tordinal.report.drawing import WIDTH, Picture, class_colour, margin, percent, short, ticks
from tordinal.tables.curve import Curve
from tordinal.tables.expected_error import share_margin

__all__ = [
    "MOST_GROUPS",
    "averages",
    "by_rating",
    "class_shares",
    "confusion",
    "learning",
    "objective",
    "projection",
    "reliability",
]

MOST_GROUPS = 20  # that are shown in a picture


def class_shares(names: list[str], given: NDArray[Any], predicted: NDArray[Any]) -> Picture:
    """Shares of the classes among the given and the predicted ratings."""
    shares = [counts / max(counts.sum(), 1) for counts in (given, predicted)]
    rows = [
        [name, f"{given[k]:,}", percent(shares[0][k]), f"{predicted[k]:,}", percent(shares[1][k])]
        for k, name in enumerate(names)
    ]
    step, left = 40, margin(names)
    picture = Picture(
        "Given and predicted ratings",
        f"Bars for each of {len(names)} ratings: "
        "its share of the given and of the predicted ratings.",
        ["rating", "given", "share", "predicted", "share"],
        rows,
        step * len(names) + 30,
    )
    scale = (WIDTH - left - 60) / max(float(np.max(shares)), 1e-9)
    for k, name in enumerate(names):
        y = 6 + k * step
        picture.text(left - 8, y + 19, short(name), "end")
        for part, (share, fill) in enumerate(
            zip(shares, ("var(--faint)", class_colour(k, len(names))), strict=True)
        ):
            picture.rect(left, y + 15 * part, scale * share[k], 13, fill)
            picture.text(
                left + scale * share[k] + 5, y + 15 * part + 11, percent(share[k]), kind="small"
            )
    foot = step * len(names) + 18
    picture.rect(left, foot - 9, 10, 10, "var(--faint)")
    picture.text(left + 15, foot, "given", kind="small")
    for k in range(len(names)):  # a swatch of all the colours
        wide = 30 / len(names)
        picture.rect(left + 65 + k * wide, foot - 9, wide, 10, class_colour(k, len(names)))
    picture.text(left + 100, foot, "predicted", kind="small")
    return picture


def projection(
    names: list[str], h: NDArray[Any], thresholds: NDArray[Any], rank: NDArray[Any]
) -> Picture:
    """Histogram of the projections of all rows by rating, with the thresholds in it."""
    low, high = np.quantile(h, [0.005, 0.995])
    low, high = min(float(low), float(thresholds[0])), max(float(high), float(thresholds[-1]))
    margin = 0.04 * (high - low) or 1.0
    edges = np.linspace(low - margin, high + margin, 49)
    inside = np.clip(h, edges[0], edges[-1])  # the few rows beyond are drawn at the ends
    counts = np.array([np.histogram(inside[rank == k], edges)[0] for k in range(len(names))])
    bottom, top, left = 200.0, 26.0, 8.0
    bounds = ["", *(f"{t:.3g}" for t in thresholds), ""]
    rows = [
        [name, f"{int(counts[k].sum()):,}", bounds[k], bounds[k + 1]]
        for k, name in enumerate(names)
    ]
    picture = Picture(
        "Where the rows lie",
        f"Histogram of the projections of {len(h):,} rows, coloured by rating, "
        f"with {len(thresholds)} thresholds between the ratings "
        f"at {', '.join(f'{t:.3g}' for t in thresholds)}.",
        ["rating", "rows", "from threshold", "to threshold"],
        rows,
        bottom + 44,
    )
    tallest = max(int(counts.sum(axis=0).max()), 1)
    width = (WIDTH - 2 * left) / (len(edges) - 1)
    for j in range(len(edges) - 1):
        y = bottom
        for k in range(len(names)):
            height = (bottom - top) * counts[k, j] / tallest
            if height:
                y -= height
                picture.rect(left + j * width, y, width - 0.8, height, class_colour(k, len(names)))
    picture.line(left, bottom, WIDTH - left, bottom, "axis")
    for t in thresholds:
        x = left + (WIDTH - 2 * left) * (t - edges[0]) / (edges[-1] - edges[0])
        picture.line(x, top - 8, x, bottom + 5, "threshold")
    for value in np.linspace(edges[0], edges[-1], 7)[1:-1]:
        x = left + (WIDTH - 2 * left) * (value - edges[0]) / (edges[-1] - edges[0])
        picture.text(x, bottom + 18, f"{value:.2g}", "middle", "small")
    x, y = left, bottom + 28
    for k, name in enumerate(names):
        wide = 26 + 7 * min(len(name), 24)
        if x + wide > WIDTH - left:
            x, y = left, y + 16
        picture.rect(x, y, 10, 10, class_colour(k, len(names)))
        picture.text(x + 14, y + 9, short(name), kind="small")
        x += wide
    picture.height = y + 16
    picture.text(WIDTH - left, 12, "dashed: thresholds", "end", "small")
    return picture


def confusion(names: list[str], truth: NDArray[Any], predicted: NDArray[Any]) -> Picture:
    """Given against cross-validated ratings."""
    n = len(names)
    counts = np.zeros((n, n), dtype=int)
    np.add.at(counts, (truth, predicted), 1)
    left = margin(names, 166.0)
    cell = min(56.0, (WIDTH - left - 30) / n)
    slanted = max(map(len, names)) > cell / 7.5  # names that do not fit above their column
    top = 44.0 + (4.6 * min(max(map(len, names)), 20) if slanted else 0.0)
    picture = Picture(
        "Given against predicted, in cross-validation",
        f"Of {len(truth)} rated rows whose rating was hidden in turn, "
        f"{int(np.trace(counts))} were predicted correctly "
        f"and {int((np.abs(truth - predicted) > 1).sum())} missed it by more than one step.",
        ["given \\ predicted", *names],
        [[names[i], *map(str, counts[i])] for i in range(n)],
        top + n * cell + 10,
    )
    picture.text(left, 14, "predicted", kind="small")
    picture.text(left - 8, top - 8, "given", "end", "small")
    for k, name in enumerate(names):
        x = left + (k + 0.5) * cell
        if slanted:
            shape = Markup(
                '<text transform="translate({:.1f} {:.1f}) rotate(-40)" class="small">{}</text>'
            )
            picture.shapes.append(shape.format(x, top - 6, short(name, 20)))
        else:
            picture.text(x, top - 8, name, "middle", "small")
        picture.text(left - 8, top + (k + 0.5) * cell + 5, short(name, 18), "end")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for i in range(n):
        for j in range(n):
            x, y = left + j * cell, top + i * cell
            tip = f"given {names[i]}, predicted {names[j]}: {counts[i, j]}"
            picture.rect(x, y, cell - 2, cell - 2, "var(--cell)", tip)
            shade = Markup(
                '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" '
                'class="heat" opacity="{:.2f}"/>'
            )
            picture.shapes.append(shade.format(x, y, cell - 2, cell - 2, 0.85 * share[i, j]))
            if cell >= 18:
                kind = "on-heat" if share[i, j] > 0.55 else ""
                picture.text(x + cell / 2 - 1, y + cell / 2 + 4, str(counts[i, j]), "middle", kind)
    return picture


def averages(column: str, groups: list[dict[str, Any]]) -> Picture:
    """Average rating of each group, in the given order, with its interval."""
    shown = [g for g in groups if np.isfinite(g["average"])]
    names = [g["group"] for g in shown]
    rows = [
        [g["group"], f"{g['rows']:,}", f"{g['ratings']:,}", f"{g['average']:.2f}"] for g in shown
    ]
    step, left = 26, margin([short(name) for name in names] or [""])
    picture = Picture(
        f"Average by {column}",
        "A dot for the estimated average of each group and a line for its 90 % interval; groups "
        "with too few ratings for an interval have a dot alone.",
        ["group", "rows", "ratings", "average"],
        rows,
        step * len(shown) + 40,
    )
    ends = [g[key] for g in shown for key in ("average", "average_low", "average_high")]
    finite = [value for value in ends if np.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if low == high:
        low, high = low - 0.5, high + 0.5
    scale = (WIDTH - left - 30) / (high - low)

    def place(value: float) -> float:
        return left + 10 + scale * (value - low)

    bottom = step * len(shown) + 8
    picture.line(left + 10, bottom, WIDTH - 20, bottom, "axis")
    for value in ticks(low, high):
        picture.line(place(value), 4, place(value), bottom + 4, "grid")
        picture.text(place(value), bottom + 18, f"{value:g}", "middle", "small")
    for i, group in enumerate(shown):
        y = 16 + step * i
        picture.text(left - 8, y + 4, short(group["group"]), "end")
        if np.isfinite(group["average_low"]):
            ends_of = place(group["average_low"]), place(group["average_high"])
            picture.line(ends_of[0], y, ends_of[1], y, "whisker")
        tip = f"{group['group']}: {group['average']:.2f}"
        picture.circle(place(group["average"]), y, "dot", tip)
    return picture


def by_rating(names: list[str], truth: NDArray[Any], predicted: NDArray[Any]) -> Picture:
    """How often each rating was predicted exactly, and within one step."""
    n, left, step = len(names), margin(names), 34
    rows, bars = [], []
    for k, name in enumerate(names):
        own = predicted[truth == k]
        exact = float(np.mean(own == k)) if len(own) else 0.0
        near = float(np.mean(np.abs(own - k) <= 1)) if len(own) else 0.0
        bars.append((name, len(own), exact, near))
        rows.append([name, f"{len(own):,}", percent(exact), percent(near)])
    picture = Picture(
        "How often each rating is right",
        "Of the given ratings that were hidden in turn: "
        "the share that was predicted exactly (solid) and within one step (pale).",
        ["rating", "hidden", "exactly", "within one step"],
        rows,
        step * n + 28,
    )
    scale = WIDTH - left - 110
    for k, (name, count, exact, near) in enumerate(bars):
        y = 6 + k * step
        picture.text(left - 8, y + 15, short(name), "end")
        if not count:
            picture.text(left, y + 15, "none could be hidden", kind="small")
            continue
        picture.rect(left, y, scale * near, 20, "var(--cell)")
        picture.rect(left, y, scale * exact, 20, class_colour(k, n))
        picture.text(left + scale * near + 6, y + 15, f"{100 * exact:.0f} % of {count}", "start")
    picture.rect(left, step * n + 12, 10, 10, "var(--cell)")
    picture.text(left + 15, step * n + 21, "within one step", kind="small")
    return picture


def reliability(confidence: NDArray[Any], right: NDArray[Any]) -> Picture:
    """How often ratings of some confidence are right, on rows whose rating was hidden."""
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split(order, int(np.clip(len(order) // 12, 2, 5)))
    points = [(float(confidence[p].mean()), float(right[p].mean()), len(p)) for p in parts]
    rows = [[percent(c), percent(r), f"{n:,}"] for c, r, n in points]
    picture = Picture(
        "Can the confidence be believed?",
        "Hidden ratings in groups of rising confidence: the mean confidence (horizontal) and how "
        "often the model was right (vertical), with an interval. On the dashed line both are the "
        "same.",
        ["mean confidence", "right", "rows"],
        rows,
        272,
    )
    left, bottom, size = 60.0, 226.0, 206.0
    wide = 380.0
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        picture.line(left, bottom - size * share, left + wide, bottom - size * share, "grid")
        picture.text(left - 6, bottom - size * share + 4, f"{100 * share:.0f} %", "end", "small")
        picture.text(left + wide * share, bottom + 16, f"{100 * share:.0f} %", "middle", "small")
    picture.line(left, bottom, left + wide, bottom - size, "threshold")
    for c, r, n in points:
        half, x = share_margin(r, n), left + wide * c
        low, high = max(0.0, r - half), min(1.0, r + half)
        picture.line(x, bottom - size * low, x, bottom - size * high, "whisker")
        tip = f"{n} rows: confidence {percent(c)}, right {percent(r)}"
        picture.circle(x, bottom - size * r, "dot", tip)
    picture.text(left + wide / 2, bottom + 34, "confidence", "middle", "small")
    return picture


def learning(curve: Curve) -> Picture:
    """Errors by the number of ratings, with the estimate for twice as many."""
    sizes = [*curve.ratings, curve.n, 2 * curve.n]
    rows = [[f"{n:,}", f"{e:.3f}", "measured"] for n, e in zip(
        curve.ratings, curve.off, strict=True)]  # fmt: skip
    rows += [[f"{2 * curve.n:,}", f"{curve.doubled:.3f}", "estimate"]]
    picture = Picture(
        "Would more ratings help?",
        f"{curve} Dots: measured without the unrated rows. Dashed: the estimate.",
        ["ratings", "mean error in steps", "how"],
        rows,
        244,
    )
    left, right, bottom, top = 60.0, 20.0, 198.0, 26.0
    highest = 1.15 * max([*curve.off, curve.doubled, 1e-9])

    def place(n: float, error: float) -> tuple[float, float]:
        x = left + (WIDTH - left - right) * n / (1.05 * sizes[-1])
        return x, bottom - (bottom - top) * error / highest

    for part in (0.0, 0.5, 1.0):
        y = place(0, highest * part)[1]
        picture.line(left, y, WIDTH - right, y, "grid")
        picture.text(left - 6, y + 4, f"{highest * part:.2f}", "end", "small")
    picture.line(
        *place(curve.ratings[-1], curve.off[-1]), *place(sizes[-1], curve.doubled), "threshold"
    )
    for kind, n, error in (
        *(("dot", n, e) for n, e in zip(curve.ratings, curve.off, strict=True)),
        ("ring", sizes[-1], curve.doubled),
    ):
        picture.circle(*place(n, error), kind)
    labelled = np.inf  # from the right: where two would touch, the larger number stays
    for n in (sizes[-1], *reversed(curve.ratings)):
        x = place(n, 0.0)[0]
        if labelled - x >= 12.0 * len(f"{n:,}"):
            picture.text(x, bottom + 16, f"{n:,}", "middle", "small")
            labelled = x
    picture.text((left + WIDTH) / 2, bottom + 34, "ratings to learn from", "middle", "small")
    picture.text(left, 12, "mean error in steps", "start", "small")
    return picture


def objective(history: list[dict[str, Any]]) -> Picture:
    """How far the objective fell at each level of C2, and how many pairs of labels were swapped."""
    levels: list[list[dict[str, Any]]] = []
    for record in history[1:] if len(history) > 1 else history:
        if not levels or levels[-1][0]["C2"] != record["C2"]:
            levels.append([])
        levels[-1].append(record)
    swaps = [sum(int(r["swaps"]) for r in level) for level in levels]
    fall = [level[0]["objective"] - level[-1]["objective"] for level in levels]
    rows = [
        [
            f"{level[0]['C2']:.3g}",
            str(len(level)),
            f"{level[0]['objective']:.5g}",
            f"{level[-1]['objective']:.5g}",
            str(made),
        ]
        for level, made in zip(levels, swaps, strict=True)
    ]
    picture = Picture(
        "How the objective fell",
        f"{len(history)} trainings over {len(levels)} levels of C2, the weight of unrated rows. "
        f"At each level swaps of labels lower the objective: {sum(swaps):,} pairs in all.",
        ["C2", "trainings", "objective at first", "at last", "pairs swapped"],
        rows,
        268,
    )
    left, right, middle, bottom = 54.0, 12.0, 106.0, 230.0
    step = (WIDTH - left - right) / max(len(levels), 1)
    relative = [
        f / max(abs(level[0]["objective"]), 1e-12) for f, level in zip(fall, levels, strict=True)
    ]
    for values, base, name, fill, show in (
        (relative, middle, "fall", "var(--accent)", lambda v: percent(v)),
        (swaps, bottom, "swaps", "var(--second)", lambda v: f"{v:,}"),
    ):
        most = max([*values, 0]) or 1
        for j, value in enumerate(values):
            height = 82 * max(value, 0) / most
            tip = f"C2 = {levels[j][0]['C2']:.3g}: {show(value)}"
            picture.rect(left + j * step + 1, base - height, step - 2, height, fill, tip)
        picture.line(left, base, WIDTH - right, base, "axis")
        picture.text(left - 6, base, "0", "end", "small")
        picture.text(left - 6, base - 74, show(most), "end", "small")
        picture.text(
            left,
            base - 92,
            {"fall": "fall of the objective at a level", "swaps": "pairs swapped at a level"}[name],
            kind="small",
        )
    for j in sorted({0, len(levels) // 2, len(levels) - 1}):
        anchor = "start" if j == 0 else "end" if j == len(levels) - 1 else "middle"
        picture.text(
            left + (j + 0.5) * step, bottom + 16, f"{levels[j][0]['C2']:.1g}", anchor, "small"
        )
    picture.text(WIDTH / 2, bottom + 32, "C2, the weight of the unrated rows", "middle", "small")
    return picture
