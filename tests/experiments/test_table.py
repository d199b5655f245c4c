"""The table of results."""

from tordinal.experiments.table import KEY, ResultTable


def test_the_table_survives_a_cut_line(tmp_path):
    table = ResultTable(tmp_path / "results.jsonl")
    row = dict(
        zip(KEY, ("sentiment", "books", "TOR", 100, 0, None), strict=True), zero_one=0.5, mae=0.7
    )
    table.append(row)
    with table.path.open("ab") as file:
        # As a kill in the middle of a line leaves it.
        file.write(b'{"study": "sentiment", "dataset"')
    assert len(table.keys()) == 1
    table.append({**row, "seed": 1})
    assert len(table.keys()) == 2
    assert len(table.frame()) == 2
