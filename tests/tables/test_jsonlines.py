import io

from tordinal.tables.jsonlines import read_jsonlines, write_jsonlines


def test_keys_that_come_later_are_columns_too():
    table = read_jsonlines("t", '{"a": 1}\n\n{"b": 100000000000000000000}\n')
    assert table.names == ["a", "b"]
    assert table.columns == [[1, None], [None, 10**20]]
    assert table.number(0) == 1
    out = io.StringIO()
    write_jsonlines(table, {"p": [0.5, None]}, out)
    assert out.getvalue().splitlines() == [
        '{"a": 1, "p": 0.5}',
        '{"b": 100000000000000000000, "p": null}',
    ]
