import numpy as np
import pytest

from tordinal import REDSVM
from tordinal.fitting import Recipe
from tordinal.losses import check_loss
from tordinal.tables.curve import Curve, learning_curve
from tordinal.tables.stopping import forecast_error, ratings_needed

FITS = np.array([[0.2, 2.0, 0.5], [0.1, 3.0, 0.5], [0.3, 1.0, 0.5]])
CURVE = Curve([20, 40], [0.65, 0.52], 100, now=0.4, doubled=0.2 + 2 / np.sqrt(200), fits=FITS)


def test_a_forecast_follows_the_curve_and_rated_rows_have_no_error():
    plain = forecast_error(CURVE, 300)
    assert plain.error == pytest.approx(0.3)
    assert (plain.low, plain.high) == pytest.approx((0.255, 0.345), abs=0.01)
    finished = forecast_error(CURVE, 300, n_rows=1000)
    assert (finished.now, finished.error) == pytest.approx((0.4 * 0.9, 0.3 * 0.6))
    assert forecast_error(CURVE, 300, error=0.8).error == pytest.approx(0.6)
    assert forecast_error(CURVE, 900, n_rows=1000).error == 0.0
    assert "from 0.40 to about 0.30 steps" in str(plain)
    flat = Curve([20, 40], [0.5, 0.5], 100, now=0.5, doubled=0.5, fits=FITS * [1, 0, 1])
    assert forecast_error(flat, 100).is_little
    assert "hardly change" in str(forecast_error(flat, 100))


def test_ratings_needed_are_where_the_curve_reaches_the_goal():
    needed = ratings_needed(CURVE, 0.3)
    assert needed.more == pytest.approx(300, rel=0.05)
    assert needed.low < needed.more < needed.high
    assert ratings_needed(CURVE, 0.45).more == 0
    assert "already" in str(ratings_needed(CURVE, 0.45))
    assert np.isinf(ratings_needed(CURVE, 0.15).more)
    assert "out of reach" in str(ratings_needed(CURVE, 0.05))
    # Where every row may be rated, every goal is in reach.
    everything = ratings_needed(CURVE, 0.0, n_rows=1000)
    assert everything.more == pytest.approx(900, abs=2)
    n = ratings_needed(CURVE, 0.25, n_rows=1000).more
    assert forecast_error(CURVE, int(n), n_rows=1000).error == pytest.approx(0.25, abs=0.01)


def test_forecasts_hold_on_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    rank = np.digitize(X[:, 0] + 0.7 * rng.normal(size=1200), [-0.8, 0.0, 0.8])
    recipe = Recipe(
        C=1.0, kernel="perceptron", loss=check_loss("hinge"), gamma=None, degree=3, coef0=0.0,
        tol=1e-2,
    )  # fmt: skip
    kernel = recipe.kernel_for(X)
    few, more, test = np.arange(60), np.arange(120), np.arange(120, 1200)
    curve = learning_curve(X[few], rank[few], 4, recipe, kernel, 0)
    model = REDSVM(C=1.0, kernel="perceptron", classes=range(4)).fit(X[more], rank[more])
    true = np.abs(model.predict(X[test]) - rank[test]).mean()
    forecast = forecast_error(curve, 60)
    assert forecast.low <= true <= forecast.high
    assert forecast.high - forecast.low < true  # and it says something
    again = learning_curve(X[few], rank[few], 4, recipe, kernel, 0)
    assert (again.fits == curve.fits).all()


def test_weights_count_in_the_curve():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    rank = np.digitize(X[:, 0], [-0.5, 0.5])
    noisy = np.arange(100) < 50
    rank[noisy] = rng.integers(0, 3, 50)
    recipe = Recipe(
        C=1.0, kernel="linear", loss=check_loss("hinge"), gamma=None, degree=3, coef0=0.0, tol=1e-2
    )
    of = [
        learning_curve(X, rank, 3, recipe, recipe.kernel_for(X), 0, w).now
        for w in (None, np.ones(100), noisy * 1.0, ~noisy * 1.0)
    ]
    assert of[0] == pytest.approx(of[1])
    assert of[3] < of[0] < of[2]
