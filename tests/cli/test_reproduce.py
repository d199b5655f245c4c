"""``tordinal reproduce`` on small generated data."""

import json
import os
import signal
import subprocess
import sys
import time

from typer.testing import CliRunner

from tordinal.cli.main import app
from tordinal.experiments.table import ResultTable


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
