"""The figures of the study, drawn from the table of results alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tordinal.experiments.cells import BENCHMARK, FIGURES, REALIZATIONS, SENTIMENT
from tordinal.experiments.methods import OURS
from tordinal.experiments.table import describe_origins
from tordinal.tables.outputs import Outputs

__all__ = ["draw_figure", "incomplete"]

# Colours for colour-blind people (Okabe and Ito), with markers and dashes for print.
STYLE: dict[str, dict[str, Any]] = {
    "SVOR-EXC": {"color": "#E69F00", "marker": "^", "linestyle": "--"},
    "SVOR-IMC": {"color": "#CC79A7", "marker": "v", "linestyle": "--"},
    "RED-SVM": {"color": "#56B4E9", "marker": "s", "linestyle": "-."},
    "M-TSVM": {"color": "#009E73", "marker": "D", "linestyle": ":"},
    "TOR": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "TOR, optimal swaps": {"color": "#7F7F7F", "marker": "P", "linestyle": "-"},
    "TORCV": {"color": "#000000", "marker": "*", "linestyle": "-"},
}
NAMES = {
    "zero_one": "zero-one error",
    "mae": "absolute error",
    "rank_mae": "absolute error in ranks",
}
TITLES = {
    "fig5": "Fig. 5: zero-one error, benchmark sets",
    "fig6": "Fig. 6: absolute error, benchmark sets",
    "fig7": "Fig. 7: TOR's initialisation on Algorithm 3's data",
    "fig8": "Fig. 8: what swapping gains on Algorithm 3's data",
    "fig9": "Fig. 9: zero-one error against C1, 400 labels",
    "fig10": "Fig. 10: zero-one error, sentiment sets",
    "fig11": "Fig. 11: absolute error, sentiment sets",
    "fig12": "Fig. 12: what swapping gains on the sentiment sets",
}
OURS_TITLES = {
    "fig7": "Beyond Fig. 7: errors on Algorithm 3's data",
    "fig12": "Beyond Fig. 12: what optimal swaps gain on the sentiment sets",
}
COLUMNS, WIDTH, HEIGHT = 2, 3.4, 2.7  # panels beside each other, and inches of one
MARGIN = 1.25  # inches for title and legend
ENTRY, LETTER = 0.8, 0.045  # inches of an entry of the legend, and of each letter of its name
DODGE = 0.12  # of the distance between two x, so that error bars do not overlap


@dataclass
class Panel:
    """One panel: a line per method with the means, and standard deviations as bars.

    Attributes
    ----------
    rows : DataFrame
        Results to draw.
    title : str
        The title; the number of realisations is added if there are too few.
    x, value : str
        Columns of the axes.
    label, x_label : str
        Their names.
    log, zero : bool
        Whether x is logarithmic, and whether there is a line at 0.
    """

    rows: pd.DataFrame
    title: str
    x: str
    value: str
    label: str
    x_label: str
    log: bool = False
    zero: bool = False

    def realisations(self) -> int:
        """Those that every point of the panel has."""
        return int(self.rows.groupby(["method", self.x])["seed"].nunique().min())

    def draw(self, axis: Any) -> None:
        """Draw it on an axis."""
        methods = [m for m in STYLE if m in set(self.rows["method"])] or sorted(
            set(self.rows["method"])
        )
        places = pd.Series(sorted(set(self.rows[self.x])))
        step = (
            min(float(places.diff().min()), np.ptp(places) / 6)
            if len(places) > 1 and not self.log
            else 0.0
        )
        for place, method in enumerate(methods):
            group = self.rows[self.rows["method"] == method].groupby(self.x)[self.value]
            mean, deviation = group.mean(), group.std().fillna(0.0)
            shift = step * DODGE * (place - 0.5 * (len(methods) - 1))
            style = STYLE.get(method, list(STYLE.values())[place % len(STYLE)])
            axis.errorbar(
                mean.index + shift,
                mean,
                yerr=deviation,
                label=method,
                capsize=2,
                markersize=5,
                linewidth=1.4,
                elinewidth=0.8,
                **style,
            )
        if self.log:
            axis.set_xscale("log")
        if self.zero:
            axis.axhline(0.0, color="black", linewidth=0.8)
        count = self.realisations()
        few = f" ({count} realisation{'' if count == 1 else 's'})" if count < REALIZATIONS else ""
        axis.set_title(self.title + few, fontsize=10)
        axis.set_xlabel(self.x_label)
        axis.set_ylabel(self.label)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)


def draw_figure(figure: str, results: pd.DataFrame, out: Path) -> list[Path]:
    """Draw a figure as PNG and SVG; the methods beyond the paper have separate pictures.

    Parameters
    ----------
    figure : str
        ``fig5`` to ``fig12``.
    results : DataFrame
        The table of results.
    out : Path
        Folder for the files.

    Returns
    -------
    paths : list of Path
        The files written.

    Raises
    ------
    ValueError
        If the table has no results for it.
    """
    rows = results[results["study"] == FIGURES[figure]]
    paper, ours = _paper(figure, rows), _ours(figure, rows)
    if not paper + ours:
        raise ValueError(f"there are no results for {figure} yet; run: tordinal reproduce {figure}")
    title = OURS_TITLES.get(figure, TITLES[figure].replace("Fig.", "Beyond Fig."))
    out.mkdir(parents=True, exist_ok=True)
    paths = _draw(out / figure, TITLES[figure], _remark(figure, rows), paper) if paper else []
    return paths + (
        _draw(out / f"{figure}-ours", title, _remark(figure, rows), ours) if ours else []
    )


def incomplete(figure: str, results: pd.DataFrame) -> list[str]:
    """Panels of the paper's figure with fewer realisations than the paper has.

    Parameters
    ----------
    figure : str
        ``fig5`` to ``fig12``.
    results : DataFrame
        The table of results.

    Returns
    -------
    panels : list of str
        Title and number of realisations of each incomplete panel.
    """
    panels = _paper(figure, results[results["study"] == FIGURES[figure]])
    return [
        f"{panel.title}: {panel.realisations()} of {REALIZATIONS} realisations"
        for panel in panels
        if panel.realisations() < REALIZATIONS
    ]


def _draw(stem: Path, title: str, remark: str, panels: list[Panel]) -> list[Path]:
    """Draw panels of one size, two in a row, with one legend."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = math.ceil(len(panels) / COLUMNS)
    size = (WIDTH * COLUMNS, HEIGHT * lines + MARGIN)
    canvas = Figure(figsize=size, layout="constrained")
    axes = canvas.subplots(lines, COLUMNS, squeeze=False).ravel()
    for axis, panel in zip(axes, panels, strict=False):
        panel.draw(axis)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    handles = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    entry = ENTRY + LETTER * max(map(len, handles))
    canvas.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles), int(size[0] / entry)),
        frameon=False,
        title=remark,
        title_fontproperties={"size": 7.5},
    )
    canvas.suptitle(title, fontsize=12)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    png, svg = map(str, paths)
    style = mpl.rc_context({"svg.hashsalt": "tordinal", "svg.fonttype": "none"})
    with style, Outputs({}, {"PNG": png, "SVG": svg}) as outputs:
        outputs.write(
            png,
            lambda file: canvas.savefig(file, format="png", dpi=150, metadata={"Software": None}),
        )
        outputs.write(svg, lambda file: canvas.savefig(file, format="svg", metadata={"Date": None}))
        outputs.commit()
    return paths


