"""The figures of the study, drawn from the table of results alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd

from tordinal.experiments.cells import BENCHMARK, FIGURES, REALIZATIONS, SENTIMENT
from tordinal.experiments.methods import OURS
from tordinal.tables.outputs import Outputs

__all__ = ["draw_figure"]

# Colours that colour-blind eyes tell apart (Okabe and Ito), with markers and dashes for print.
STYLE: dict[str, dict[str, Any]] = {
    "SVOR-EXC": {"color": "#E69F00", "marker": "^", "linestyle": "--"},
    "SVOR-IMC": {"color": "#CC79A7", "marker": "v", "linestyle": "--"},
    "RED-SVM": {"color": "#56B4E9", "marker": "s", "linestyle": "-."},
    "M-TSVM": {"color": "#009E73", "marker": "D", "linestyle": ":"},
    "TOR": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "TOR, optimal swaps": {"color": "#7F7F7F", "marker": "P", "linestyle": "-"},
    "TORCV": {"color": "#000000", "marker": "*", "linestyle": "-"},
}
NAMES = {"zero_one": "mean zero-one error", "mae": "mean absolute error"}
TITLES = {
    "fig5": "Fig. 5: mean zero-one error on the benchmark sets",
    "fig6": "Fig. 6: mean absolute error on the benchmark sets",
    "fig7": "Fig. 7: RED-SVM with the labelled class distribution (TOR's initialisation) "
    "on Algorithm 3's data",
    "fig8": "Fig. 8: improvement of TOR over its initialisation on Algorithm 3's data",
    "fig9": "Fig. 9: mean zero-one error against C1, 400 labels",
    "fig10": "Fig. 10: mean zero-one error on the sentiment sets",
    "fig11": "Fig. 11: mean absolute error on the sentiment sets",
    "fig12": "Fig. 12: improvement of TOR over its initialisation, and SVM trainings",
}
NARROWEST = 6.8  # inches of a figure at least
LETTERS, ENTRY = 12, 1.7  # letters of a title in an inch, and inches of an entry of the legend
DODGE = 0.12  # of the distance between two x, so that error bars do not hide each other


@dataclass
class Panel:
    """One panel: a line per method with the means, and standard deviations as bars.

    Attributes
    ----------
    rows : DataFrame
        Results to draw.
    title : str
        What stands above it; the number of realisations is added.
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
        axis.set_title(f"{self.title}, {count} realisation{'' if count == 1 else 's'}", fontsize=10)
        axis.set_xlabel(self.x_label)
        axis.set_ylabel(self.label)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)


