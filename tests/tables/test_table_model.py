import numpy as np
import pandas as pd
import pytest

from tordinal.tables.columns import TableEncoder
from tordinal.tables.rating import rate
from tordinal.tables.settings import Settings
from tordinal.tables.target import read_target

SIZES = {"cm": [1, 2, 3, 8, 9, 10] * 5, "name": [f"a{i}" for i in range(30)]}
GRADES = ["small", "", "small", "large", "", "large"] * 5


@pytest.fixture(scope="module")
def model():
    target = read_target("grade", GRADES, ["small", "large"])
    return rate(SIZES, target, TableEncoder(), Settings(method="tor"), lambda *_: None).model


def test_new_rows_are_rated_with_their_probabilities(model):
    labels, confidence, p = model.rate({"cm": [0, 11]})
    assert labels == ["small", "large"]
    np.testing.assert_allclose(confidence, p.max(axis=1))
    assert model.used == ["cm"]


def test_rows_that_it_has_learned_from_are_known(model):
    assert model.known({"cm": [1, "1.0", 2, 8, 5]}).tolist() == [True, True, False, True, False]


def test_a_data_frame_gets_the_columns(model):
    rated = model.predict(pd.DataFrame({"cm": [0, 5.6, 11]}), abstain=0.99, probabilities=True)
    assert rated["grade_source"].tolist()[1] == "unsure"
    assert rated["grade_probability_large"].between(0, 1).all()


def test_it_is_shown_in_one_line(model):
    assert repr(model) == (
        "TableModel(target='grade', classes=['small', 'large'], estimator=TOR, columns: cm)"
    )
