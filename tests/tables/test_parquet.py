import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tordinal.tables.columns import TableEncoder
from tordinal.tables.parquet import read_parquet, table_of_arrow, write_parquet
from tordinal.tables.table import Table
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError


def test_integers_beyond_64_bits_become_text():
    out = io.BytesIO()
    write_parquet(Table(["n"], [[10**30, 1]], "jsonl"), {"p": [1, 2]}, out)
    assert pq.read_table(out).to_pydict() == {"n": [str(10**30), "1"], "p": [1, 2]}


def test_columns_of_one_name_are_unique_names():
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    out = io.BytesIO()
    pq.write_table(arrow, out)
    table = read_parquet("t", out.getvalue())
    assert table.names == ["a", "a (2)"]
    again = io.BytesIO()
    write_parquet(table, {}, again)
    assert pq.read_table(again).to_pydict() == {"a": [1], "a (2)": [2]}


@pytest.mark.parametrize(
    "array",
    [
        pa.array([10_000_000], pa.date32()),
        pa.array([2**62], pa.date64()),
        pa.array([2**50], pa.timestamp("s")),
        pa.array([2**62], pa.duration("s")),
        pa.array([2**62], pa.timestamp("ms", tz="UTC")),
    ],
    ids=lambda array: str(array.type),
)
def test_times_beyond_what_python_knows_are_read_as_text(array):
    stream = io.BytesIO()
    pq.write_table(pa.table({"when": array, "n": [1]}), stream)
    table = read_parquet("t.parquet", stream.getvalue())
    assert isinstance(table["when"][0], str)
    assert "column when holds" in table.notes[0]
    out = io.BytesIO()
    write_parquet(table, {"more": ["x"]}, out)
    assert pq.read_table(out).column("when").equals(pq.read_table(stream).column("when"))


def test_ratings_and_durations_of_databases_are_read():
    decimals = pa.array([Decimal("1.5"), Decimal("2.5"), None], pa.decimal128(38, 10))
    durations = pa.array([60, 120, 180], pa.duration("s"))
    arrow = pa.table({"size": durations, "bytes": pa.array([b"no", b"yes", None]), "t": decimals})
    table = table_of_arrow(arrow, "parquet")
    assert read_target("t", table["t"], None).classes == [1.5, 2.5]
    assert read_target("bytes", table["bytes"], None).classes == ["no", "yes"]
    X = TableEncoder(columns=["size"]).fit_transform({"size": table["size"]})
    np.testing.assert_allclose(X[:, 0], [-(1.5**0.5), 0.0, 1.5**0.5])


def test_text_that_is_not_utf8_is_rejected():
    damaged = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    with pytest.raises(TableError, match="column t holds text that is not UTF-8"):
        table_of_arrow(pa.table({"t": damaged}), "parquet")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[2**62]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("us"))),
        pa.array([{"t": 2**30}], pa.struct({"t": pa.int32()})).cast(pa.struct({"t": pa.date32()})),
        pa.array([[2**62]], pa.large_list(pa.int64())).cast(pa.large_list(pa.duration("s"))),
        pa.array([[2**62]], pa.list_(pa.int64(), 1)).cast(pa.list_(pa.timestamp("us"), 1)),
        pa.array([[("k", 2**62)]], pa.map_(pa.string(), pa.int64())).cast(
            pa.map_(pa.string(), pa.timestamp("us"))
        ),
        pa.array([2**62]).cast(pa.timestamp("us")).dictionary_encode(),
    ],
    ids=lambda column: str(column.type)[:12],
)
def test_dates_beyond_pythons_range_inside_of_lists_are_text(column):
    table = table_of_arrow(pa.table({"d": column}), "parquet")
    [cell] = table["d"]
    assert isinstance(cell, str)
    assert str(2**30 if "date" in str(column.type) else 2**62) in cell
    assert "read as text" in table.notes[0]
