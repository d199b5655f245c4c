"""An ensemble of models and experts, as `TORCV` fits it: fitting and predictions."""

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tordinal.calibration import Calibration, agree_with, fit_calibration, sharpen
from tordinal.costs import decide
from tordinal.distances import Matrix
from tordinal.estimators._base import KernelClassifier
from tordinal.estimators._calibrator import Evidence
from tordinal.estimators.redsvm import REDSVM
from tordinal.estimators.tor import TOR
from tordinal.model_selection import take
from tordinal.progress import Listener, Progress
from tordinal.reduction import Ranks
from tordinal.search.candidates import Candidate
from tordinal.search.data import SearchData
from tordinal.search.ensemble import mean_probabilities
from tordinal.search.experts import Expert, expert_distances, expert_ranks, fit_expert, see
from tordinal.search.trials import Trial

Array = NDArray[np.float64]

FINE = 100  # parts into which the fit of a member is divided for progress


def _part_of(progress: Progress, done: int, total: int) -> Listener:
    """A callback that reports the progress of one member as a part of the total."""

    def report(_: str, part: int, of: int) -> None:
        progress.part("ensemble", FINE * done + FINE * part // max(of, 1), FINE * total)

    return report


class EnsembleClassifier(KernelClassifier):
    """Fit an ensemble whose members were chosen by a search, and predict with it."""

    classes_: NDArray[Any]
    cache_size: float
    gamma: float | str
    degree: float
    coef0: float
    callback: Callable[[str, int, int], None] | None
    _evidence: Evidence
    _power: float

    def _fit_members(
        self, data: SearchData, weights: dict[Trial, float], progress: Progress
    ) -> None:
        """Fit supervised members to the labelled rows, transductive ones to all, and decide."""
        self._labeled, self._drawn = data.labeled, data.fitted
        self._weights = np.array(list(weights.values()))
        scoring = data.config.scoring
        expert = [isinstance(t.candidate, Expert) for t in weights] == [True]
        self._custom = scoring.custom
        self._decides_by = scoring.expert_costs if expert else scoring.decides_by
        calibrations = {t.candidate: fit_calibration(*data.for_calibration(t)) for t in weights}
        members: dict[Any, Any] = {}
        distances: dict[Any, Array] = {}
        order = sorted(calibrations, key=lambda c: (c.transductive, str(c.params.get("kernel"))))
        for done, candidate in enumerate(order):
            progress.part("ensemble", FINE * done, FINE * len(order))
            listen = _part_of(progress, done, len(order))
            members[candidate], distances[candidate] = (
                self._expert(data, candidate)
                if isinstance(candidate, Expert)
                else self._member(data, candidate, calibrations[candidate], listen)
            )
        progress.part("ensemble", FINE * len(order), FINE * len(order))
        self.estimators_ = [members[candidate] for candidate in calibrations]
        self.best_estimator_ = self.estimators_[0]
        self.views_ = [candidate.view for candidate in calibrations]
        self._is_expert = [isinstance(candidate, Expert) for candidate in calibrations]
        self._columns = [
            c.columns if isinstance(c, Expert) else data.config.views[c.view] for c in calibrations
        ]
        self._calibrations = list(calibrations.values())
        self.n_iter_ = sum(
            model.n_iter_
            for model, expert in zip(self.estimators_, self._is_expert, strict=True)
            if not expert
        )
        ranks, _ = self._answer([distances[candidate] for candidate in calibrations])
        if (
            not self._custom
            and self._is_expert == [False]
            and isinstance(self.best_estimator_, TOR)
        ):
            ranks[data.fitted] = self.best_estimator_.transduction_
        self.transduction_ = self.classes_[np.where(data.rows.unlabeled, ranks, data.rows.rank)]

    def _member(
        self, data: SearchData, candidate: Candidate, calibration: Calibration, listen: Listener
    ) -> tuple[REDSVM | TOR, Array]:
        """A member, and the distances of all rows to its thresholds."""
        # The kernel has the parameters of the search, for any rows that a member is fitted to.
        gamma = getattr(data.kernel(candidate), "gamma", self.gamma)
        kind = TOR if candidate.transductive else REDSVM
        rows = data.fitted if candidate.transductive else data.labeled
        model = kind(
            gamma=gamma, degree=self.degree, coef0=self.coef0, tol=self.tol,
            max_iter=self.max_iter, cache_size=self.cache_size, engine=data.engine(len(rows)),
            callback=listen, classes=list(range(data.rows.n_classes)), **candidate.params,
        )  # fmt: skip
        X, rank = data.view(candidate), data.rows.rank
        part = take(X, rows, rows, pairwise=candidate.kernel == "precomputed")
        distances = model._fit_member(part, rank[rows], data.fit_weight[rows], calibration)
        if not (candidate.transductive and len(rows) == len(rank)):
            distances = self._project_member(model, X)[:, None] - model.thresholds_
        return model.set_params(callback=None), distances

    def _expert(self, data: SearchData, expert: Expert) -> tuple[Any, Array]:
        """A fitted expert, and the distances of all rows."""
        rows = data.fitted if expert.transductive else data.labeled
        X = data.rows.X
        try:
            model = fit_expert(expert, X[rows], data.rows.rank[rows], data.fit_weight[rows])
            return model, expert_distances(model, expert.see(X), data.rows.n_classes)
        except Exception as error:
            raise ValueError(
                f"the expert {expert.name!r} failed when it was fitted to all its rows: {error}. "
                "Correct it, or remove it from experts."
            ) from error

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of each row by the decision of the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels from `classes_`.
        """
        answer, _ = self._answer(self._distances(X))
        return self.classes_[answer]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of each class: the weighted mean over the ensemble.

        Each member is calibrated on the held-out rows of the search. Temperature scaling makes the
        mean probability of the ensemble's predictions on these rows equal to their accuracy. The
        predicted class is the most probable one, unless `cost` or `class_weight` are given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`; rows sum to 1.
        """
        answer, p = self._answer(self._distances(X))
        return p if self._custom else sharpen(agree_with(p, answer), self._power)

    def decide(self, probability: Array) -> Ranks:
        """Return the predicted ranks for given probabilities.

        Parameters
        ----------
        probability : ndarray of shape (n_samples, n_classes)
            From `predict_proba`.

        Returns
        -------
        rank : ndarray of shape (n_samples,)
            The most probable one, or that of least expected cost by `cost` and `class_weight`.
        """
        return decide(probability, self._decides_by if self._custom else "zero_one")

    def evidence(self) -> Evidence:
        """Return the errors estimated by the cross-validation of the search.

        Returns
        -------
        evidence : Evidence
            Predictions of models that had not seen a row's label, and their errors.
        """
        check_is_fitted(self)
        if not hasattr(self, "_evidence"):
            raise AttributeError(
                "A compact copy keeps no evidence. Call evidence before compact()."
            )
        return self._evidence

    def compact(self) -> Self:
        """Make a copy without training rows, except those that predictions need.

        Returns
        -------
        model : TORCV
            The copy.
        """
        check_is_fitted(self)
        slim = copy.copy(self)
        slim.callback = None
        slim.estimators_ = [
            member if expert else member.compact()
            for member, expert in zip(slim.estimators_, self._is_expert, strict=True)
        ]
        slim.best_estimator_ = slim.estimators_[0]
        for name in ("cv_predictions_", "transduction_", "_evidence"):
            slim.__dict__.pop(name, None)
        return slim

    def seen(self, X: ArrayLike, member: int = 0) -> Matrix:
        """Select the columns of some rows that a member of the ensemble uses.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        member : int, default=0
            Which member, in the order of `estimators_`.

        Returns
        -------
        X : ndarray or CSR matrix
            The rows in its view.
        """
        check_is_fitted(self)
        return see(self._read_rows(X, reset=False), self._columns[member])

    def _distances(self, X: ArrayLike) -> list[Array]:
        """Distances of rows to the thresholds of each member of the ensemble."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        views: dict[str | None, Matrix] = {}
        distances = []
        for model, expert, view, columns in zip(
            self.estimators_, self._is_expert, self.views_, self._columns, strict=True
        ):
            if expert:
                d = expert_distances(model, see(rows, columns), len(self.classes_))
            else:
                if view not in views:
                    views[view] = see(rows, columns)
                d = self._project_member(model, views[view])[:, None] - model.thresholds_
            distances.append(d)
        return distances

    def _answer(self, distances: list[Array]) -> tuple[Ranks, Array]:
        """The predicted ranks and probabilities; a single model uses its thresholds."""
        p = mean_probabilities(
            [
                calibration.probabilities(d)
                for d, calibration in zip(distances, self._calibrations, strict=True)
            ],
            self._weights,
        )
        if self._custom:
            p = sharpen(p, self._power)
            return decide(p, self._decides_by), p
        if self._is_expert == [True]:
            return expert_ranks(distances[0], self._decides_by), p
        if len(distances) == 1:
            return (distances[0] > 0).sum(axis=1), p
        return decide(p, self._decides_by), p

    def _project_member(self, model: REDSVM | TOR, X: Any) -> Array:
        """Projections by a member; of a Gram matrix it uses only the columns it was fitted on."""
        if model.kernel == "precomputed":
            X = np.asarray(X)[:, self._drawn if isinstance(model, TOR) else self._labeled]
        return model.predict_projection(X)
