from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.fingerprints import fingerprints, row_fingerprints


def test_cells_count_by_what_they_read_and_columns_in_their_order():
    table = {"size": ["1.0", 1, "1,0", " a"], "kind": ["x", "x ", "x", "x"]}
    one, same, other, last = row_fingerprints(table, ["size", "kind"])
    assert one == same
    assert len({one, other, last}) == 3
    assert row_fingerprints(table, ["kind", "size"])[0] != one


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_texts_are_distinguished_and_written_as_sixteen_digits(texts):
    table = {"text": texts}
    prints = row_fingerprints(table, ["text"])
    assert [int(p, 16) for p in prints] == fingerprints(table, ["text"]).tolist()
    assert all(len(p) == 16 for p in prints)
    apart = {text.strip() for text in texts if not any(c.isdigit() for c in text)}
    assert len({p for p, t in zip(prints, texts, strict=True) if t.strip() in apart}) == len(apart)
