"""The fetchers' parsers on small files that the tests write, without a network."""

import gzip
import http.server
import io
import tarfile
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.datasets import _amazon as amazon
from tordinal.datasets import _benchmark as benchmark
from tordinal.datasets import (
    fetch_abalone,
    fetch_amazon_reviews,
    fetch_bank,
    fetch_california,
    fetch_census,
)
from tordinal.datasets._download import Source, data_folder, locate

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
    with pytest.warns(UserWarning, match=r"abalone.data: 30 rows, but the Abalone set has 4,177"):
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


REVIEW = """<review>
<unique_id>
{i}:x
</unique_id>
<rating>
{stars}
</rating>
<title>
Title & <b>{i}</b>
</title>
<review_text>
Some caf\xe9 text
of two lines {i}
</review_text>
</review>
"""


def write_reviews(home, stars, name="positive"):
    folder = home / "amazon/books"
    folder.mkdir(parents=True, exist_ok=True)
    reviews = "".join(REVIEW.format(i=min(i, 4), stars=s) for i, s in enumerate(stars))
    (folder / f"{name}.review").write_text(f"<reviews>\n{reviews}</reviews>\n", encoding="latin-1")


def test_unprocessed_reviews(tmp_path):
    write_reviews(tmp_path, ["5.0", "4.0", "4.0", "5.0", "5.0", "5.0"])
    write_reviews(tmp_path, ["1.0", "2.0"], "negative")
    data = fetch_amazon_reviews("books", data_home=tmp_path, as_frame=True)
    assert data.target.tolist() == [5, 4, 4, 5, 5, 5, 1, 2]
    assert data.data[0] == "Title & <b>0</b>\nSome café text\nof two lines 0"
    assert data.duplicates == [5, 6, 7]
    assert "3 reviews have occurred before" in data.DESCR
    assert list(data.frame.columns) == ["review", "stars"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<rating>\n4.0\n", "<rating>\nfour\n", "line 22: 'four' is not a number of stars"),
        ("<rating>\n4.0\n</rating>\n", "", r"line 17: this review has no <rating>"),
        (
            "</review_text>\n</review>\n<review>\n<unique_id>\n2",
            "<review>\n<unique_id>\n2",
            "line 17: this review does not end",
        ),
        ("<review>\n<unique_id>\n1", "<revie>\n<unique_id>\n1", "line 17: '<revie>"),
        (
            "<title>\nTitle & <b>1</b>",
            "<titel>\nTitle & <b>1</b>",
            "line 17: this review has no <title>",
        ),
        ("</reviews>\n", "", "line 47: the file is cut here"),
        ("</reviews>\n", "garbage\n</reviews>\n", "line 47: 'garbage'"),
    ],
)
def test_a_damaged_review_is_named(tmp_path, old, new, message):
    write_reviews(tmp_path, ["5.0", "4.0", "5.0"])
    write_reviews(tmp_path, ["1.0"], "negative")
    path = tmp_path / "amazon/books/positive.review"
    content = path.read_text(encoding="latin-1")
    assert old in content
    path.write_text(content.replace(old, new, 1), encoding="latin-1")
    with pytest.raises(ValueError, match=message):
        fetch_amazon_reviews("books", data_home=tmp_path)


def test_processed_reviews(tmp_path):
    path = tmp_path / "amazon/dvd/all_balanced.review"
    write(
        path,
        [
            "good:2 a_film:1 #label#:4.0",
            "bad:1 good:1 x:y:3 #label#:1.0",
            "good:2 a_film:1 #label#:4.0",
        ],
    )
    data = fetch_amazon_reviews("dvd", "processed_stars", data_home=tmp_path)
    assert data.feature_names == ["good", "a_film", "bad", "x:y"]
    assert sp.issparse(data.data)
    assert data.data.toarray().tolist() == [[2, 1, 0, 0], [1, 0, 1, 3], [2, 1, 0, 0]]
    assert data.target.tolist() == [4, 1, 4]
    assert data.duplicates == [2]
    write(path, ["caf\xa0x:1 #label#:2.0"])
    assert fetch_amazon_reviews("dvd", "processed_stars", data_home=tmp_path).data.shape == (1, 1)
    for damage in (
        "good",
        "good:x",
        "good:1 #label#:9",
        "good:1",
        "a:nan #label#:1",
        "a:-1 #label#:1",
        ":1 #label#:1",
        "a:1 #label#:1 #label#:2",
    ):
        write(path, ["good:2 #label#:4.0", damage])
        with pytest.raises(ValueError, match="line 2"):
            fetch_amazon_reviews("dvd", "processed_stars", data_home=tmp_path)


