from types import SimpleNamespace

import numpy as np
import pandas as pd

from tordinal import rate_table
from tordinal.datasets import make_reviews
from tordinal.tables.check_first import (
    CONTRADICTED,
    DOUBTFUL,
    DUPLICATE,
    describe_checks,
    rows_to_check,
)

UNLIKELY = np.array([0.9, 0.05, 0.03, 0.02])


def rating():
    """Six rated rows, of which 1 and 4 are contradicted, 4 more; four rows without a rating."""
    rank = np.array([0, 3, 1, 2, 3, 0, -1, -1, -1, -1])
    given = rank >= 0
    cv = np.eye(4)[np.maximum(rank[:6], 0)] * 0.9 + 0.025
    cv[1], cv[4] = [0.2, 0.5, 0.2, 0.1], UNLIKELY
    p = np.array([UNLIKELY] * 6 + [[0.4, 0.1, 0.1, 0.4], [1, 0, 0, 0], UNLIKELY, UNLIKELY])
    return SimpleNamespace(
        target=SimpleNamespace(rank=rank, classes=["a", "b", "c", "d"]), given=given,
        held_out=np.flatnonzero(given), cv_probability=cv, cv_rank=cv.argmax(axis=1),
        probability=p, rank=np.where(given, rank, 0), model=SimpleNamespace(used=["x"]),
    )  # fmt: skip


def test_slips_twins_and_doubtful_rows():
    cells = ["1", "2", "3", "1.0", "4", "5", "6", "7", "8", "9"]
    found = rows_to_check(rating(), {"x": cells, "unused": list("abcdefghij")})
    slips = found[found["why"] == CONTRADICTED]
    assert slips["row"].tolist() == [4, 1]
    assert slips["rating"].tolist() == ["d", "d"]
    assert slips["other"].tolist() == ["a", "b"]
    twins = found[found["why"] == DUPLICATE]
    assert twins[["row", "like", "rating", "other"]].to_numpy().tolist() == [[0, 3, "a", "c"]]
    doubtful = found[found["why"] == DOUBTFUL]
    assert doubtful["row"].tolist()[0] == 6
    assert doubtful["expected_error"].is_monotonic_decreasing
    assert np.isclose(doubtful["expected_error"].iloc[0], 0.1 + 0.2 + 1.2)
    said = describe_checks(found)
    assert "2 given ratings that the model contradicts" in said
    assert "1 pair of equal rows" in said


def test_equal_ratings_of_equal_rows_are_fine():
    one = rating()
    found = rows_to_check(one, {"x": ["1", "1", "2", "3", "1", "4", "1", "1", "1", "1"]})
    twins = found[found["why"] == DUPLICATE]
    assert twins[["row", "like"]].to_numpy().tolist() == [[0, 1]]  # and one pair only


def test_slips_that_were_put_into_a_table_are_found():
    texts, stars = make_reviews(300, random_state=5)
    cells = [str(s) if i < 150 else None for i, s in enumerate(stars)]
    clear = [i for i in range(150) if stars[i] in (1, 5)][:5]
    for i in clear:
        cells[i] = str(6 - stars[i])
    rated = rate_table(pd.DataFrame({"review": texts, "stars": cells}), "stars", quick=True)
    first = rated.to_check.query("why == 'contradicted'")["row"].tolist()
    assert len(set(first[:10]) & set(clear)) >= 4


def test_ratings_that_are_whole_numbers_stay_so():
    one = rating()
    one.target.classes = [1, 2, 3, 4]
    found = rows_to_check(one, {"x": list("abcdefghij")})
    assert found["other"].tolist()[:2] == [1, 2]
    assert all(type(other) is int for other in found["other"] if other is not None)
    assert found["other"].isna().sum() == (found["why"] == DOUBTFUL).sum() > 0
