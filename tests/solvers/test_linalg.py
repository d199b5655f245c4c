import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.solvers.linalg import (
    Factor,
    add_squares,
    cholesky_solve,
    conjugate_gradients,
    low_rank_root,
    square_root,
)


def positive(n, seed, rank=None):
    A = np.random.default_rng(seed).normal(size=(n, rank or n))
    return A @ A.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 100), n=st.integers(1, 12), spread=st.integers(0, 8))
def test_a_factor_solves_however_the_rows_differ_in_size(dtype, seed, n, spread):
    size = 10.0 ** np.linspace(0, spread, n)
    core = positive(n, seed) + np.eye(n)
    A, b = core * size[:, None] * size, np.random.default_rng(seed).normal(size=n) * size
    factor = Factor(A.astype(dtype))
    exact = np.linalg.solve(core, b / size)
    near = {"rtol": 1e-2, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(factor.solve(b) * size, exact, **near)
    np.testing.assert_allclose(factor.solve(np.column_stack([b, b]))[:, 1] * size, exact, **near)


def test_a_matrix_that_rounding_made_indefinite_is_factored_all_the_same():
    A = positive(6, 0, rank=2)
    x = Factor(A).solve(A @ np.ones(6))
    np.testing.assert_allclose(A @ x, A @ np.ones(6), rtol=1e-4, atol=1e-4)
    with pytest.raises(np.linalg.LinAlgError):
        Factor(np.array([[1.0, 100.0], [100.0, 1.0]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 100), n=st.integers(1, 12), rows=st.integers(0, 8))
def test_squares_are_added_and_a_factor_needs_one_triangle(dtype, seed, n, rows):
    rng = np.random.default_rng(seed)
    A, U = positive(n, seed).astype(dtype), rng.normal(size=(rows, n)).astype(dtype)
    weights = rng.normal(size=rows)
    wanted = A + (U.T * weights) @ U
    below = np.tril_indices(n, -1)
    A[below] = np.nan  # nobody looks there
    add_squares(A, U, weights)
    np.testing.assert_allclose(np.triu(A), np.triu(wanted), rtol=1e-4, atol=1e-4)
    shift = 1.0 + 2.0 * float(np.abs(wanted).sum())  # positive for sure
    x = Factor(A, shift).solve(np.ones(n))
    np.testing.assert_allclose((wanted + shift * np.eye(n)) @ x, 1.0, rtol=1e-3)


def test_a_square_may_be_taken_off_and_a_solution_comes_in_two_halves():
    A, less = positive(7, 2) + 3.0 * np.eye(7), np.linspace(0.0, 0.9, 7)
    whole = A - np.outer(less, less)
    factor, b = Factor(A - 0.5 * np.eye(7), 0.5, less), np.arange(14.0).reshape(7, 2)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(whole, b))
    Z = factor.forward(b)
    np.testing.assert_allclose(Z.T @ Z, b.T @ np.linalg.solve(whole, b))
    np.testing.assert_allclose(factor.backward(Z[:, 0]), np.linalg.solve(whole, b[:, 0]))


def test_cholesky_solve_of_a_vector_and_of_columns():
    A = positive(5, 1) + np.eye(5)
    lower = np.asfortranarray(np.linalg.cholesky(A))
    b = np.arange(5.0)
    np.testing.assert_allclose(cholesky_solve(lower, b), np.linalg.solve(A, b))
    np.testing.assert_allclose(cholesky_solve(lower, b[:, None])[:, 0], np.linalg.solve(A, b))


@given(seed=st.integers(0, 100), n=st.integers(1, 15), rank=st.integers(1, 15))
def test_square_roots(seed, n, rank):
    A = positive(n, seed, min(rank, n))
    L, pivots = square_root(A)
    assert len(pivots) == L.shape[1]
    assert not np.triu(L[pivots], 1).any()
    np.testing.assert_allclose(L @ L.T, A, atol=1e-8 * max(1.0, np.abs(A).max()))


def test_there_is_no_square_root_of_an_indefinite_matrix():
    assert square_root(np.array([[0.0, 1.0], [1.0, 0.0]])) is None
    assert square_root(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    assert not square_root(np.zeros((3, 3)))[0].any()


def test_conjugate_gradients_end_at_the_solution_or_the_limit():
    A, b = positive(20, 3) + np.eye(20), np.ones(20)
    x, _ = conjugate_gradients(lambda p: A @ p, lambda r: r / A.diagonal(), b, 200, 1e-14)
    np.testing.assert_allclose(A @ x, b, atol=1e-5)
    _, iterations = conjugate_gradients(lambda p: A @ p, lambda r: r, b, 3, 1e-14)
    assert iterations == 3
    x, iterations = conjugate_gradients(lambda p: -p, lambda r: r, b, 10, 0.1)
    assert not x.any()  # not positive: it stops where it is


def test_conjugate_gradients_survive_curvatures_whose_products_overflow():
    A, b = 1e120 * (positive(5, 1) + np.eye(5)), 1e123 * np.ones(5)
    x, _ = conjugate_gradients(lambda p: A @ p, lambda r: r, b, 200, 1e-14)
    np.testing.assert_allclose(A @ x, b, rtol=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 30))
def test_roots_of_low_rank_are_found_and_others_are_not(seed, rank, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, rank)) * 10.0 ** rng.integers(-6, 6)
    A = B @ B.T
    L, pivots = low_rank_root(A.diagonal(), lambda i: A[i], most=n)
    np.testing.assert_allclose(L @ L.T, A, atol=1e-9 * A.diagonal().max())
    assert L.shape[1] == len(pivots) <= min(rank, n)
    triangle = L[pivots]
    np.testing.assert_array_equal(triangle, np.tril(triangle))
    if min(rank, n) > 1:
        assert low_rank_root(A.diagonal(), lambda i: A[i], most=min(rank, n) - 1) is None


def test_a_square_root_but_for_rounding():
    rng = np.random.default_rng(0)
    B, noise = rng.normal(size=(20, 3)), 1e-4 * rng.normal(size=(20, 20))
    A = B @ B.T + noise + noise.T
    assert square_root(A) is None
    L, _ = square_root(A, 1e-3)
    assert L.shape == (20, 3)
    np.testing.assert_allclose(L @ L.T, A, atol=1e-2)
