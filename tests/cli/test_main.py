import os
import re

from commands import run
from typer.testing import CliRunner

import tordinal
from tordinal.cli.main import FigureName, app
from tordinal.experiments.cells import FIGURES


def test_every_figure_of_the_study_can_be_reproduced():
    assert {k.value for k in FigureName} == {*FIGURES, "claims", "all"}


def test_the_version_is_that_of_the_library():
    assert run("--version").output == f"tordinal {tordinal.__version__}\n"


def test_without_a_command_the_help_is_shown():
    said = CliRunner().invoke(app, []).output
    for name in ("label", "predict", "inspect", "reproduce", "demo"):
        assert re.search(rf"^\W*{name}\s", said, flags=re.MULTILINE), name


def test_flags_have_no_type_in_the_help():
    for command in ([], ["label"], ["studio"], ["predict"]):
        said = CliRunner().invoke(app, [*command, "--help"]).output
        assert re.search(r"--help\b.*Show this message", said)
        assert "bool" not in said.lower(), command


def test_each_command_rejects_with_status_2_and_no_traceback(tmp_path):
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
