"""``tordinal reproduce`` on small generated data."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from commands import run
from matplotlib import image as mpl_image
from problems import study_results
from typer.testing import CliRunner

from tordinal.cli.main import app
from tordinal.experiments import methods
from tordinal.experiments.table import ResultTable, alone_in

# The runs here choose from fewer values of C in fewer folds, and are much shorter for it.
FEWER = {"C_GRID": (0.1, 1.0), "N_SPLITS": 2}
# Progress is a line now and then where there is no terminal; here every run that is done is one.
TELLING_ALL = f"""
from tordinal.cli import main, session
from tordinal.experiments import methods
session.LINE_EVERY = 0.0
vars(methods).update({FEWER})
main()
"""


@pytest.fixture
def short_runs(monkeypatch):
    """Short runs of the study in this process."""
    for name, value in FEWER.items():
        monkeypatch.setattr(methods, name, value)


def assert_drawn(path):
    """Both files of a figure are pictures, and not empty ones."""
    pixels = mpl_image.imread(path.with_suffix(".png"))
    assert min(pixels.shape[:2]) > 300
    colours = np.round(255 * pixels.astype(float)) @ 256.0 ** np.arange(pixels.shape[-1])
    assert len(np.unique(colours)) > 10
    root = ET.parse(path.with_suffix(".svg")).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    lines = [g for g in root.iter() if g.get("id", "").startswith("LineCollection_")]
    assert lines


@pytest.mark.usefixtures("short_runs")
def test_a_killed_run_goes_on_where_it_was(tmp_path, amazon_home):
    out = tmp_path / "study"
    arguments = [
        "reproduce",
        "fig10",
        "--realizations",
        "2",
        "--labels",
        "100",
        "--datasets",
        "books",
        "--data",
        str(amazon_home),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", TELLING_ALL, *arguments, "--out", str(out)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    for line in process.stderr:
        if line.startswith(b"2/6 running"):
            break
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    table = ResultTable(out / "results.jsonl")
    before = {json.dumps(row) for row in table.rows()}
    assert 2 <= len(before) < 6
    result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert f"{6 - len(before)} are missing" in " ".join(result.output.split())
    after = [json.dumps(row) for row in table.rows()]
    assert before <= set(after)
    assert len(after) == len(table.keys()) == 6
    assert sorted(os.listdir(out)) == ["fig10.png", "fig10.svg", "results.jsonl"]
    assert_drawn(out / "fig10")
    again = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert "0 are missing" in " ".join(again.output.split())


def test_bad_options_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    for arguments, message in (
        (["fig10", "--labels", "many"], "whole numbers"),
        (["fig10", "--labels", "500"], "between 10 and 400"),
        (["fig12", "--labels", "5000"], "between 10 and 1000"),
        (["fig7", "--labels", "100"], "fig7 has a fixed number of labels"),
        (
            ["fig10", "--datasets", "cars"],
            "no such dataset here; there are books, dvd, electronics, kitchen",
        ),
        (["fig9", "--datasets", "kitchen"], "there are bank, census"),
        (["fig10", "--datasets", ","], "no such dataset"),
        (["fig10", "--jobs", "0"], "--jobs 0"),
        (["fig10", "--engine", "cuda"], "--engine cuda needs CuPy"),
        (["claims"], "no results yet"),
        (["fig10", "--data", str(tmp_path / "none")], "no such folder"),
    ):
        result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.split())


def write_results(out, results):
    out.mkdir()
    with (out / "results.jsonl").open("w") as file:
        for row in results.to_dict("records"):
            file.write(json.dumps({k: None if v != v else v for k, v in row.items()}) + "\n")


def test_claims_are_read_from_results_of_another_version(tmp_path):
    out = tmp_path / "out"
    write_results(out, study_results().assign(version="0.0.1", commit="a1"))
    run("reproduce", "claims", "--out", out)
    assert sorted(os.listdir(out)) == ["claims.md", "results.jsonl"]
    assert "(tordinal 0.0.1 (a1))" in (out / "claims.md").read_text()


def test_all_draws_what_there_is_and_says_what_is_missing(tmp_path):
    out = tmp_path / "out"
    results = study_results(studies=("sentiment", "swapping"), realizations=1, ours=False)
    write_results(out, results[results["dataset"].isin(["books", "dvd"])])
    arguments = ["all", "--realizations", "1", "--labels", "100", "--datasets", "books,dvd"]
    said = run("reproduce", *arguments, "--out", out).output
    assert "8 runs are needed, 0 are missing" in said
    drawn = ("fig10", "fig11", "fig12")
    assert sorted(os.listdir(out)) == sorted(
        ["claims.md", "results.jsonl", *(f"{f}.{kind}" for f in drawn for kind in ("png", "svg"))]
    )
    for figure in drawn:
        assert_drawn(out / figure)
        assert f"{out / figure}.png" in said
        assert f"{out / figure}.svg" in said
    for figure in ("fig10", "fig11"):
        text = (out / f"{figure}.svg").read_text()
        assert "books" in text
        assert "(1 realisation)<" in text
        assert "dvd" in text
        assert "kitchen" not in text
    assert "No results yet for fig5, fig6, fig7, fig8, fig9\n" in said
    assert (
        f"from {len(ResultTable(out / 'results.jsonl').keys()):,} results"
        in (out / "claims.md").read_text()
    )


@pytest.mark.usefixtures("short_runs")
def test_a_run_that_cannot_be_done_is_named_and_the_results_before_it_are_kept(
    tmp_path, amazon_home
):
    arguments = [
        "reproduce",
        "all",
        "--realizations",
        "1",
        "--labels",
        "100",
        "--datasets",
        "books",
    ]
    result = CliRunner().invoke(
        app, [*arguments, "--data", str(amazon_home), "--out", str(tmp_path / "out")]
    )
    # Fig. 12 holds 1,000 rows back for labels, and these files have fewer.
    assert result.exit_code == 2
    assert "books has " in result.output
    assert "too few for 100 labels" in " ".join(result.output.split())
    assert os.listdir(tmp_path / "out") == ["results.jsonl"]
    done = ResultTable(tmp_path / "out" / "results.jsonl").frame()
    assert set(done["method"]) == {"RED-SVM", "M-TSVM", "TOR"}
    assert set(done["study"]) == {"sentiment"}
    result = CliRunner().invoke(app, [*arguments[:1], "claims", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "claims.md").read_text().startswith("# The paper's claims")


def test_lines_that_are_no_results_are_excluded_and_named(tmp_path):
    rows = study_results(studies=("sentiment",), realizations=5, ours=False).to_dict("records")
    lines = [json.dumps({k: None if v != v else v for k, v in row.items()}) for row in rows]
    good = json.loads(lines[0])
    bad = [
        "{",
        "[]",
        json.dumps(good | {"study": ["a"]}),
        json.dumps(good | {"labels": "100"}),
        json.dumps(good | {"mae": None}),
        json.dumps(good | {"zero_one": "bad"}),
        json.dumps(good | {"trainings": "many"}),
    ]
    (tmp_path / "results.jsonl").write_text("\n".join([*bad, *lines]) + "\n")
    result = CliRunner().invoke(app, ["reproduce", "claims", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "were skipped: 1, 2, 3, 4, 5, 6, 7" in result.output
    assert f"from {len(lines):,} results" in (tmp_path / "claims.md").read_text()
    assert sorted(os.listdir(tmp_path)) == ["claims.md", "results.jsonl"]


def test_two_runs_do_not_share_a_folder(tmp_path):
    with alone_in(tmp_path):
        result = CliRunner().invoke(app, ["reproduce", "claims", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "another run is writing to" in result.output
    with pytest.raises(KeyboardInterrupt), alone_in(tmp_path):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_used_is_rejected_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("x")
    result = CliRunner().invoke(app, ["reproduce", "fig7", "--out", str(tmp_path / "file" / "sub")])
    assert result.exit_code == 2
    assert "running" not in result.output


@pytest.mark.usefixtures("short_runs")
def test_random_results_are_run_again_and_compared(tmp_path, amazon_home):
    shared = ["reproduce", "fig10", "--data", amazon_home, "--out", tmp_path]
    run(*shared, "--realizations", "1", "--labels", "100", "--datasets", "books")
    said = run(*shared, "--check", "2").output
    assert "2 random results" in said
    assert "2 have the same errors to the last bit" in said
    table = ResultTable(tmp_path / "results.jsonl")
    changed = [{**row, "mae": row["mae"] + 0.25} for row in table.rows()]
    table.path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    said = run(*shared, "--check", "2").output
    assert "0 have the same errors" in said
    assert "at most 0.2500" in said
    page = (tmp_path / "check.md").read_text()
    assert page.count("| sentiment, books") == 2
    said = run("reproduce", "fig7", "--out", tmp_path, "--check", "2", code=2).output
    assert "has no results of these figures" in said


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc")
def test_workers_end_with_a_killed_parent(tmp_path, amazon_home):
    arguments = ["reproduce", "fig10", "--realizations", "20", "--datasets", "books"]
    arguments += ["--jobs", "2", "--data", str(amazon_home), "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", TELLING_ALL, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    for line in process.stderr:
        if line.startswith(b"1/"):
            break
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert children
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(_computes(pid) for pid in children):
        time.sleep(0.1)
    assert not any(_computes(pid) for pid in children)
    process.stderr.close()


def _computes(pid):
    """Whether a process of joblib is still there."""
    try:
        return b"joblib" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