def _remark(figure: str, rows: pd.DataFrame) -> str:
    """The note on the picture: bars, the edition of the reviews, the version of the code."""
    reviews = FIGURES[figure] in ("sentiment", "swapping")
    parts = [
        f"means of {REALIZATIONS} realisations unless stated; bars: one standard deviation",
        *(["Amazon reviews: unprocessed edition"] if reviews else []),
        *([origins] if (origins := describe_origins(rows)) else []),
    ]
    return "; ".join(parts[:1]) + "\n" + "; ".join(parts[1:]) if len(parts) > 1 else parts[0]


def _paper(figure: str, rows: pd.DataFrame) -> list[Panel]:
    """The panels of the paper's figure."""
    rows = rows[~rows["method"].isin(OURS)]
    if len(rows) == 0:
        return []
    if figure == "fig9":
        return [
            Panel(group, n, "setting", "zero_one", NAMES["zero_one"], "C1", log=True)
            for n in ("bank", "census")
            if len(group := rows[rows["dataset"] == n])
        ]
    if figure == "fig7":
        initial = rows.assign(method="RED-SVM")
        return [
            Panel(initial, f"({x})", "setting", f"initial_{e}", NAMES[e], "p")
            for x, e in (("a", "zero_one"), ("b", "mae"))
        ]
    if figure == "fig8":
        return _falls(_gains(rows), ("zero_one", "mae"), "setting", "p")
    if figure == "fig12":
        gains = _gains(rows).assign(method=rows["dataset"].to_numpy())
        trainings = Panel(gains, "trainings", "labels", "trainings", "SVM trainings", "labels")
        return [*_falls(gains, _read(gains), "labels", "labels"), trainings]
    return _by_set(figure, rows)


