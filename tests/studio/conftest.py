import numpy as np
import pandas as pd
import pytest

from tordinal.studio.project import open_project
from tordinal.tables.files import read_table


@pytest.fixture
def grades(tmp_path):
    """A table of 120 rows without a rating whose grade is known from the size, and its grades."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=120).round(3)
    path = tmp_path / "grades.csv"
    pd.DataFrame({"name": [f"n{i}" for i in range(120)], "size": size}).to_csv(path, index=False)
    return path, np.digitize(size, [-0.5, 0.5]) + 1


@pytest.fixture
def opened(grades):
    """Opens the table of grades; several times for several raters or after a stop."""
    path, _ = grades

    def open_again(**options):
        options = {"order": ["1", "2", "3"], **options}
        return open_project(read_table(str(path)), "grade", str(path), **options)

    return open_again
