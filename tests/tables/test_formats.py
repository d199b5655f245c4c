"""A format of one's own takes one `Format`, and works in every command."""

import numpy as np
import pandas as pd
import pytest
from commands import frame, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tordinal import rate_table
from tordinal.tables import files
from tordinal.tables.files import FORMATS, read_table, write_table
from tordinal.tables.formats import Format
from tordinal.tables.rating_order import spelled
from tordinal.tables.table import Table, cell_text
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError


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


def after(table, suffix, folder, added=None):
    """The table after it was written to a file and read again."""
    path = str(folder / f"t{suffix}")
    with open(path, "wb") as file:
        write_table(table, added or {}, file, path)
    return read_table(path)


WORDS = st.text(
    st.characters(blacklist_categories=("Cc", "Cs"), blacklist_characters="\ufeff"), max_size=5
)
SIGNED = st.sampled_from(["+1", "0", "-1", "\u22121", "1.0", "1", "01", "1.", "A+", "A", "A-", "a"])
NOTHING = st.sampled_from(["None", "none", "NONE", "-", "?", "n/a", " ", "x", "NaN", "null"])
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.floats(-1e6, 1e6), st.booleans())


@pytest.mark.parametrize("suffix", [kind.suffixes[0] for kind in FORMATS])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.lists(st.one_of(WORDS, SIGNED, NOTHING), min_size=2, max_size=8),
        st.lists(st.one_of(NUMBERS, st.none()), min_size=2, max_size=8),
    ),
    st.booleans(),
)
def test_each_given_rating_comes_out_as_it_went_in(tmp_path, suffix, ratings, named):
    ratings = [*ratings * 2, None, ""] if isinstance(ratings[0], str) else [*ratings * 2, None]
    table = Table(["a", "t"], [[str(i) for i in range(len(ratings))], ratings], "frame")
    try:
        table = after(table, suffix, tmp_path)
        order = list(dict.fromkeys(cell_text(c).strip() for c in table["t"] if spelled(c)))
        target = read_target("t", table["t"], order if named else None)
    except TableError:  # the order is asked for, or there is one rating only
        return
    said = " ".join(target.notes)
    for cell, rank in zip(table["t"], target.rank, strict=True):
        assert rank >= 0 or spelled(cell) in ("", None) or repr(spelled(cell)) in said
    labels = target.labels(np.maximum(target.rank, 0))
    rated = after(table, suffix, tmp_path, {"t_predicted": labels})
    for i in np.flatnonzero(target.rank >= 0):
        assert rated["t"][i] == table["t"][i]
        assert rated["t_predicted"][i] == table["t"][i]
        if isinstance(ratings[i], str):
            assert rated["t_predicted"][i] == ratings[i]
