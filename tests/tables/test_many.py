"""What the workers do with a file; the whole is in ``tests/cli/test_many.py``."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from clusters import start
from commands import TEXTS, frame
from distributed import Client

from tordinal.tables import many
from tordinal.tables.columns import TableEncoder
from tordinal.tables.many import Files, Source, find_files
from tordinal.tables.target import read_ratings

SOURCE = Source("stars")


@pytest.fixture
def client():
    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def paths(tmp_path):
    ends = [0, 20, 20, 150]
    for i in range(3):
        frame()[ends[i] : ends[i + 1]].to_parquet(tmp_path / f"{i}.parquet", index=False)
    return find_files(str(tmp_path / "*.parquet"))


def test_files_are_found_in_order_and_refused_by_name(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden.csv", "_SUCCESS", "notes.md"):
        (tmp_path / name).write_text("x\n1\n")
    assert [p.rsplit("/", 1)[1] for p in find_files(str(tmp_path))] == ["a.csv", "b.csv"]
    assert len(find_files(str(tmp_path / "b*"))) == 1
    with pytest.raises(ValueError, match="no tables found"):
        find_files(str(tmp_path / "c*"))
    (tmp_path / "c.xlsx").write_text("")
    with pytest.raises(ValueError, match="workbooks are not supported"):
        find_files(str(tmp_path))


def test_a_survey_counts_and_a_sample_is_drawn_without_repetition(paths):
    surveys = [many.survey(path, SOURCE) for path in paths]
    assert [s.rows for s in surveys] == [20, 0, 130]
    cells = sum((s.cells for s in surveys), Counter())
    assert cells == Counter(c if pd.notna(c) else None for c in frame()["stars"])
    part = many.draw(paths[2], SOURCE, 5, 7, (0, 2))
    assert sum(c is not None for c in part["stars"]) == 5
    assert len(part) == 12
    assert len(set(part["id"])) == 12
    assert part.numbers[0].startswith("2.parquet ")
    again = many.draw(paths[2], SOURCE, 5, 7, (0, 2))
    assert again.columns == part.columns
    assert len(many.draw(paths[1], SOURCE, 5, 7, (0, 1))) == 0


def test_words_of_all_files_make_the_encoder_of_one_table(paths):
    encoder = TableEncoder(text=["review"]).fit({"review": TEXTS[:30]})
    counts = sum((many.words_of(p, SOURCE, encoder)["review"] for p in paths), Counter())
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


def test_a_file_is_encoded_with_its_ranks(paths):
    encoder = TableEncoder(text=["review"]).fit({"review": TEXTS})
    ratings = read_ratings("stars", Counter([*frame()["stars"].tolist()[::3], None]), None)
    columns = np.arange(5)
    shared = (SOURCE, encoder, columns, ratings)
    X = many.encode(paths[0], *shared, False)
    np.testing.assert_allclose(
        X.toarray(), encoder.transform({"review": TEXTS[:20]})[:, :5].toarray()
    )
    rank = many.labels_in(paths[0], SOURCE, ratings, False)
    assert (rank >= 0).sum() == 7
    assert many.encode(paths[0], *shared, True).shape == (7, 5)
    assert len(many.labels_in(paths[0], SOURCE, ratings, True)) == 7
    assert many.encode(paths[1], *shared, False).shape == (0, 5)


def test_each_gives_what_is_known_and_names_the_file_that_fails(client, paths):
    told = []
    files = Files(client, paths, SOURCE, lambda *what: told.append(what))
    assert [s.rows for s in files.survey()] == [20, 0, 130]
    assert told[-1] == ("looking at the files", 3, 3)
    shared = files.shared(21)
    doubled = dict(files.each("adding", _add, [(i, shared) for i in range(3)]))
    assert doubled == {0: 21, 1: 22, 2: 23}
    with pytest.raises(ValueError, match="a worker cannot find this file"):
        dict(files.each("looking", many.survey, [("/nowhere.csv", SOURCE)]))


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
