"""Figures from a made-up table of results."""

import re

import pytest
from problems import study_results

from tordinal.experiments.cells import FIGURES
from tordinal.experiments.figures import draw_figure, incomplete
from tordinal.experiments.methods import OURS
from tordinal.experiments.table import KEY

PANELS = {"fig7": 2, "fig8": 2, "fig9": 2, "fig11": 8, "fig12": 4}  # of the others 4
BEYOND = set(FIGURES) - {"fig9"}  # those with methods beyond the paper


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_drawn_from_the_table_alone(figure, tmp_path):
    """Those of the paper, and of the methods beyond it, which are here known for one set only."""
    results = study_results().assign(version="0.2.0", commit="a1")
    first = results.loc[results["study"] == FIGURES[figure], "dataset"].iloc[0]
    known = (results["dataset"] == first) | ~results["method"].isin(OURS)
    paths = draw_figure(figure, results[known], tmp_path)
    names = [figure, *([f"{figure}-ours"] if figure in BEYOND else [])]
    assert [p.name for p in paths] == [f"{n}.{kind}" for n in names for kind in ("png", "svg")]
    for path in paths:
        assert path.stat().st_size > 5_000
    for path in paths[1::2]:
        text = path.read_text()
        assert "5 realisations" in text
        assert "tordinal 0.2.0 (a1)" in text
        assert ("unprocessed edition" in text) == (figure in ("fig10", "fig11", "fig12"))
        assert ("Beyond Fig." in text) == ("-ours" in path.name)
        assert ("optimal swaps" in text) == ("-ours" in path.name)
        # Panels have one size, and one legend.
        clips = re.findall(r'<rect x="[^"]+" y="[^"]+" width="([^"]+)" height="([^"]+)"/>', text)
        assert len({(round(float(w)), round(float(h))) for w, h in clips}) == 1
        assert text.count('id="legend_') == 1
    text = paths[1].read_text()
    assert text.count('id="axes_') == PANELS.get(figure, 4)
    if figure == "fig11":  # absolute errors of reviews are read twice
        assert text.count("in stars") == text.count("in ranks") == 4


@pytest.mark.parametrize("figure", FIGURES)
def test_what_made_the_results_is_reported(figure, tmp_path):
    """On a table of the paper's methods, which has no other picture."""
    results = study_results(studies=(FIGURES[figure],), ours=False, realizations=2)
    results = results[results["dataset"] == results["dataset"].iloc[0]].assign(version="0.2.0")
    results["commit"] = results["seed"].map({0: "a1", 1: "b2"})
    paths = draw_figure(figure, results, tmp_path)
    assert [p.name for p in paths] == [f"{figure}.png", f"{figure}.svg"]
    assert "MIXED: tordinal 0.2.0 (a1)" in paths[1].read_text()
    with pytest.raises(ValueError, match=f"tordinal reproduce {figure}"):
        draw_figure(figure, results[:0].reindex(columns=list(KEY)), tmp_path)


def test_what_is_missing_is_reported(tmp_path):
    table = study_results(studies=("benchmark",), realizations=20, ours=False)
    assert incomplete("fig5", table) == []
    few = table[(table["dataset"] != "census") | (table["seed"] < 6)]
    assert incomplete("fig5", few) == ["census: 6 of 20 realisations"]
    draw_figure("fig5", few[few["dataset"].isin(["bank", "census"])], tmp_path)
    text = (tmp_path / "fig5.svg").read_text()
    assert "census (6 realisations)" in text
    assert "bank (" not in text
