import colorsys

import pytest

from tordinal.report.palette import shades

PAPER = {"light": "#ffffff", "dark": "#14181d"}


def parts(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def luminance(colour):
    """Relative luminance, as in the guidelines for accessible content (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_run_from_calm_to_strong_and_can_be_seen(scheme):
    colours = shades()[scheme]
    from_paper = [contrast(c, PAPER[scheme]) for c in colours]
    assert from_paper[0] >= 3.0  # as the guidelines ask of graphics
    assert from_paper == sorted(from_paper)
    hues = [colorsys.rgb_to_hsv(*parts(c)) for c in colours]
    assert all(0.5 < hue < 0.72 for hue, _, _ in hues)  # blue all along: no red for low ratings
    assert hues[-1][1] > hues[0][1]
    assert len(set(colours)) == len(colours)
