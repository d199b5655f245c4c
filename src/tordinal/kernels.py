"""Kernel functions, one small class each.

A kernel gives the matrix of values between the rows of two matrices, and k(x, x) of each row. Its
fields are the parameters of the estimators that it uses. A new kernel is a new class with the
decorator `register`: estimators, the search and the command then know its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.distances import Matrix, manhattan, products, squared_distances, squared_norms

__all__ = ["KERNELS", "Kernel", "make_kernel", "register", "resolve_gamma"]

Array = NDArray[np.float64]

KERNELS: dict[str, type["Kernel"]] = {}


def register(kernel: type["Kernel"]) -> type["Kernel"]:
    """Register a kernel under its name.

    See Also
    --------
    Kernel : The base class.
    """
    KERNELS[kernel.name] = kernel
    return kernel


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel function with its parameters.

    Attributes
    ----------
    name : str
        Its name in the estimators' parameter `kernel`.

    See Also
    --------
    register : Registers a kernel under its name.
    """

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, A: Matrix, B: Matrix) -> Array:
        """Kernel values between the rows of A and the rows of B, in float64."""

    def diagonal(self, X: Matrix) -> Array:
        """k(x, x) of every row."""
        return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])


@register
@dataclass(frozen=True)
class Linear(Kernel):
    """x.x'.

    Examples
    --------
    >>> import numpy as np
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name = "linear"

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        return products(A, B)

    def diagonal(self, X: Matrix) -> Array:
        return squared_norms(X)


@register
@dataclass(frozen=True)
class Perceptron(Kernel):
    """-|x - x'| (Lin and Li 2008).

    Examples
    --------
    >>> import numpy as np
    >>> Perceptron()(np.array([[0.0], [3.0]]), np.array([[4.0]]))
    array([[-4.],
           [-1.]])
    """

    name = "perceptron"

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        squared = squared_distances(A, B)
        return np.negative(np.sqrt(squared, out=squared), out=squared)

    def diagonal(self, X: Matrix) -> Array:
        return np.zeros(X.shape[0])


@register
@dataclass(frozen=True)
class RBF(Kernel):
    """exp(-gamma |x - x'|^2)."""

    name = "rbf"
    gamma: float = 1.0

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        squared = squared_distances(A, B)
        return np.exp(np.multiply(squared, -self.gamma, out=squared), out=squared)

    def diagonal(self, X: Matrix) -> Array:
        return np.ones(X.shape[0])


@register
@dataclass(frozen=True)
class Poly(Kernel):
    """(gamma x.x' + coef0)^degree."""

    name = "poly"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    # Solvers check for overflow and raise an error.
    def __call__(self, A: Matrix, B: Matrix) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return (self.gamma * products(A, B) + self.coef0) ** self.degree

    def diagonal(self, X: Matrix) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return (self.gamma * squared_norms(X) + self.coef0) ** self.degree


@register
@dataclass(frozen=True)
class LaplacianKernel(Kernel):
    """exp(-gamma |x - x'|_1)."""

    name = "laplacian"
    gamma: float = 1.0

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        return np.exp(-self.gamma * manhattan(A, B))

    def diagonal(self, X: Matrix) -> Array:
        return np.ones(X.shape[0])


@register
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Rows that are kernel values already."""

    name = "precomputed"

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        return np.asarray(A, dtype=np.float64)

    def diagonal(self, X: Matrix) -> Array:
        return np.diagonal(X).astype(np.float64)


@dataclass(frozen=True)
class Custom(Kernel):
    """A function of two matrices that returns the matrix of kernel values."""

    name = "custom"
    function: Callable[..., Any]

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        values = np.asarray(self.function(A, B), dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel={self.function!r} returned an array of shape {values.shape} for "
                f"{A.shape[0]} and {B.shape[0]} rows. Return one value for each pair of rows."
            )
        return values


def make_kernel(
    kernel: str | Callable[..., Any],
    X: Matrix,
    gamma: float | str = "scale",
    degree: float = 3,
    coef0: float = 0.0,
) -> Kernel:
    """Make the kernel that the parameters of an estimator describe.

    Examples
    --------
    >>> import numpy as np
    >>> make_kernel("rbf", np.array([[0.0], [2.0]]))
    RBF(gamma=1.0)
    """
    if not isinstance(kernel, str):
        return Custom(kernel)
    kind = KERNELS[kernel]
    given = {
        "gamma": lambda: resolve_gamma(gamma, X),
        "degree": lambda: degree,
        "coef0": lambda: coef0,
    }
    return kind(**{field.name: given[field.name]() for field in fields(kind)})


def resolve_gamma(gamma: float | str, X: Matrix) -> float:
    """The number behind ``gamma="scale"`` or "auto", as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if sp.issparse(X):
        mean = X.mean()
        variance = float(X.multiply(X).mean() - mean * mean)
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
