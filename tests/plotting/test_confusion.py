import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.plotting import OrdinalConfusionDisplay


def test_counts_are_scikit_learns_and_errors_ours(fitted):
    model, X, _, truth = fitted
    display = OrdinalConfusionDisplay.from_estimator(model, X, truth)
    predicted = model.predict(X)
    np.testing.assert_array_equal(display.counts, confusion_matrix(truth, predicted))
    assert display.zero_one_error_ == pytest.approx(mean_zero_one_error(truth, predicted))
    assert display.absolute_error_ == pytest.approx(mean_absolute_error(truth, predicted))
    shown = [int(text.get_text()) for text in display.ax_.texts]
    assert shown == display.counts.ravel().tolist()


def test_words_keep_their_order_and_unlabelled_rows_are_excluded():
    display = OrdinalConfusionDisplay.from_predictions(
        ["poor", "good", None, "fair"],
        ["poor", "poor", "good", "fair"],
        classes=["poor", "fair", "good"],
    )
    assert display.counts.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert display.absolute_error_ == pytest.approx(2 / 3)


def test_without_classes_those_that_occur():
    display = OrdinalConfusionDisplay.from_predictions([1, 2, -1], [1, 5, 5])
    assert display.classes.tolist() == [1, 2, 5]
    assert display.counts.sum() == 2


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        OrdinalConfusionDisplay.from_predictions([1, 2], [1, 2, 3])
