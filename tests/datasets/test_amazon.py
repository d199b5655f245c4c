"""The parsers of the reviews on small files that the tests write, without a network."""

import pytest
import scipy.sparse as sp

from tordinal.datasets import fetch_amazon_reviews
from tordinal.datasets._amazon import DOMAINS

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


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


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
            "line 17: this review has no end",
        ),
        ("<review>\n<unique_id>\n1", "<revie>\n<unique_id>\n1", "line 17: '<revie>"),
        (
            "<title>\nTitle & <b>1</b>",
            "<titel>\nTitle & <b>1</b>",
            "line 17: this review has no <title>",
        ),
        ("</reviews>\n", "", "line 47: the file is truncated here"),
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


def test_wrong_names_are_rejected(tmp_path):
    with pytest.raises(ValueError, match="domain='cars'"):
        fetch_amazon_reviews("cars", data_home=tmp_path)
    with pytest.raises(ValueError, match="edition='raw'"):
        fetch_amazon_reviews("books", "raw", data_home=tmp_path)


def test_the_real_files(shared_data):
    for domain in DOMAINS:
        reviews = fetch_amazon_reviews(domain, data_home=shared_data, download_if_missing=False)
        assert len(reviews.data) == 2000
        assert set(reviews.target) == {1, 2, 4, 5}
        assert 23 <= len(reviews.duplicates) <= 46
