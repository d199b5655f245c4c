"""Options of `tordinal label` that are defined in a module of their own."""

import numpy as np
import pandas as pd
from commands import run

from tordinal.datasets import make_reviews


def reviews(path):
    texts, stars = make_reviews(160, random_state=4)
    frame = pd.DataFrame({"review": texts, "w": np.resize([1, 2], 160), "stars": stars})
    frame = frame.astype({"stars": "Int64"})
    frame.loc[80:, "stars"] = pd.NA
    frame.to_csv(path, index=False)


def test_all_of_them_together(tmp_path):
    reviews(tmp_path / "in.csv")
    out = run(
        "label", tmp_path / "in.csv", "--target", "stars", "--quick", "-o", tmp_path / "out.csv",
        "--cost", "low=3", "--class-weight", "balanced", "--weight", "w", "--reasons",
        "--reweight", "--abstain", "0.6",
    )  # fmt: skip
    said = " ".join(out.stdout.split())
    assert "predictions have the least expected cost" in said
    assert "have a confidence of 0.6 or more" in said
    rated = pd.read_csv(tmp_path / "out.csv")
    assert rated["stars_reasons"].str.contains("higher: |lower: ").mean() > 0.8


def test_a_wrong_cost_names_the_option(tmp_path):
    reviews(tmp_path / "in.csv")
    out = run(
        "label", tmp_path / "in.csv", "--target", "stars", "-o", tmp_path / "out.csv", "--cost",
        "dear", code=2,
    )  # fmt: skip
    assert "--cost dear: no such file" in " ".join(out.output.split())
    assert not (tmp_path / "out.csv").exists()


def test_an_array_beside_the_table_is_learned_from_and_needed_to_predict(tmp_path):
    rng = np.random.default_rng(0)
    E = rng.normal(size=(60, 4))
    np.save(tmp_path / "e.npy", E)
    grades = [("high" if e > 0 else "low") if i < 40 else "" for i, e in enumerate(E[:, 0])]
    pd.DataFrame({"x": (np.arange(60) * 7) % 5, "grade": grades}).to_csv(
        tmp_path / "in.csv", index=False
    )
    base = ["label", tmp_path / "in.csv", "--target", "grade", "--order", "low,high", "--method",
            "redsvm", "-o", tmp_path / "out.csv"]  # fmt: skip
    model = tmp_path / "m.skops"
    run(*base, "--features", tmp_path / "e.npy", "--model", model)
    rated = pd.read_csv(tmp_path / "out.csv")
    assert np.mean((rated["grade_predicted"] == "high") == (E[:, 0] > 0)) > 0.85
    assert rated.columns.tolist()[:2] == ["x", "grade"]
    predict = ["predict", model, tmp_path / "in.csv", "-o", tmp_path / "p.csv"]
    run(*predict, "--features", tmp_path / "e.npy")
    again = pd.read_csv(tmp_path / "p.csv")
    assert (again["grade_predicted"][40:] == rated["grade_predicted"][40:]).all()
    assert "name one with --features" in " ".join(run(*predict, "--force", code=2).output.split())
    np.save(tmp_path / "short.npy", E[:9])
    wrong = run(*base, "--force", "--features", tmp_path / "short.npy", code=2)
    assert "has 9 rows and the table has 60" in " ".join(wrong.output.split())
