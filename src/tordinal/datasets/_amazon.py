"""Amazon reviews with stars: the multi-domain sentiment data of Blitzer et al. (section V-D)."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import Bunch

from tordinal.datasets._download import Source, data_folder, locate

__all__ = ["fetch_amazon_reviews"]

DOMAINS = ("books", "dvd", "electronics", "kitchen")
SITE = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment"
# The archives use another name for the last domain.
IN_ARCHIVE = {
    "books": "books",
    "dvd": "dvd",
    "electronics": "electronics",
    "kitchen": "kitchen_&_housewares",
}
UNPROCESSED = Source(
    f"{SITE}/domain_sentiment_data.tar.gz",
    None,
    {
        f"sorted_data_acl/{folder}/{part}.review": f"amazon/{domain}/{part}.review"
        for domain, folder in IN_ARCHIVE.items()
        for part in ("positive", "negative")
    },
)
PROCESSED = Source(
    f"{SITE}/processed_stars.tar.gz",
    None,
    {
        f"processed_stars/{domain}/all_balanced.review": f"amazon/{domain}/all_balanced.review"
        for domain in DOMAINS
    },
)
FIELD = {
    name: re.compile(rf"<{name}>\n(.*?)\n?</{name}>", re.DOTALL)
    for name in ("rating", "title", "review_text")
}
STARS = (1, 2, 3, 4, 5)
COUNT = re.compile(r"\d+(?:\.\d+)?")
BLANKS = " \r\n\t"


def fetch_amazon_reviews(
    domain: str = "books",
    edition: str = "unprocessed",
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load Amazon reviews with 1, 2, 4 or 5 stars.

    Parameters
    ----------
    domain : {"books", "dvd", "electronics", "kitchen"}, default="books"
        What is reviewed.
    edition : {"unprocessed", "processed_stars"}, default="unprocessed"
        "unprocessed": 2,000 reviews as text. "processed_stars": 5,118 to 5,901 reviews as counts of
        words and pairs of words, which the paper used.
    data_home : str or path, default=None
        Folder of the datasets. None: the environment variable ``TORDINAL_DATA``, or the user's
        cache.
    download_if_missing : bool, default=True
        Whether to download files that the folder does not have.
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).
    as_frame : bool, default=False
        Whether target, and data of texts, are pandas objects.

    Returns
    -------
    data : Bunch
        ``data`` (a list of texts, or a CSR matrix of counts), ``target`` (stars), ``duplicates``
        (rows whose review has occurred before), ``feature_names`` of counts, ``DESCR`` and, with
        `as_frame`, ``frame``.

    See Also
    --------
    make_reviews : Made-up reviews, without a download.

    Examples
    --------
    >>> from tordinal.datasets import fetch_amazon_reviews
    >>> reviews = fetch_amazon_reviews("dvd", data_home="shared/data")  # doctest: +SKIP
    >>> len(reviews.data), len(reviews.duplicates)  # doctest: +SKIP
    (2000, 46)
    """
    if domain not in DOMAINS:
        raise ValueError(f"domain={domain!r} must be one of {', '.join(DOMAINS)}")
    if edition not in ("unprocessed", "processed_stars"):
        raise ValueError(f"edition={edition!r} must be 'unprocessed' or 'processed_stars'")
    home = data_folder(data_home)
    names: list[str] | None = None
    data: Any
    if edition == "unprocessed":
        texts, stars = [], []
        for part in ("positive", "negative"):
            path = locate(
                f"amazon/{domain}/{part}.review",
                home,
                UNPROCESSED,
                download_if_missing=download_if_missing,
            )
            for text, star in read_unprocessed(path):
                texts.append(text)
                stars.append(star)
        data, keys = texts, [text.partition("\n")[2] for text in texts]  # titles may differ
    else:
        path = locate(
            f"amazon/{domain}/all_balanced.review",
            home,
            PROCESSED,
            download_if_missing=download_if_missing,
        )
        data, stars, names = read_processed(path)
        keys = [
            data.indices[a:b].tobytes() + data.data[a:b].tobytes()
            for a, b in zip(data.indptr, data.indptr[1:], strict=False)
        ]
    target: Any = np.array(stars, dtype=np.int64)
    seen: set[Any] = set()
    duplicates = [
        i
        for i, key in enumerate(keys)
        if key in seen or seen.add(key)  # type: ignore[func-returns-value]
    ]
    counts = {star: int(np.sum(target == star)) for star in np.unique(target).tolist()}
    description = (
        f"Amazon reviews, {domain}, edition {edition}: {len(target):,} reviews; stars {counts}. "
        f"{len(duplicates)} reviews have occurred before (`duplicates`).\n"
        f"J. Blitzer, M. Dredze and F. Pereira, ACL 2007. Source: {SITE}\n"
    )
    frame = None
    if as_frame:
        target = pd.Series(target, name="stars")
        if edition == "unprocessed":
            data = pd.Series(data, name="review")
            frame = pd.DataFrame({"review": data, "stars": target})
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=names,
        target_names=["stars"],
        duplicates=duplicates,
        frame=frame,
        DESCR=description,
    )


