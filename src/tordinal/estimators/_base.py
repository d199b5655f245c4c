"""What all estimators with one projection and ordered thresholds share: parameters, input, prediction."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from tordinal.calibration import agree_with
from tordinal.estimators._calibrator import Calibrator
from tordinal.estimators._progress import CallbackSupport, Progress
from tordinal.kernels import KERNELS, Gram, Kernel, LinearFeatures, Matrix, hold_kernel, resolve_gamma
from tordinal.losses import LOSSES, Loss, is_smooth
from tordinal.reduction import UNLABELED, Ranks, encode_labels, label_array, ranks
from tordinal.solvers import Solution, Solver, make_solver
from tordinal.threads import blocks

Array = NDArray[np.float64]

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "kernel": [StrOptions(set(KERNELS)), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
    "degree": [Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "classes": ["array-like", None],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "cache_size": [Interval(Real, 0.0, None, closed="neither")],
    "verbose": ["verbose"],
}
LOSS_CONSTRAINT: list[Any] = [StrOptions(set(LOSSES)), HasMethods(["value", "slope"])]


class KernelClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Reading X and y, and the Gram matrix of the training rows."""

    _transductive: ClassVar[bool] = False

    C: float
    kernel: Any
    gamma: float | str
    degree: float
    coef0: float
    classes: Any
    tol: float
    max_iter: int
    cache_size: float
    verbose: int

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        # One axis cannot tell clusters apart that lie in no order, which is what scikit-learn's checks score.
        tags.classifier_tags.poor_score = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Matrix, Ranks, Array]:
        """Check the input; return X, the ranks (and set `classes_`) and the weight of each row."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass one label per row"
                + (", None or -1 for the unlabelled ones." if self._transductive else ".")
            )
        sparse = False if self.kernel == "precomputed" else "csr"
        X = validate_data(self, X, accept_sparse=sparse, dtype=[np.float64, np.float32], ensure_min_samples=2)
        if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
            y = y.iloc[:, 0]  # keeps the order of a categorical
        if not hasattr(y, "dtype"):
            y = label_array(y)
        if y.ndim != 1:
            y = column_or_1d(y, warn=True)
        if len(y) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows but y has {len(y)} labels: inconsistent numbers of samples. "
                "Pass one label per row."
            )
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X must be a square matrix when kernel='precomputed', got {X.shape[0]} x {X.shape[1]}. "
                "Pass the kernel values between all training rows."
            )
        if self.kernel == "precomputed" and not np.allclose(X, X.T, rtol=1e-4, atol=1e-6 * float(np.abs(X).max())):
            raise ValueError("X must be a symmetric matrix of kernel values when kernel='precomputed'")
        self.classes_, rank = encode_labels(y, self.classes, transductive=self._transductive)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight[rank != UNLABELED].any():
            raise ValueError("sample_weight: every labelled row has weight 0, so there is nothing to learn from")
        return X, rank, weight

    def _resolve_kernel(self, X: Matrix) -> Kernel:
        gamma = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly", "laplacian") else 1.0
        self._kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        return self._kernel

    def _solver(self, X: Matrix, loss: Loss) -> Solver:
        """The solver for a loss on the training rows."""
        return make_solver(self._hold(X, loss), loss)

    def _hold(self, X: Matrix, loss: Loss) -> Gram | LinearFeatures:
        """The kernel of the training rows."""
        return hold_kernel(self._resolve_kernel(X), X, self.cache_size, smooth=is_smooth(loss))

    def _keep_weights(self, X: Matrix, a: Array, coef: Array | None = None) -> Any:
        """Set what projections of new rows need: the weights of the training rows (one column per projection), or w itself.

        Returns the shift between the solver's projections and those of `_project`: the solver saw centred features.
        """
        self.support_ = np.flatnonzero(a if a.ndim == 1 else np.any(a, axis=1))
        self.dual_coef_ = a[self.support_].T
        self.__dict__.pop("coef_", None)  # of an earlier fit
        self.__dict__.pop("support_vectors_", None)
        if self.kernel != "linear":
            if self.kernel != "precomputed":
                self.support_vectors_ = X[self.support_]
            return 0.0
        if coef is None:
            coef = np.asarray((X[self.support_].T @ self.dual_coef_.T).T, dtype=np.float64)
        self.coef_ = coef
        return self.coef_ @ X.mean(axis=0, dtype=np.float64) if not sp.issparse(X) else 0.0

    def _project(self, X: Any) -> Array:
        """Projections of rows, before any threshold: shape (n_samples,), or one column per projection."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_.T, dtype=np.float64)
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.support_] @ self.dual_coef_.T, dtype=np.float64)
        parts = [self._kernel(X[piece], self.support_vectors_) @ self.dual_coef_.T for piece in blocks(X.shape[0])]
        return np.concatenate(parts)

    def _warn_unless_converged(self, solution: Solution) -> None:
        if not solution.converged:
            limit = f"max_iter={self.max_iter} steps" if self.max_iter >= 0 else "all it could do"
            warnings.warn(
                f"{type(self).__name__} stopped after {limit} with a violation of {solution.violation:.2g} "
                f"(tol={self.tol:g}). The model is usable but not optimal: raise max_iter or tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )


class ThresholdClassifier(KernelClassifier):
    """One projection h(x) and ordered thresholds: what RED-SVM, TOR and SVOR fit."""

    def _fit_supervised(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, solver_for: Callable[[Any], Solver]
    ) -> Self:
        """One training on rows that are all labelled."""
        X, rank, weight = self._read(X, y, sample_weight)
        with Progress(self, n_levels=1) as progress:
            solver = solver_for(X)
            solution = solver.solve(
                rank, self.C * weight, len(self.classes_) - 1,
                tol=self.tol, max_iter=self.max_iter, on_chunk=progress.chunk,
            )  # fmt: skip
            solution = solver.refine(solution)
            record = {"C2": 0.0, "objective": solution.objective, "swaps": 0, "n_iter": solution.n_iter}
            progress.training(record, solution)
        self._warn_unless_converged(solution)
        self._keep(X, rank, weight, solution)
        self.objective_, self.n_iter_, self.history_ = solution.objective, int(solution.n_iter), [record]
        return self

    def _keep(self, X: Matrix, rank: Ranks, weight: Array, solution: Solution) -> None:
        """Set the fitted attributes of the model."""
        self._calibrator = Calibrator(X, rank, weight)
        shift = self._keep_weights(X, solution.coefficients, solution.coef)
        self.thresholds_ = solution.thresholds + shift

    def predict_projection(self, X: ArrayLike) -> Array:
        """Project rows on the ordinal axis: h(x).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with ``kernel="precomputed"`` their kernel values with all training rows.

        Returns
        -------
        h : ndarray of shape (n_samples,)
            The higher, the higher the rank. `thresholds_` lie on the same scale.
        """
        return self._project(X)

    def decision_function(self, X: ArrayLike) -> Array:
        """How deep each row lies inside each class, in scikit-learn's shape for classifiers.

        Class k holds the projections between the thresholds t_{k-1} and t_k. The value is the distance to the nearer
        of the two, negative outside, so the predicted class is where it is largest. With two classes there is one
        threshold and one column, h(x) - t. The distances to all thresholds are
        ``predict_projection(X)[:, None] - thresholds_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        depth : ndarray of shape (n_samples, n_classes) or, with two classes, (n_samples,)
            Positive for the class that the row lies in.
        """
        distance = self.predict_projection(X)[:, None] - self.thresholds_
        if distance.shape[1] == 1:
            return distance[:, 0]
        depth = np.full((len(distance), distance.shape[1] + 1), np.inf)
        depth[:, 1:] = distance
        depth[:, :-1] = np.minimum(depth[:, :-1], -distance)
        return depth

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of each class.

        With the logistic loss they are the model's own: P(y > k) = logistic(h(x) - t_k). With any other loss slope and offsets
        of that curve are fitted to projections of the labelled rows in five-fold cross-validation, which takes place at
        the first call. The predicted class is always the most probable one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`; rows sum to 1.
        """
        distances = self.predict_projection(X)[:, None] - self.thresholds_
        p = self._calibrator.calibration(self).probabilities(distances)
        return agree_with(p, (distances > 0).sum(axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of each row by equation 3: one rank for each threshold below h(x).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels from `classes_`.
        """
        h = self.predict_projection(X)
        return self.classes_[ranks(h, self.thresholds_)]
