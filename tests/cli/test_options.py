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
    assert "--cost dear: there is no such file" in " ".join(out.output.split())
    assert not (tmp_path / "out.csv").exists()
