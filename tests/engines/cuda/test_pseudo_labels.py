"""Beside `test_conformance`: the rows that a device finds are those that the host would swap."""

from types import SimpleNamespace

import numpy as np
import pytest
from emulated import EmulatedDevice
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.cuda.pseudo_labels import CudaLabels
from tordinal.engines.host.pseudo_labels import HostLabels

GIVEN = np.array([0, 2, *[-1] * 8])
WEIGHT = np.array([1.0, 1.0, 0.5, *[1.0] * 6, 2.0])
T = np.array([0.0, 1.0])


def fit_on_device(h):
    h = np.array(h)
    return SimpleNamespace(h=h, thresholds=T, model=SimpleNamespace(h=h))


@pytest.mark.parametrize("swaps", ["single", "all", "optimal", 2])
@given(st.lists(st.lists(st.integers(-3, 3), min_size=10, max_size=10), min_size=2, max_size=4))
def test_swaps_and_gains_are_those_of_the_host(swaps, projections):
    first = fit_on_device(np.arange(10.0))
    both = [HostLabels(GIVEN, WEIGHT), CudaLabels(GIVEN, WEIGHT, EmulatedDevice())]
    for labels in both:
        labels.assign(first, lambda fit: np.array([3, 3, 2]))
    for number, h in enumerate(projections):  # with ties, which are broken in the same way
        fit = fit_on_device([value / 2 for value in h])
        counts = [labels.swap(fit, lambda d: np.maximum(d, 0.0), swaps) for labels in both]
        gains = [labels.gain(fit, lambda d: np.maximum(d, 0.0)) for labels in both]
        assert counts[0] == counts[1]
        assert gains[0] == pytest.approx(gains[1])
        np.testing.assert_array_equal(both[0].y, both[1].y)
        if number % 2:
            for labels in both:
                labels.undo()
        np.testing.assert_array_equal(both[0].y, both[1].y)
