"""The figures of the study, drawn from the table of results alone."""

from pathlib import Path
from typing import Any

import pandas as pd

from tordinal.experiments.cells import BENCHMARK, FIGURES, SENTIMENT
from tordinal.experiments.methods import OURS

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


def draw_figure(figure: str, results: pd.DataFrame, out: Path) -> list[Path]:
    """Draw a figure as PNG and SVG.

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
    if len(rows) == 0:
        raise ValueError(f"there are no results for {figure} yet; run: tordinal reproduce {figure}")
    panels = _panels(figure, rows)
    columns = min(len(panels), 4 if len(panels) != 2 else 2)
    canvas = Figure(figsize=(3.4 * columns, 3.5), layout="constrained")
    axes = canvas.subplots(1, columns, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        panel(axis)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if handles:
        canvas.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(handles), 7), frameon=False
        )
    seeds = rows.groupby(["dataset", "method", "labels"])["seed"].nunique()
    count = f"{seeds.min()}" if seeds.min() == seeds.max() else f"{seeds.min()} to {seeds.max()}"
    edition = "; Amazon reviews: unprocessed edition" if FIGURES[figure] in ("sentiment", "swapping") else ""
    canvas.suptitle(f"{_title(figure)}\n{count} realisations{edition}", fontsize=10)
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{figure}.png", out / f"{figure}.svg"]
    with mpl.rc_context({"svg.hashsalt": "tordinal", "svg.fonttype": "none"}):
        canvas.savefig(paths[0], dpi=150, metadata={"Software": None})
        canvas.savefig(paths[1], metadata={"Date": None})
    return paths


def _title(figure: str) -> str:
    return {
        "fig5": "Fig. 5: mean zero-one error on the benchmark sets",
        "fig6": "Fig. 6: mean absolute error on the benchmark sets",
        "fig7": "Fig. 7: RED-SVM with the labelled class distribution (TOR's initialisation) on Algorithm 3's data",
        "fig8": "Fig. 8: improvement of TOR over its initialisation on Algorithm 3's data",
        "fig9": "Fig. 9: mean zero-one error against C1, 400 labels",
        "fig10": "Fig. 10: mean zero-one error on the sentiment sets",
        "fig11": "Fig. 11: mean absolute error on the sentiment sets",
        "fig12": "Fig. 12: improvement of TOR over its initialisation, and SVM trainings",
    }[figure]


def _panels(figure: str, rows: pd.DataFrame) -> list[Any]:
    """One function per panel, which draws it on an axis."""
    if figure in ("fig5", "fig6", "fig10", "fig11"):
        error = "zero_one" if figure in ("fig5", "fig10") else "mae"
        names = BENCHMARK if figure in ("fig5", "fig6") else SENTIMENT
        return [
            _lines(rows[rows["dataset"] == n], n, "labels", error, NAMES[error], "labels")
            for n in names
            if n in set(rows["dataset"])
        ]
    if figure == "fig9":
        return [
            _lines(rows[rows["dataset"] == n], n, "setting", "zero_one", NAMES["zero_one"], "C1", log=True)
            for n in ("bank", "census") if n in set(rows["dataset"])
        ]  # fmt: skip
    if figure == "fig7":
        initial = rows[rows["method"] == "TOR"].assign(method="RED-SVM")
        return [
            _lines(initial, f"({x})", "setting", f"initial_{e}", NAMES[e], "p")
            for x, e in (("a", "zero_one"), ("b", "mae"))
        ]
    gains = rows.assign(**{f"gain_{e}": rows[f"initial_{e}"] - rows[e] for e in NAMES})
    gains = gains[gains["initial_mae"].notna()]
    if figure == "fig8":
        return [
            _lines(gains, f"({x})", "setting", f"gain_{e}", f"fall of {NAMES[e]}", "p", zero=True)
            for x, e in (("a", "zero_one"), ("b", "mae"))
        ]  # fmt: skip
    named = gains[gains["method"] == "TOR"].assign(method=lambda r: r["dataset"])
    return [
        _lines(named, "(a)", "labels", "gain_zero_one", f"fall of {NAMES['zero_one']}", "labels", zero=True),
        _lines(named, "(b)", "labels", "gain_mae", f"fall of {NAMES['mae']}", "labels", zero=True),
        _lines(named, "(c)", "labels", "trainings", "SVM trainings", "labels"),
    ]


def _lines(
    rows: pd.DataFrame,
    title: str,
    x: str,
    value: str,
    label: str,
    x_label: str,
    *,
    log: bool = False,
    zero: bool = False,
) -> Any:
    """A panel with a line per method: means, and standard deviations as bars."""

    def draw(axis: Any) -> None:
        methods = [m for m in STYLE if m in set(rows["method"])] or sorted(set(rows["method"]))
        spare = list(STYLE.values())
        for place, method in enumerate(methods):
            group = rows[rows["method"] == method].groupby(x)[value]
            mean, deviation = group.mean(), group.std().fillna(0.0)
            style = STYLE.get(method, spare[place % len(spare)])
            axis.errorbar(
                mean.index, mean, yerr=deviation, label=method, capsize=2, markersize=5, linewidth=1.4, elinewidth=0.8,
                alpha=0.75 if method in OURS else 1.0, **style,
            )  # fmt: skip
        if log:
            axis.set_xscale("log")
        if zero:
            axis.axhline(0.0, color="black", linewidth=0.8)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(x_label)
        axis.set_ylabel(label)

    return draw
