"""Figures from a made-up table of results."""

import pytest
from problems import study_results

from tordinal.experiments.cells import FIGURES
from tordinal.experiments.figures import draw_figure
from tordinal.experiments.table import KEY


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_drawn_from_the_table_alone(figure, tmp_path):
    for path in draw_figure(figure, study_results(), tmp_path):
        assert path.stat().st_size > 5_000
    text = (tmp_path / f"{figure}.svg").read_text()
    assert "5 realisations" in text
    assert ("unprocessed edition" in text) == (figure in ("fig10", "fig11", "fig12"))
    with pytest.raises(ValueError, match=f"tordinal reproduce {figure}"):
        draw_figure(figure, study_results(studies=()).reindex(columns=list(KEY)), tmp_path)


def test_methods_beyond_the_paper_are_drawn_apart(tmp_path):
    for figure in ("fig5", "fig7", "fig8", "fig10", "fig12"):
        draw_figure(figure, study_results(ours=False), tmp_path / "paper")
        draw_figure(figure, study_results(), tmp_path / "ours")
        paper, ours = (
            (tmp_path / name / f"{figure}.svg").read_text() for name in ("paper", "ours")
        )
        assert "beyond the paper" not in paper
        assert "below, ours: beyond the paper" in ours
        axes = [text.count('id="axes_') for text in (paper, ours)]
        assert axes[1] >= 2 * axes[0]


def test_a_picture_says_how_to_complete_it(tmp_path):
    table = study_results(studies=("benchmark",), realizations=20, ours=False)
    draw_figure("fig5", table, tmp_path)
    assert "complete them" not in (tmp_path / "fig5.svg").read_text()
    draw_figure("fig5", table[(table["dataset"] != "census") | (table["seed"] < 6)], tmp_path)
    text = (tmp_path / "fig5.svg").read_text()
    assert "census, 6 realisations" in text
    assert "bank, 20 realisations" in text
    assert "tordinal reproduce fig5 --realizations 20" in text
