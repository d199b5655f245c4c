"""``tordinal predict`` and ``inspect`` through the real command."""

import csv
import io
import os

import numpy as np
import pandas as pd
import pytest
from commands import FAST, STARS, TEXTS, command, frame, run

from tordinal.datasets import make_reviews


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A saved model that rates by the reviews alone."""
    folder = tmp_path_factory.mktemp("model")
    frame()[["review", "stars"]].to_csv(folder / "in.csv", index=False)
    run(
        "label", folder / "in.csv", "--target", "stars", "-o", folder / "out.csv",
        "--model", folder / "m.skops", *FAST,
    )  # fmt: skip
    return folder / "m.skops"


def save_model(reviews, folder, *options):
    """Label the reviews and save the model."""
    run(
        "label", reviews, "--target", "stars", "-o", folder / "o.csv",
        "--model", folder / "m.skops", *options,
    )  # fmt: skip


@pytest.mark.parametrize("method", ["tor", "redsvm"])
def test_predict_gives_new_rows_what_the_model_in_memory_gives(reviews, tmp_path, method):
    from tordinal.tables.models import load_model

    save_model(reviews, tmp_path, "--method", method)
    texts, stars = make_reviews(40, random_state=9)
    new = pd.DataFrame({"review": texts, "price": 0.1, "shop": "south", "stars": stars})
    new.to_csv(tmp_path / "new.csv", index=False)
    said = run(
        "predict", tmp_path / "m.skops", tmp_path / "new.csv", "-o", tmp_path / "rated.csv"
    ).output
    assert "On 40 rated rows that are new to it" in said
    rated = pd.read_csv(tmp_path / "rated.csv", dtype=str)
    columns = {name: new[name].astype(str).tolist() for name in new}
    assert (
        rated["stars_predicted"].tolist() == load_model(str(tmp_path / "m.skops")).rate(columns)[0]
    )
    assert (rated["stars_source"] == "predicted").all()


def test_inspect_shows_what_a_model_is(reviews, tmp_path):
    save_model(reviews, tmp_path, *FAST)
    said = run("inspect", tmp_path / "m.skops", env={"COLUMNS": "200"}).output
    for expected in (
        "1 < 2 < 3 < 4 < 5",
        "thresholds",
        "TOR",
        "150 rows, 50 rated",
        "% wrong",
        "numba",
        "review",
    ):
        assert expected in said


def test_predict_knows_ratings_however_they_are_spelled(reviews, tmp_path):
    save_model(reviews, tmp_path, *FAST)
    new = frame().assign(stars=STARS.astype(float))
    new.to_csv(tmp_path / "new.csv", index=False)
    said = run(
        "predict", tmp_path / "m.skops", tmp_path / "new.csv", "-o", tmp_path / "r.csv"
    ).output
    assert "The model learned from 50 of the 150 rated rows" in said
    assert "On 100 rated rows that are new to it" in said


def test_every_row_is_predicted_and_what_was_there_is_unchanged(model, tmp_path):
    new = frame()[["id", "review", "stars"]]
    new.to_csv(tmp_path / "new.csv", index=False)
    said = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "r.csv").output
    assert "Rated 150 rows in" in said
    assert str(tmp_path / "r.csv") in said
    assert "The model learned from 50 of the 50 rated rows" in said
    assert "% wrong" not in said
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("new.csv", "r.csv"))
    assert all(b.startswith(a + ",") for a, b in zip(before, after, strict=True))
    rated = pd.read_csv(tmp_path / "r.csv")
    assert list(rated.columns[3:]) == ["stars_predicted", "stars_confidence", "stars_source"]
    assert rated["stars_predicted"].isin([1, 2, 3, 4, 5]).all()
    assert rated["stars_confidence"].between(0.2, 1).all()


def test_the_errors_shown_are_those_of_the_rated_rows(model, tmp_path):
    rated = tmp_path / "r.csv"
    pd.DataFrame({"review": TEXTS}).to_csv(tmp_path / "new.csv", index=False)
    assert "rated rows" not in run("predict", model, tmp_path / "new.csv", "-o", rated).output
    found = pd.read_csv(rated)["stars_predicted"]
    # The first ten as they will be predicted, ten one step off, and some that count for nothing.
    stars = [str(s) for s in found[:10]] + [str(s + 1 if s < 5 else 4) for s in found[10:20]]
    stars += ["", "N/A", "excellent", "9"] + [""] * 126
    pd.DataFrame({"review": TEXTS, "stars": stars}).to_csv(tmp_path / "new.csv", index=False)
    said = " ".join(run("predict", model, tmp_path / "new.csv", "-o", rated).output.split())
    # Every third row was learned from.
    assert "The model learned from 7 of the 20 rated rows" in said
    assert "On 13 rated rows that are new to it: 54 % wrong, off by 0.54 steps on average." in said


def test_predict_reads_and_writes_standard_streams_and_can_be_quiet(model):
    rows = frame()[["review"]].to_csv(index=False).encode()
    done = command("predict", model, "-", "-o", "-", "--quiet", input=rows)
    assert (done.returncode, done.stderr) == (0, b"")
    rated = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["review"] for row in rated] == TEXTS
    assert {row["stars_source"] for row in rated} == {"predicted"}


def test_predict_changes_the_format_and_knows_the_encoding(model, tmp_path):
    (tmp_path / "new.csv").write_bytes("review\ncafé awful\nexcellent café\n".encode("latin-1"))
    arguments = ["predict", model, tmp_path / "new.csv", "-o", tmp_path / "r.jsonl"]
    assert "is not UTF-8" in run(*arguments, code=2).output
    run(*arguments, "--encoding", "latin-1")
    rated = pd.read_json(tmp_path / "r.jsonl", lines=True)
    assert rated["review"].tolist() == ["café awful", "excellent café"]
    assert rated["stars_predicted"].is_monotonic_increasing


def test_bad_input_is_rejected_and_nothing_is_written(model, tmp_path):
    (tmp_path / "new.csv").write_text("review\nawful\n")
    (tmp_path / "other.csv").write_text("text\nawful\n")
    (tmp_path / "taken.csv").write_text("review,stars_source\nawful,x\n")
    (tmp_path / "no.skops").write_text("not a model")
    (tmp_path / "out.csv").write_text("before")
    copy = tmp_path / "model.csv"  # a model may have any name
    copy.write_bytes(model.read_bytes())
    listing = sorted(os.listdir(tmp_path))
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    for message, arguments in {
        "no column 'review'": [copy, tmp_path / "other.csv", "-o", out],
        "has a column 'stars_source' already": [copy, tmp_path / "taken.csv", "-o", out],
        "no.skops is not a tordinal model": [tmp_path / "no.skops", new, "-o", out],
        "absent.skops: cannot be read": [tmp_path / "absent.skops", new, "-o", out],
        "is the same file as MODEL": [copy, new, "-o", copy],
        "is the same file as FILE": [copy, new, "-o", new],
        "cannot tell the format": [copy, new, "-o", tmp_path / "out.docx"],
    }.items():
        said = " ".join(run("predict", *arguments, "--force", code=2).output.split())
        assert message in said, (message, said)
        assert out.read_text() == "before"
        assert copy.read_bytes() == model.read_bytes()
        assert sorted(os.listdir(tmp_path)) == listing


def test_inspect_rejects_what_is_no_model(tmp_path):
    (tmp_path / "no.skops").write_text("not a model")
    said = " ".join(run("inspect", tmp_path / "no.skops", code=2).output.split())
    assert "no.skops is not a tordinal model" in said


PAIN = np.array(["none", "mild", "moderate", "severe"])


def patients(n, seed):
    """Patients with an age, a laboratory value and a rating that follows from them."""
    rng = np.random.default_rng(seed)
    age, crp = rng.integers(20, 90, n), rng.lognormal(2, 1, n).round(2)
    rank = np.digitize((age - 55) / 20 + np.log(crp) - 2 + rng.normal(0, 0.3, n), [-1, 0, 1])
    return pd.DataFrame({"age": age.astype(str), "crp": crp, "pain": PAIN[rank]})


@pytest.fixture(scope="module")
def of_patients(tmp_path_factory):
    """A saved model that rates patients."""
    folder = tmp_path_factory.mktemp("patients")
    table = patients(400, 0)
    table.loc[table.index % 4 != 0, "pain"] = ""
    table.to_csv(folder / "in.csv", index=False)
    run(
        "label", folder / "in.csv", "--target", "pain", "-o", folder / "out.csv",
        "--model", folder / "m.skops", *FAST,
    )  # fmt: skip
    return folder / "m.skops"


def predicted(model, table, folder, *options):
    table.to_csv(folder / "new.csv", index=False)
    options = ["-o", folder / "rated.csv", "--force", *options]
    said = run("predict", model, folder / "new.csv", *options, env={"COLUMNS": "200"}).output
    return " ".join(said.split())


def test_a_sample_like_the_training_table_is_rated_without_a_warning(of_patients, tmp_path):
    said = predicted(of_patients, patients(300, 2), tmp_path, "--abstain", "0.9")
    assert "Warning" not in said
    assert "Note" not in said
    rated = pd.read_csv(tmp_path / "rated.csv", keep_default_na=False)
    counts = rated["pain_predicted"][rated["pain_source"] == "predicted"].value_counts()
    assert counts["none"] > 10
    assert "rating ┃ predicted ┃ given in training ┃ predicted in training" in said
    # Rows that are rated none are compared, too.
    assert "On 300 rated rows that are new to it: " in said


def test_columns_unlike_those_of_training_are_reported_with_counts(of_patients, tmp_path):
    new = patients(300, 1)[["age", "crp"]]
    said = predicted(of_patients, new.assign(age="n.d."), tmp_path)
    assert "Warning: 1 column differs from the training table (of 2 used)" in said
    assert "age: 300 of 300 cells cannot be read as numbers, such as 'n.d.' (300)" in said
    said = predicted(of_patients, new.assign(age=2026 - new["age"].astype(int)), tmp_path)
    assert "Warning: 100 % of the rows are predicted as 'severe'; in training" in said
    assert "age: 300 of 300 values are far above those of training (20 to 89)." in said
    said = predicted(of_patients, new.assign(crp=new["crp"] / 10), tmp_path)
    assert "of the values are at most" in said
    said = predicted(of_patients, new.assign(age="n.d."), tmp_path, "--quiet")
    assert said == ""


def test_a_model_of_an_earlier_version_predicts_and_says_less(of_patients, tmp_path):
    from tordinal.tables.models import dump_model, load_model

    old = load_model(str(of_patients))
    del old.encoder.training_
    del old.card["counts"]
    (tmp_path / "old.skops").write_bytes(dump_model(old))
    new = patients(300, 1).assign(age="n.d.")
    said = predicted(tmp_path / "old.skops", new, tmp_path)
    rated = pd.read_csv(tmp_path / "rated.csv", keep_default_na=False)
    assert "Warning" not in said
    assert "Note: an earlier version saved the model" in said
    predicted(of_patients, new, tmp_path)
    pd.testing.assert_frame_equal(rated, pd.read_csv(tmp_path / "rated.csv", keep_default_na=False))
