import pandas as pd
from typer.testing import CliRunner

from tordinal.cli.main import app


def test_demo_grades_the_hidden_rows_and_says_where(tmp_path):
    folder = tmp_path / "demo"
    result = CliRunner().invoke(app, ["demo", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    assert "Compared with the hidden grades" in result.output
    assert "report.html" in result.output
    table, graded = pd.read_csv(folder / "diabetes.csv"), pd.read_csv(folder / "graded.csv")
    known = table["grade"].notna()
    assert known.sum() == 60
    assert graded["grade_predicted"].isin([1, 2, 3, 4, 5]).all()
    assert (graded.loc[known, "grade_predicted"] == table.loc[known, "grade"]).all()
    assert (folder / "model.skops").exists()


def test_the_reviews_of_the_readme(tmp_path):
    path = tmp_path / "reviews.csv"
    result = CliRunner().invoke(app, ["demo", "--reviews", str(path)])
    assert result.exit_code == 0, result.output
    assert "tordinal label" in result.output
    table = pd.read_csv(path)
    assert list(table.columns) == ["product", "review", "stars"]
    assert table["stars"].notna().sum() == 60
    assert len(table) == 300
    again = CliRunner().invoke(app, ["demo", "--reviews", str(path)])
    assert again.exit_code == 2
    assert "exists already" in again.output
