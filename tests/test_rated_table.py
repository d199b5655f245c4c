import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import STARS, TEXTS, frame, run

import tordinal
from tordinal import load_model, rate_table
from tordinal.exceptions import InputError
from tordinal.tables.estimates import describe
from tordinal.tables.files import read_table
from tordinal.tables.logged_ratings import new_header, table_fingerprints
from tordinal.tables.ratings_log import Event, RatingsLog, ratings_path

FAST = {"target": "stars", "method": "tor"}
WORDS = ["awful", "meh", "fair", "good", "great"]


def indexed():
    return frame().set_index(pd.Index([f"r{i}" for i in range(150)], name="key"))


@pytest.fixture(scope="module")
def rated():
    return rate_table(indexed(), **FAST, probabilities=True)


def test_a_data_frame_comes_back_with_columns_added_and_its_index(rated):
    before = indexed()
    pd.testing.assert_frame_equal(rated.frame[before.columns], before)
    added = [c for c in rated.frame.columns if c not in before.columns]
    assert added[:3] == ["stars_predicted", "stars_confidence", "stars_source"]
    assert added[3:] == [f"stars_probability_{k}" for k in range(1, 6)]
    given = before["stars"].notna()
    assert rated.frame["stars_predicted"].dtype == before["stars"].dtype
    assert (rated.frame["stars_predicted"][given] == before["stars"][given]).all()
    assert (rated.frame["stars_source"] == np.where(given, "given", "predicted")).all()
    np.testing.assert_allclose(rated.frame[added[3:]].sum(axis=1), 1.0, atol=1e-3)
    assert rated.to_frame() is rated.frame
    assert "stars_predicted" not in before


def test_the_command_does_the_same(rated, tmp_path):
    indexed().to_parquet(tmp_path / "in.parquet", index=False)
    run("label", tmp_path / "in.parquet", "--target", "stars", "--method", "tor",
        "-o", tmp_path / "out.parquet", "--report", tmp_path / "r.html")  # fmt: skip
    out = pd.read_parquet(tmp_path / "out.parquet")
    same = rate_table(tmp_path / "in.parquet", **FAST)
    for name in ("stars_predicted", "stars_confidence", "stars_source"):
        assert out[name].tolist() == rated.frame[name].tolist() == same.frame[name].tolist()
    page = (tmp_path / "r.html").read_text()
    shown = same.to_html("in.parquet", "out.parquet")
    assert shown.replace("`columns`", "--columns") == page


def test_estimates_counts_and_sentences(rated):
    expected = rated.expected_error
    assert expected.n == 50
    assert expected.zero_one == rated.errors.loc["the model used here", "zero_one"]
    assert expected.mae == rated.errors.loc["the model used here", "mae"]
    assert (rated.errors["mae_margin"] > 0).all()
    assert rated.classes.index.tolist() == [1, 2, 3, 4, 5]
    assert rated.classes["given"].sum() == 50
    assert rated.classes["predicted"].sum() == 100
    assert rated.classes["share"].sum() == pytest.approx(1.0)
    assert (rated.classes["share_low"] <= rated.classes["share_high"]).all()
    shown = repr(rated)
    assert "stars: 100 of 150 rows rated (1 < 2 < 3 < 4 < 5)" in shown
    assert str(expected) in shown
    assert rated.verdict in shown


def test_the_notebook_summary_is_small_and_escaped():
    data = frame().rename(columns={"stars": "<b>stars"})
    shown = rate_table(data, "<b>stars", method="redsvm")._repr_html_()
    assert "<b>stars" not in shown
    assert "&lt;b&gt;stars" in shown
    assert len(shown) < 20_000
    assert "color:inherit" in shown
    assert "<script" not in shown


def test_the_model_is_saved_and_predicts_data_frames(rated, tmp_path):
    rated.save_model(tmp_path / "m.skops")
    rated.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == rated.to_html()
    assert sorted(os.listdir(tmp_path)) == ["m.skops", "r.html"]
    model = load_model(tmp_path / "m.skops")
    new = indexed().drop(columns="stars")
    one, other = rated.model.predict(new), model.predict(new, probabilities=True)
    pd.testing.assert_frame_equal(other[one.columns], one)
    pd.testing.assert_index_equal(one.index, new.index)
    unrated = indexed()["stars"].isna()
    assert (one["stars_predicted"] == rated.frame["stars_predicted"])[unrated].mean() > 0.8
    assert model.predict(new, abstain=1.0)["stars_predicted"].isna().all()
    with pytest.warns(UserWarning, match="differs from the training table"):
        model.predict(new.assign(review=""))


