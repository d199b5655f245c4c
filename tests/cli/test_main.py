import os
import re
import subprocess
import sys

from commands import run
from typer.testing import CliRunner

import tordinal
from tordinal.cli.main import FigureName, Method, app
from tordinal.experiments.cells import FIGURES
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES


def test_choices_of_the_command_are_those_of_the_library():
    said = " ".join(run("label", "--help").output.split())
    for name in (*KERNELS, *LOSSES):
        assert name in said or name == "precomputed"
    assert {k.value for k in FigureName} == {*FIGURES, "claims", "all"}


def test_help_reads_like_a_manual_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv[1:] = ['label', '--help']\nfrom tordinal.cli import main\n"
        "try: main()\nexcept SystemExit: "
        "print([m for m in ('numpy', 'sklearn', 'numba', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.stdout.rstrip().endswith("[]")
    for option in (
        "--target",
        "--text",
        "--columns",
        "--drop",
        "--order",
        "--method",
        "--report",
        "--model",
        "--seed",
    ):
        assert option in done.stdout


def test_the_version_is_that_of_the_library():
    assert run("--version").output == f"tordinal {tordinal.__version__}\n"


def test_without_a_command_the_help_is_shown():
    said = CliRunner().invoke(app, []).output
    for name in ("label", "predict", "inspect", "reproduce", "demo"):
        assert re.search(rf"^\W*{name}\s", said, flags=re.MULTILINE), name


def test_a_choice_that_there_is_not_is_refused_with_those_that_there_are():
    said = run("label", "in.csv", "--target", "t", "-o", "o.csv", "--method", "svm", code=2).output
    for method in Method:
        assert method.value in said
    assert "Traceback" not in said


def test_each_command_refuses_with_status_2_and_no_traceback(tmp_path):
    absent = tmp_path / "absent"
    (tmp_path / "file").touch()
    for arguments in (
        ["label", absent, "--target", "t", "-o", tmp_path / "o.csv"],
        ["predict", absent, absent, "-o", tmp_path / "o.csv"],
        ["inspect", absent],
        ["reproduce", "fig7", "--jobs", "0", "--out", tmp_path / "study"],
        ["demo", "--out", tmp_path / "file" / "sub"],
    ):
        said = run(*arguments, code=2).output
        assert "Error" in said, arguments
        assert "Traceback" not in said
    assert os.listdir(tmp_path) == ["file"]
