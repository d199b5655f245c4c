"""Which runs a figure needs, and one of them."""

import json

from emulated import EmulatedDevice, use_instead_of_a_gpu

from tordinal.experiments import cells, methods
from tordinal.experiments.cells import Cell, cells_of, run_cell
from tordinal.experiments.table import KEY


def test_figures_name_their_runs():
    assert len(list(cells_of("fig5", realizations=20))) == 20 * 4 * 7 * 5
    assert list(cells_of("fig5", realizations=2)) == list(cells_of("fig6", realizations=2))
    assert {c.setting for c in cells_of("fig7", realizations=1)} == {
        round(0.1 * k, 1) for k in range(10)
    }
    assert len(list(cells_of("fig9", realizations=1))) == 2 * 7 * 2
    assert {c.dataset for c in cells_of("fig10", realizations=1, datasets=("dvd",))} == {"dvd"}
    assert max(c.labels for c in cells_of("fig12", realizations=1)) == 1000
    assert {c.method for c in cells_of("fig10", realizations=1, ours=True)} >= {
        "TORCV",
        "TOR, optimal swaps",
    }


def test_a_cell_is_repeatable_and_complete(amazon_home, monkeypatch):
    monkeypatch.setattr(methods, "C_GRID", (0.1, 1.0))
    cell = Cell("sentiment", "books", "TOR", 100, 0)
    one, two = (run_cell(cell, str(amazon_home)) for _ in range(2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}
    for name in (
        *KEY,
        "C1",
        "zero_one",
        "mae",
        "trainings",
        "swaps",
        "seconds",
        "engine",
        "version",
        "initial_mae",
    ):
        assert name in one
    assert one["C1"] in (0.1, 1.0)
    assert json.loads(json.dumps(one)) == one


def test_a_cell_on_a_gpu_has_the_errors_of_the_host(amazon_home, monkeypatch):
    use_instead_of_a_gpu(monkeypatch, EmulatedDevice())
    monkeypatch.setattr(methods, "C_GRID", (1.0,))
    monkeypatch.setattr(methods, "N_SPLITS", 2)
    cell = Cell("sentiment", "books", "TOR", 100, 0)
    host, cuda = (run_cell(cell, str(amazon_home), engine) for engine in ("host", "cuda"))
    assert (host["engine"], cuda["engine"]) == ("host", "cuda")
    assert abs(host["mae"] - cuda["mae"]) < 0.02


def test_one_cell_of_the_real_reviews(shared_data, tmp_path):
    result = run_cell(Cell("sentiment", "kitchen", "RED-SVM", 100, 0), str(shared_data))
    assert result["unlabeled"] == 1600
    assert 0.2 < result["zero_one"] < 0.8
    assert cells.load("kitchen", str(shared_data))[0].shape[0] == 2000
