import numpy as np
import pandas as pd
import polars as pl
import pytest

from tordinal.labels import encode_labels


@pytest.mark.parametrize(
    "y",
    [
        [3, -1, 1, 2],
        [3, None, 1, 2],
        [3.0, np.nan, 1.0, 2.0],
        pd.Series([3, pd.NA, 1, 2], dtype="Int64"),
        pd.Series([3, None, 1, 2], dtype=object),
        pd.Series(["c", None, "a", "b"]),
        pd.Series(["c", pd.NA, "a", "b"], dtype="string"),
        pd.Series(pd.Categorical(["c", None, "a", "b"], categories=["a", "b", "c"], ordered=True)),
        pd.Categorical(["c", None, "a", "b"], categories=["a", "b", "c"], ordered=True),
        pl.Series([3, None, 1, 2]),
        pl.Series([3, -1, 1, 2]),
        pl.Series([3.0, None, 1.0, 2.0]),
        pl.Series(["c", None, "a", "b"]),
        pl.Series(["z", None, "y", "a"], dtype=pl.Enum(["y", "a", "z"])),
    ],
)
def test_every_mark_of_an_unlabelled_row(y):
    classes, encoded = encode_labels(y, transductive=True)
    assert encoded.tolist() == [2, -1, 0, 1]
    assert len(classes) == 3


def test_ordered_categories_keep_their_order_and_unused_ones_go():
    y = pd.Series(
        pd.Categorical(
            ["good", "poor", "fair"], categories=["poor", "awful", "fair", "good"], ordered=True
        )
    )
    classes, encoded = encode_labels(y, transductive=False)
    assert classes.tolist() == ["poor", "fair", "good"]
    assert encoded.tolist() == [2, 0, 1]


def test_minus_one_is_a_rank_where_classes_say_so_or_the_estimator_is_supervised():
    assert encode_labels([-1, 0, None], [-1, 0, 1], transductive=True)[1].tolist() == [0, 1, -1]
    classes, encoded = encode_labels([-1, 0, 1], transductive=False)
    assert classes.tolist() == [-1, 0, 1]
    assert encoded.tolist() == [0, 1, 2]


def test_minus_one_in_floats_is_a_rank():
    assert encode_labels([-1.0, np.nan, 1.0], transductive=True)[1].tolist() == [0, -1, 1]


def test_classes_of_mixed_types_keep_their_types():
    classes, encoded = encode_labels(
        np.array([1, "many"], dtype=object), [1, "many"], transductive=True
    )
    assert classes.tolist() == [1, "many"]
    assert encoded.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "kwargs", "message"),
    [
        ([1, None, 2], {"transductive": False}, "1 of 3 labels are missing.*use TOR"),
        ([-1, -1], {"transductive": True}, "no row is labelled"),
        ([1, 1, -1], {"transductive": True}, "only one class"),
        ([1, 2, 9], {"classes": [1, 2], "transductive": True}, "label 9 is not among"),
        ([1, 2], {"classes": [1, 2, 2], "transductive": True}, "twice"),
        ([1.0, np.inf], {"transductive": True}, "infinity"),
        (np.array([1, "a"], dtype=object), {"transductive": True}, "cannot be ordered.*classes"),
        ([[1, 2]], {"transductive": True}, "one label per row"),
    ],
)
def test_errors_name_what_is_wrong(y, kwargs, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, **kwargs)


@pytest.mark.parametrize(
    "y",
    [
        ["b", None, "a"],
        ["b", np.nan, "a"],
        ["b", -1, "a"],
        [2, None, 1],
        [True, None, False],
        pd.array([True, None, False]),
    ],
    ids=str,
)
def test_marks_in_plain_lists_and_beside_words(y):
    classes, encoded = encode_labels(y, transductive=True)
    assert encoded.tolist() == [1, -1, 0]
    assert len(classes) == 2


def test_numbers_that_are_not_ranks_are_rejected_with_the_remedy():
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*quantize"):
        encode_labels([0.5, 1.7, 2.2, None], transductive=True)
    assert encode_labels([0.5, None, 1.5], [0.5, 1.5], transductive=True)[1].tolist() == [0, -1, 1]
    for classes in ([[0, 1], [1, 2]], [0, None]):
        with pytest.raises(ValueError, match="classes"):
            encode_labels([0, 1], classes, transductive=True)


def test_labels_of_one_class_are_enough_to_count():
    with pytest.raises(ValueError, match="only one class is labelled"):
        encode_labels([2, 2, -1], [1, 2, 3], transductive=True)
    classes, encoded = encode_labels([2, 2, -1], [1, 2, 3], transductive=True, min_classes=1)
    assert classes.tolist() == [1, 2, 3]
    assert encoded.tolist() == [1, 1, -1]
