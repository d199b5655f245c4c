import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "lower_bounds.py"
lower_bounds = runpy.run_path(str(SCRIPT))["lower_bounds"]

PROJECT = {
    "name": "it",
    "dependencies": ["numpy>=2.0"],
    "optional-dependencies": {
        "test": ["it[dask,text]", "pytest>=8.3"],
        "dask": ["dask[array,dataframe]>=2024.12"],
        "text": ["PyStemmer>=2.2.0.3"],
    },
}


def test_pins_of_a_project_and_its_extras():
    assert lower_bounds(PROJECT) == ["numpy==2.0"]
    assert lower_bounds(PROJECT, "test") == [
        "numpy==2.0", "dask==2024.12", "PyStemmer==2.2.0.3", "pytest==8.3",
    ]  # fmt: skip


@pytest.mark.parametrize("requirement", ["scipy", "scipy<2", "scipy>=1.14,!=1.15"])
def test_every_dependency_has_one_lower_bound(requirement):
    with pytest.raises(ValueError, match="no lower bound in 'scipy"):
        lower_bounds({**PROJECT, "dependencies": [requirement]})
