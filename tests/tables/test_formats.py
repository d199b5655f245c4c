"""A format of one's own takes one `Format`, and works in every command."""

import pandas as pd
from commands import frame, run

from tordinal import rate_table
from tordinal.tables import files
from tordinal.tables.formats import Format
from tordinal.tables.table import Table, cell_text


def read_bars(path, text, sheet):
    names, *rows = [line.split(" || ") for line in text.splitlines()]
    return Table(names, [list(cells) for cells in zip(*rows, strict=True)], "bars")


def write_bars(table, added, file, decimal):
    file.write(" || ".join([*table.names, *added]) + "\n")
    for row in zip(*table.columns, *added.values(), strict=True):
        file.write(" || ".join(cell_text(cell, decimal) for cell in row) + "\n")


BARS = Format("bars", "Bars", (".bars",), read_bars, write_bars, lambda s: b" || " in s, text=True)


def test_a_registered_format_is_read_recognised_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FORMATS", [BARS, *files.FORMATS])
    data, fast = frame(), ["--target", "stars", "--method", "redsvm"]
    cells = data.astype(object).where(data.notna(), "").astype(str)
    lines = [" || ".join(row) for row in [list(cells), *cells.to_numpy().tolist()]]
    source, out = tmp_path / "in.bars", tmp_path / "out.bars.gz"
    source.write_text("\n".join(lines) + "\n")
    run("label", source, *fast, "-o", out)
    again = files.read_table(str(out))
    assert again.format == "bars"
    assert again.names[-3:] == ["stars_predicted", "stars_confidence", "stars_source"]
    assert again["stars_source"].count("predicted") == 100
    rated = rate_table(source, "stars", method="redsvm").frame
    assert rated["stars_predicted"].tolist() == pd.to_numeric(again["stars_predicted"]).tolist()
    said = run("label", "-", *fast, "-o", "-", input=source.read_bytes()).stdout
    assert said.splitlines()[0].endswith(" || stars_source")
    assert "Bars (.bars)" in run("label", tmp_path / "x.odd", *fast, "-o", "-", code=2).output
