import pytest

from tordinal import MTSVM
from tordinal.plotting import HistoryDisplay


def test_objective_and_swaps_of_every_training(fitted):
    model, *_ = fitted
    display = HistoryDisplay.from_estimator(model)
    assert display.line_.get_ydata().tolist() == [r["objective"] for r in model.history_]
    assert [bar.get_height() for bar in display.bars_] == [r["swaps"] for r in model.history_]


def test_shading_changes_with_C2():
    history = [{"C2": C2, "objective": 1.0, "swaps": 0} for C2 in (0, 0, 1, 1, 2)]
    display = HistoryDisplay.from_history(history)
    (shaded,) = display.ax_.patches
    assert shaded.get_x() == pytest.approx(2.5)
    assert shaded.get_width() == pytest.approx(2)


def test_what_has_no_history_is_rejected(fitted):
    _, X, y, _ = fitted
    with pytest.raises(ValueError, match="MTSVM has no history_"):
        HistoryDisplay.from_estimator(MTSVM(C2_start=0.5).fit(X[:60], y[:60]))
    with pytest.raises(ValueError, match="history is empty"):
        HistoryDisplay.from_history([])
