import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.dask import relabelling
from tordinal.engines.dask.pieces import Piece, PreparedBlock
from tordinal.engines.dask.relabelling import keys
from tordinal.swapping import initial_labels, swap_labels

NUMBERS = st.lists(st.floats(allow_nan=False), min_size=1, max_size=40)


@given(NUMBERS)
def test_keys_have_the_order_of_numbers(numbers):
    x = np.array(numbers)
    order = np.argsort(x, kind="stable")
    ordered = keys(x)[order]
    assert (np.diff(ordered.astype(object)) >= 0).all()
    assert ((np.diff(ordered.astype(object)) == 0) == (x[order][1:] == x[order][:-1])).all()


def piece_of(h, y):
    """A block of unlabelled rows with some projections and pseudo-labels."""
    n = len(h)
    piece = Piece(PreparedBlock(0, np.zeros((n, 1)), np.full(n, -1), np.ones(n), None))
    piece.h, piece.y = np.asarray(h, dtype=float), np.asarray(y)
    return piece


ROWS = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=20
)  # many rows of equal h


@given(ROWS, st.data())
def test_ranks_are_handed_out_as_by_a_sort(rows, data):
    h, y = np.array(rows, dtype=float).T
    first = data.draw(st.integers(0, len(h)))
    counts = np.array([first, len(h) - first])
    piece = piece_of(h, y.astype(int))
    relabelling.sort_free(piece)
    ends = np.array([first])
    cut = piece.sorted[[first - 1]] if first else np.array([-(2**63)])
    below = relabelling.count_free(piece, cut - (first > 0))
    share = {0: np.array([[first - int(below[0]) if first else 0]])}
    assert relabelling.count_ties(piece, cut, 1)[0].shape == (1, 1)
    relabelling.assign_ranks(piece, cut, ends == 0, share)
    np.testing.assert_array_equal(piece.y, initial_labels(h, counts))


@given(ROWS)
def test_the_best_pair_of_a_block_is_that_of_one_machine(rows):
    h, y = np.array(rows, dtype=float).T
    piece, t = piece_of(h, y.astype(int)), np.array([-0.5, 0.5])

    def gain(d):
        return 2.0 * d

    for k in range(2):
        sizes = relabelling.find_pools(piece, k, float(t[k]), gain)
        best = relabelling.best_of_pools(piece, 1)
        if sizes.min() > 0:
            for high, label in ((True, k + 1), (False, k)):
                relabelling.relabel(piece, {0: best[0, high][0]}, label)
    expected, _ = swap_labels(h, t, y.astype(int), np.ones(len(h)), gain, "single")
    np.testing.assert_array_equal(piece.y, expected)
