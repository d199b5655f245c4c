import datetime
import itertools

import numpy as np
import pytest

from tordinal.tables.group_names import check_groups, group_names, group_notes
from tordinal.tables.values import TableError


def test_prices_are_ranges_with_as_many_rows_each():
    prices = np.round(np.random.default_rng(0).lognormal(3, 1, 500), 2)
    cells = [f"{p:.2f}" for p in prices]
    cells[3], cells[4] = "", "?"
    groups = group_names("price", cells)
    assert groups[3] is None
    assert groups[4] is None
    names = sorted({g for g in groups if g}, key=lambda g: float(g.split(" to ")[0]))
    assert len(names) == 5
    assert all(95 <= groups.count(name) <= 105 for name in names)
    ends = [[float(end) for end in name.split(" to ")] for name in names]
    for i, group in enumerate(groups):
        if group:
            low, high = ends[names.index(group)]
            assert low <= prices[i] <= high
    # They do not overlap.
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
    assert group_notes({"price": cells}, ["price"]) == [
        f"price has {len(set(cells) - {''}):,} different values: its groups are 5 ranges",
        "2 rows without price are in no group",
    ]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("age", [str(i % 30) for i in range(300)]),  # ten rows of each
        ("stars", [str(i % 9) for i in range(30)]),  # few values
        ("hospital_id", [str(i % 90) for i in range(300)]),
        ("product", [f"product {i}" for i in range(300)]),
    ],
)
def test_other_values_are_groups(name, cells):
    assert group_names(name, cells) == cells
    assert group_notes({name: cells}, [name]) == []


def test_dates_decimal_commas_and_a_frequent_number():
    days = [(datetime.date(2024, 1, 1) + datetime.timedelta(days=i)).isoformat() for i in range(60)]
    assert set(group_names("day", days)) == {
        "2024-01-01 to 2024-01-12", "2024-01-13 to 2024-01-24", "2024-01-25 to 2024-02-05",
        "2024-02-06 to 2024-02-17", "2024-02-18 to 2024-02-29",
    }  # fmt: skip
    assert group_names("price", [f"{i},5" for i in range(60)])[0] == "0,5 to 11,5"
    groups = group_names("income", ["0"] * 50 + [str(i) for i in range(1, 41)])
    assert None not in groups
    assert len(set(groups)) == 3


def test_days_of_some_years_are_ranges_and_months_are_groups():
    start = datetime.date(2021, 1, 1)
    days = [(start + datetime.timedelta(days=i % 900)).isoformat() for i in range(5400)]
    assert len(set(group_names("day", days))) == 5  # six rows of each
    months = [f"{2021 + i % 36 // 12}-{1 + i % 12:02}-01" for i in range(1800)]
    assert group_names("month", months) == months


def test_ends_of_ranges_have_few_digits():
    groups = group_names("income", [123456.789012345 * (i - 10) for i in range(40)])
    assert groups[0] == "-1234568 to -370370"
    assert group_names("share", [i / 70 for i in range(35)])[0] == "0.0 to 0.08571"


@pytest.mark.parametrize(
    ("cells", "message"),
    [(["", None, " "], "`by` shop: every cell is empty"), (["1", "", "2"], "has the ratings")],
)
def test_columns_without_groups_are_rejected(cells, message):
    with pytest.raises(TableError, match=message):
        check_groups({"shop": cells}, ["shop"], "shop" if cells[0] else "stars")
    check_groups({"shop": ["a", ""]}, ["shop"], "stars")


def test_ranges_that_short_numbers_do_not_tell_apart_have_long_ones():
    cells = [f"{52.52 + 0.00005 * i:.5f}" for i in range(200)]
    groups = group_names("latitude", cells)
    assert groups[0] == "52.52000 to 52.52195"
    assert sorted(groups.count(g) for g in set(groups)) == [40] * 5


def test_decimal_commas_with_three_digits():
    cells = [f"{i / 8:.3f}".replace(".", ",") for i in range(8, 128)]
    groups = group_names("kg", cells, ",")
    assert groups[0] == "1,000 to 3,875" or groups[0].startswith("1 to 3,"), groups[0]
    assert groups.count(groups[0]) == 24
