"""Hints: read as ratings are, recalibrated, kept where they help."""

import warnings

import numpy as np
import pandas as pd
import pytest
from commands import run

from tordinal import load_model, rate_table
from tordinal.datasets import make_reviews
from tordinal.estimators import Evidence
from tordinal.exceptions import InputError
from tordinal.tables.columns import TableEncoder
from tordinal.tables.expected_error import estimate_error
from tordinal.tables.hints import (
    choose_hints,
    fit_steps,
    hint_features,
    hint_values,
    plan_hint,
    ranks_as_they_are,
)
from tordinal.tables.model_checks import check_model
from tordinal.tables.target import Target

WORDS = ["awful", "meh", "fair", "good", "great"]
RATED = 80


def reviews(hint, n=300, seed=0):
    """Reviews with a hint, 80 of them rated; and all stars."""
    texts, stars = make_reviews(n, random_state=seed)
    rng = np.random.RandomState(seed + 1)
    noisy = np.clip(stars + rng.choice([-1, 0, 0, 0, 1], n), 1, 5)
    table = pd.DataFrame({"review": texts, "llm": hint(noisy, rng), "stars": stars})
    table["stars"] = table["stars"].astype("Int64")
    table.loc[RATED:, "stars"] = pd.NA
    return table, stars


def noisy_hint(noisy, rng):
    return noisy


def error(rated, stars):
    return np.abs(rated.frame["stars_predicted"].to_numpy(int) - stars)[RATED:].mean()


def rate(table, **options):
    options = {"text": "review", "hint": "llm", "quick": True} | options
    return rate_table(table, "stars", **options)


@pytest.fixture(scope="module")
def without():
    table, stars = reviews(noisy_hint)
    rated = rate(table, hint=())
    assert list(rated.hints.columns)[:2] == ["name", "used"]
    assert len(rated.hints) == 0
    return error(rated, stars), rated


@pytest.mark.parametrize(
    "hint",
    [
        noisy_hint,
        lambda noisy, rng: 6 - noisy,
        lambda noisy, rng: 2.0**noisy + rng.rand(len(noisy)),
        lambda noisy, rng: [f"{k} stars" for k in noisy],
        lambda noisy, rng: np.array(["very low", "Low", "mid", "high", "very high"])[noisy - 1],
    ],
    ids=["same scale", "reversed", "another scale", "stars", "words"],
)
def test_a_noisy_hint_lowers_the_error_whatever_its_scale(hint, without):
    table, stars = reviews(hint)
    rated = rate(table)
    assert error(rated, stars) < without[0] - 0.1
    (found,) = rated.rating.hints
    assert found.used
    assert found.clear
    assert found.error == pytest.approx(rated.expected_error.mae)
    assert found.error_without == pytest.approx(without[1].expected_error.mae)
    assert found.error < found.error_without
    assert found.n == RATED
    assert 0.1 < found.off < 0.7
    assert 0.05 < found.off_margin < 0.3
    assert any(note.startswith("the hint llm helps: the error is ") for note in rated.notes)


def test_a_useless_hint_is_not_used_and_the_model_is_the_one_without_it(without):
    table, stars = reviews(lambda noisy, rng: rng.permutation(noisy))
    rated = rate(table)
    (found,) = rated.rating.hints
    assert not found.used
    assert found.off > 0.9
    assert any(
        note.startswith("the hint llm does not help and is not used") for note in rated.notes
    )
    assert error(rated, stars) == without[0]
    assert "llm" not in rated.model.used
    same = rated.model.encoder.transform({"review": table["review"].tolist()})
    assert abs(same - rated.rating.X).max() < 1e-12
    check_model(rated.model)


def test_of_two_hints_the_one_that_helps_is_used(without):
    table, stars = reviews(noisy_hint)
    table["coin"] = np.random.RandomState(5).randint(1, 6, len(table))
    rated = rate(table, hint=["coin", "llm"])
    assert rated.hints["name"].tolist() == ["llm", "coin"], "the better one first"
    assert rated.hints["used"].tolist() == [True, False]
    assert error(rated, stars) < without[0] - 0.1
    assert [c["role"] for c in rated.model.encoder.plan_] == ["text", "hint", "excluded"]
    check_model(rated.model)


