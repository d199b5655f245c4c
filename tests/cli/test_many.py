"""``label`` and ``predict`` for tables in many files."""

import itertools
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from clusters import start
from commands import frame, run
from distributed import Client

from tordinal.cli import many

SHARED = ["--target", "stars", "--method", "tor", "--loss", "squared_hinge", "--text", "review"]
SIZES = (40, 0, 60, 50)


@pytest.fixture(scope="module")
def address():
    with start(2, processes=True) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The reviews in four files, one of them empty and one of them CSV."""
    folder = tmp_path_factory.mktemp("many") / "parts"
    folder.mkdir()
    ends = np.cumsum([0, *SIZES])
    for i, (a, b) in enumerate(itertools.pairwise(ends)):
        part = frame().iloc[a:b]
        if i == 2:
            part.to_csv(folder / "c.csv.gz", index=False)
        else:
            part.to_parquet(folder / f"{'abcd'[i]}.parquet", index=False)
    (folder / "notes.md").write_text("no table")
    return folder


def rated(folder):
    return {path.name: pd.read_parquet(path) for path in sorted(folder.iterdir())}


def killed_during(address, stages, monkeypatch):
    """Kill a worker whenever one of some stages of the work has begun."""
    told, killed = many.ProgressDisplay.__call__, []

    def tell(self, name, done, total, detail=""):
        told(self, name, done, total, detail)
        if name in stages and name not in killed:
            killed.append(name)
            with Client(address, set_as_default=False) as client:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    monkeypatch.setattr(many.ProgressDisplay, "__call__", tell)
    return killed


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_files_keep_rows_columns_and_partitions_whatever_workers_die(
    address, folder, tmp_path, monkeypatch
):
    shared = ["label", folder, *SHARED, "--scheduler", address, "--probabilities"]
    model, report = tmp_path / "m.skops", tmp_path / "r.html"
    said = run(*shared, "-o", tmp_path / "rated", "--model", model, "--report", report)
    assert "Rated 100 of 150 rows" in said.output
    tables = rated(tmp_path / "rated")
    assert [len(t) for t in tables.values()] == list(SIZES)
    added = ["stars_predicted", "stars_confidence", "stars_source"]
    for table in tables.values():
        assert [c for c in table if not c.startswith("stars_")] == list(frame())
        assert [c for c in table if c.startswith("stars_")][:3] == added
        assert table["stars_source"].isin(["given", "predicted"]).all()
    pd.testing.assert_frame_equal(tables["a.parquet"][list(frame())], frame()[:40])
    types = {tuple(table[added].dtypes.astype(str)) for table in tables.values()}
    assert len(types) == 1
    whole = pd.concat(tables.values(), ignore_index=True)
    given = whole["stars_source"] == "given"
    numbers = [pd.to_numeric(whole[c][given]) for c in ("stars", "stars_predicted")]
    assert (numbers[0] == numbers[1]).all()
    page = report.read_text()
    assert "100 rows rated from 50 given ratings" in page
    assert "a.parquet " in page

    stages = ["all rows", "rating and writing"]
    with monkeypatch.context() as patch:
        killed = killed_during(address, stages, patch)
        run(*shared, "-o", tmp_path / "killed")
        assert killed == stages
    assert list(rated(tmp_path / "killed")) == list(tables)
    for name, table in rated(tmp_path / "killed").items():
        pd.testing.assert_frame_equal(table, tables[name])

    said = run("predict", model, folder, "-o", tmp_path / "new", "--scheduler", address).output
    assert "predicted in training" in " ".join(said.split())
    assert "Warning" not in said
    again = pd.concat(rated(tmp_path / "new").values(), ignore_index=True)
    same = again["stars_predicted"][~given] == whole["stars_predicted"][~given]
    assert same.all()

    (tmp_path / "empty").mkdir()  # counts of all files are added up before they are compared
    for name, rows in (("a", 60), ("b", 40)):
        frame()[:rows].assign(review="").to_parquet(tmp_path / "empty" / f"{name}.parquet")
    shared = ["predict", model, tmp_path / "empty", "-o", tmp_path / "r", "--scheduler", address]
    said = " ".join(run(*shared).output.split())
    assert "review: 100 of 100 cells are empty (100 %); in training 0 % were." in said


def test_nothing_is_left_of_what_is_interrupted_or_fails(address, folder, tmp_path, monkeypatch):
    shared = ["label", folder, *SHARED, "--scheduler", address, "-o", tmp_path / "rated"]

    def stop(self, name, done, total, detail=""):
        if name == "rating and writing" and done:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(many.ProgressDisplay, "__call__", stop)
        assert "interrupted" in run(*shared, code=2).output
    assert list(tmp_path.iterdir()) == []
    with Client(address, set_as_default=False) as client:
        deadline = time.monotonic() + 10
        while any(client.processing().values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(client.processing().values())
    (tmp_path / "bad").mkdir()
    for name in ("a", "d"):
        (tmp_path / "bad" / f"{name}.parquet").write_bytes((folder / "a.parquet").read_bytes())
    (tmp_path / "bad" / "d.parquet").write_bytes(b"PAR1 and nothing else")
    out = ["-o", tmp_path / "rated", "--scheduler", address]
    said = run("label", tmp_path / "bad", *SHARED, *out, code=2)
    assert "d.parquet is not a Parquet file" in said.output.replace("\n", "")
    frame().drop(columns="shop").to_parquet(tmp_path / "bad" / "d.parquet")
    said = run("label", tmp_path / "bad", *SHARED, *out, code=2)
    assert "have different columns: 'shop'" in said.output
    assert not (tmp_path / "rated").exists()


def test_what_does_not_go_with_many_files_is_reported(address, folder, tmp_path):
    shared = ["label", folder, *SHARED, "--scheduler", address, "-o"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    for arguments, message in (
        ([tmp_path / "o.csv"], "OUT must be a folder"),
        (["-"], "OUT must be a folder"),
        ([tmp_path / "full"], "is not empty"),
        ([tmp_path / "o", "--next", "3", tmp_path / "n.csv"], "--next requires a single table"),
        ([tmp_path / "o", "--kernel", "rbf"], "are linear"),
    ):
        assert message in run(*shared, *arguments, code=2).output.replace("\n", " ")
    none = run("label", tmp_path / "*.parquet", *SHARED, "-o", tmp_path / "o", code=2)
    assert "no tables found" in none.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["full"]