def test_an_order_may_be_written_as_for_the_command():
    table = frame()
    table["stars"] = table["stars"].map(dict(enumerate(WORDS, start=1)))
    as_list, as_text = (
        rate_table(table, **FAST, order=order).frame for order in (WORDS, ", ".join(WORDS))
    )
    pd.testing.assert_frame_equal(as_list, as_text)


def test_ordered_categoricals_keep_their_order_and_type():
    words = frame()["stars"].map(dict(enumerate(WORDS, start=1)))
    kind = pd.CategoricalDtype(WORDS, ordered=True)
    rated = rate_table(frame().assign(stars=words.astype(kind)), **FAST)
    assert rated.classes.index.tolist() == WORDS
    assert rated.frame["stars_predicted"].dtype == kind
    assert rated.frame["stars_predicted"].notna().all()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_values_of_any_kind_are_to_be_rated(missing):
    cells = [s if i % 3 == 0 else missing for i, s in enumerate(STARS)]
    data = pd.DataFrame({"review": TEXTS, "stars": pd.Series(cells, dtype=object)})
    rated = rate_table(data, **FAST)
    assert rated.classes["given"].sum() == 50
    assert rated.frame["stars_predicted"].notna().all()


def test_frames_of_polars_and_pyarrow_give_the_same(rated):
    polars = pl.from_pandas(frame())
    for other in (polars, polars.to_arrow()):
        again = rate_table(other, **FAST)
        assert again.frame["stars_predicted"].tolist() == rated.frame["stars_predicted"].tolist()


def test_rows_to_rate_next_come_back_filled_in(rated):
    form = rated.suggest(3)
    assert list(form.columns[:2]) == ["row", "stars"]
    assert form["row"].isin(indexed().index).all()
    form["stars"] = [1, 5, 3]
    again = rate_table(indexed(), **FAST, filled=form)
    assert again.classes["given"].sum() == 53
    assert (again.frame.loc[form["row"], "stars_source"] == "given").all()
    assert again.frame.loc[form["row"], "stars_predicted"].tolist() == [1, 5, 3]


def test_errors_and_averages_are_weighted_by_how_rows_were_drawn():
    # A column that says everything about half of the rows, and nothing about the others.
    rng = np.random.default_rng(0)
    clear = np.arange(400) < 200
    truth = rng.integers(1, 4, 400)
    size = np.where(clear, truth + 0.2 * rng.random(400), 5 + rng.random(400))
    data = pd.DataFrame({"size": size, "clear": clear, "grade": pd.array(truth, dtype="Int64")})
    options = {"target": "grade", "method": "redsvm"}
    data.loc[30:199, "grade"] = pd.NA
    data.loc[230:, "grade"] = pd.NA
    forms = []
    for _ in range(2):
        form = rate_table(data, **options, filled=forms or None).suggest(60)
        assert {"grade_chance", "grade_audit", "grade_rows_left"} <= set(form.columns)
        form["grade"] = truth[form["row"]]
        forms.append(form)
    assert (pd.concat(forms)["row"] >= 200).mean() > 0.6  # difficult rows were preferred
    rated = rate_table(data, **options, filled=forms[::-1])
    assert "120 rated rows were drawn with recorded probabilities" in " ".join(rated.notes)
    left = rated.frame["grade_source"] == "predicted"
    true = np.abs(rated.frame["grade_predicted"] - truth).to_numpy(float)[left].mean()
    # The finished table has difficult rows among those that are rated, too.
    true = np.mean(np.where(clear, 0.0, true / (~clear[left]).mean()))
    bare = [form.drop(columns=[c for c in form if "_" in c]) for form in forms]
    naive = rate_table(data, **options, filled=bare)
    assert "count as a random sample" in " ".join(naive.notes)
    weighted, margin = rated.expected_error.mae, rated.expected_error.mae_margin
    assert abs(weighted - true) < margin
    assert naive.expected_error.mae > weighted + 0.05  # too many difficult rows
    mean = rated.estimates.mean
    assert mean.low <= truth.mean() <= mean.high
    assert len(rated.errors) == 2
    assert "weighted by the probabilities" in rated.to_html()


