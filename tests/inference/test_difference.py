import numpy as np
import pytest
from scipy import stats

from tordinal.inference.difference import (
    FEWEST,
    Quantity,
    draw_sample,
    fit_quantity,
    interval,
    possible_values,
)


def first(n, n_rows):
    return np.arange(n_rows) < n


def test_without_predictions_it_is_students_interval_with_the_finite_population_correction():
    z = np.random.default_rng(0).normal(size=40)
    sample = draw_sample(first(40, 100), None)
    quantity = Quantity(z, np.zeros(100))
    fit = fit_quantity(quantity, sample, 0.9, None, True)
    error = np.std(z, ddof=1) * np.sqrt((1 - 0.4) / 40)
    assert fit.lam == 0
    assert fit.value == pytest.approx(z.mean())
    assert np.sqrt(fit.variance) == pytest.approx(error)
    half = stats.t.ppf(0.95, 39) * error
    assert interval(fit, quantity, sample, 0.9, True) == pytest.approx(
        (z.mean() - half, z.mean() + half)
    )


def test_with_tuned_weight_it_is_the_regression_estimator_of_survey_sampling():
    rng = np.random.default_rng(1)
    f = rng.normal(size=500)
    z = 0.6 * f[:80] + 0.3 * rng.normal(size=80)
    fit = fit_quantity(Quantity(z, f), draw_sample(first(80, 500), None), 0.9, None, True)
    slope, _, _, _, _ = stats.linregress(f[:80], z)
    assert fit.lam == pytest.approx(slope)
    assert fit.value == pytest.approx(z.mean() + slope * (f.mean() - f[:80].mean()))
    residual = z - slope * f[:80]
    squares = np.sum((residual - residual.mean()) ** 2)
    assert fit.variance == pytest.approx((1 - 80 / 500) * squares / 78 / 80)


def test_equal_probabilities_are_a_random_sample():
    by_chance, given = (draw_sample(first(30, 90), p) for p in (None, np.full(90, 1 / 3)))
    np.testing.assert_allclose(given.weight, by_chance.weight)
    np.testing.assert_allclose(given.variance, by_chance.variance)
    assert given.size == pytest.approx(30)


def test_rows_that_were_certain_to_be_rated_say_nothing_of_the_others():
    probability = np.where(np.arange(100) < 10, 1.0, 0.1)
    sample = draw_sample(first(30, 100), probability)
    assert (sample.weight[:10] == 0).all()
    assert (sample.variance[:10] == 0).all()
    z = np.where(np.arange(30) < 10, 100.0, 1.0)
    fit = fit_quantity(Quantity(z, np.zeros(100)), sample, 0.9, None, True)
    assert fit.value == pytest.approx((10 * 100 + 90 * 1.0) / 100)


def test_estimates_with_unequal_probabilities_are_unbiased_and_covered():
    rng = np.random.default_rng(0)
    z_all = rng.integers(0, 5, 400).astype(float)
    f = z_all + rng.normal(size=400)
    probability = 0.1 + 0.1 * z_all  # the higher, the likelier
    errors, held = [], 0
    for _ in range(300):
        rated = rng.random(400) < probability
        sample = draw_sample(rated, probability)
        quantity = Quantity(z_all[rated], f)
        fit = fit_quantity(quantity, sample, 0.9, None, True)
        low, high = interval(fit, quantity, sample, 0.9, True)
        errors.append(fit.value - z_all.mean())
        held += low <= z_all.mean() <= high
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(300)
    assert 0.84 < held / 300 < 0.96


def test_rated_rows_bound_what_is_possible():
    quantity = Quantity(np.array([1.0, 1, 0, 1, 0, 0]), np.zeros(10), (0.0, 1.0), 1.0, True)
    sample = draw_sample(first(6, 10), None)
    assert possible_values(quantity, sample, True) == pytest.approx((0.3, 0.7))
    assert possible_values(quantity, sample, False) == (0.0, 1.0)


def test_too_few_ratings_have_no_interval_and_a_warning_says_so():
    with pytest.warns(UserWarning, match=r"y has 4 ratings.*at least 5"):
        sample = draw_sample(first(FEWEST - 1, 100), None)
    quantity = Quantity(np.ones(4), np.zeros(100))
    fit = fit_quantity(quantity, sample, 0.9, None, True)
    assert np.isnan(interval(fit, quantity, sample, 0.9, True)).all()


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        (np.full(9, 0.5), r"probabilities has shape \(9,\), but there are 10 rows"),
        (np.zeros(10), r"5 of 5 rated rows have values outside \(0, 1\], such as 0"),
        (np.full(10, np.nan), "5 of 5 rated rows"),
        (np.full(10, 1.5), "such as 1.5"),
        (np.ones(10), "1 for all 5 rated rows, but 5 rows are not rated"),
    ],
)
def test_probabilities_that_cannot_be_are_rejected(probabilities, message):
    with pytest.raises(ValueError, match=message):
        draw_sample(first(5, 10), probabilities)


def test_without_a_rating_there_is_nothing_to_estimate():
    with pytest.raises(ValueError, match="none of 10 rows is rated"):
        draw_sample(first(0, 10), None)


def test_intervals_of_the_population_hold_where_half_was_certain_to_be_rated():
    held, n = 0, 400
    certain = np.arange(n) < n // 2
    probability = np.where(certain, 1.0, 0.2)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        z = np.where(certain, rng.choice([1.0, 5.0], n), 3.0)
        rated = rng.random(n) < probability
        sample = draw_sample(rated, probability)
        quantity = Quantity(z[rated], np.zeros(n))
        fit = fit_quantity(quantity, sample, 0.9, None, False)
        low, high = interval(fit, quantity, sample, 0.9, False)
        held += low <= 3.0 <= high
    assert held / 200 > 0.84
