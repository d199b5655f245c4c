"""Colours of the ratings: one scale from calm to strong, for light and dark pages."""

from tordinal.report.drawing import STEPS

__all__ = ["shades"]

Colour = tuple[int, int, int]

# From a grey to a saturated blue, ever further from the page: 3.3 to 9.5 times its luminance
# contrast in light, 3.1 to 10 in dark.
STOPS: dict[str, tuple[Colour, ...]] = {
    "light": ((136, 149, 163), (58, 132, 176), (27, 52, 150)),
    "dark": ((96, 108, 122), (64, 140, 190), (150, 200, 255)),
}


def shades() -> dict[str, list[str]]:
    """The colours of the page's variables ``--rank-0`` (low) to ``--rank-20`` (high).

    Examples
    --------
    >>> shades()["light"][0], shades()["light"][-1], len(shades()["dark"])
    ('#8895a3', '#1b3496', 21)
    """
    return {
        scheme: [_mixed(stops, k / STEPS) for k in range(STEPS + 1)]
        for scheme, stops in STOPS.items()
    }


def _mixed(stops: tuple[Colour, ...], share: float) -> str:
    place = share * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    parts = zip(stops[low], stops[low + 1], strict=True)
    return "#{:02x}{:02x}{:02x}".format(*(round(a + (b - a) * (place - low)) for a, b in parts))
