import numpy as np
import pandas as pd
import pytest
from commands import run

N = 300


@pytest.fixture
def truth(tmp_path):
    """A table without ratings, and the ratings of all rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    grade = 1 + np.digitize(x[:, 0] + 0.4 * rng.normal(size=N), [-0.7, 0.7])
    pd.DataFrame(x, columns=["width", "height"]).to_csv(tmp_path / "t.csv", index=False)
    return grade


def fill(path, truth):
    form = pd.read_csv(path)
    form["grade"] = truth[form["row"] - 2]
    form.to_csv(path, index=False)
    return form


def test_several_rounds_from_no_ratings_to_a_rated_table(tmp_path, truth):
    table, forms = tmp_path / "t.csv", []
    before = table.read_bytes()
    for k in range(3):
        forms.append(tmp_path / f"round{k}.csv")
        given = [part for path in forms[:-1] for part in ("--filled", path)]
        order = [] if given else ["--order", "1,2,3"]
        said = run("next", table, "--target", "grade", "-n", "30", "-o", forms[-1], *given, *order)
        assert f"({30 * k} of 300 are rated so far)" in " ".join(said.output.split())
        fill(forms[-1], truth)
    rows = pd.concat(map(pd.read_csv, forms))["row"]
    assert rows.is_unique
    out = tmp_path / "rated.csv"
    given = [part for path in forms for part in ("--filled", path)]
    said = run("label", table, "--target", "grade", *given, "-o", out, "--method", "redsvm",
               env={"COLUMNS": "500"}).output  # fmt: skip
    assert "90 rated rows were drawn with recorded probabilities" in said
    assert "Ratings are weighted by the probabilities with which their rows were drawn." in said
    rated = pd.read_csv(out)
    assert (rated["grade_source"] == "given").sum() == 90
    assert np.abs(rated["grade_predicted"] - truth).mean() < 0.25
    assert table.read_bytes() == before


def test_a_form_that_was_filled_in_is_not_replaced(tmp_path, truth):
    table, form = tmp_path / "t.csv", tmp_path / "form.csv"
    command = ("next", table, "--target", "grade", "--order", "1,2,3", "-o", form)
    run(*command)
    run(*command)  # nothing is lost
    content = fill(form, truth)
    said = run(*command, code=2)
    assert "form.csv exists already" in " ".join(said.output.split())
    pd.testing.assert_frame_equal(pd.read_csv(form), content)
    said = run(*command, "--filled", form, "--force", code=2).output
    assert "form.csv" in said
    pd.testing.assert_frame_equal(pd.read_csv(form), content)


def test_the_scale_is_asked_for(tmp_path, truth):
    said = run("next", tmp_path / "t.csv", "--target", "grade", "-o", tmp_path / "f.csv", code=2)
    assert "--target grade: no such column" in " ".join(said.output.split())
    data = pd.read_csv(tmp_path / "t.csv").assign(grade="")
    data.to_csv(tmp_path / "e.csv", index=False)
    said = run("next", tmp_path / "e.csv", "--target", "grade", "-o", tmp_path / "f.csv", code=2)
    assert "with --order, such as 1,2,3,4,5" in " ".join(said.output.split())
    near = ("next", tmp_path / "e.csv", "--target", "grades", "--order", "1,2,3")
    said = run(*near, "-o", tmp_path / "f.csv", code=2)
    assert "did you mean 'grade'" in " ".join(said.output.split())
    assert not (tmp_path / "f.csv").exists()
    said = run("next", tmp_path / "t.csv", "--target", "grade", "-o", "-", code=2)
    assert "cannot go to standard output" in said.output


def test_ratings_in_a_table_of_their_own_are_read(tmp_path, truth):
    ratings = pd.DataFrame({"row": range(2, 42), "grade": truth[:40]})
    ratings.to_csv(tmp_path / "r.csv", index=False)
    form = tmp_path / "f.xlsx"
    said = run("next", tmp_path / "t.csv", "--target", "grade", "--ratings", tmp_path / "r.csv",
               "-o", form, "-n", "5").output  # fmt: skip
    assert "(40 of 300 are rated so far)" in " ".join(said.split())
    assert "random sample" in " ".join(said.split())
    assert (pd.read_excel(form)["row"] > 41).all()
