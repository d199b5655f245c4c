import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tordinal.exceptions import InputError
from tordinal.tables.frames import add_columns, frame_of, table_of
from tordinal.tables.table import Table


def test_cells_are_python_values_and_missing_ones_none():
    data = pd.DataFrame(
        {
            "n": np.array([1, 2]),
            "m": pd.array([1, None], dtype="Int64"),
            "f": [0.5, np.nan],
            "when": pd.to_datetime(["2024-01-31", None]),
            "mixed": [np.float32(2.0), "x"],
        }
    )
    table = table_of(data)
    assert table.columns == [
        [1, 2], [1, None], [0.5, None], [datetime.datetime(2024, 1, 31), None], [2.0, "x"]
    ]  # fmt: skip
    assert [type(c) for c in table["mixed"]] == [float, str]


def test_names_become_unique_text_and_rows_have_index_labels():
    data = pd.DataFrame([[1, 2, 3]], columns=["a", "a", 7], index=[("x", 1)])
    table = table_of(data)
    assert table.names == ["a", "a (2)", "7"]
    assert table.number(0) == "('x', 1)"
    assert len(table.notes) == 1


def test_ordered_categories_of_pandas_and_arrow():
    kind = pd.CategoricalDtype(["low", "high"], ordered=True)
    data = pd.DataFrame({"t": pd.Series(["high", None], dtype=kind), "u": ["a", "b"]})
    assert table_of(data).orders == {"t": ["low", "high"]}
    assert table_of(pa.Table.from_pandas(data)).orders == {"t": ["low", "high"]}


def test_other_objects_are_rejected():
    with pytest.raises(InputError, match="not dict"):
        table_of({"a": [1]})


def test_text_cells_become_numbers_where_all_are():
    frame = frame_of(Table(["n", "t", "e"], [["1", ""], ["01", "x"], ["", ""]], "csv"))
    assert frame["n"].tolist()[0] == 1
    assert frame["n"].isna().tolist() == [False, True]
    assert frame["t"].tolist() == ["01", "x"]
    assert frame["e"].isna().all()


def test_added_columns_replace_those_of_the_same_name_and_take_a_type_that_fits():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["x", "y"])
    new = add_columns(frame, {"a": ["5", None], "c": [1, 2]}, {"c": np.dtype("int8")})
    assert list(new.columns) == ["b", "a", "c"]
    assert new["c"].dtype == np.int8
    assert list(frame.columns) == ["a", "b"]
    kept = add_columns(frame, {"c": [1, None]}, {"c": np.dtype("int64")})["c"]
    assert kept.isna().tolist() == [False, True]
