import multiprocessing
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tordinal import TOR, threads
from tordinal.threads import all_threads, one_thread_each


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blocks_and_parts_cover_everything_in_order(monkeypatch):
    monkeypatch.setattr(threads, "SMALL", 0)
    numbers = range(50)
    in_blocks = threads.in_blocks(50, numbers.__getitem__, size=7)
    in_parts = threads.in_parts(50, numbers.__getitem__, size=1)
    for pieces in (in_blocks, in_parts):
        assert [n for piece in pieces for n in piece] == list(numbers)
    assert threads.in_turn(5, numbers.__getitem__) == list(range(5))


def test_libraries_get_one_thread_while_any_solver_works_and_theirs_back_after(monkeypatch):
    # Other tests may have loaded libraries since, or started Dask workers, which tells this process
    # through its environment to use one thread.
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    threads._libraries.cache_clear()
    threads.n_threads.cache_clear()
    before = blas_threads()
    with one_thread_each():
        assert set(blas_threads()) == {1}
        with one_thread_each():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
        with all_threads():
            assert blas_threads() == before
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_the_limit_is_not_lifted_while_another_solver_works():
    before, entered, leave = blas_threads(), threading.Event(), threading.Event()

    def other():
        with one_thread_each():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(30)
    with one_thread_each():
        with all_threads():
            assert set(blas_threads()) == {1}
        leave.set()
        thread.join()
        assert set(blas_threads()) == {1}  # the other one had set it, and is gone
    assert blas_threads() == before


def fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    y[200:] = -1
    TOR(kernel="rbf", swaps="all").fit(X, y)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
def test_a_child_made_by_fork_can_fit_after_its_parent_has():
    """It used to wait for ever for its parent's threads."""
    fit()
    child = multiprocessing.get_context("fork").Process(target=fit)
    child.start()
    child.join(120)
    hung = child.is_alive()
    if hung:
        child.kill()
    assert not hung
    assert child.exitcode == 0
