import numpy as np
import pytest
from sklearn.utils.validation import check_array

from tordinal import TOR
from tordinal.exceptions import InputError, user_can_fix
from tordinal.tables.values import TableError

X, Y = np.eye(3), [0, 1, -1]


def caught(function, *arguments):
    with pytest.raises(Exception) as info:  # noqa: PT011 - of any type
        function(*arguments)
    return info.value


def lost():
    from tordinal.engines.dask.waiting import wait_for_workers

    class Client:
        status = "running"

        def nthreads(self):
            return {}

    return caught(wait_for_workers, Client())


def test_what_the_library_and_its_validation_reject_can_be_fixed(monkeypatch):
    for error in (
        InputError("bad"),
        TableError("bad"),
        caught(check_array, [[np.nan]]),
        caught(TOR(C=-1).fit, X, Y),
        caught(TOR(loss="no").fit, X, Y),
        caught(TOR().fit, X + np.inf, Y),
        caught(TOR().fit, X, [0, 0, 0]),
    ):
        assert user_can_fix(error), repr(error)
    monkeypatch.setattr("tordinal.engines.dask.waiting.PATIENCE", 0.0)
    assert user_can_fix(lost())


def test_what_fails_in_other_code_is_a_bug():
    for error in (
        caught(np.matmul, X, np.eye(2)),
        caught(lambda: X @ np.eye(2)),
        caught(np.linalg.cholesky, -X),
        caught(int, "x"),
        caught(lambda: {}["key"]),
        ValueError("never raised"),
    ):
        assert not user_can_fix(error), repr(error)


def test_a_failing_product_inside_the_library_is_a_bug(monkeypatch):
    model = TOR(kernel="linear").fit(X, Y)
    model._projection.coef = np.ones(7)
    assert not user_can_fix(caught(model._projection, X))
