import numpy as np
import pytest

from tordinal.losses import LOSSES
from tordinal.plotting import OrdinalLossDisplay


def test_fig_4_has_the_papers_values():
    display = OrdinalLossDisplay.from_loss("hinge", thresholds=[4, 8, 12, 16])
    assert len(display.lines_) == 5
    h, loss = display.lines_[0].get_data()
    # A row of class 1 at 6: two beyond t_1 = 4, far below the others.
    at = np.argmin(np.abs(h - 6.0))
    assert loss[at] == pytest.approx(3.0, abs=0.05)
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_every_loss_and_two_classes_alone(name):
    display = OrdinalLossDisplay.from_loss(name, thresholds=[0, 2], classes=[1, 2])
    assert [line.get_label() for line in display.lines_] == ["class 1", "class 2"]


def test_it_draws_on_given_axes_and_rejects_bad_input():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert OrdinalLossDisplay.from_loss("square", ax=ax).ax_ is ax
    with pytest.raises(ValueError, match="ascending"):
        OrdinalLossDisplay.from_loss(thresholds=[2, 1])
    with pytest.raises(ValueError, match="classes"):
        OrdinalLossDisplay.from_loss(classes=[9])
