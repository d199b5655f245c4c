import numpy as np
import pytest

from tordinal import MTSVM
from tordinal.plotting import ProjectionDisplay


def test_dots_lie_at_the_projections_of_their_class(fitted):
    model, X, y, _ = fitted
    display = ProjectionDisplay.from_estimator(model, X, y)
    h = model.predict_projection(X)
    for points, label in zip(display.points_, [*model.classes_, -1], strict=True):
        np.testing.assert_allclose(points.get_offsets()[:, 0], h[y == label])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [*map(str, model.classes_), "unlabelled"]


def test_words_in_the_given_order_and_given_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = ProjectionDisplay.from_predictions(
        ["good", "bad", None], [2.0, -1.0, 0.0], thresholds=[0.5], classes=["bad", "good"], ax=ax
    )
    assert display.ax_ is ax
    assert display.ranks.tolist() == [1, 0, -1]
    assert [line.get_xdata()[0] for line in ax.lines] == [0.5]


def test_it_draws_the_same_twice(fitted):
    model, X, y, _ = fitted
    first, second = (ProjectionDisplay.from_estimator(model, X, y) for _ in range(2))
    np.testing.assert_array_equal(first.points_[0].get_offsets(), second.points_[0].get_offsets())


def test_bad_input_is_rejected(fitted):
    _, X, y, _ = fitted
    with pytest.raises(ValueError, match="2 thresholds between"):
        ProjectionDisplay.from_predictions([1, 2, 3], [0, 1, 2], thresholds=[0.5])
    with pytest.raises(ValueError, match="2 labels, but h"):
        ProjectionDisplay.from_predictions([1, 2], [0, 1, 2], thresholds=[0.5])
    with pytest.raises(ValueError, match="MTSVM has no projection"):
        ProjectionDisplay.from_estimator(MTSVM(C2_start=0.5).fit(X[:60], y[:60]), X, y)
