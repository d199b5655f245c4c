from concurrent.futures import CancelledError

import pytest
from joblib import delayed

from tordinal import parallel
from tordinal.parallel import in_order


def square(x):
    return x * x


def test_results_come_in_order():
    assert list(in_order((delayed(square)(i) for i in range(5)), 2)) == [0, 1, 4, 9, 16]


def test_what_a_cluster_loses_is_done_again(monkeypatch):
    calls = []

    class Unlucky:
        """Loses the second result, twice."""

        def __init__(self, **options):
            pass

        def __call__(self, jobs):
            calls.append(len(jobs))
            for i, (work, args, options) in enumerate(jobs):
                if i == 1 and len(calls) < 3:
                    raise CancelledError
                yield work(*args, **options)

    monkeypatch.setattr(parallel, "Parallel", Unlucky)
    assert list(in_order((delayed(square)(i) for i in range(4)), None)) == [0, 1, 4, 9]
    assert calls == [4, 3, 2]


def test_an_error_of_a_job_is_raised():
    def fail():
        raise RuntimeError("of its own")

    with pytest.raises(RuntimeError, match="of its own"):
        list(in_order([delayed(fail)()], 1))
