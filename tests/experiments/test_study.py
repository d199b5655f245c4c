"""The study on small generated data: cells, the table, resuming, figures and claims."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tordinal.cli.main import app
from tordinal.datasets import make_reviews
from tordinal.experiments import cells, methods
from tordinal.experiments.cells import FIGURES, Cell, cells_of, run_cell
from tordinal.experiments.claims import CLAIMS, claims_page, judge
from tordinal.experiments.figures import draw_figure
from tordinal.experiments.methods import C_GRID, METHODS, choose_C, run_method
from tordinal.experiments.study import missing_cells, run_study
from tordinal.experiments.table import KEY, ResultTable


def results(studies=("benchmark", "synthetic", "sensitivity", "sentiment", "swapping"), realizations=5, ours=True):
    """A table in which TOR is best by a little."""
    rng = np.random.default_rng(0)
    rows = []
    for figure in FIGURES:
        for cell in cells_of(figure, realizations=realizations, ours=ours):
            if cell.study in studies:
                error = 0.5 - 0.1 * cell.method.startswith("TOR") + 0.02 * rng.random() - 1e-4 * cell.labels
                row = dict(
                    zip(KEY, cell.key, strict=True), zero_one=error, mae=1.5 * error, trainings=1000 - cell.labels
                )
                if cell.method.startswith("TOR,") or cell.method == "TOR":
                    place = 0.1 if cell.setting is None else cell.setting
                    gain = 0.1 - abs(place - 0.1) - 1e-5 * cell.labels
                    row |= {"initial_zero_one": error + gain, "initial_mae": 1.5 * error + gain}
                rows.append(row)
    return pd.DataFrame(rows).drop_duplicates(list(KEY))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Amazon-like files, small."""
    folder = tmp_path_factory.mktemp("data")
    for domain in ("books", "dvd"):
        (folder / "amazon" / domain).mkdir(parents=True)
        texts, stars = make_reviews(800, random_state=len(domain))
        for name, chosen in (("positive", stars > 3), ("negative", stars < 3)):
            reviews = [
                f"<review>\n<rating>\n{s}.0\n</rating>\n<title>\nx\n</title>\n<review_text>\n{t}\n</review_text>\n</review>\n"
                for t, s, c in zip(texts, stars, chosen, strict=True) if c
            ]  # fmt: skip
            (folder / "amazon" / domain / f"{name}.review").write_text(
                "<reviews>\n" + "".join(reviews) + "</reviews>\n"
            )
    return folder


