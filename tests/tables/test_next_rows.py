import numpy as np
import pytest

from tordinal.tables.filled import draws_of
from tordinal.tables.next_rows import next_rows
from tordinal.tables.preparation import prepare
from tordinal.tables.table import Table
from tordinal.tables.values import TableError


def table(grades=None):
    sizes = [float(i % 20) for i in range(60)]
    return Table(["size", "grade"], [sizes, grades or [None] * 60], "parquet", above=1)


def rows(of, n=10, order=None, **options):
    return next_rows(prepare(of, "grade", read=None, order=order), "grade", n, **options)


def test_the_form_has_rows_without_ratings_and_how_they_were_drawn():
    grades = [i % 20 // 7 if i < 30 else None for i in range(60)]
    found = rows(table(grades))
    assert (found.classes, found.n_rated) == ([0, 1, 2], 30)
    form = found.form
    assert all(label > 31 for label in form["row"])
    form.names += list(found.added)
    form.columns += list(found.added.values())
    form["grade"][:] = [1] * 10
    draws, notes = draws_of(form, table(), "grade")
    assert (len(draws), notes) == (10, [])
    assert [d.n_left for d in draws] == list(range(30, 20, -1))


def test_before_the_first_rating_rows_cover_the_data():
    sizes = [0.0] * 30 + [10.0] * 29 + [100.0]
    data = Table(["size", "grade"], [sizes, [None] * 60], "parquet", above=1)
    found = rows(data, 6, order=["low", "mid", "high"])
    assert (found.classes, found.n_rated) == (["low", "mid", "high"], 0)
    assert {0.0, 10.0, 100.0} == set(found.form["size"])


def test_a_single_class_is_enough_if_the_scale_is_named():
    grades = ["low"] * 3 + [None] * 57
    found = rows(table(grades), order=["low", "mid", "high"])
    assert found.n_rated == 3
    assert not set(found.form["row"]) & {2, 3, 4}


@pytest.mark.parametrize(
    ("grades", "order", "message"),
    [
        ([None] * 60, None, "no row is rated so far, so the scale is not known"),
        (["low"] * 3 + [None] * 57, None, "only 'low' was given so far"),
        (["low"] * 3 + [None] * 57, ["mid", "high"], "holds 'low', which `order` does not name"),
        (["low"] * 60, ["low", "high"], "every row is rated already"),
        ([None] * 60, ["low", "low"], "name each rating once"),
        ([None] * 60, ["low"], "name at least two ratings"),
    ],
)
def test_what_is_missing_is_reported(grades, order, message):
    with pytest.raises(TableError, match=message):
        rows(table(grades), order=order)


def test_fewer_rows_may_be_left_and_seeds_differ():
    grades = [i % 20 // 7 for i in range(57)] + [None] * 3
    assert len(rows(table(grades)).form) == 3
    one, other = (rows(table(), order=["a", "b"], seed=s).form["row"] for s in (0, 1))
    assert one != other
    assert np.isin(one, range(2, 62)).all()
