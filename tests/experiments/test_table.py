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


def test_results_of_other_versions_are_kept_apart(tmp_path):
    table = ResultTable(tmp_path / "results.jsonl")
    row = dict(
        zip(KEY, ("sentiment", "books", "TOR", 100, 0, None), strict=True), zero_one=0.5, mae=0.7
    )
    for seed, version in enumerate(("0.1.0", "0.2.0", "0.1.0")):
        table.append({**row, "seed": seed, "version": version})
    assert table.move_other_versions("0.2.0") == {"0.1.0": 2}
    assert [r["seed"] for r in table.rows()] == [1]
    apart = ResultTable(tmp_path / "results-0.1.0.jsonl")
    assert [r["seed"] for r in apart.rows()] == [0, 2]
    assert table.move_other_versions("0.2.0") == {}
    assert len(list(apart.rows())) == 2