def test_figures_name_their_runs():
    assert len(list(cells_of("fig5", realizations=20))) == 20 * 4 * 7 * 5
    assert list(cells_of("fig5", realizations=2)) == list(cells_of("fig6", realizations=2))
    assert {c.setting for c in cells_of("fig7", realizations=1)} == {round(0.1 * k, 1) for k in range(10)}
    assert len(list(cells_of("fig9", realizations=1))) == 2 * 7 * 2
    assert {c.dataset for c in cells_of("fig10", realizations=1, datasets=("dvd",))} == {"dvd"}
    assert max(c.labels for c in cells_of("fig12", realizations=1)) == 1000
    assert {c.method for c in cells_of("fig10", realizations=1, ours=True)} >= {"TORCV", "TOR, optimal swaps"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_labels_the_unlabelled_rows(name, monkeypatch):
    monkeypatch.setattr(methods, "C_GRID", (0.1, 1.0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = 1 + np.digitize(X[:, 0], [-0.5, 0.5])
    labeled, unlabeled = np.arange(40), np.arange(40, 120)
    C = choose_C(name, "linear", X, y, labeled, unlabeled, 0)
    assert np.isnan(C) if name == "TORCV" else C in (0.1, 1.0)
    outcome = run_method(name, C, "linear", X, y, labeled, unlabeled)
    assert np.mean(outcome.labels != y[unlabeled]) < 0.5
    # The labels of unlabelled rows are not looked at.
    hidden = y.copy()
    hidden[unlabeled] = 1
    np.testing.assert_array_equal(run_method(name, C, "linear", X, hidden, labeled, unlabeled).labels, outcome.labels)
    assert (outcome.initial is not None) == (name in ("TOR", "TOR, optimal swaps"))


def test_a_cell_is_repeatable_and_complete(home):
    cell = Cell("sentiment", "books", "TOR", 100, 0)
    one, two = (run_cell(cell, str(home)) for _ in range(2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}
    for name in (*KEY, "C1", "zero_one", "mae", "trainings", "swaps", "seconds", "version", "initial_mae"):
        assert name in one
    assert one["C1"] in C_GRID
    assert json.loads(json.dumps(one)) == one


def test_the_table_survives_a_cut_line(tmp_path):
    table = ResultTable(tmp_path / "results.jsonl")
    row = dict(zip(KEY, ("sentiment", "books", "TOR", 100, 0, None), strict=True), zero_one=0.5, mae=0.7)
    table.append(row)
    with table.path.open("ab") as file:
        file.write(b'{"study": "sentiment", "dataset"')  # as a kill in the middle of a line leaves it
    assert len(table.keys()) == 1
    table.append({**row, "seed": 1})
    assert len(table.keys()) == 2
    assert len(table.frame()) == 2


def test_what_is_known_is_not_run_again(tmp_path, home, monkeypatch):
    monkeypatch.setattr(methods, "C_GRID", (1.0,))
    wanted = [Cell("sentiment", "books", "RED-SVM", n, 0) for n in (100, 150)]
    assert run_study(wanted[:1], tmp_path, data_home=str(home)) == 1
    assert missing_cells([*wanted, *wanted], ResultTable(tmp_path / "results.jsonl")) == wanted[1:]
    assert run_study(wanted, tmp_path, data_home=str(home)) == 1
    assert run_study(wanted, tmp_path, data_home=str(home)) == 0


def test_a_killed_run_goes_on_where_it_was(tmp_path, home):
    out = tmp_path / "study"
    arguments = [
        "reproduce",
        "fig10",
        "--realizations",
        "3",
        "--labels",
        "100",
        "--datasets",
        "books",
        "--data",
        str(home),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", "from tordinal.cli import main; main()", *arguments, "--out", str(out), "--quiet"]
    )
    table = ResultTable(out / "results.jsonl")
    while process.poll() is None and len(table.keys()) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {json.dumps(row) for row in table.rows()}
    assert 2 <= len(before) < 9
    result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert f"{9 - len(before)} are left to do" in " ".join(result.output.split())
    after = [json.dumps(row) for row in table.rows()]
    assert before <= set(after)
    assert len(after) == len(table.keys()) == 9
    assert sorted(os.listdir(out)) == ["fig10.png", "fig10.svg", "results.jsonl"]
    again = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert "0 are left to do" in " ".join(again.output.split())


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_drawn_from_the_table_alone(figure, tmp_path):
    for path in draw_figure(figure, results(), tmp_path):
        assert path.stat().st_size > 5_000
    text = (tmp_path / f"{figure}.svg").read_text()
    assert "5 realisations" in text
    assert ("unprocessed edition" in text) == (figure in ("fig10", "fig11", "fig12"))
    with pytest.raises(ValueError, match=f"tordinal reproduce {figure}"):
        draw_figure(figure, results(studies=()).reindex(columns=list(KEY)), tmp_path)


def test_every_claim_is_judged():
    found = {claim: finding.verdict for _, claim, finding in judge(results())}
    assert len(found) == len(CLAIMS) == 18
    assert found["TOR has the least zero-one error on every benchmark set"] == "holds"
    assert found["TOR is not the best in absolute error on the benchmark sets"] == "does not hold"
    assert found["On Algorithm 3's data the gain of TOR is largest near p = 0.1, and smaller at p = 0"] == "holds"
    assert found["TOR needs fewer trainings as labels grow"] == "holds"
    assert "not measured" not in found.values()
    page = claims_page(results())
    assert page.count("| VI-") == 18
    empty = judge(results(studies=("sentiment",)))
    assert sum(finding.verdict == "not measured" for _, _, finding in empty) == 14


def test_bad_options_are_refused(tmp_path):
    for arguments, message in (
        (["fig10", "--labels", "many"], "whole numbers"),
        (["fig10", "--labels", "5000"], "between 10 and 1000"),
        (["fig10", "--datasets", "cars"], "no such data set"),
        (["claims"], "no results yet"),
        (["fig10", "--realizations", "1", "--data", str(tmp_path / "none")], "could not be downloaded"),
    ):
        result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.split())


def test_one_cell_of_the_real_reviews(shared_data, tmp_path):
    result = run_cell(Cell("sentiment", "kitchen", "RED-SVM", 100, 0), str(shared_data))
    assert result["unlabeled"] == 1600
    assert 0.2 < result["zero_one"] < 0.8
    assert cells.load("kitchen", str(shared_data))[0].shape[0] == 2000
