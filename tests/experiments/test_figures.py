"""Figures from a made-up table of results."""

import re

import pytest
from problems import study_results

from tordinal.experiments.cells import FIGURES
from tordinal.experiments.figures import draw_figure, incomplete
from tordinal.experiments.table import KEY


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_drawn_from_the_table_alone(figure, tmp_path):
    results = study_results().assign(version="0.2.0", commit="a1")
    for path in draw_figure(figure, results, tmp_path):
        assert path.stat().st_size > 5_000
    text = (tmp_path / f"{figure}.svg").read_text()
    assert "5 realisations" in text
    assert "tordinal 0.2.0 (a1)" in text
    assert ("unprocessed edition" in text) == (figure in ("fig10", "fig11", "fig12"))
    with pytest.raises(ValueError, match=f"tordinal reproduce {figure}"):
        draw_figure(figure, study_results(studies=()).reindex(columns=list(KEY)), tmp_path)
    results.loc[results["seed"] == 3, "commit"] = "b2"
    draw_figure(figure, results, tmp_path)
    assert "MIXED: tordinal 0.2.0 (a1)" in (tmp_path / f"{figure}.svg").read_text()


def test_methods_beyond_the_paper_have_pictures_of_their_own(tmp_path):
    for figure in ("fig5", "fig7", "fig8", "fig10", "fig12"):
        paper = draw_figure(figure, study_results(ours=False), tmp_path / "paper")
        ours = draw_figure(figure, study_results(), tmp_path / "ours")
        assert [p.name for p in paper] == [f"{figure}.png", f"{figure}.svg"]
        assert [p.name for p in ours[2:]] == [f"{figure}-ours.png", f"{figure}-ours.svg"]
        assert "Beyond Fig." in ours[3].read_text()
        if figure in ("fig5", "fig10"):
            assert "TORCV" in ours[3].read_text()
            assert "TORCV" not in ours[1].read_text()


def test_panels_have_one_size_and_absolute_errors_of_reviews_two_readings(tmp_path):
    draw_figure("fig11", study_results(), tmp_path)
    text = (tmp_path / "fig11.svg").read_text()
    assert text.count('id="axes_') == 8
    assert text.count("in stars") == text.count("in ranks") == 4
    clips = re.findall(r'<rect x="[^"]+" y="[^"]+" width="([^"]+)" height="([^"]+)"/>', text)
    sizes = {(round(float(w)), round(float(h))) for w, h in clips}
    assert len(sizes) == 1
    assert text.count('id="legend_') == 1


def test_what_is_missing_is_said(tmp_path):
    table = study_results(studies=("benchmark",), realizations=20, ours=False)
    assert incomplete("fig5", table) == []
    few = table[(table["dataset"] != "census") | (table["seed"] < 6)]
    assert incomplete("fig5", few) == ["census: 6 of 20 realisations"]
    draw_figure("fig5", few, tmp_path)
    text = (tmp_path / "fig5.svg").read_text()
    assert "census (6 realisations)" in text
    assert "bank (" not in text