def test_ensembles_have_a_view_of_the_hint_alone_and_views_with_it():
    table, stars = reviews(noisy_hint, n=160)
    rated = rate(table, quick=False, loss="hinge", C=1.0)
    views = rated.model.estimator.views
    names = rated.model.encoder.get_feature_names_out()
    own = [j for j, (column, _) in enumerate(names) if column == "llm"]
    assert views["hint"].tolist() == own
    assert all(set(own) <= set(places) for places in views.values())
    assert {"words", "phrases and letters"} < set(views)
    assert error(rated, stars) < 0.7


@pytest.mark.parametrize("method", ["tor", "redsvm"])
def test_other_methods_use_hints_too(method):
    table, _ = reviews(noisy_hint, n=160)
    rated = rate(table, method=method, quick=False)
    assert rated.hints["used"].tolist() == [True]
    assert rated.hints["error"][0] < rated.hints["error_without"][0]


def test_a_hint_may_be_the_only_column():
    table, stars = reviews(lambda noisy, rng: 10 * noisy)
    rated = rate(table[["llm", "stars"]], text=())
    assert error(rated, stars) < 0.6
    assert any("the hint llm is the only column: by itself" in note for note in rated.notes)


def test_hints_help_tables_without_text():
    table, stars = reviews(noisy_hint)
    numbers = np.random.RandomState(3).normal(size=(len(table), 5))
    table = pd.concat([pd.DataFrame(numbers).add_prefix("x"), table.drop(columns="review")], axis=1)
    rated = rate(table, text=())
    assert error(rated, stars) < 0.6
    assert rated.hints["used"].tolist() == [True]


def test_missing_and_unreadable_cells_count_as_missing_and_are_named(without):
    def hint(noisy, rng):
        cells = noisy.astype(object)
        cells[rng.rand(len(cells)) < 0.3] = None
        cells[[0, 100]] = "I cannot tell"
        return cells

    table, stars = reviews(hint)
    rated = rate(table)
    assert error(rated, stars) < without[0]
    present = table["llm"].notna()
    (found,) = rated.rating.hints
    assert found.n == present[1:RATED].sum()
    named = (
        f"column llm: 2 of {present.sum()} cells cannot be read as a rating and count as missing"
    )
    assert any(note.startswith(f"{named}: 'I cannot tell' (2)") for note in rated.notes)


def test_too_few_ratings_to_judge():
    table, _ = reviews(noisy_hint, n=60)
    table.loc[7:, "stars"] = pd.NA
    rated = rate(table, quick=False, method="tor")
    assert any("the hint llm is used; too few ratings to tell" in note for note in rated.notes)


def test_a_saved_model_uses_the_hint_and_warns_where_it_is_missing(tmp_path):
    table, stars = reviews(noisy_hint)
    table.to_csv(tmp_path / "in.csv", index=False)
    said = run("label", tmp_path / "in.csv", "--target", "stars", "--text", "review", "--hint",
               "llm", "--quick", "-o", tmp_path / "out.csv", "--model", tmp_path / "m.skops",
               "--report", tmp_path / "r.html").output  # fmt: skip
    assert "the hint llm helps" in " ".join(said.split())
    assert "the hint llm helps" in (tmp_path / "r.html").read_text()
    new = table[RATED:].drop(columns="stars")
    new.to_csv(tmp_path / "new.csv", index=False)
    new.drop(columns="llm").to_csv(tmp_path / "bare.csv", index=False)
    errors = {}
    for name, warned in (("new", False), ("bare", True)):
        out = tmp_path / f"{name}-out.csv"
        said = run("predict", tmp_path / "m.skops", tmp_path / f"{name}.csv", "-o", out).output
        assert ("llm: the column of the hint is missing or empty" in said) == warned
        predicted = pd.read_csv(out)["stars_predicted"]
        errors[name] = np.abs(predicted - stars[RATED:]).mean()
    assert errors["new"] < errors["bare"] - 0.1
    model = load_model(tmp_path / "m.skops")
    with pytest.warns(UserWarning, match="column") as caught:
        model.predict(new.drop(columns="llm"))
    assert "rows are rated without it" in str(caught[-1].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(new)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hint": "lm"}, "`hint` lm: no such column; did you mean 'llm'?"),
        ({"hint": "stars"}, "`hint` stars: that is the target"),
        ({"drop": "llm"}, "`hint` llm: the column is dropped; name it once"),
        ({"hint": "review"}, "`hint` review: the order of its values is not known"),
    ],
)
def test_errors_name_the_column_and_the_remedy(options, message):
    table, _ = reviews(noisy_hint, n=100)
    with pytest.raises(InputError) as error:
        rate(table, **options)
    assert message in str(error.value)


