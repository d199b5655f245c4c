import io
import json
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tordinal.tables.files import read_table, write_table
from tordinal.tables.values import TableError


def written(table, added, kind):
    buffer = io.BytesIO()
    write_table(table, added, buffer, f"t.{kind}")
    return buffer.getvalue()


def test_csv_rows_go_out_byte_for_byte(tmp_path):
    content = b'\xef\xbb\xbfa,"b ""x"""\r\n"1","two\r\nlines, quoted"\r\n01,  spaced \r\n'
    (tmp_path / "t.csv").write_bytes(content)
    table = read_table(str(tmp_path / "t.csv"))
    assert table.names == ["a", 'b "x"']
    assert table.columns == [["1", "01"], ["two\r\nlines, quoted", "  spaced "]]
    out = written(table, {"new": ["x", "y,z"]}, "csv")
    expected = content.replace(b'""x"""', b'""x""",new').replace(b'quoted"\r\n', b'quoted",x\r\n')
    assert out == expected.replace(b"spaced \r\n", b'spaced ,"y,z"\r\n')


def test_semicolons_and_tabs_are_seen(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;2,5\n")
    (tmp_path / "t.tsv").write_text("a\tb\n1\t2,5\n")
    for name, end in (("t.csv", b"2,5;9\n"), ("t.tsv", b"2,5\t9\n")):
        table = read_table(str(tmp_path / name))
        assert table["b"] == ["2,5"]
        assert written(table, {"c": [9]}, table.format).endswith(end)


def test_json_lines_keep_their_spelling(tmp_path):
    lines = ['{"a": 1.0e1, "b": "é"}', '{"b": null , "c": [1]}', "{}"]
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(str(tmp_path / "t.jsonl"))
    assert table.names == ["a", "b", "c"]
    assert table["a"] == [10.0, None, None]
    out = written(table, {"p": [5, "x", None]}, "jsonl").decode().splitlines()
    assert out[0] == '{"a": 1.0e1, "b": "é", "p": 5}'
    assert [json.loads(line)["p"] for line in out] == [5, "x", None]
    assert out[2] == '{"p": null}'


def test_parquet_keeps_types_and_metadata(tmp_path):
    arrow = pa.table(
        {"n": pa.array([1, None], pa.int8()), "when": pa.array([0, 1], pa.timestamp("ms"))}
    )
    pq.write_table(arrow.replace_schema_metadata({"k": "v"}), tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    again = pq.read_table(io.BytesIO(written(table, {"p": [0.5, 1.0]}, "parquet")))
    assert again.schema.metadata[b"k"] == b"v"
    assert again.drop_columns("p").equals(arrow)
    assert again["p"].to_pylist() == [0.5, 1.0]


@pytest.mark.parametrize("target", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("source", ["csv", "tsv", "jsonl", "parquet"])
def test_any_format_converts_to_any_other(tmp_path, source, target):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    first = read_table(str(tmp_path / "t.csv"))
    path = tmp_path / f"s.{source}"
    path.write_bytes(written(first, {}, source) if source != "csv" else b"a,b\n1,x\n2,y\n")
    out = tmp_path / f"o.{target}"
    out.write_bytes(written(read_table(str(path)), {"c": ["u", "v"]}, target))
    assert [[str(v) for v in c] for c in read_table(str(out)).columns] == [
        ["1", "2"],
        ["x", "y"],
        ["u", "v"],
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,b\n1,2\n3\n", "line 3 has 1 cells, the header has 2"),
        ("t.csv", b'a,b\n1,"2\n3,4\n', "line 2"),
        ("t.csv", b"a,b\n1,\xff\n", "line 2 is not UTF-8.*`encoding`"),
        ("t.csv", b"\x89PNG\0\0", "not a text file"),
        ("t.csv", b"a,b\n", "no rows"),
        ("t.csv", b"", "is empty"),
        ("t.jsonl", b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        ("t.jsonl", b"[1]\n", "line 1 is not an object"),
        ("t.parquet", b"PAR1 and no more", "not a Parquet file"),
        ("t.xlsx", b"x", "not a workbook"),
        ("t.xls", b"x", "save it as .xlsx"),
        ("t.ods", b"x", "save it as .xlsx"),
        ("t.docx", b"x", "use CSV"),
        ("t.csv.gz", b"x", "cannot be unpacked"),
        ("t.csv.zip", b"x", "cannot be unpacked"),
    ],
)
def test_a_bad_file_is_rejected_with_its_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_table(str(tmp_path / name))


def test_other_encodings_are_read_and_written(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,caf\xe9\n".encode("cp1252"))
    table = read_table(str(tmp_path / "t.csv"), "cp1252")
    assert table["b"] == ["café"]
    assert written(table, {"c": ["ü"]}, "csv") == "a,b,c\n1,café,ü\n".encode("cp1252")
    with pytest.raises(TableError, match="no such encoding"):
        read_table(str(tmp_path / "t.csv"), "klingon")


def test_a_byte_order_mark_is_written_once_whatever_the_encoding_is_called(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    for encoding in (None, "utf-8", "UTF-8", "utf-8-sig"):
        table = read_table(str(tmp_path / "t.csv"), encoding)
        assert table.names == ["a", "b"]
        assert written(table, {"c": [3]}, "csv") == b"\xef\xbb\xbfa,b,c\n1,2,3\n"


def test_the_delimiter_is_distinguished_from_what_is_not_quoted(tmp_path):
    (tmp_path / "t.csv").write_text('\n"price, EUR";kind\n1,5;x\n2;y\n')
    table = read_table(str(tmp_path / "t.csv"))
    assert table.names == ["price, EUR", "kind"]
    assert table["price, EUR"] == ["1,5", "2"]
    assert table.features("kind") == {"price, EUR": ["1,5", "2"]}
    assert table.decimal == ","


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_columns_can_be_taken_out_and_the_rest_is_written_as_before(tmp_path, name):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y,z"], "c": [0.5, 1.5]})
    path = tmp_path / name
    if name == "t.parquet":
        frame.to_parquet(path)
    elif name == "t.jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if name == "t.tsv" else ",")
    table = read_table(str(path)).without(["b"])
    assert table.names == ["a", "c"]
    (tmp_path / f"out-{name}").write_bytes(written(table, {"d": ["p", "q"]}, table.format))
    again = read_table(str(tmp_path / f"out-{name}"))
    assert again.names == ["a", "c", "d"]
    assert [str(v) for v in again["c"]] == ["0.5", "1.5"]
    assert again["d"] == ["p", "q"]


def test_mixed_cells_become_text_in_parquet_and_only_they(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"n": 1, "mixed": "a"}\n{"n": 2, "mixed": 5}\n{"n": null}\n')
    table = read_table(str(tmp_path / "t.jsonl"))
    out = pq.read_table(io.BytesIO(written(table, {"p": ["x", 3, 2.5]}, "parquet")))
    assert out["n"].to_pylist() == [1, 2, None]
    assert out["mixed"].to_pylist() == ["a", "5", None]
    assert out["p"].to_pylist() == ["x", "3", "2.5"]


def test_what_json_cannot_say_is_null(tmp_path):
    pq.write_table(pa.table({"x": [float("nan"), float("inf"), 1.0]}), tmp_path / "t.parquet")
    lines = written(read_table(str(tmp_path / "t.parquet")), {}, "jsonl").decode().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail)["x"] for line in lines] == [
        None,
        None,
        1.0,
    ]


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zip"])
def test_packed_files_are_read_and_written(tmp_path, packing):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    table = read_table(str(tmp_path / "t.csv"))
    path = tmp_path / f"t.csv.{packing}"
    with path.open("wb") as file:
        write_table(table, {"c": [0.5]}, file, str(path))
    again = read_table(str(path))
    assert again.names == ["a", "b", "c"]
    assert again.columns == [["1"], ["x"], ["0.5"]]


def test_an_archive_of_several_files_is_rejected(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(TableError, match="holds 2 files"):
        read_table(str(tmp_path / "t.csv.zip"))


def test_utf_16_as_excel_saves_it(tmp_path):
    content = "name\tstars\nTee\t5\n".encode("utf-16")
    (tmp_path / "t.txt").write_bytes(content)
    table = read_table(str(tmp_path / "t.txt"))
    assert table.names == ["name", "stars"]
    buffer = io.BytesIO()
    write_table(table, {"p": ["é"]}, buffer, "t.txt")
    assert buffer.getvalue().decode("utf-16") == "name\tstars\tp\nTee\t5\té\n"
    assert buffer.getvalue()[:2] == content[:2]


def test_only_workbooks_have_sheets(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    with pytest.raises(TableError, match="has no sheets"):
        read_table(str(tmp_path / "t.csv"), sheet="Data")
