"""Running what is missing."""

from tordinal.experiments import methods
from tordinal.experiments.cells import Cell
from tordinal.experiments.study import missing_cells, run_study
from tordinal.experiments.table import ResultTable


def test_what_is_known_is_not_run_again(tmp_path, amazon_home, monkeypatch):
    monkeypatch.setattr(methods, "C_GRID", (1.0,))
    wanted = [Cell("sentiment", "books", "RED-SVM", n, 0) for n in (100, 150)]
    assert run_study(wanted[:1], tmp_path, data_home=str(amazon_home)) == 1
    assert missing_cells([*wanted, *wanted], ResultTable(tmp_path / "results.jsonl")) == wanted[1:]
    assert run_study(wanted, tmp_path, data_home=str(amazon_home)) == 1
    assert run_study(wanted, tmp_path, data_home=str(amazon_home)) == 0
