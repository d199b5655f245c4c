from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.kernels import RBF, Linear
from tordinal.solvers import SMO, KernelNewton, Newton, choice, hold, solver_for

WIDE, TALL = np.ones((50, 80)), np.ones((2000, 3))
TEXT = sp.random_array((2000, 500), density=0.01, format="csr", rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("kernel", "X", "loss", "held", "solver"),
    [
        (RBF(), TALL, "hinge", Gram, SMO),
        (RBF(), TALL, "square", Gram, KernelNewton),
        (Linear(), WIDE, "hinge", Gram, SMO),
        (Linear(), WIDE, "logistic", Gram, KernelNewton),
        (Linear(), TALL, "hinge", Rows, Newton),
        (Linear(), TALL, "logistic", Rows, Newton),
        (Linear(), TEXT, "laplacian", Gram, SMO),
        (Linear(), TEXT, "squared_hinge", Rows, Newton),
        (Linear(), TEXT[:, :50], "hinge", Rows, Newton),
    ],
)
def test_who_solves_what(kernel, X, loss, held, solver):
    data = hold(kernel, X, problem_of(loss), 2500)
    assert type(data) is held
    assert type(solver_for(data, problem_of(loss))) is solver


@pytest.mark.parametrize("coupling", [Reduction(), Implicit(), Explicit()])
def test_many_sparse_rows_are_solved_in_their_features(monkeypatch, coupling):
    monkeypatch.setattr(choice, "TUNING", replace(choice.TUNING, gram_rows=1000))
    data = hold(Linear(), TEXT, problem_of("hinge", coupling), 2500)
    assert type(solver_for(data, problem_of("hinge", coupling))) is Newton


def test_what_nobody_handles_is_rejected():
    data = hold(RBF(), TALL[:20], problem_of("square", Explicit()), 100)
    with pytest.raises(ValueError, match="no solver handles"):
        solver_for(data, problem_of("square", Explicit()))


def test_a_partial_matrix_is_not_shared():
    """Two solvers that fetch rows into one cache would overwrite each other's."""
    data = hold(RBF(), TALL[:200], problem_of("hinge", Reduction()), 0.02)
    assert not data.full
    one, two = (solver_for(data, problem_of("hinge"), share=0.5) for _ in range(2))
    assert one.data is not two.data
    assert one.data.cache_size == 0.01
    full = hold(RBF(), TALL[:200], problem_of("hinge"), 100)
    assert solver_for(full, problem_of("hinge")).data is full


class OnlyAsked:
    """Rows of another engine: they have what some rows of this machine have, and are no `Gram`."""

    def __init__(self, data):
        self._data = data

    def __getattr__(self, name):
        return getattr(self._data, name)

    def private(self, share=1.0):
        return self


@pytest.mark.parametrize("loss", ["hinge", "square"])
@pytest.mark.parametrize("kernel", [RBF(), Linear()])
def test_solvers_ask_what_the_rows_can_do_and_not_what_they_are(kernel, loss):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, cost = np.digitize(X[:, 0], [-0.5, 0.5]), np.ones(60)
    problem = problem_of(loss, n_thresholds=2)
    data = hold(kernel, X, problem, 100)
    own, other = (solver_for(rows, problem) for rows in (data, OnlyAsked(data)))
    assert type(other) is type(own)
    assert other.solve(y, cost).objective == own.solve(y, cost).objective


def test_a_tight_tolerance_is_not_left_to_a_gram_matrix_in_single_precision():
    rows = sp.random(1100, 2000, 0.005, format="csr", random_state=0)
    hinge = problem_of("hinge")
    assert isinstance(hold(Linear(), rows, hinge, 2500, tol=1e-3), Gram)
    assert isinstance(hold(Linear(), rows, hinge, 2500, tol=1e-6), Rows)
    assert isinstance(hold(Linear(), rows[:1000], hinge, 2500, tol=1e-6), Gram)  # in double