def test_the_log_of_ratings_is_read_also_for_a_table_without_ratings(tmp_path):
    path = tmp_path / "reviews.csv"
    data = frame().drop(columns="stars")
    data.to_csv(path, index=False)
    table = read_table(str(path))
    header = new_header(table, "stars", [1, 2, 3, 4, 5], 150)
    log = RatingsLog(ratings_path(path), header)
    prints = table_fingerprints(header, table)
    for i in range(40):
        log.append(
            Event(event="rate", row=i + 2, fingerprint=prints[i], rating=int(STARS[i]),
                  probability=1 / (150 - i), audit=True)
        )  # fmt: skip
    rated = rate_table(path, **FAST, ratings=log.path)
    assert (rated.frame["stars_source"][:40] == "given").all()
    assert (rated.frame["stars_predicted"][:40].astype(int) == STARS[:40]).all()
    assert rated.rating.weights == pytest.approx(1.0)  # all were drawn uniformly
    content = path.read_bytes()
    out = tmp_path / "out.csv"
    run("label", path, "--target", "stars", "-o", out, "--method", "tor", "--ratings", log.path)
    assert path.read_bytes() == content
    assert pd.read_csv(out)["stars_source"].value_counts()["given"] == 40
    assert "stars" not in pd.read_csv(out).columns


def test_an_earlier_result_can_be_rated_again(rated):
    again = rate_table(rated.frame, **FAST, abstain=0.999)
    assert "the columns of an earlier run are replaced" in " ".join(again.notes)
    assert "stars_probability_1" not in again.frame
    assert again.frame["stars_source"].isin(["given", "unsure", "predicted"]).all()
    assert (again.frame["stars_source"] == "unsure").any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "star"}, "did you mean 'stars'"),
        ({"target": "stars", "columns": ["nn"]}, "no such column"),
        ({"target": "stars", "text": "stars"}, "that is the target"),
        ({"target": "stars", "C": -1.0}, "must be a positive number"),
        ({"target": "stars", "kernel": "precomputed"}, "is not known"),
        ({"target": "stars", "method": "svm"}, "is not known"),
        ({"target": "stars", "abstain": 2.0}, "from 0 to 1"),
        ({"target": "stars", "n_jobs": 0}, "number of parallel fits"),
        ({"target": "stars", "method": "tor", "quick": True}, "requires"),
        ({"target": "stars", "by": "stars"}, "has the ratings"),
    ],
)
def test_wrong_input_is_an_error_of_its_own(options, message):
    with pytest.raises(InputError, match=message):
        rate_table(frame(), **options)


def test_what_is_no_table_is_rejected():
    with pytest.raises(InputError, match="must be a path or a data frame"):
        rate_table([[1, 2]], "stars")


def test_the_package_is_imported_without_what_rating_needs():
    code = "import sys, tordinal; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert "rate_table" in dir(tordinal)


def test_auto_says_where_models_are_fitted(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    rated = rate_table(frame(), **FAST, engine="auto")
    assert any("engine='auto' uses the host" in note for note in rated.notes)
    assert not any("engine" in note for note in rate_table(frame(), **FAST).notes)


@pytest.mark.parametrize("how", [{"quick": True}, {"method": "redsvm"}])
def test_what_the_average_assumes_is_said_as_it_is(how):
    """Rows with a large `size` are rated first; a random sample says nothing of it."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=300)
    frame = pd.DataFrame({"size": size, "grade": np.digitize(size, [-0.5, 0.5]).astype(float)})
    biased, random = frame.copy(), frame.copy()
    biased.loc[np.argsort(size)[:240], "grade"] = np.nan
    biased.loc[np.argsort(size)[:8], "grade"] = 0.0
    random.loc[rng.permutation(300)[:240], "grade"] = np.nan
    said = {}
    for name, table, reweight in (
        ("random", random, False), ("biased", biased, False), ("reweighted", biased, True),
    ):  # fmt: skip
        rated = rate_table(table, "grade", **how, reweight=reweight)
        said[name] = describe(rated.rating, rated.estimates)
        assert any("rated and unrated rows differ" in n for n in rated.notes) is (name != "random")
    assert "if the rated rows are a random sample" in said["random"]
    assert "probably does not hold" in said["biased"]
    assert "as far as the columns explain" in said["reweighted"]


def test_a_frame_without_rows_has_no_ratings(rated):
    empty = rated.model.predict(indexed().iloc[:0], probabilities=True)
    assert len(empty) == 0
    assert {"stars_predicted", "stars_confidence", "stars_probability_1"} <= set(empty.columns)
