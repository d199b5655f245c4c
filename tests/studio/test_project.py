import numpy as np
import pandas as pd
import pytest

from tordinal.studio.project import open_project
from tordinal.tables.files import read_table
from tordinal.tables.rating_events import Event
from tordinal.tables.values import TableError


def test_a_new_column_of_ratings(opened, grades):
    path, _ = grades
    before = path.read_bytes()
    project = opened()
    assert project.classes == [1, 2, 3]
    assert (project.given == -1).all()
    assert project.log.path == path.with_name("grades.ratings.jsonl")
    assert project.log.header.n_unrated == 120
    assert project.log.header.table == "grades.csv"
    assert path.read_bytes() == before
    assert project.cells(0)["name"] == "n0"


def test_the_scale_comes_from_the_log(opened):
    opened()
    assert opened(order=None).classes == [1, 2, 3]
    with pytest.raises(TableError, match="has ratings with the classes"):
        opened(order=["1", "2"])


def test_without_a_scale_the_error_says_what_to_do(grades):
    path, _ = grades
    table = read_table(str(path))
    with pytest.raises(TableError, match="grade"):
        open_project(table, "grade", str(path))
    assert not path.with_name("grades.ratings.jsonl").exists()


def test_a_misspelt_target_is_no_new_column(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame({"x": [1.5, 2, 2, 3, 1, 1], "stars": [1, 2, 3, None, None, None]}).to_csv(
        path, index=False
    )
    with pytest.raises(TableError, match="stars"):
        open_project(read_table(str(path)), "star", str(path), order=["1", "2", "3"])
    assert not path.with_name("a.ratings.jsonl").exists()


def test_ratings_of_table_and_log(tmp_path):
    path = tmp_path / "a.csv"
    given = ["low", "high", None, None, None, None]
    pd.DataFrame({"x": [1.5, 2, 2, 3, 1, 1], "g": given}).to_csv(path, index=False)
    project = open_project(read_table(str(path)), "g", str(path))
    assert project.classes == ["low", "high"]
    event = Event(event="rate", row=4, fingerprint=project.prints[2], rating="high")
    other = Event(event="rate", row=2, fingerprint=project.prints[0], rating="high")
    project.log.append(event, other)
    assert project.ranks(project.read_log()).tolist() == [1, 1, 1, -1, -1, -1]
    assert project.given.tolist() == [0, 1, -1, -1, -1, -1]


def test_texts_come_first_and_empty_cells_are_passed_over(tmp_path):
    path = tmp_path / "a.csv"
    texts = [f"It was a {w} day, and we all liked it very much." for w in "abcdefgh"]
    pd.DataFrame({"n": np.arange(8), "empty": [None] * 8, "review": texts}).to_csv(
        path, index=False
    )
    project = open_project(
        read_table(str(path)), "g", str(path), text=["review"], order=["bad", "good"]
    )
    assert list(project.cells(3)) == ["review", "n"]
    assert project.texts == ["review"]


def test_a_table_of_fractions_is_opened_again(tmp_path):
    path = tmp_path / "a.parquet"
    stars = [1.0, 1.5, 2.0, 3.0, None, None]
    pd.DataFrame({"x": [1.5, 2, 2, 3, 1, 1], "stars": stars}).to_parquet(path)
    for _ in range(2):
        project = open_project(read_table(str(path)), "stars", str(path))
        assert [float(c) for c in project.classes] == [1.0, 1.5, 2.0, 3.0]
        assert project.given.tolist() == [0, 1, 2, 3, -1, -1]


def test_ratings_of_rows_that_cannot_be_rated_are_passed_over(tmp_path):
    path = tmp_path / "a.csv"
    names, size = [f"n{i}" for i in range(20)] + ["Total"], list(range(1, 21))
    table = {"name": names, "size": [*size, sum(size)], "g": ["low", "high", *[None] * 19]}
    pd.DataFrame(table).to_csv(path, index=False)
    project = open_project(read_table(str(path)), "g", str(path))
    assert 20 not in project.index
    event = Event(event="rate", row=22, fingerprint=project.prints[20], rating="high", rater="ann")
    project.log.append(event)
    assert project.read_log().ratings == {}
