from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.host.rows import Rows
from tordinal.solvers.newton import equations
from tordinal.solvers.newton.equations import (
    DiagonalEquations,
    DirectEquations,
    PreconditionedEquations,
    Slopes,
    equations_for,
)

RNG = np.random.default_rng(0)
X = sp.random_array((200, 60), density=0.2, rng=RNG, format="csr")


def slopes_of(rows, E, width=1.0):
    rows.put(D=E.sum(axis=1), cost=np.ones(200))
    mixed = X.T @ E
    tt = np.diag(E.sum(axis=0) + 10.0)
    return Slopes(1.0, RNG.normal(size=60), RNG.normal(size=2), mixed, tt, width)


def exact(slopes, E, dense):
    d = dense.shape[1]
    H = slopes.width * np.eye(d) + (dense.T * E.sum(axis=1)) @ dense
    whole = np.block([[H, -slopes.mixed], [-slopes.mixed.T, slopes.tt]])
    solved = np.linalg.solve(whole, -slopes.width * np.concatenate([slopes.w, slopes.t]))
    return solved[:d], solved[d:]


@pytest.mark.parametrize("kind", [DirectEquations, PreconditionedEquations, DiagonalEquations])
def test_a_direction_solves_the_equations(kind, monkeypatch):
    to_the_end = replace(equations.TUNING, cg_share=1e-14)
    monkeypatch.setattr(equations, "TUNING", to_the_end)
    rows = Rows(X if kind is DiagonalEquations else X.toarray())
    solver, E = kind(rows), RNG.random((200, 2))
    for _ in range(6):
        slopes = slopes_of(rows, E, width=0.5)
        expected = exact(slopes, E, X.toarray())
        for found, wanted in zip(solver.direction(slopes), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        E = E.copy()  # few rows change, then many
        changed = RNG.choice(200, RNG.choice([3, 10, 150]), replace=False)
        E[changed] = RNG.random((len(changed), 2)) * (RNG.random((len(changed), 1)) < 0.5)


def test_thresholds_move_right_in_single_precision_where_curved_rows_lie_aside():
    """Some w shifts all of those rows alike, nearly as the thresholds can."""
    off = []
    for seed in range(7):
        rng = np.random.default_rng(seed)
        dense = (rng.normal(size=(400, 300)) + 5.0) / np.sqrt(300)
        rows = Rows(dense)
        rows.use(single=True)
        E = np.where(np.arange(400)[:, None] < 290, 10.0, 0.0) * np.ones((1, 2))
        rows.put(D=E.sum(axis=1), cost=np.full(400, 10.0))
        slopes = Slopes(
            1.0, rng.normal(size=300), 10.0 * rng.normal(size=2), dense.T @ E,
            np.diag(E.sum(axis=0)), 0.01,
        )  # fmt: skip
        wanted = exact(slopes, E, dense)[1]
        tau = DirectEquations(rows).direction(slopes)[1]
        off.append(np.linalg.norm(tau - wanted) / np.linalg.norm(wanted))
    assert np.median(off) < 0.05  # 0.13 where rows are seen from the origin


@pytest.mark.parametrize("n_curved", [0, 1, 3])
@pytest.mark.parametrize("width", [1e-3, 0.3])
def test_few_curved_rows_and_features_that_are_constant_over_them(n_curved, width):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 60)) / 8.0
    dense[:, 40:] = 0.0
    dense[np.arange(20), 40 + np.arange(20)] = 1.0  # each is 1 in a single row
    rows = Rows(dense)
    rows.use(single=True)
    E = np.zeros((300, 2))
    cost = np.full(300, 1e4)
    solver = DirectEquations(rows)
    for curved in (np.arange(150), np.arange(n_curved)):  # many, and then few
        E[:] = 0.0
        E[curved] = 1e4
        rows.put(D=E.sum(axis=1), cost=cost)
        mixed = rows.blocks[0].X.transposed_dot(E)
        tt = np.diag(E.sum(axis=0) + 1e-13 * cost.sum())
        slopes = Slopes(1.0, rng.normal(size=60), rng.normal(size=2), mixed, tt, width)
        v, tau = solver.direction(slopes)
        assert np.isfinite(v).all()
        assert np.isfinite(tau).all()


def test_the_equations_of_the_last_time_are_good_where_nothing_changed():
    rows = Rows(X.toarray())
    solver, E = DirectEquations(rows), RNG.random((200, 2))
    slopes = slopes_of(rows, E)
    expected = solver.direction(slopes)
    for found, direction in zip(solver.repeated(slopes), expected, strict=True):
        np.testing.assert_allclose(found, direction, rtol=1e-9, atol=1e-12)


def test_which_way_is_taken():
    dense, sparse = Rows(X.toarray()), Rows(X)
    assert type(equations_for(dense, smooth=False)) is DirectEquations
    assert type(equations_for(dense, smooth=True)) is PreconditionedEquations
    assert type(equations_for(sparse, smooth=True)) is DiagonalEquations
