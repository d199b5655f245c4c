import numpy as np
import pandas as pd
import pytest
from clusters import start
from commands import STARS, frame, parquet_files
from distributed import Client

from tordinal.tables.many import Files
from tordinal.tables.rate_files import draw_sample, fit_files, rescale_C2, write_files
from tordinal.tables.settings import Settings
from tordinal.tables.worker import TableReader


@pytest.fixture
def files(tmp_path):
    with start(2, processes=False) as cluster, Client(cluster) as client:
        yield Files(client, parquet_files(tmp_path), TableReader("stars"), lambda *told: None)


def test_a_sample_of_few_rows_is_all_of_them(files):
    sample = draw_sample(files, seed=0)
    table = frame()
    assert sample.n_rows == len(sample.table) == 150
    assert sample.n_rated == [7, 0, 43]
    assert sample.target.classes == sorted(set(table["stars"].dropna()))
    assert files.reader.order == tuple(map(str, sample.target.classes))
    given = sample.target.rank >= 0
    assert given.sum() == table["stars"].notna().sum()
    again = draw_sample(files, seed=0)
    assert again.table["review"] == sample.table["review"]


def test_the_model_of_all_files_rates_every_row_and_keeps_the_totals(files, tmp_path):
    sample = draw_sample(files, seed=0)
    rating = fit_files(files, sample, {"text": ["review"]}, Settings(method="tor"))
    assert rating.notes[0].startswith("150 rows in 3 files: the model was chosen on 150 of them")
    outs = [str(tmp_path / f"out{i}.parquet") for i in range(3)]
    done = write_files(files, outs, sample, rating, probabilities=False, abstain=None)
    rated = pd.concat([pd.read_parquet(out) for out in outs], ignore_index=True)
    assert len(rated) == 150
    given = rated["stars_source"] == "given"
    assert given.sum() == rating.model.card["ratings"] == done.totals.given.sum() == 50
    assert rating.model.card["rows"] == done.totals.rows == 150
    predicted = rated.loc[~given, "stars_predicted"].astype(int)
    assert np.abs(predicted - np.array(STARS)[~given.to_numpy()]).mean() < 1.0
    np.testing.assert_array_equal(rating.whole.predicted, done.totals.predicted)


def test_c2_of_a_sample_becomes_smaller_where_more_rows_are_unrated():
    free = np.array([True] * 4 + [False] * 2)  # rated to unrated: 1 to 2
    assert rescale_C2(0.5, free, 100, 300) == 0.5
    assert rescale_C2(0.5, free, 100, 1100) == pytest.approx(0.1)
    assert rescale_C2(0.5, free, 300, 400) == 1.0  # never above the weight of a rated row
