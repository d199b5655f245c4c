"""``tordinal reproduce`` on small generated data."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from problems import study_results
from typer.testing import CliRunner

from tordinal.cli.main import app
from tordinal.experiments.table import ResultTable, alone_in


def test_a_killed_run_goes_on_where_it_was(tmp_path, amazon_home):
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
        str(amazon_home),
    ]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from tordinal.cli import main; main()",
            *arguments,
            "--out",
            str(out),
            "--quiet",
        ]
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


def test_bad_options_are_refused(tmp_path):
    for arguments, message in (
        (["fig10", "--labels", "many"], "whole numbers"),
        (["fig10", "--labels", "500"], "between 10 and 400"),
        (["fig12", "--labels", "5000"], "between 10 and 1000"),
        (["fig7", "--labels", "100"], "fig7 has a fixed number of labels"),
        (
            ["fig10", "--datasets", "cars"],
            "no such data set here; there are books, dvd, electronics, kitchen",
        ),
        (["fig9", "--datasets", "kitchen"], "there are bank, census"),
        (["fig10", "--datasets", ","], "no such data set"),
        (["fig10", "--jobs", "0"], "--jobs 0"),
        (["claims"], "no results yet"),
        (["fig10", "--data", str(tmp_path / "none")], "no such folder"),
    ):
        result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.split())


def test_all_draws_what_there_is_and_says_what_is_missing(tmp_path, amazon_home):
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
    # Fig. 12 holds 1,000 rows back for labels, and these files have 800.
    assert result.exit_code == 2
    assert "too few for 100 labels" in " ".join(result.output.split())
    result = CliRunner().invoke(app, [*arguments[:1], "claims", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "claims.md").read_text().startswith("# The paper's claims")


def test_lines_that_are_no_results_are_left_out_and_named(tmp_path):
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
    assert "left out: 1, 2, 3, 4, 5, 6, 7" in result.output
    assert f"from {len(lines):,} results" in (tmp_path / "claims.md").read_text()
    assert sorted(os.listdir(tmp_path)) == ["claims.md", "results.jsonl"]


def test_two_runs_do_not_share_a_folder(tmp_path):
    with alone_in(tmp_path):
        result = CliRunner().invoke(app, ["reproduce", "claims", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "another run is at work" in result.output
    with pytest.raises(KeyboardInterrupt), alone_in(tmp_path):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_used_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("x")
    result = CliRunner().invoke(app, ["reproduce", "fig7", "--out", str(tmp_path / "file" / "sub")])
    assert result.exit_code == 2
    assert "running" not in result.output