def test_nested_cells_are_no_hints():
    with pytest.raises(InputError, match="`hint` llm holds nested or binary values"):
        plan_hint("llm", [{"stars": 1}, None], [1, 2], [], ".")


def test_many_tables_reject_hints(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("stars,llm\n1,2\n")
    said = run("label", tmp_path / "in", "--target", "stars", "--hint", "llm", "-o",
               tmp_path / "out", code=2).output  # fmt: skip
    assert "--hint requires a single table" in " ".join(said.split())


def test_constant_and_empty_hints_are_excluded_with_a_note():
    for cells, why in ((["3"] * 4, "one value only"), (["", "n/a", "-", None], "empty")):
        column, doubt = plan_hint("llm", cells, [1, 2], [], ".")
        assert (column["role"], column["why"]) == ("excluded", why)
        assert doubt == f"the hint llm is not used: {why}"


def test_words_of_the_ratings_come_before_known_scales():
    column, _ = plan_hint("llm", ["Meh", "great", "fair", "awful"], WORDS, [], ".")
    assert hint_values(column, ["AWFUL", "great", "never"])[:2].tolist() == [0.0, 4.0]
    column, doubt = plan_hint("llm", ["mid", "low", "HIGH", "medium"], WORDS, [], ".")
    low, mid, medium, high, new = hint_values(column, ["low", "mid", "medium", "high", "very high"])
    assert low < mid == medium < high < new
    assert doubt == ""


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["4/5", "3/5", "3 of 5"], [4, 3, 3]),
        (["85%", "20 %", "5"], [85, 20, 5]),
        (["4,5", "2,25"], [4.5, 2.25]),
        (["-1", "\u22122", "1"], [-1, -2, 1]),
        (["★★★☆☆", "★☆☆☆☆"], [3, 1]),
        ([True, False], [2, 0]),
    ],
    ids=str,
)
def test_numbers_and_stars_as_people_write_them(cells, values):
    column, doubt = plan_hint("llm", cells, [1, 2], [], ".")
    assert hint_values(column, cells).tolist() == values
    assert doubt == ""


def test_steps_are_centred_and_have_variance_one_together():
    values = np.random.RandomState(0).choice([1.0, 2, 3, 10, np.nan], 500)
    Z = hint_features(fit_steps(values), values)
    assert Z.shape == (500, 4)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    known = ~np.isnan(values)
    assert Z[known, :3].var(axis=0).sum() == pytest.approx(1.0)
    many = fit_steps(np.arange(1000.0))
    assert len(many["cuts"]) == 10
    with_none_new = hint_features(fit_steps(np.arange(5.0)), np.array([np.nan]))
    assert not with_none_new.any()


def test_a_hint_on_the_scale_of_the_ratings_is_judged_as_it_is_too():
    stars = [lambda noisy, rng: [f"{k} stars" for k in noisy], noisy_hint]
    one, same = (rate(reviews(hint, n=120)[0], method="tor", quick=False) for hint in stars)
    table, true = reviews(noisy_hint, n=120)
    off = np.abs(table["llm"] - true)[:RATED].mean()
    assert one.hints["as_it_is"][0] == same.hints["as_it_is"][0] == pytest.approx(off)
    assert f"as it is by {off:.2f} on 80 ratings" in " ".join(same.notes)


