from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem, two_matrices
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from tordinal import REDSVM, TOR, TORCV
from tordinal.kernels import KERNELS, Custom, Kernel, Poly, make_kernel, register, resolve_gamma


@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_equal_those_of_scikit_learn(sparse):
    A, B, a, b = two_matrices(sparse)
    expected = {
        "linear": A @ B.T,
        "rbf": rbf_kernel(A, B, 0.3),
        "poly": polynomial_kernel(A, B, 2, 0.3, 1.0),
        "laplacian": laplacian_kernel(A, B, 0.3),
        "perceptron": -cdist(A, B),
    }
    for name, values in expected.items():
        kernel = make_kernel(name, a, gamma=0.3, degree=2, coef0=1.0)
        np.testing.assert_allclose(kernel(a, b), values, atol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(a), np.diag(kernel(a, a)), atol=1e-12)


def test_gamma():
    X = np.array([[0.0, 1.0], [2.0, 5.0]])
    assert resolve_gamma("scale", X) == pytest.approx(1 / (2 * X.var()))
    assert resolve_gamma("scale", sp.csr_array(X)) == pytest.approx(1 / (2 * X.var()))
    assert resolve_gamma("scale", np.ones((3, 2))) == 1.0
    assert (resolve_gamma("auto", X), resolve_gamma(3, X)) == (0.5, 3.0)


@pytest.mark.filterwarnings("error")
def test_kernels_that_overflow_are_an_error_and_no_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)) + 1e12, rng.integers(0, 3, 30)
    with pytest.raises(ValueError, match="too far from the origin"):
        REDSVM(kernel="poly").fit(X, y)
    assert np.isinf(Poly(degree=3).diagonal(X * 1e150)).all()


def test_a_function_of_the_wrong_shape_is_rejected():
    with pytest.raises(ValueError, match=r"shape \(3,\) for 3 and 3 rows"):
        Custom(lambda a, b: np.ones(3))(np.ones((3, 1)), np.ones((3, 1)))


def test_a_new_kernel_is_one_class():
    """It is known to the estimators and the search by its name, with no other place changed."""

    @register
    @dataclass(frozen=True)
    class Cauchy(Kernel):
        name = "cauchy"
        gamma: float = 1.0

        def __call__(self, A, B):
            return 1.0 / (1.0 + self.gamma * cdist(A, B, "sqeuclidean"))

    try:
        X, y = ordinal_problem(60, 3)
        labels = hide(y, 30)
        by_name = TOR(kernel="cauchy", gamma=0.5).fit(X, labels)
        by_function = TOR(kernel=Cauchy(0.5)).fit(X, labels)
        assert by_name.objective_ == pytest.approx(by_function.objective_, rel=1e-6)
        np.testing.assert_array_equal(by_name.predict(X), by_function.predict(X))
        searched = TORCV(kernel="cauchy", C=[1.0, 10.0]).fit(X, labels)
        assert searched.best_params_["kernel"] == "cauchy"
    finally:
        KERNELS.pop("cauchy", None)
