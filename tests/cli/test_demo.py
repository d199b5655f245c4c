import pandas as pd
from typer.testing import CliRunner

from tordinal.cli.main import app


def test_demo_grades_the_hidden_rows_and_says_where(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    assert "TOR" in result.output
    assert "RED-SVM" in result.output
    table = pd.read_csv(tmp_path / "demo" / "diabetes.csv")
    graded = pd.read_csv(tmp_path / "demo" / "diabetes-graded.csv")
    assert table["grade"].notna().sum() == 60
    assert graded["grade_tor"].isin([1, 2, 3, 4, 5]).all()
    known = table["grade"].notna()
    assert (graded.loc[known, "grade_tor"] == table.loc[known, "grade"]).all()
