import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from tordinal.plotting import ReliabilityDisplay


def test_two_classes_are_scikit_learns_curve():
    rng = np.random.default_rng(0)
    p = rng.permutation(np.linspace(0.01, 0.99, 400))
    y = (rng.random(400) < p).astype(int)
    display = ReliabilityDisplay.from_predictions(y, np.column_stack([1 - p, p]), n_bins=8)
    observed, predicted = calibration_curve(y, p, n_bins=8, strategy="quantile")
    np.testing.assert_allclose(display.observed, observed)
    np.testing.assert_allclose(display.predicted, predicted)
    np.testing.assert_allclose(display.line_.get_ydata(), observed)


def test_intervals_hold_the_truth_where_probabilities_are_right():
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], size=3000)
    y = (rng.random(3000)[:, None] > p.cumsum(axis=1)).sum(axis=1) + 1
    display = ReliabilityDisplay.from_predictions(y, p, n_bins=10)
    held = (display.low <= display.predicted) & (display.predicted <= display.high)
    assert held.sum() >= 8
    assert (display.high - display.low).max() < 0.1


def test_probabilities_that_are_too_bold_are_off_the_diagonal():
    rng = np.random.default_rng(2)
    y = rng.integers(1, 3, 500)
    p = np.where(rng.random(500) < 0.5, 0.95, 0.05)  # sure, and right half of the time
    display = ReliabilityDisplay.from_predictions(y, np.column_stack([1 - p, p]), n_bins=2)
    assert display.high[1] < 0.95
    assert display.low[0] > 0.05


def test_of_an_estimator_two_over_each_other(fitted):
    model, X, y, truth = fitted
    hidden = y == -1
    first = ReliabilityDisplay.from_estimator(model, X[hidden], truth[hidden], n_bins=5)
    second = ReliabilityDisplay.from_estimator(
        model, X[hidden], truth[hidden], n_bins=3, name="three bins", ax=first.ax_
    )
    assert second.ax_ is first.ax_
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert names == ["TOR", "three bins"]
    assert first.line_.get_color() != second.line_.get_color()


def test_bad_input_is_rejected():
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        ReliabilityDisplay.from_predictions([1, 2], [[1, 0], [0, 1]], n_bins=0)
    with pytest.raises(ValueError, match="2 rows and 2 classes"):
        ReliabilityDisplay.from_predictions([1, 2], [[1, 0, 0], [0, 1, 0]])
