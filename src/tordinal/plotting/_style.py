"""Colours, and axes to draw on."""

from typing import Any

import numpy as np

# Distinct for colour-blind eyes (Okabe and Ito); line styles distinguish them in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def class_colours(n_classes: int) -> list[Any]:
    """Colours of ordered classes, from dark to light.

    Parameters
    ----------
    n_classes : int
        Number of classes.

    Returns
    -------
    colours : list of RGBA tuples
        One per class, from the lowest to the highest.

    See Also
    --------
    ProjectionDisplay : Uses them.

    Examples
    --------
    >>> from tordinal.plotting import class_colours
    >>> len(class_colours(5))
    5
    """
    from matplotlib import colormaps

    # Beyond 0.88 viridis is too light on white.
    places = np.linspace(0.0, 0.88, n_classes)
    return [tuple(colour) for colour in colormaps["viridis"](places)]


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
