import io

import pytest

from tordinal.tables.jsonlines import read_jsonlines, write_jsonlines
from tordinal.tables.values import TableError


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


def test_half_a_character_is_rejected_and_a_whole_one_is_read():
    assert read_jsonlines("t", '{"a": "\\ud83d\\ude00"}').columns == [["\U0001f600"]]
    with pytest.raises(TableError, match="t: line 2 holds half of a surrogate pair"):
        read_jsonlines("t", '{"a": "b"}\n{"a": ["\\ud800"]}')
