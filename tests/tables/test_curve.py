import numpy as np
from problems import ordinal_problem

from tordinal.fitting import Recipe
from tordinal.tables.curve import Curve, _extrapolate, learning_curve


def curve_of(X, y, seed=0):
    recipe = Recipe()
    return learning_curve(X, y, int(y.max()) + 1, recipe, recipe.kernel_for(X), seed)


def test_errors_fall_where_there_is_something_to_learn():
    X, y = ordinal_problem(120, 3)
    curve = curve_of(X, y)
    assert curve.ratings == sorted(curve.ratings)
    assert curve.ratings[-1] == 96  # four of five folds
    assert curve.off[-1] < curve.off[0]
    assert curve.doubled < curve.now
    assert "would bring the error down" in str(curve)
    assert curve_of(X, y) == curve


def test_noise_stays_noise():
    rng = np.random.default_rng(0)
    curve = curve_of(rng.normal(size=(200, 2)), rng.integers(0, 3, 200))
    assert curve.doubled > 0.9 * curve.now


def test_too_few_ratings_have_no_curve():
    X, y = ordinal_problem(15, 3)
    assert curve_of(X, y) is None
    X, _ = ordinal_problem(25, 3)
    assert curve_of(X, np.arange(25)) is None  # no row can be held out


def test_a_curve_that_falls_like_the_root_is_found_again():
    sizes = [10, 20, 40, 80]
    now, doubled = _extrapolate(sizes, [0.2 + 1.5 / n**0.5 for n in sizes], [100, 200])
    np.testing.assert_allclose([now, doubled], [0.35, 0.2 + 1.5 / 200**0.5])


def test_a_flat_curve_says_that_more_would_hardly_help():
    assert "hardly help" in str(Curve([5, 10], [0.5, 0.5], 12, 0.5, 0.495))
