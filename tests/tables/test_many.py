"""What the workers do with a file; the whole is in ``tests/cli/test_many.py``."""

from collections import Counter

import pytest
from clusters import start
from commands import TEXTS, parquet_files
from distributed import Client

from tordinal.tables import many, worker
from tordinal.tables.columns import TableEncoder
from tordinal.tables.many import Files, find_files
from tordinal.tables.worker import TableReader

READER = TableReader("stars")


@pytest.fixture
def client():
    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield client


def test_files_are_found_in_order_and_rejected_by_name(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden.csv", "_SUCCESS", "notes.md"):
        (tmp_path / name).write_text("x\n1\n")
    assert [p.rsplit("/", 1)[1] for p in find_files(str(tmp_path))] == ["a.csv", "b.csv"]
    assert len(find_files(str(tmp_path / "b*"))) == 1
    with pytest.raises(ValueError, match="no tables found"):
        find_files(str(tmp_path / "c*"))
    (tmp_path / "c.xlsx").write_text("")
    with pytest.raises(ValueError, match="workbooks are not supported"):
        find_files(str(tmp_path))


@pytest.fixture
def paths(tmp_path):
    return parquet_files(tmp_path)


def test_words_of_all_files_make_the_encoder_of_one_table(paths):
    encoder = TableEncoder(text=["review"]).fit({"review": TEXTS[:30]})
    counts = sum((worker.words_of(p, READER, encoder)["review"] for p in paths), Counter())
    encoder.use_words({"review": counts}, 150)
    whole = TableEncoder(text=["review"]).fit({"review": TEXTS})
    names = [
        [word for _, word in e.get_feature_names_out() if word[0] != "("] for e in (encoder, whole)
    ]
    assert names[0] == names[1]
    n = len(names[0])
    X, expected = (e.transform({"review": TEXTS})[:, :n] for e in (encoder, whole))
    assert abs(X - expected).max() < 1e-12
    for view, columns in encoder.views().items():
        assert columns.max() < len(encoder.get_feature_names_out()), view


def test_each_gives_what_is_known_and_names_the_file_that_fails(client, paths):
    told = []
    files = Files(client, paths, READER, lambda *what: told.append(what))
    assert [s.rows for s in files.survey()] == [20, 0, 130]
    assert told[-1] == ("looking at the files", 3, 3)
    shared = files.shared(21)
    doubled = dict(files.each("adding", _add, [(i, shared) for i in range(3)]))
    assert doubled == {0: 21, 1: 22, 2: 23}
    with pytest.raises(ValueError, match="a worker cannot find this file"):
        dict(files.each("looking", worker.survey, [("/nowhere.csv", READER)]))


def _add(a, b):
    return a + b


def test_a_sample_is_shared_out_in_proportion():
    assert many.share_out([10, 30, 0], 100) == [10, 30, 0]
    shares = many.share_out([1, 1000, 3, 996], 100)
    assert sum(shares) == 100
    assert shares[1] == 50


def test_outputs_are_beside_each_other_as_inputs_are():
    assert many.output_names(["/x/a/1.csv.gz", "/x/b/1.parquet"]) == ["a/1.parquet", "b/1.parquet"]
    with pytest.raises(ValueError, match=r"both become 1\.parquet"):
        many.output_names(["/x/1.csv", "/x/1.parquet"])
