"""TORCV: the kernel, C, and whether to use unlabelled rows at all, by cross-validation."""

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tordinal._sklearn import Interval, StrOptions, fit_context
from tordinal.class_ratios import check_class_ratio
from tordinal.costs import weigh_classes
from tordinal.estimators._base import KERNEL_CONSTRAINTS, keep_parameters
from tordinal.estimators._calibrator import Evidence
from tordinal.estimators._ensemble import EnsembleClassifier
from tordinal.estimators.redsvm import REDSVM
from tordinal.estimators.tor import TOR
from tordinal.fitting import Recipe
from tordinal.losses import check_loss
from tordinal.progress import Progress
from tordinal.search.candidates import is_ratio, options, read_views
from tordinal.search.config import SearchConfig
from tordinal.search.data import SearchData
from tordinal.search.ensemble import Comparison
from tordinal.search.estimate import estimate_errors
from tordinal.search.experts import (
    Expert,
    cross_validate_experts,
    read_experts,
)
from tordinal.search.race import race
from tordinal.search.scoring import Scoring
from tordinal.search.supervised import best_settings, cross_validate
from tordinal.search.verdict import results, verdict
from tordinal.training_set import TrainingSet

Array = NDArray[np.float64]


class TORCV(EnsembleClassifier):
    """Choose models, and whether unlabelled rows help at all, by cross-validation.

    Supervised models are always candidates. They take milliseconds, so losses, kernels and C are
    compared first, in repeated cross-validation on the labelled rows. Transductive variants of the
    best settings are then compared with them fold by fold: the held-out rows join the unlabelled
    ones, and worse candidates are dropped early. The best candidates form an ensemble, which
    predicts the rank of least expected error by their calibrated probabilities.

    Parameters
    ----------
    C : float or sequence of float, default=None
        Values of C to try. None: the paper's grid, ``logspace(-3, 5, 9)``. Fewer values save time.
    kernel : str, callable or sequence of them, default=("linear", "perceptron", "rbf")
        Kernels to try. "linear" alone suits texts and many rows.
    loss : str, object or sequence of them, default=("hinge", "logistic")
        Losses to try. Transductive candidates use the piecewise linear ones among them, if any.
        "logistic" alone suits where probabilities matter most.
    class_ratio : str or sequence, default=("blended", "estimated")
        Class ratios to try in transductive candidates, as in `TOR`. Pass the true proportions
        where you know them.
    swaps : str, int or sequence of them, default=("single", "optimal")
        Ways to swap labels to try in transductive candidates, as in `TOR`.
    C2_max : float, None, "balanced" or sequence of them, default=None
        Largest values of C2 to try. "balanced" gives all unlabelled rows together the weight
        of all labelled ones.
    views : mapping of str to columns, default=None
        Views of the rows to choose from: the columns of X by name, as indices, a mask or a slice.
        Members of the ensemble may use different views. None: all columns.
        `tordinal.text.TextViews` makes views of texts.
    experts : list of estimators or of tuples, default=None
        Classifiers with `fit` and `predict_proba` that compete with the other candidates: (name,
        estimator), (name, estimator, columns) or (name, estimator, columns, transductive).
        `columns` are the columns of X that the expert uses, as in `views`, or a function of X.
        Experts are fitted to labelled rows, to ranks 0 .. K - 1; `transductive` ones, and those
        with an attribute ``_transductive``, to all rows, -1 marking the unlabelled ones. An expert
        that fails in a fold is excluded, with a warning.
    transduce : bool, default=True
        Whether transductive candidates are tried. False restricts the search to supervised models,
        which takes about a third of the time.
    scoring : str, callable or None, default=None
        How models are chosen: by the "absolute" error of the ranks, the "zero_one" error, the mean
        of "both" (None), or any scikit-learn scorer, such as those of
        `tordinal.metrics.SCORERS`. The ensemble decides by the same error; with a scorer, by the
        absolute one, or for "accuracy" and "neg_mean_zero_one_error" by the zero-one error.
    cost : mapping or array-like of shape (n_classes, n_classes), default=None
        Costs of errors, if some are worse than others. A matrix has a row per true class and a
        column per predicted one; ``{"low": 2}`` makes each rank that a prediction is too low twice
        as bad as one that it is too high. Every prediction has the least expected cost by the
        probabilities of `predict_proba`, and models are chosen by it unless `scoring` is given.
        None: the costs follow from `scoring`.
    class_weight : mapping, "balanced" or None, default=None
        Weights of classes by their labels; "balanced" makes them inversely proportional to the
        number of labels. They multiply the weights of labelled rows in the fits and the costs of
        errors, so they count in every choice and prediction; probabilities do not change.
    cv : int, default=5
        Number of folds. More take longer and waste fewer labels, which counts with about 30 or
        fewer of them.
    ensemble_size : int, default=9
        How many of the best candidates are in the ensemble; at most a quarter of them of one loss,
        kernel and view, with or without unlabelled rows, so that they differ. 1: the single best
        one, near-ties going to the simpler model, with its own thresholds. With few labels those
        that would be chosen without unlabelled rows are in it, too.
    cv_unlabeled : int, default=2000
        Unlabelled rows per fold at most. Lower it to save time.
    max_unlabeled : int, default=10000
        Unlabelled rows at most that a transductive member is fitted to, drawn at random; its
        decision function rates the others. More rows take longer and rarely change the
        error (``python -m benchmarks sample``).
    gamma, degree, coef0 : float
        Kernel parameters, as in `REDSVM`.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels in y, sorted. Needed where that
        order is wrong, as for words, or where a class has no label yet.
    tol, max_iter, cache_size, engine
        As in `TOR`.
    n_jobs : int, default=None
        Fits at the same time, with joblib. -1 uses all cores, which pays for searches of more
        than a few seconds.
    random_state : int, RandomState or None, default=0
        Seed of the folds and of the unlabelled rows they use. Other seeds show how much the result
        depends on them.
    callback : callable, default=None
        Called with the current task, the steps done and the number of steps.
    verbose : int, default=0
        Whether to print progress with the time left, and the verdict.
    committee : int, default="deprecated"
        Former name of `ensemble_size`.

        .. deprecated:: 0.3
            It will be removed in 0.4.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or the decision of the ensemble.
    best_params_ : dict
        Parameters of the best candidate; ``{"expert": name}`` if it is an expert.
    best_estimator_ : REDSVM, TOR or expert
        The best candidate, fitted to all rows.
    best_score_ : float
        Its cross-validated score.
    estimators_ : list of REDSVM, TOR and experts
        The ensemble, members of the largest weight first.
    views_ : list of str or None
        The view that each of them uses; None for an expert.
    cv_results_ : dict of arrays
        One entry per candidate: ``params``, ``transductive``, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``split<k>_test_score`` and ``dropped``.
    cv_predictions_ : ndarray of shape (n_samples,)
        Cross-validated labels of the labelled rows, None for all others. The ensemble that rates a
        fold is chosen by the other folds, so that its errors are not too optimistic.
    cv_errors_ : dict of str to (float, float)
        The errors of these labels, zero-one and absolute ("this model"), and those of the best
        supervised candidate ("supervised") and of the best transductive one ("transductive"),
        chosen in the same way.
    verdict_ : str
        Whether transduction helps here, in one line.
    n_iter_ : int
        Solver iterations in all trainings of the members.

    See Also
    --------
    TOR : A single transductive model.
    REDSVM : A single supervised model.
    tordinal.model_selection.TransductiveKFold : Folds for scikit-learn's own searches.
    tordinal.rate_table : The same for a table of numbers, categories and texts.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import TORCV
    >>> X = np.arange(60.0)[:, None]
    >>> y = np.where(np.arange(60) % 4 == 0, np.arange(60) // 20, -1)  # every fourth is labelled
    >>> model = TORCV(C=[1, 10], kernel="linear").fit(X, y)
    >>> model.transduction_[[1, 30, 59]]
    array([0, 1, 2])
    """

    _transductive = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: constraint
            for name, constraint in KERNEL_CONSTRAINTS.items()
            if name not in ("C", "kernel")
        },
        "C": [Interval(Real, 0.0, None, closed="neither"), "array-like", None],
        "kernel": [str, callable, list, tuple],
        "loss": "no_validation",
        "class_ratio": [str, list, tuple, np.ndarray],
        "swaps": [str, Integral, list, tuple],
        "C2_max": [
            None, StrOptions({"balanced"}), Interval(Real, 0.0, None, closed="neither"), list,
            tuple,
        ],
        "views": "no_validation",
        "experts": "no_validation",
        "transduce": ["boolean"],
        "scoring": [str, callable, None],
        "cost": [Mapping, "array-like", None],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "ensemble_size": [Interval(Integral, 1, None, closed="left")],
        "cv_unlabeled": [Interval(Integral, 0, None, closed="left")],
        "max_unlabeled": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "committee": [Interval(Integral, 1, None, closed="left"), StrOptions({"deprecated"})],
    }  # fmt: skip

    loss: Any
    class_ratio: Any
    swaps: Any
    C2_max: Any
    views: Any
    experts: Any
    transduce: bool
    cost: Any
    class_weight: Any
    ensemble_size: int
    committee: int | str

    def __init__(
        self,
        C: Any = None,
        *,
        kernel: Any = ("linear", "perceptron", "rbf"),
        loss: Any = ("hinge", "logistic"),
        class_ratio: Any = ("blended", "estimated"),
        swaps: Any = ("single", "optimal"),
        C2_max: Any = None,
        views: Any = None,
        experts: Any = None,
        transduce: bool = True,
        scoring: Any = None,
        cost: Any = None,
        class_weight: Any = None,
        cv: int = 5,
        ensemble_size: int = 9,
        cv_unlabeled: int = 2000,
        max_unlabeled: int = 10_000,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        classes: ArrayLike | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float = 2500,
        engine: str = "host",
        n_jobs: int | None = None,
        random_state: Any = 0,
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
        committee: int | str = "deprecated",
    ):
        keep_parameters(self, locals())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or saved search, of version 0.2 too."""
        if "ensemble_size" not in state:
            state = {**state, "ensemble_size": state["committee"], "committee": "deprecated"}
            state |= {"experts": None, "_is_expert": [False] * len(state.get("estimators_", []))}
        super().__setstate__({"cost": None, "class_weight": None, "_custom": False, **state})

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "TORCV":
        """Search, and fit the ensemble on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows; with ``kernel="precomputed"`` the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Labels; unlabelled rows are marked as in `TOR`.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: in the fits, in the choice, and for the probabilities.
            Estimated errors are those of the rows. Scorers and experts that take weights get them.

        Returns
        -------
        self : TORCV
            The fitted search.
        """
        rows = self._read(X, y, sample_weight)
        config = self._config(rows)
        experts = self._experts()
        with Progress(self, n_levels=3 + bool(experts)) as progress:
            data = SearchData.of(config, rows)
            trials = cross_validate(data, config.supervised_candidates(), progress)
            progress.problem("supervised candidates")
            if self.transduce and data.can_transduce:
                candidates = config.transductive_candidates(
                    best_settings(trials), len(data.labeled), int(rows.unlabeled.sum())
                )
                trials += race(data, trials, candidates, progress)
            progress.problem("transductive candidates")
            if experts:
                trials += cross_validate_experts(data, experts, progress)
                progress.problem("experts")
            comparison = Comparison(data, trials)
            weights = comparison.ensemble(trials, config.ensemble_size)
            if not weights:
                raise ValueError(
                    "scoring failed for every candidate; try another scorer or label more rows"
                )
            estimated = estimate_errors(data, trials)
            self.cv_errors_, self._power = estimated.errors, estimated.power
            self._fit_members(data, weights, progress)
            progress.problem("ensemble")
        best = next(iter(weights))
        self.best_params_, self.best_score_ = best.candidate.params, comparison.estimate(best)
        self.cv_results_ = results(data, trials)
        self.verdict_ = verdict(data, estimated)
        self.cv_predictions_ = np.full(len(rows.rank), None, dtype=object)
        self.cv_predictions_[estimated.rows] = self.classes_[estimated.ranks]
        self._evidence = Evidence(
            estimated.rows, estimated.ranks, estimated.probability, estimated.errors,
            estimated.spread, self.verdict_,
        )  # fmt: skip
        if self.verbose:
            print(f"[TORCV] {self.verdict_}")
        return self

    def _config(self, rows: TrainingSet) -> SearchConfig:
        """The parameters of the search, checked; labels weigh the classes."""
        for name in ("kernel", "loss", "class_ratio", "swaps", "C2_max"):
            value = getattr(self, name)
            if isinstance(value, (list, tuple)) and len(value) == 0:
                raise ValueError(f"{name} is empty: name at least one value to try")
        given = self.class_ratio
        ratios = [given] if isinstance(given, str) or is_ratio(given) else list(given)
        labels = rows.rank[~rows.unlabeled & (rows.weight > 0)]
        class_weights = weigh_classes(self.class_weight, self.classes_, labels)
        config = SearchConfig(
            base=Recipe(
                gamma=self.gamma, degree=self.degree, coef0=self.coef0, tol=self.tol,
                max_iter=self.max_iter, cache_size=self.cache_size,
                engine=self._engine(len(rows.rank)),
            ),
            C=options([float(C) for C in self._grid()]),
            kernel=options(self.kernel),
            loss=options(self.loss),
            class_ratio=options([r if isinstance(r, str) else tuple(r) for r in ratios]),
            swaps=options(self.swaps),
            C2_max=options(self.C2_max),
            views=read_views(self.views, self.n_features_in_, options(self.kernel)),
            scoring=Scoring.of(
                self.scoring, self.__sklearn_tags__(), self.classes_, self.cost, class_weights
            ),
            class_weights=class_weights,
            ensemble_size=self._ensemble_size(),
            cv=self.cv, cv_unlabeled=self.cv_unlabeled, max_unlabeled=self.max_unlabeled,
            n_jobs=self.n_jobs, random_state=self.random_state,
        )  # fmt: skip
        supervised = config.supervised_candidates()
        for candidate in supervised:
            check_loss(candidate.loss)
            REDSVM(**candidate.params)._validate_params()
        for candidate in config.transductive_candidates(supervised[:1], 1, 1):
            check_class_ratio(candidate.class_ratio, len(self.classes_))
            TOR(**candidate.params)._validate_params()
        return config

    def _experts(self) -> list[Expert]:
        experts = read_experts(self.experts, self.n_features_in_)
        if experts and "precomputed" in options(self.kernel):
            raise ValueError(
                'experts cannot be combined with kernel="precomputed": X then holds kernel values. '
                "Pass one of the two."
            )
        return experts

    def _ensemble_size(self) -> int:
        if self.committee == "deprecated":
            return self.ensemble_size
        warnings.warn(
            "the parameter committee of TORCV is now called ensemble_size; the old name will be "
            f"removed in version 0.4. Pass ensemble_size={self.committee}.",
            FutureWarning,
            stacklevel=5,  # the caller of fit
        )
        return int(self.committee)

    def _grid(self) -> Array:
        if self.C is None:
            return np.logspace(-3, 5, 9)
        grid = np.atleast_1d(np.asarray(self.C, dtype=np.float64))
        if grid.ndim != 1 or len(grid) == 0:
            raise ValueError(f"C={self.C!r} must be a number or a list of numbers to try")
        return grid
