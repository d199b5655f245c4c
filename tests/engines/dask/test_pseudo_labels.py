import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.dask.pseudo_labels import smallest_with
from tordinal.engines.dask.relabelling import keys

NUMBERS = st.lists(st.floats(allow_nan=False), min_size=1, max_size=40)


@given(NUMBERS, st.data())
def test_order_statistics_are_exact(numbers, data):
    x = np.sort(keys(np.array(numbers)))
    wanted = np.array(data.draw(st.lists(st.integers(0, len(x)), min_size=1, max_size=4)))
    found = smallest_with(wanted, lambda probes: np.searchsorted(x, probes, side="right"))
    for c, key in zip(wanted, found, strict=True):
        assert key == (x[c - 1] if c > 0 else -(2**63))
