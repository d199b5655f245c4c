import numpy as np
import pytest
from problems import hide, ordinal_problem

from tordinal import REDSVM, TOR
from tordinal.couplings import Implicit
from tordinal.fitting import Recipe, fit_model, held_out
from tordinal.kernels import RBF
from tordinal.training_set import TrainingSet


def training_set(X, rank):
    return TrainingSet(X, rank, np.ones(len(rank)), 3)


def test_a_fitted_model_is_that_of_the_estimator():
    X, y = ordinal_problem(60, 3)
    rank = hide(y, 20)
    model = fit_model(Recipe(kernel="rbf", gamma=0.3), training_set(X, rank))
    peer = TOR(kernel="rbf", gamma=0.3).fit(X, rank)
    np.testing.assert_allclose(model.projection(X), peer.predict_projection(X))
    np.testing.assert_allclose(model.thresholds, peer.thresholds_)
    assert model.solution.objective == peer.objective_
    assert Recipe().n_levels(rank) == len({r["C2"] for r in peer.history_})


def test_without_unlabelled_rows_there_is_one_training():
    X, y = ordinal_problem(60, 3)
    model = fit_model(Recipe(), training_set(X, y))
    assert len(model.transduction.history) == 1
    assert Recipe().n_levels(y) == 1
    assert model.solution.objective == REDSVM().fit(X, y).objective_


@pytest.mark.parametrize("transductive", [False, True])
def test_rows_of_a_fold_are_rated_by_a_model_that_has_not_seen_their_labels(transductive):
    X, y = ordinal_problem(60, 3)
    rank = hide(y, 30)
    fold = np.where(rank >= 0, np.arange(60) % 3, -1)
    recipe, kernel = Recipe(kernel="rbf"), RBF(0.3)
    data = recipe.hold(kernel, X, 3)
    rows = np.flatnonzero(fold == 1)
    distances, labels = held_out(
        recipe, training_set(X, rank), data, rows, transductive=transductive, refine=True
    )
    visible = np.where(fold == 1, -1, rank)
    model = TOR(kernel="rbf", gamma=0.3) if transductive else REDSVM(kernel="rbf", gamma=0.3)
    some = np.ones(60, dtype=bool) if transductive else visible >= 0
    model.fit(X[some], visible[some])
    expected = model.predict_projection(X[rows])[:, None] - model.thresholds_
    np.testing.assert_allclose(distances, expected, atol=1e-5)
    if transductive:
        np.testing.assert_array_equal(labels, model.transduction_[rows])
    else:
        np.testing.assert_array_equal(labels, model.predict(X[rows]))
    lied = np.where(fold == 1, 2 - rank, rank)  # what it has not seen does not matter
    _, again = held_out(recipe, training_set(X, lied), data, rows, transductive=transductive)
    np.testing.assert_array_equal(again, labels)


def test_a_recipe_makes_a_problem():
    problem = Recipe(coupling=Implicit()).problem(4)
    assert problem.n_thresholds == 3
    assert problem.coupling == Implicit()