def test_ranks_of_hints_on_the_scale_of_the_ratings():
    np.testing.assert_equal(ranks_as_they_are(["Great", "", 2], [2, "great"]), [1, np.nan, 0])
    assert ranks_as_they_are(["great", "bad"], ["good", "great"]) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c.update(cuts=[np.nan]),
        lambda c: c.update(above=[]),
        lambda c: c.update(style={"levels": {"a": "b"}}),
        lambda c: c.update(style={"decimal": 1}),
    ],
)
def test_damaged_hints_of_a_model_are_rejected(damage):
    table, _ = reviews(noisy_hint, n=100)
    model = rate(table, method="tor", quick=False).model
    check_model(model)
    damage(next(c for c in model.encoder.plan_ if c["role"] == "hint"))
    with pytest.raises(ValueError, match="a hint in it is damaged"):
        check_model(model)


def test_columns_are_chosen_without_judging_hints():
    encoder = TableEncoder(hint=["llm"], scale=[1, 2])
    cells = {"llm": [1, 2, 1, 2], "price": [1.5, 2.5, 3.5, 9.0]}
    X = encoder.fit_transform(cells)
    assert encoder.groups().keys() == {"numbers"}
    assert X.shape == (4, 2)
    assert encoder.get_feature_names_out()[1] == ("llm", "at least 2")


def test_the_error_with_a_hint_is_rounded_as_the_estimated_error():
    rank, rows = np.arange(40) % 2, np.arange(40)
    target = Target("t", ["low", "high"], rank, [])
    ranks = np.where(rows < 17, 1 - rank, rank)  # 0.425: one more bit makes 0.43 of 0.42
    evidence = Evidence(rows, ranks, np.empty((40, 2)), {}, {}, "")
    X = np.column_stack([rank, rank]).astype(float)
    given = ({"llm": np.array([1])}, {"llm": X[:, 1]}, {}, target)
    (hint,) = choose_hints(lambda columns: (columns, evidence), X, *given)[3]
    assert f"{hint.error:.2f}" == f"{estimate_error(rank, ranks, [0, 1]).mae:.2f}"


def test_errors_are_weighted_where_the_rated_rows_are_no_random_sample():
    rank = np.arange(40) % 2
    target = Target("t", ["low", "high"], rank, [])
    better, worse = np.where(np.arange(40) < 10, rank, 1 - rank), rank.copy()
    worse[:10] = 1 - worse[:10]

    def fit(columns):
        ranks = better if len(columns) == 2 else worse
        rows = np.arange(40)
        return columns, Evidence(rows, ranks, np.empty((40, 2)), {}, {}, "")

    X = np.column_stack([rank, rank]).astype(float)
    given = ({"llm": np.array([1])}, {"llm": X[:, 1]}, {}, target)
    assert choose_hints(fit, X, *given)[2].tolist() == [0], "of all rows 10 are better with it"
    weights = np.where(np.arange(40) < 10, 5.0, 1.0)
    model, _, kept, (hint,) = choose_hints(fit, X, *given, weights)
    assert (hint.used, kept.tolist(), model.tolist()) == (True, [0, 1], [0, 1])
    assert (hint.error, hint.error_without) == pytest.approx((30 / 80, 50 / 80))
    assert hint.off == 0.0


@pytest.mark.parametrize(("informative", "used"), [(True, True), (False, False)])
def test_a_hint_that_is_good_by_itself_is_used_unless_it_does_harm(informative, used):
    rank, rows = np.arange(40) // 2 % 2, np.arange(40)
    target = Target("t", ["low", "high"], rank, [])
    column = rank if informative else rows % 2
    without, beside = rank.copy(), rank.copy()
    without[:2], beside[2:5] = 1 - without[:2], 1 - beside[2:5]  # one more error, within chance

    def fit(columns):
        ranks = beside if len(columns) == 2 else without
        return columns, Evidence(rows, ranks, np.empty((40, 2)), {}, {}, "")

    X = np.column_stack([rank, column]).astype(float)
    given = ({"llm": np.array([1])}, {"llm": X[:, 1]}, {}, target)
    (hint,) = choose_hints(fit, X, *given)[3]
    assert hint.used == used
    assert not hint.clear
    start = "is used as it is good by itself" if used else "does not help and is not used"
    assert str(hint).startswith(f"the hint llm {start}")
