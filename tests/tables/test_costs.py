from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tordinal import rate_table
from tordinal.costs import cost_matrix
from tordinal.datasets import make_reviews
from tordinal.exceptions import InputError
from tordinal.tables.costs import (
    costs_of,
    parse_class_weight,
    parse_cost,
    read_weights,
    weights_of_ranks,
)
from tordinal.tables.models import dump_model, load_model
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError

TARGET = read_target("stars", ["1", "2", "", "3", "1"], None)


def table(n=160, labels=80):
    texts, stars = make_reviews(n, random_state=2)
    given = [str(s) if i < labels else "" for i, s in enumerate(stars)]
    return {"review": texts, "stars": given}, np.asarray(stars)


def test_a_matrix_comes_from_the_option_or_a_file(tmp_path):
    expected = [[0.0, 1.0, 2.5], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    assert parse_cost("0,1,2.5;1,0,1;2,1,0") == [[0.0, 1.0, 2.5], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    for name, text in (("a.csv", "0,1,2.5\n1,0,1\n2,1,0\n"), ("b.csv", "0;1;2,5\n1;0;1\n2;1;0\n")):
        (tmp_path / name).write_text(text)
        assert parse_cost(str(tmp_path / name)) == expected
    assert parse_cost("low=2, high=1.5") == {"low": 2.0, "high": 1.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("twice", "no such file"),
        ("low=twice", "write low=2"),
        ("below=2", "write low=2"),
        ("low=0", "write low=2"),
        ("0,a;1,0", "must be numbers"),
    ],
)
def test_costs_that_make_no_sense_are_rejected(text, message):
    with pytest.raises(TableError, match=message):
        parse_cost(text)


def test_the_size_of_a_matrix_must_fit_the_ratings():
    with pytest.raises(TableError, match="ratings are 1 < 2 < 3"):
        costs_of([[0, 1], [1, 0]], TARGET)
    assert costs_of({"low": 2}, TARGET) == {"low": 2}


def test_weights_by_rating():
    assert weights_of_ranks(parse_class_weight("3=4,1=2"), TARGET) == {2: 4.0, 0: 2.0}
    assert weights_of_ranks(parse_class_weight("balanced"), TARGET) == "balanced"
    fractions = replace(TARGET, classes=[1.0, 2.0, 3.0])
    assert weights_of_ranks({3: np.int64(2)}, fractions) == {2: 2.0}
    for wrong in ("heavy", "3=-1", "=3"):
        with pytest.raises(TableError, match="write balanced"):
            parse_class_weight(wrong)
    with pytest.raises(TableError, match="no rating 7; the ratings are 1, 2, 3"):
        weights_of_ranks({"7": 2}, TARGET)
    with pytest.raises(TableError, match="weight of 1 must be positive"):
        weights_of_ranks({"1": 0}, TARGET)


def test_weights_of_rows_are_read_for_given_ratings_only():
    weights = read_weights(["1", "3", "no", "4", "0"], TARGET, range(2, 7))
    np.testing.assert_allclose(weights, [0.5, 1.5, 1.0, 2.0, 0.0])
    commas = read_weights(["0,5", "1,5", "", "2", "0"], TARGET, range(2, 7), ",")
    np.testing.assert_allclose(commas, [0.5, 1.5, 1.0, 2.0, 0.0])
    with pytest.raises(TableError, match="weight of row 5 is empty"):
        read_weights(["1", "3", "", "", "0"], TARGET, range(2, 7))
    with pytest.raises(TableError, match="weight of row 3 is '-3'"):
        read_weights(["1", "-3", "", "4", "0"], TARGET, range(2, 7))
    with pytest.raises(TableError, match="has the weight 0"):
        read_weights(["0"] * 5, TARGET, range(2, 7))


def test_every_row_has_the_least_expected_cost_and_a_saved_model_too():
    columns, _ = table()
    columns = pd.DataFrame(columns)
    rated = rate_table(columns, "stars", quick=True, cost={"low": 5}, probabilities=True)
    costs = cost_matrix({"low": 5}, 5)
    rest = ~rated.rating.given
    p = rated.rating.probability[rest]
    best = np.round(p @ costs, 9).argmin(axis=1)
    np.testing.assert_array_equal(rated.rating.rank[rest], best)
    assert (best != p.argmax(axis=1)).any()
    labels, confidence, _ = load_model_of(rated).rate({"review": columns["review"].tolist()})
    assert [labels[i] for i in np.flatnonzero(rest)] == [str(1 + k) for k in best]
    np.testing.assert_allclose(confidence[rest], p[np.arange(len(best)), best], atol=1e-9)
    assert any("least expected cost" in note for note in rated.notes)
    plain = rate_table(columns, "stars", quick=True)
    assert rated.rating.rank[rest].mean() > plain.rating.rank[rest].mean() + 0.2


def load_model_of(rated):
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".skops") as file:
        file.write(dump_model(rated.model))
        file.flush()
        return load_model(file.name)


def test_weights_count_and_their_column_is_no_feature():
    columns, stars = table()
    columns["w"] = ["100" if s >= 4 else "1" for s in stars]
    columns = pd.DataFrame(columns)
    options = {"quick": True, "loss": "hinge"}
    plain = rate_table(columns, "stars", drop="w", **options)
    weighed = rate_table(columns, "stars", sample_weight="w", **options)
    assert "w" not in weighed.model.used
    assert weighed.rating.rank.mean() > plain.rating.rank.mean()
    by_class = rate_table(columns, "stars", drop="w", class_weight={"5": 30}, **options)
    rest = ~plain.rating.given
    five = [(r.rating.rank[rest] == 4).sum() for r in (plain, by_class)]
    assert five[1] > five[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": {"low": 2}, "method": "tor"}, "`cost` requires `method` auto"),
        ({"class_weight": "heavy"}, "`class_weight` heavy"),
        ({"sample_weight": "mass"}, "`sample_weight` mass: no such column"),
    ],
)
def test_wrong_options_are_errors_of_input(options, message):
    with pytest.raises(InputError, match=message):
        rate_table(
            pd.DataFrame(table(60, 40)[0]), "stars", quick="method" not in options, **options
        )