def read_unprocessed(path: Path) -> list[tuple[str, int]]:
    """Read the reviews of a file in the corpus's markup, which looks like XML but is not.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    reviews : list of (str, int)
        Title and text, and the stars.
    """
    content = path.read_text(encoding="latin-1")
    reviews: list[tuple[str, int]] = []
    wrapped, place = content.lstrip().startswith("<reviews>"), 0
    while (start := content.find("<review>\n", place)) >= 0:
        _only_wrapper(content, place, start, path)
        line = content.count("\n", 0, start) + 1
        end = content.find("</review>", start)
        if end < 0 or 0 <= content.find("<review>\n", start + 1) < end:
            raise ValueError(f"{path}: line {line}: this review has no end")
        block = content[start:end]
        fields = {name: pattern.search(block) for name, pattern in FIELD.items()}
        rating, text, title = fields["rating"], fields["review_text"], fields["title"]
        if rating is None or text is None or title is None:
            missing = next(name for name, value in fields.items() if value is None)
            raise ValueError(f"{path}: line {line}: this review has no <{missing}>")
        stars = _stars(
            rating.group(1).strip(),
            path,
            line + content.count("\n", start, start + rating.start(1)),
        )
        reviews.append((f"{title.group(1).strip()}\n{text.group(1).strip()}", stars))
        place = end + len("</review>")
    _only_wrapper(content, place, len(content), path)
    if not reviews:
        raise ValueError(f"{path}: line 1: this file has no reviews")
    if wrapped and "</reviews>" not in content[place:]:
        raise ValueError(
            f"{path}: line {content.count(chr(10)) + 1}: the file is truncated here, "
            "</reviews> is missing"
        )
    return reviews


def _only_wrapper(content: str, start: int, end: int, path: Path) -> None:
    """Raise an error for anything between two reviews except the tags around all of them."""
    between = content[start:end]
    left = between.replace("<reviews>", "").replace("</reviews>", "").strip()
    if left:
        line = content.count("\n", 0, start + between.index(left.split("\n", 1)[0])) + 1
        raise ValueError(
            f"{path}: line {line}: {left[:40]!r} is outside of the reviews; "
            "a <review> or </review> may be damaged"
        )


def read_processed(path: Path) -> tuple[sp.csr_matrix, list[int], list[str]]:
    """Reviews of a file with one review a line, ``feature:count ... #label#:4.0``.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    counts : CSR matrix
        Counts of the features.
    stars : list of int
        Stars.
    names : list of str
        Names of the features.
    """
    columns: dict[str, int] = {}
    indices: list[int] = []
    values: list[float] = []
    ends, stars = [0], []
    with path.open(encoding="latin-1") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            label = None
            for item in line.strip(BLANKS).split(" "):
                name, separator, count = item.rpartition(":")
                if name == "#label#" and label is None:
                    label = _stars(count, path, number)
                    continue
                if not (separator and name and COUNT.fullmatch(count)) or name == "#label#":
                    raise ValueError(f"{path}: line {number}: {item!r} is not feature:count")
                values.append(float(count))
                indices.append(columns.setdefault(name, len(columns)))
            if label is None:
                raise ValueError(f"{path}: line {number}: this review has no #label#")
            stars.append(label)
            ends.append(len(indices))
    if not stars:
        raise ValueError(f"{path}: line 1: this file has no reviews")
    counts = sp.csr_matrix(
        (np.array(values), np.array(indices), np.array(ends)), shape=(len(stars), len(columns))
    )
    counts.sum_duplicates()
    return counts, stars, list(columns)


def _stars(text: str, path: Path, line: int) -> int:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if value not in STARS:
        raise ValueError(f"{path}: line {line}: {text!r} is not a number of stars from 1 to 5")
    return int(value)
