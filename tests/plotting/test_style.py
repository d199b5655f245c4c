import numpy as np
import pytest

from tordinal.plotting._style import axes, class_colours


@pytest.mark.parametrize("n_classes", [2, 5, 9])
def test_colours_of_classes_differ_and_go_from_dark_to_light(n_classes):
    colours = np.array(class_colours(n_classes))[:, :3]
    luminance = colours @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) > 0.02).all()


def test_given_axes_are_used():
    ax = axes(None, (3, 2))
    assert axes(ax, (9, 9)) is ax
    assert ax.figure.get_size_inches().tolist() == [3, 2]
