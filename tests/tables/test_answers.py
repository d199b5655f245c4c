import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import ordinal_problem

from tordinal.tables.answers import Answers, decimal_of, is_earlier
from tordinal.tables.columns import TableEncoder
from tordinal.tables.files import read_table, write_table
from tordinal.tables.results import Totals
from tordinal.tables.table import Table
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError


def made(abstain=None):
    p = np.array([[0.7, 0.3], [0.45, 0.55], [0.0, 1.0]])
    given = np.array([False, False, True])
    return Answers.made(["low", "high", "high"], p.max(axis=1), given, p, ["low", "high"], abstain)


def test_columns_say_rating_confidence_and_source():
    columns = made().columns("t", True, [0, 1, 2], 3)
    assert columns == {
        "t_predicted": ["low", "high", "high"],
        "t_confidence": [0.7, 0.55, 1.0],
        "t_source": ["predicted", "predicted", "given"],
        "t_probability_low": [0.7, 0.45, 0.0],
        "t_probability_high": [0.3, 0.55, 1.0],
    }


def test_rows_below_a_confidence_stay_unrated_and_rows_excluded_are_empty():
    answers = made(abstain=0.6)
    assert answers.labels == ["low", None, "high"]
    assert answers.unsure == 1
    columns = answers.columns("t", False, [0, 2, 3], 4)
    assert columns["t_source"] == ["predicted", None, "unsure", "given"]
    assert answers.some([0], "t") == {"t_predicted": ["low"], "t_confidence": [0.7]}


def test_earlier_answers_are_known_by_their_names():
    names = ["t", "t_predicted", "t_probability_3", "t_size", "predicted"]
    assert [is_earlier(name, "t") for name in names] == [False, True, True, False, False]


def test_decimals_are_those_of_the_table():
    X, _ = ordinal_problem(20)
    cells = [[f"{x:.2f}".replace(".", ",") for x in column] for column in X.T]
    names = ["a", "b", "c"]
    table = Table(names, cells, "csv", records=["x"] * 20, delimiter=";")
    encoder = TableEncoder().fit(dict(zip(names, cells, strict=True)))
    assert decimal_of(table, encoder) == ","
    assert decimal_of(Table(names, cells, "parquet"), encoder) == "."


def test_totals_of_parts_add_up():
    rng = np.random.default_rng(0)
    rank, given, sure = rng.integers(0, 3, 40), rng.random(40) < 0.3, rng.random(40)
    whole = Totals.of(rank, given, sure, 3)
    parts = [Totals.of(rank[s], given[s], sure[s], 3) for s in (slice(0, 11), slice(11, 40))]
    total = parts[0] + parts[1]
    assert total.rows == whole.rows == 40
    assert total.sure == whole.sure
    np.testing.assert_array_equal(total.given, whole.given)
    np.testing.assert_array_equal(total.predicted, whole.predicted)


RATING = st.one_of(
    st.sampled_from(["-2", "-1", "0", "+1", "B-", "B", "b", "none", "None", "n/a", "4", "4.0"]),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5),
)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
@given(cells=st.lists(RATING, min_size=2, max_size=8))
@settings(max_examples=25)
def test_each_given_rating_comes_out_of_every_format_as_it_went_in(kind, cells):
    order = list(dict.fromkeys(cells))
    cells = [*cells, ""]
    with tempfile.TemporaryDirectory() as folder:
        path, out = f"{folder}/in.{kind}", f"{folder}/out.{kind}"
        with open(path, "wb") as file:
            columns = [["a"] * len(cells), cells]
            table = Table(["size", "t"], columns, kind, delimiter="\t" if kind == "tsv" else ",")
            write_table(table, {}, file, path)
        table = read_table(path)
        try:
            target = read_target("t", table["t"], order)
        except TableError:  # one rating only
            return
        given, rank = target.rank >= 0, np.maximum(target.rank, 0)
        assert given[:-1].all()
        p = np.eye(len(target.classes))[rank]
        answers = Answers.made(target.labels(rank), p.max(axis=1), given, p, target.classes, None)
        columns = answers.columns("t", False, list(range(len(cells))), len(cells))
        with open(out, "wb") as file:
            write_table(table, columns, file, out)
        rated = read_table(out)
    assert [str(c) for c in rated["t"][:-1]] == cells[:-1]
    assert [str(c) for c in rated["t_predicted"][:-1]] == cells[:-1]
    assert rated["t_source"][:-1] == ["given"] * (len(cells) - 1)


def test_decimals_are_those_of_another_table_than_the_one_learned_from():
    X, _ = ordinal_problem(20)
    dots = [[f"{x:.2f}" for x in column] for column in X.T]
    commas = [[cell.replace(".", ",") for cell in column] for column in dots]
    names = ["a", "b", "c"]
    for learned, written, decimal in ((commas, dots, "."), (dots, commas, ",")):
        encoder = TableEncoder().fit(dict(zip(names, learned, strict=True)))
        delimiter = ";" if decimal == "," else ","
        table = Table(names, written, "csv", records=["x"] * 20, delimiter=delimiter)
        assert decimal_of(table, encoder) == decimal
