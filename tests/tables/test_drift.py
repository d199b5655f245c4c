import itertools
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tordinal.tables import drift
from tordinal.tables.columns import TableEncoder


def patients(n, seed):
    """Numbers with light and heavy tails, dates, categories of which some are rare, and texts."""
    rng = np.random.default_rng(seed)
    return {
        "age": [str(v) for v in rng.integers(20, 90, n)],
        "crp": ["" if rng.random() < 0.05 else f"{v:.3g}" for v in rng.lognormal(2, 1, n)],
        "income": [f"{v:.4g}" for v in rng.pareto(1.0, n)],
        "visit": [f"2025-{1 + v % 12:02d}-{1 + v % 28:02d}" for v in rng.integers(0, 9999, n)],
        "site": [f"site {min(v, 40)}" for v in rng.zipf(1.5, n)],
        "note": [
            ""
            if rng.random() < 0.1
            else " ".join(rng.choice(["kidney", "liver", "lung", "heart", "skin"], 6))
            for _ in range(n)
        ],
    }


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder(n_axes=0, text=["note"], columns=list(patients(1, 0))).fit(
        patients(1000, 0)
    )


def said(encoder, **changes):
    table = {**patients(500, 1), **changes}
    return encoder.warnings(encoder.compare(table))


def test_a_sample_of_the_same_population_raises_no_warning(encoder):
    for seed, n in enumerate((1, 2, 5, 20, 100, 500, 3000, 3000), start=7):
        assert encoder.warnings(encoder.compare(patients(n, seed))) == []
    assert encoder.warnings(encoder.compare(patients(1000, 0))) == []


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("age", lambda c: "n.d.",
         "age: 500 of 500 cells cannot be read as numbers, such as 'n.d.' (500); "
         "they count as missing."),
        ("age", lambda c: str(2026 - int(c)),
         "age: 500 of 500 values are far above those of training (20 to 89)."),
        ("age", lambda c: str(-int(c) - 50),
         "age: 500 of 500 values are far below those of training (20 to 89)."),
        ("crp", lambda c: c and str(float(c) / 10),
         r"crp: \d\d % of the values are at most [\d.]+; in training \d\d % were."),
        ("age", lambda c: str(int(c) / 10),
         r"age: 100 % of the values are at most 20; in training \d % were."),
        ("age", lambda c: "-", "age: 500 of 500 cells are missing (100 %); in training 0 % were."),
        ("visit", lambda c: "soon",
         "visit: 500 of 500 cells cannot be read as dates, such as 'soon' (500); "
         "they count as missing."),
        ("visit", lambda c: "2030" + c[4:],
         "visit: 500 of 500 dates are far above those of training (2025-01-01 to 2025-12-28)."),
        ("site", lambda c: "north",
         "site: 500 of 500 cells hold values that training did not have, such as 'north' (500)."),
        ("note", lambda c: "",
         "note: 500 of 500 cells are empty (100 %); in training 8 % were."),
    ],
)  # fmt: skip
def test_a_column_unlike_that_of_training_is_named_with_its_counts(encoder, name, change, line):
    cells = [change(c) for c in patients(500, 1)[name]]
    first, found = said(encoder, **{name: cells})
    assert first == "1 column differs from the training table (of 6 used): ratings may be wrong"
    if "\\d" in line:
        assert re.fullmatch(line, found)
    else:
        assert found == line


def test_a_single_unreadable_cell_and_a_table_of_one_row_are_reported(encoder):
    age = patients(500, 1)["age"]
    assert "1 of 500 cells cannot be read" in said(encoder, age=["ill", *age[1:]])[1]
    one = {**patients(1, 3), "age": ["1960"]}
    assert "1 of 1 values are far above" in encoder.warnings(encoder.compare(one))[1]
    assert encoder.warnings(encoder.compare({name: [] for name in one})) == []


def test_unreadable_cells_as_frequent_as_at_training_are_not_reported():
    def table(n):
        return {"age": ["ill" if i % 25 == 0 else str(20 + i % 70) for i in range(n)]}

    encoder = TableEncoder().fit(table(500))
    assert encoder.warnings(encoder.compare(table(300))) == []
    table = {"age": ["ill" if i % 3 == 0 else str(20 + i % 70) for i in range(300)]}
    assert "100 of 300 cells" in encoder.warnings(encoder.compare(table))[1]


def test_a_table_of_400_columns_gets_a_handful_of_lines():
    rng = np.random.default_rng(0)
    table = {f"c{i}": rng.normal(size=200).tolist() for i in range(400)}
    encoder = TableEncoder().fit(table)
    worse = {name: [9.0 + v for v in cells] for name, cells in table.items()}
    lines = encoder.warnings(encoder.compare(worse))
    assert lines[0].startswith("400 columns differ from the training table (of 400 used)")
    assert len(lines) == 7
    assert lines[-1].startswith("395 more columns: c")
    assert max(map(len, lines)) < 120


@given(st.lists(st.integers(0, 100), min_size=1, max_size=4), st.integers(0, 5))
@settings(max_examples=20)
def test_counts_of_parts_add_up_to_those_of_the_whole(ends, seed):
    training = patients(60, 0)
    names = ["age", "crp", "visit", "site"]
    encoder = TableEncoder(columns=names).fit(training)
    table = patients(100, seed) | {"site": ["new", *patients(99, seed)["site"]]}
    places = [0, *sorted(ends), 100]
    parts = [
        encoder.compare({name: table[name][a:b] for name in names})
        for a, b in itertools.pairwise(places)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = [mine + theirs for mine, theirs in zip(total, part, strict=True)]
    whole = encoder.compare(table)
    assert encoder.warnings(total) == encoder.warnings(whole)
    for one, other in zip(total, whole, strict=True):
        assert (one.size, one.missing, one.strange) == (other.size, other.missing, other.strange)
        np.testing.assert_array_equal(one.at_most, other.at_most)


def test_training_is_described_by_counts_and_deciles():
    numbers = drift.ColumnCells(5, 1, np.array([1.0, 5.0, 9.0]), Counter(ill=1))
    kinds = drift.ColumnCells(5, 0, words=Counter(a=3, b=1, c=1))
    training = drift.describe_training([numbers, kinds], [False, True])
    assert training["rows"] == 5
    assert training["missing"].tolist() == [1, 0]
    assert training["strange"].tolist() == [1, 2]  # unreadable cells; categories that occur once
    assert training["quantiles"][0, [0, 5, 10]].tolist() == [1.0, 5.0, 9.0]
    assert training["at_most"][:, -1].tolist() == [3, 0]


def test_ratings_predicted_far_more_often_than_at_training_are_reported():
    classes, before = ["mild", "severe"], {"given": [50, 50], "predicted": [800, 200]}
    assert drift.rating_warning(classes, [750, 250], before) == ""
    assert drift.rating_warning(classes, [0, 1], before) == ""
    assert drift.rating_warning(classes, [0, 0], before) == ""
    assert drift.rating_warning(classes, [21, 1179], before) == (
        "98 % of the rows are predicted as 'severe'; in training 20 % were."
    )
    before["predicted"] = [3, 7]  # too few to compare with
    assert drift.rating_warning(classes, [900, 100], before) == (
        "90 % of the rows are predicted as 'mild'; in training 48 % of all rows had this rating."
    )
