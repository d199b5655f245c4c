"""The parsers of the benchmark sets on small files that the tests write, without a network."""

import gzip

import numpy as np
import pytest

from tordinal.datasets import _benchmark as benchmark
from tordinal.datasets import fetch_abalone, fetch_bank, fetch_california, fetch_census

RNG = np.random.default_rng(0)


FETCHERS = {
    "abalone": fetch_abalone,
    "bank": fetch_bank,
    "california": fetch_california,
    "census": fetch_census,
}


SHAPES = {"abalone": (30, 10), "bank": (50, 32), "california": (30, 8), "census": (30, 16)}


FIRST = {
    "abalone": "abalone.data",
    "bank": "bank32nh.data",
    "california": "cal_housing.data",
    "census": "574_house_16H.tsv.gz",
}


def lines(n, columns, separator):
    return [separator.join(f"{v:.4f}" for v in RNG.normal(size=columns)) for _ in range(n)]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "\n".join(rows) + "\n"
    (gzip.open if path.suffix == ".gz" else open)(path, "wt").write(content)


@pytest.fixture
def home(tmp_path):
    write(
        tmp_path / "abalone/abalone.data",
        [f"{'MFI'[i % 3]},{row}" for i, row in enumerate(lines(30, 8, ","))],
    )
    write(tmp_path / "bank/bank32nh.data", lines(30, 33, " "))
    write(tmp_path / "bank/bank32nh.test", lines(20, 33, " "))
    write(tmp_path / "california/cal_housing.data", lines(30, 9, ","))
    header = "\t".join([*(f"P{i}" for i in range(16)), "target"])
    write(tmp_path / "census/574_house_16H.tsv.gz", [header, *lines(30, 17, "\t")])
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*the file may be cut")
@pytest.mark.parametrize("name", FETCHERS)
def test_benchmark_sets(home, name, monkeypatch):
    data = FETCHERS[name](data_home=home)
    assert data.data.shape == SHAPES[name]
    assert len(data.feature_names) == SHAPES[name][1]
    np.testing.assert_allclose(data.data.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.data.std(axis=0), 1.0)
    assert sum(data.rank_sizes) == SHAPES[name][0]
    assert (np.diff(data.target[np.argsort(data.target_values)]) >= 0).all()
    assert str(data.rank_sizes) in data.DESCR
    monkeypatch.setenv("TORDINAL_DATA", str(home))
    X, y = FETCHERS[name](n_ranks=3, return_X_y=True, as_frame=True, standardize=False)
    assert list(X.columns) == data.feature_names
    assert set(y) == {1, 2, 3}
    assert FETCHERS[name](as_frame=True).frame.shape == (SHAPES[name][0], SHAPES[name][1] + 1)


@pytest.mark.parametrize("name", FETCHERS)
@pytest.mark.parametrize("damage", ["x", "1 2 3", "nan"])
def test_a_damaged_line_is_named(home, name, damage):
    path = home / name / FIRST[name]
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        rows = file.read().splitlines()
    rows[6] = damage
    write(path, rows)
    with pytest.raises(ValueError, match=rf"{path.name}: line 7"):
        FETCHERS[name](data_home=home)


def test_a_truncated_archive_is_named(home):
    path = home / "census/574_house_16H.tsv.gz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="damaged after line"):
        fetch_census(data_home=home)


def test_a_file_with_other_rows_than_the_set_is_remarked(home):
    with pytest.warns(
        UserWarning, match=r"abalone.data: 30 rows, but the Abalone dataset has 4,177"
    ):
        fetch_abalone(data_home=home)
    rows = (home / "california/cal_housing.data").read_text().splitlines()
    write(home / "california/cal_housing.data", ["1_0" + rows[0][rows[0].index(",") :], *rows[1:]])
    with pytest.raises(ValueError, match=r"line 1 is damaged"):
        fetch_california(data_home=home)
    (home / "census/574_house_16H.tsv.gz").write_bytes(b"P1\tP2\n")
    with pytest.raises(ValueError, match=r"574_house_16H.tsv.gz: line 1 is damaged"):
        fetch_census(data_home=home)
    write(home / "abalone/abalone.data", ["M" + ",1" * 8, "", "X" + ",1" * 8])
    with pytest.raises(ValueError, match=r"line 3 is damaged: sex 'X'"):
        fetch_abalone(data_home=home)


@pytest.mark.filterwarnings("ignore:.*the file may be cut")
def test_a_constant_feature_stays_finite(home):
    rows = (home / "california/cal_housing.data").read_text().splitlines()
    write(home / "california/cal_housing.data", ["7" + row[row.index(",") :] for row in rows])
    assert (fetch_california(data_home=home).data[:, 0] == 0).all()


def test_without_file_and_download_the_remedy_is_named(tmp_path):
    with pytest.raises(OSError, match=r"download_if_missing.*TORDINAL_DATA"):
        fetch_abalone(data_home=tmp_path, download_if_missing=False)


def test_the_real_files(shared_data):
    sizes = {"abalone": 4177, "bank": 8192, "california": 20640, "census": 22784}
    for name, fetch in FETCHERS.items():
        data = fetch(data_home=shared_data, download_if_missing=False)
        assert len(data.target) == sizes[name]
        assert np.isfinite(data.data).all()


def test_names_of_the_bank_set_are_as_many_as_its_columns():
    assert len(benchmark.BANK_NAMES) == 32