def test_wrong_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="domain='cars'"):
        fetch_amazon_reviews("cars", data_home=tmp_path)
    with pytest.raises(ValueError, match="edition='raw'"):
        fetch_amazon_reviews("books", "raw", data_home=tmp_path)


def test_without_file_and_download_the_remedy_is_named(tmp_path):
    with pytest.raises(OSError, match=r"download_if_missing.*TORDINAL_DATA"):
        fetch_abalone(data_home=tmp_path, download_if_missing=False)


@pytest.fixture
def server():
    """A server on this machine; its files can be changed."""
    files = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = files.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_address[1]}", files
    running.shutdown()


def packed(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_downloads_are_checked_recorded_and_whole(tmp_path, server):
    url, files = server
    files["/a.tgz"] = packed({"in/one": b"1", "in/two": b"2"})
    source = Source(f"{url}/a.tgz", None, {"in/one": "set/one", "in/two": "set/two"})
    assert locate("set/one", tmp_path, source, download_if_missing=True).read_bytes() == b"1"
    assert (tmp_path / "set/two").read_bytes() == b"2"
    assert url in (tmp_path / "checksums.json").read_text()
    (tmp_path / "set/one").unlink()
    files["/a.tgz"] = packed({"in/one": b"other", "in/two": b"2"})
    with pytest.raises(OSError, match=r"could not be downloaded.*hash"):
        locate("set/one", tmp_path, source, download_if_missing=True)
    assert not (tmp_path / "set/one").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checksums.json", "set"]


def test_a_bad_first_download_leaves_nothing_behind(tmp_path, server):
    url, files = server
    source = Source(f"{url}/a.tgz", None, {"in/one": "set/one", "in/two": "set/two"})
    good = packed({"in/one": b"1", "in/two": b"2"})
    for bad in (b"<html>busy</html>", good[:-20], packed({"in/one": b"1"})):
        files["/a.tgz"] = bad
        with pytest.raises(OSError, match=r"could not be downloaded.*Get http"):
            locate("set/one", tmp_path, source, download_if_missing=True)
        assert list(tmp_path.iterdir()) == []
    files["/a.tgz"] = good
    (tmp_path / "set").mkdir()
    (tmp_path / "set/two").write_bytes(b"mine")
    assert locate("set/one", tmp_path, source, download_if_missing=True).read_bytes() == b"1"
    assert (tmp_path / "set/two").read_bytes() == b"mine"  # what was there is not replaced
    (tmp_path / "checksums.json").write_text("[]")
    (tmp_path / "set/one").unlink()
    with pytest.raises(OSError, match=r"checksums.json is damaged"):
        locate("set/one", tmp_path, source, download_if_missing=True)


def test_an_empty_folder_name_is_none(monkeypatch):
    monkeypatch.setenv("TORDINAL_DATA", "")
    assert data_folder("") == data_folder(None) != Path()


def test_a_wrong_checksum_and_a_missing_file_are_refused(tmp_path, server):
    url, files = server
    files["/f"] = b"content"
    with pytest.raises(OSError, match="could not be downloaded"):
        locate("set/f", tmp_path, Source(f"{url}/f", "0" * 64, {}), download_if_missing=True)
    with pytest.raises(OSError, match=r"could not be downloaded.*Get http"):
        locate("set/g", tmp_path, Source(f"{url}/g", None, {}), download_if_missing=True)
    assert list(tmp_path.iterdir()) == []


def test_the_real_files(shared_data):
    sizes = {"abalone": 4177, "bank": 8192, "california": 20640, "census": 22784}
    for name, fetch in FETCHERS.items():
        data = fetch(data_home=shared_data, download_if_missing=False)
        assert len(data.target) == sizes[name]
        assert np.isfinite(data.data).all()
    for domain in amazon.DOMAINS:
        reviews = fetch_amazon_reviews(domain, data_home=shared_data, download_if_missing=False)
        assert len(reviews.data) == 2000
        assert set(reviews.target) == {1, 2, 4, 5}
        assert 23 <= len(reviews.duplicates) <= 46


def test_names_of_the_bank_set_are_as_many_as_its_columns():
    assert len(benchmark.BANK_NAMES) == 32
