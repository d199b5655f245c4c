import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.base import light
from tordinal.engines.host import rows as module
from tordinal.engines.host.rows import Rows, linear_rows, power_of_four

SPARSE = sp.random_array((200, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
SOME = np.arange(0, 200, 3)


@pytest.fixture(params=["one block", "two blocks"])
def blocks(request, monkeypatch):
    if request.param == "two blocks":
        monkeypatch.setattr(module, "SMALL", 0)
        monkeypatch.setattr(module, "LARGE", 0)
        monkeypatch.setattr(module, "n_threads", lambda: 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.usefixtures("blocks")
def test_products_over_blocks(dtype, sparse):
    X = SPARSE.astype(dtype) if sparse else SPARSE.toarray().astype(dtype)
    rows = Rows(X)
    rng = np.random.default_rng(0)
    v = rng.normal(size=60)
    np.testing.assert_allclose(rows.dot(v), SPARSE @ v, atol=1e-5)
    np.testing.assert_allclose(rows.take(SOME).dot(v), SPARSE[SOME] @ v, atol=1e-5)
    if not sparse:
        np.testing.assert_array_equal(rows.gather(SOME), X[SOME])


class OwnRows(Rows):
    """Rows of an engine of one's own."""


def test_rows_of_a_subclass_stay_its_own():
    """So that an engine of one's own is not lost on the way to the solver."""
    rows = OwnRows(SPARSE)
    assert type(rows.take(SOME)) is type(rows.private()) is OwnRows


@pytest.mark.usefixtures("blocks")
def test_what_is_put_comes_back_and_sums_are_over_all_rows():
    rows = Rows(SPARSE)
    h = np.arange(200.0)
    rows.put(h=h)
    np.testing.assert_array_equal(rows.get("h"), h)
    assert rows.sum(lambda block, factor: factor * block.h.sum(), 2.0) == 2 * h.sum()
    total, largest = rows.sum(light(lambda block: (block.h.sum(), np.array([block.h.size]))))
    assert (total, largest[0]) == (h.sum(), 200)
    assert rows.sum(lambda block: None) is None


@pytest.mark.parametrize("factor", [1e-70, 1e-8, 1.0, 1e8, 1e70])
def test_dense_rows_are_centred_and_neither_large_nor_small(factor):
    X = factor * np.random.default_rng(0).normal([0, 5, -7], size=(50, 3))
    rows = linear_rows(X)
    assert 0.1 < np.mean(rows.matrix**2) * 3 < 10
    np.testing.assert_allclose(rows.matrix * np.sqrt(rows.scale) + rows.centre, X, rtol=1e-9)
    assert not np.shares_memory(rows.matrix, X)


def test_sparse_rows_are_left_alone_unless_their_scale_is_extreme():
    assert linear_rows(SPARSE).matrix is SPARSE
    scaled = linear_rows(SPARSE * 1e8)
    np.testing.assert_allclose((scaled.matrix * np.sqrt(scaled.scale)).data, SPARSE.data * 1e8)


def test_indices_that_are_not_in_order_or_twice_there_are_put_right_in_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 0]), np.array([0, 3])
    X = sp.csr_array((data, indices, indptr), shape=(1, 3))
    rows = linear_rows(X)
    np.testing.assert_array_equal(rows.matrix.toarray() * np.sqrt(rows.scale), [[5.0, 0.0, 1.0]])
    assert X.indices.tolist() == [2, 0, 0]


@pytest.mark.parametrize(
    ("value", "power"), [(3.9, 4.0), (1.1, 1.0), (0.0, 1.0), (np.inf, 4.0**511)]
)
def test_powers_of_four(value, power):
    assert power_of_four(value) == power


def test_projections_are_predicted_as_a_model_does():
    X = np.random.default_rng(0).normal(loc=[1e10, 0.0], size=(20, 2))
    rows, coef = linear_rows(X), np.array([1.0, -2.0])
    h, shift = rows.predicted(np.zeros(20), coef)
    np.testing.assert_array_equal(h, X @ coef - shift)
    assert 1e-6 < rows.rounding(np.zeros(20), coef) < 1e-4
    assert linear_rows(sp.csr_array(X)).rounding(np.zeros(20), coef) == 0.0


@pytest.mark.parametrize("size", [1e-200, 1e-140, 1e-70, 1e100, 1e150, 1e200])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_scale_of_extreme_features_is_a_positive_number(size, kind):
    scale = linear_rows(kind(size * np.array([[1.0], [-1.0], [2.0]]))).scale
    assert 0.0 < scale < np.inf
    if 1e-70 <= size <= 1e150:
        assert 0.1 < scale / size**2 < 10.0
