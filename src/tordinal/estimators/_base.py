"""The base classes of the estimators: parameters, input, prediction."""

import copy
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from tordinal._sklearn import (
    CallbackSupport,
    HasMethods,
    Interval,
    NameOf,
    StrOptions,
    check_sample_weight,
    fit_context,
)
from tordinal.calibration import Calibration, agree_with
from tordinal.class_ratios import check_class_ratio
from tordinal.couplings import Coupling, Reduction
from tordinal.distances import Matrix
from tordinal.engines.cuda.device import ENGINES, resolve_engine
from tordinal.estimators._calibrator import Calibrator, Evidence
from tordinal.fitting import Model, Recipe, fit_model
from tordinal.kernels import KERNELS
from tordinal.labels import encode_labels, label_array, single_column, unlabeled_rows
from tordinal.losses import LOSSES, Logistic, check_loss
from tordinal.progress import Progress
from tordinal.projection import Projection
from tordinal.reduction import UNLABELED, ranks
from tordinal.training_set import TrainingSet

Array = NDArray[np.float64]

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "kernel": [NameOf(KERNELS), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
    "degree": [Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "classes": ["array-like", None],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "cache_size": [Interval(Real, 0.0, None, closed="neither")],
    "engine": [StrOptions(set(ENGINES))],
    "callback": [callable, None],
    "verbose": ["verbose"],
}
LOSS_CONSTRAINT: list[Any] = [NameOf(LOSSES), HasMethods(["value", "slope"])]
SCHEDULE_CONSTRAINTS: dict[str, list[Any]] = {
    "C2_start": [Interval(Real, 0.0, None, closed="neither")],
    "C2_factor": [Interval(Real, 1.0, None, closed="neither")],
    "C2_max": [Interval(Real, 0.0, None, closed="neither"), None],
    "swaps": [
        StrOptions({"single", "all", "optimal"}), Interval(Integral, 1, None, closed="left"),
    ],
}  # fmt: skip


def keep_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Store the arguments of a constructor unchanged: ``keep_parameters(self, locals())``."""
    for name in estimator._get_param_names():
        setattr(estimator, name, given[name])


def warn_unless_converged(estimator: Any, fit: Any) -> None:
    """Warn the caller of ``fit`` about a training that did not converge."""
    if fit.converged:
        return
    limit = f" within max_iter={estimator.max_iter} iterations" if estimator.max_iter >= 0 else ""
    warnings.warn(
        f"{type(estimator).__name__} did not converge{limit}: the violation is "
        f"{fit.violation:.2g} (tol={estimator.tol:g}). The model is usable but not optimal: raise "
        "max_iter or tol, or scale the features.",
        ConvergenceWarning,
        stacklevel=3,
    )


class KernelClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Reading X and y, and projecting rows."""

    _transductive: ClassVar[bool] = False
    _projection: Projection

    C: float
    kernel: Any
    classes: Any
    tol: float
    max_iter: int
    engine: str
    verbose: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or saved model, of versions without a choice of engine too."""
        super().__setstate__({"engine": "host", **state})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        kernels = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        tags.input_tags.pairwise = "precomputed" in kernels
        # One axis cannot separate clusters without an order, on which
        # scikit-learn's checks test.
        tags.classifier_tags.poor_score = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> TrainingSet:
        """Check the input, and set `classes_`."""
        if y is None:
            mark = ", None or -1 for the unlabelled ones." if self._transductive else "."
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. "
                f"Pass one label per row{mark}"
            )
        X = self._read_rows(X, reset=True)
        y = single_column(y)
        y = y if hasattr(y, "dtype") else label_array(y)
        if getattr(y, "ndim", 1) != 1:
            y = column_or_1d(y, warn=True)
        if len(y) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows but y has {len(y)} labels: inconsistent numbers of "
                "samples. Pass one label per row."
            )
        if self.kernel == "precomputed":
            _check_gram(X)
        self.classes_, rank = encode_labels(y, self.classes, transductive=self._transductive)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight[rank != UNLABELED].any():
            raise ValueError(
                "sample_weight: every labelled row has weight 0, so there is nothing to learn from"
            )
        return TrainingSet(X, rank, weight, len(self.classes_))

    def _read_rows(self, X: Any, *, reset: bool) -> Matrix:
        """Check rows: dense or CSR, float32 or float64. Every X is checked here."""
        sparse = False if reset and self.kernel == "precomputed" else "csr"
        least = {"ensure_min_samples": 2} if reset else {}
        # Arrays of other libraries become NumPy arrays, whatever scikit-learn would make of them.
        with config_context(array_api_dispatch=False):
            return validate_data(
                self, X, accept_sparse=sparse, dtype=[np.float64, np.float32], reset=reset, **least
            )

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Share of the rows whose label is predicted.
        """
        check_is_fitted(self)
        if y is not None:
            y = label_array(single_column(y))
            if y.dtype == object and np.isin(y, self.classes_).all():
                y = y.astype(self.classes_.dtype)
        if self._transductive and y is not None:
            labels = y
            n = int((unlabeled_rows(labels) & ~np.isin(labels, self.classes_)).sum())
            if n:
                raise ValueError(
                    f"y: {n} of {len(labels)} rows to score have no label (-1, None or NaN). Score "
                    "labelled rows only; in a cross-validation or grid search, pass "
                    "cv=tordinal.model_selection.TransductiveKFold()."
                )
        return super().score(X, y, sample_weight=sample_weight)

    def _engine(self, n_rows: int) -> str:
        """Where the kernel values of `n_rows` rows are held, by `engine`."""
        name = type(self).__name__
        say = (lambda line: print(f"[{name}] {line}")) if self.verbose else None
        return resolve_engine(self.engine, n_rows, say)

    def _recipe(self, n_rows: int, coupling: Coupling | None = None) -> Recipe:
        """How to fit `n_rows` rows, from the parameters that this estimator has."""
        names = [field for field in Recipe.__dataclass_fields__ if hasattr(self, field)]
        given = {name: getattr(self, name) for name in names}
        given["loss"] = check_loss(given.get("loss", "hinge"))
        given["engine"] = self._engine(n_rows)
        given["coupling"] = Reduction() if coupling is None else coupling
        if "class_ratio" in given:
            given["class_ratio"] = check_class_ratio(given["class_ratio"], len(self.classes_))
        return Recipe(**given)

    def _keep_projection(self, projection: Projection) -> None:
        """Set the fitted attributes that describe the projection."""
        self._projection = projection
        self.support_, self.dual_coef_ = projection.support, projection.dual_coef
        for name, value in (
            ("coef_", projection.coef), ("support_vectors_", projection.support_vectors),
        ):  # fmt: skip
            self.__dict__.pop(name, None)  # of an earlier fit
            if value is not None:
                setattr(self, name, value)

    def _project(self, X: Any) -> Array:
        """Projections of rows, before any threshold: (n_samples,), or a column per projection."""
        check_is_fitted(self)
        return self._projection(self._read_rows(X, reset=False))


class ThresholdClassifier(KernelClassifier):
    """One projection h(x) and ordered thresholds: what RED-SVM, TOR and SVOR fit."""

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        coupling: Coupling | None = None,
        calibration: Calibration | None = None,
    ) -> Model:
        """Fit the model and set the attributes that all such estimators have.

        With a given `calibration` no rows are kept for one.
        """
        rows = self._read(X, y, sample_weight)
        recipe = self._recipe(len(rows.rank), coupling)
        with Progress(self, n_levels=recipe.n_levels(rows.rank)) as progress:
            model = fit_model(recipe, rows, progress=progress)
        solution = model.solution
        warn_unless_converged(self, solution)
        self._keep_projection(model.projection)
        self.thresholds_, self.objective_ = model.thresholds, solution.objective
        self.history_ = model.transduction.history
        self.n_iter_ = int(sum(record["n_iter"] for record in self.history_))
        self._calibrator = (
            Calibrator(recipe, model.projection.kernel, rows, transductive=self._transductive)
            if calibration is None
            else Calibrator.of(calibration, isinstance(recipe.loss, Logistic))
        )
        return model

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_member(self, X: Any, rank: Any, weight: Any, calibration: Calibration) -> Array:
        """Fit a member of an ensemble; return the distances of its rows to the thresholds."""
        solution = self._fit(X, rank, weight, calibration=calibration).solution
        return solution.h[:, None] - solution.thresholds

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
        """How deep each row lies inside each class, in the shape that scikit-learn expects.

        Class k holds the projections between the thresholds t_{k-1} and t_k. The value is the
        distance to the nearer of the two, negative outside, so the predicted class is where it is
        largest. With two classes there is one threshold and one column, h(x) - t. The distances to
        all thresholds are ``predict_projection(X)[:, None] - thresholds_``.

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

        With the logistic loss they are the model's own: P(y > k) = logistic(h(x) - t_k). With any
        other loss slope and offsets of that curve are fitted to projections of the labelled rows
        in five-fold cross-validation. It runs at the first call, with the rows and parameters of
        the fit, on at most 5,000 labelled and 2,000 unlabelled rows. The predicted
        class is always the most probable one.

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
        p = self._calibrator.calibration().probabilities(distances)
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

    def evidence(self) -> Evidence:
        """Estimate the errors by cross-validation on the labelled rows.

        Returns
        -------
        evidence : Evidence
            Predictions of models that had not seen a row's label, and their errors.
        """
        check_is_fitted(self)
        return self._calibrator.evidence()

    def compact(self, calibration: Calibration | None = None) -> Self:
        """Make a copy without training rows, except those that predictions need.

        Parameters
        ----------
        calibration : Calibration, default=None
            The map from distances to probabilities. None: its own, which is computed if needed.

        Returns
        -------
        model : estimator
            The copy, with its calibration.
        """
        check_is_fitted(self)
        slim = copy.copy(self)
        slim.callback = None
        slim._calibrator = self._calibrator.settled(calibration)
        if slim._projection.coef is not None:  # the weights of the features are enough
            slim._projection = copy.copy(slim._projection)
            slim._projection.support = slim.support_ = slim.support_[:0]
            slim._projection.dual_coef = slim.dual_coef_ = slim.dual_coef_[..., :0]
        return slim


def _check_gram(X: Matrix) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X must be a square matrix when kernel='precomputed', got {X.shape[0]} x "
            f"{X.shape[1]}. Pass the kernel values between all training rows."
        )
    if not np.allclose(X, X.T, rtol=1e-4, atol=1e-6 * float(np.abs(X).max())):
        raise ValueError("X must be a symmetric matrix of kernel values when kernel='precomputed'")