def draw_figure(figure: str, results: pd.DataFrame, out: Path) -> list[Path]:
    """Draw a figure as PNG and SVG.

    The paper's panels come first, and below them those of the methods beyond it, if there are any.

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
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = results[results["study"] == FIGURES[figure]]
    grid = [line for line in (_paper(figure, rows), *_ours(figure, rows)) if line]
    if not grid:
        raise ValueError(f"there are no results for {figure} yet; run: tordinal reproduce {figure}")
    remarks = _remarks(figure, grid)
    columns = {4: 2}.get(max(map(len, grid)), max(map(len, grid)))  # four panels make a square
    grid = [line[i : i + columns] for line in grid for i in range(0, len(line), columns)]
    width = max(3.4 * columns, NARROWEST)
    canvas = Figure(figsize=(width, 0.5 + 3.0 * len(grid)), layout="constrained")
    axes = canvas.subplots(len(grid), columns, squeeze=False)
    for line, panels in zip(axes, grid, strict=True):
        for axis, panel in zip(line, panels, strict=False):
            panel.draw(axis)
        for axis in line[len(panels) :]:
            axis.set_visible(False)
    handles = {
        label: handle
        for axis in axes.flat
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    canvas.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles), int(width / ENTRY)),
        frameon=False,
    )
    said = [
        line for text in (TITLES[figure], *remarks) for line in wrap(text, int(LETTERS * width))
    ]
    canvas.suptitle("\n".join(said), fontsize=10)
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{figure}.png", out / f"{figure}.svg"]
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


def _remarks(figure: str, grid: list[list[Panel]]) -> list[str]:
    """What must be said on the picture: the edition of the reviews, and how to complete it."""
    reviews = (
        "; Amazon reviews: unprocessed edition"
        if FIGURES[figure] in ("sentiment", "swapping")
        else ""
    )
    ours = len(grid) > 1
    said = [f"bars: one standard deviation{reviews}"]
    if ours:
        said.append("below, ours: beyond the paper")
    if min(panel.realisations() for line in grid for panel in line) < REALIZATIONS:
        said.append(f"where there are fewer than {REALIZATIONS} realisations, complete them with")
        said.append(
            f"tordinal reproduce {figure}{' --ours' if ours else ''} --realizations {REALIZATIONS}"
        )
    return said


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
        return _falls(_gains(rows), "ab", "setting", "p")
    if figure == "fig12":
        return _swapping(_gains(rows), "abc")
    return _by_set(figure, rows)


def _ours(figure: str, rows: pd.DataFrame) -> list[list[Panel]]:
    """Panels of the methods beyond the paper, beside RED-SVM and TOR on the same realisations."""
    ours = rows[rows["method"].isin(OURS)]
    if len(ours) == 0 or figure == "fig9":
        return []
    key = ["dataset", "labels", "seed"]
    known = ours.set_index(key).index
    rows = rows[
        rows["method"].isin(("RED-SVM", "TOR", *OURS)) & rows.set_index(key).index.isin(known)
    ]
    if figure == "fig12":
        gains = _gains(rows)
        lines = zip(OURS, ("def", "gh"), strict=True)
        return [
            _swapping(gains[gains["method"] == m], names, m + ", ")
            for m, names in lines
            if m in set(gains["method"])
        ]
    if figure == "fig7":
        panels = [
            Panel(rows, f"({x})", "setting", e, NAMES[e], "p")
            for x, e in zip("cd", NAMES, strict=True)
        ]
    elif figure == "fig8":
        panels = _falls(_gains(rows), "cd", "setting", "p")
    else:
        panels = _by_set(figure, rows)
    return [[replace(panel, title=f"{panel.title}, ours") for panel in panels]]


def _by_set(figure: str, rows: pd.DataFrame) -> list[Panel]:
    error = "zero_one" if figure in ("fig5", "fig10") else "mae"
    names = BENCHMARK if figure in ("fig5", "fig6") else SENTIMENT
    return [
        Panel(rows[rows["dataset"] == n], n, "labels", error, NAMES[error], "labels")
        for n in names
        if n in set(rows["dataset"])
    ]


def _gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Results with the fall of both errors since TOR's initialisation, where that is known."""
    key = ["dataset", "labels", "seed", "setting"]
    start = [f"initial_{e}" for e in NAMES]
    initial = rows[rows["method"] == "TOR"][key + start]
    joined = rows.drop(columns=start).merge(initial, on=key)
    return joined.assign(**{f"gain_{e}": joined[f"initial_{e}"] - joined[e] for e in NAMES})


def _falls(
    rows: pd.DataFrame, names: Sequence[str], x: str, x_label: str, prefix: str = ""
) -> list[Panel]:
    return [
        Panel(rows, f"{prefix}({name})", x, f"gain_{e}", f"fall of {NAMES[e]}", x_label, zero=True)
        for name, e in zip(names, NAMES, strict=False)
    ]


def _swapping(rows: pd.DataFrame, names: Sequence[str], prefix: str = "") -> list[Panel]:
    """The panels of Fig. 12 for one method, a line per data set."""
    rows = rows.assign(method=rows["dataset"])
    panels = _falls(rows, names, "labels", "labels", prefix)
    if len(names) > 2:
        panels.append(
            Panel(rows, f"{prefix}({names[2]})", "labels", "trainings", "SVM trainings", "labels")
        )
    return panels
