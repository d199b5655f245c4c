"""The fitted part of a model: how rows, old and new, are projected on its axis or axes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.kernels import Kernel, Linear, Precomputed
from tordinal.threads import blocks

__all__ = ["Projection"]

Array = NDArray[np.float64]


@dataclass
class Projection:
    """h(x) = sum_i a_i k(x_i, x), or w.x for a linear kernel.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    support : ndarray of shape (n_support,)
        Training rows with a weight.
    dual_coef : ndarray of shape (n_support,) or (n_projections, n_support)
        Their weights.
    support_vectors : matrix or None
        Those rows, where predictions need them.
    coef : ndarray of shape (n_features,) or (n_projections, n_features), or None
        w itself, for a linear kernel.
    """

    kernel: Kernel
    support: NDArray[np.int64]
    dual_coef: Array
    support_vectors: Any = field(default=None, repr=False)
    coef: Array | None = field(default=None, repr=False)

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, a: Array, coef: Array | None = None) -> "Projection":
        """From the weights of the training rows (one column per projection), or w itself."""
        support = np.flatnonzero(a if a.ndim == 1 else np.any(a, axis=1))
        dual_coef = a[support].T
        vectors = None
        if isinstance(kernel, Linear):
            if coef is None:
                coef = np.asarray((X[support].T @ dual_coef.T).T, dtype=np.float64)
        elif not isinstance(kernel, Precomputed):
            vectors = X[support].copy()
        return cls(kernel, support, dual_coef, vectors, coef)

    def __call__(self, X: Matrix) -> Array:
        """Projections of rows, one column per projection."""
        if self.coef is not None:
            return np.asarray(X @ self.coef.T, dtype=np.float64)
        if isinstance(self.kernel, Precomputed):
            return np.asarray(X[:, self.support] @ self.dual_coef.T, dtype=np.float64)
        if len(self.support) == 0:  # every row is projected to 0; kernels reject empty matrices
            return np.zeros((X.shape[0], *self.dual_coef.shape[:-1]))
        parts = [
            self.kernel(X[piece], self.support_vectors) @ self.dual_coef.T
            for piece in blocks(X.shape[0])
        ]
        return np.concatenate(parts)
