import numpy as np

from tordinal.fitting import Recipe
from tordinal.losses import Logistic
from tordinal.search.candidates import Candidate, is_ratio, options


def test_the_parameters_of_a_candidate_are_those_of_its_estimator():
    plain = Candidate(1.0, "rbf", "hinge")
    assert plain.params == {"C": 1.0, "kernel": "rbf", "loss": "hinge"}
    variant = Candidate(1.0, "rbf", "hinge", True, "uniform", "all", 0.1)
    assert variant.params == plain.params | {
        "class_ratio": "uniform",
        "swaps": "all",
        "C2_max": 0.1,
    }
    assert variant.setting == plain
    assert variant.kind == plain.kind == Candidate(9.0, "rbf", "hinge").kind


def test_a_recipe_settles_loss_and_class_ratio():
    recipe = Candidate(2.0, "rbf", "logistic", True, [1, 3]).recipe(Recipe(tol=1e-5), 2)
    assert isinstance(recipe.loss, Logistic)
    assert (recipe.C, recipe.tol) == (2.0, 1e-5)
    np.testing.assert_allclose(recipe.class_ratio, [0.25, 0.75])


def test_options():
    assert options("rbf") == ["rbf"]
    assert options(["rbf", "linear", "rbf"]) == ["rbf", "linear"]
    assert is_ratio([0.2, 0.8])
    assert not is_ratio("uniform")
    assert not is_ratio(["uniform", "labeled"])
