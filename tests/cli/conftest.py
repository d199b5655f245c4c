import pytest
from commands import frame


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    frame().to_csv(path, index=False)
    return path