def _ours(figure: str, rows: pd.DataFrame) -> list[Panel]:
    """Panels of the methods beyond the paper, beside RED-SVM and TOR on the same realisations."""
    ours = rows[rows["method"].isin(OURS)]
    if len(ours) == 0 or figure == "fig9":
        return []
    key = ["dataset", "labels", "seed"]
    known = ours.set_index(key).index
    rows = rows[
        rows["method"].isin(("RED-SVM", "TOR", *OURS)) & rows.set_index(key).index.isin(known)
    ]
    if figure == "fig12":  # TORCV has no labels from before its swaps
        gains = _gains(rows)
        mine = gains[gains["method"] == "TOR, optimal swaps"]
        return _falls(mine.assign(method=mine["dataset"]), _read(mine), "labels", "labels")
    if figure == "fig7":
        return [Panel(rows, NAMES[e], "setting", e, NAMES[e], "p") for e in ("zero_one", "mae")]
    if figure == "fig8":
        return _falls(_gains(rows), ("zero_one", "mae"), "setting", "p")
    return _by_set(figure, rows)


def _read(rows: pd.DataFrame) -> list[str]:
    """The errors to draw; the absolute error of reviews both in stars and in ranks."""
    return [e for e in NAMES if e in rows and rows[e].notna().any()]


def _by_set(figure: str, rows: pd.DataFrame) -> list[Panel]:
    """A panel for each data set; absolute errors of reviews in both readings."""
    known = BENCHMARK if figure in ("fig5", "fig6") else SENTIMENT
    names = [n for n in known if n in set(rows["dataset"])]
    if figure != "fig11":
        error = "zero_one" if figure in ("fig5", "fig10") else "mae"
        return [
            Panel(rows[rows["dataset"] == n], n, "labels", error, NAMES[error], "labels")
            for n in names
        ]
    units = [("mae", "stars")] + [("rank_mae", "ranks")] * ("rank_mae" in _read(rows))
    return [
        Panel(rows[rows["dataset"] == n], f"{n}, in {unit}", "labels", e, NAMES["mae"], "labels")
        for e, unit in units
        for n in names
    ]


def _gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Results with the decrease of the errors since TOR's initialisation, where it is known."""
    key = ["dataset", "labels", "seed", "setting"]
    start = [f"initial_{e}" for e in NAMES if f"initial_{e}" in rows]
    initial = rows[rows["method"] == "TOR"][key + start]
    joined = rows.drop(columns=start).merge(initial, on=key)
    falls = {
        f"gain_{e}": joined[f"initial_{e}"] - joined[e] for e in NAMES if f"initial_{e}" in joined
    }
    return joined.assign(**falls)


def _falls(rows: pd.DataFrame, errors: Sequence[str], x: str, x_label: str) -> list[Panel]:
    return [
        Panel(rows, NAMES[e], x, f"gain_{e}", f"fall of {NAMES[e]}", x_label, zero=True)
        for e in errors
    ]
