from collections import Counter

import numpy as np
import pandas as pd
import pytest
from commands import TEXTS, frame, parquet_files

from tordinal.tables import worker
from tordinal.tables.columns import TableEncoder
from tordinal.tables.target import read_ratings
from tordinal.tables.worker import TableReader

READER = TableReader("stars")


@pytest.fixture
def paths(tmp_path):
    return parquet_files(tmp_path)


def test_a_survey_counts_and_a_sample_is_drawn_without_repetition(paths):
    surveys = [worker.survey(path, READER) for path in paths]
    assert [s.rows for s in surveys] == [20, 0, 130]
    cells = sum((s.cells for s in surveys), Counter())
    assert cells == Counter(c if pd.notna(c) else None for c in frame()["stars"])
    part = worker.draw(paths[2], READER, 5, 7, (0, 2))
    assert sum(c is not None for c in part["stars"]) == 5
    assert len(part) == 12
    assert len(set(part["id"])) == 12
    assert part.numbers[0].startswith("2.parquet ")
    again = worker.draw(paths[2], READER, 5, 7, (0, 2))
    assert again.columns == part.columns
    assert len(worker.draw(paths[1], READER, 5, 7, (0, 1))) == 0


def test_a_file_is_encoded_with_its_ranks(paths):
    encoder = TableEncoder(text=["review"]).fit({"review": TEXTS})
    ratings = read_ratings("stars", Counter([*frame()["stars"].tolist()[::3], None]), None)
    columns = np.arange(5)
    shared = (READER, encoder, columns, ratings)
    X = worker.encode(paths[0], *shared, False)
    np.testing.assert_allclose(
        X.toarray(), encoder.transform({"review": TEXTS[:20]})[:, :5].toarray()
    )
    rank = worker.labels_in(paths[0], READER, ratings, False)
    assert (rank >= 0).sum() == 7
    assert worker.encode(paths[0], *shared, True).shape == (7, 5)
    assert len(worker.labels_in(paths[0], READER, ratings, True)) == 7
    assert worker.encode(paths[1], *shared, False).shape == (0, 5)
