import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.tables.rating_order import rating_value
from tordinal.tables.target import original_labels, read_target
from tordinal.tables.values import TableError


def test_numbers_are_ordered_by_value_and_keep_their_spelling():
    target = read_target("t", ["10", "9", "", " 2 ", "NaN", "9.0", "9"], None)
    assert target.classes == ["2", "9", "10"]
    assert target.rank.tolist() == [2, 1, -1, 0, -1, 1, 1]
    assert "'NaN': taken as not rated" in target.notes[0]


def test_values_keep_their_type():
    assert read_target("t", [3, 1, None], None).classes == [1, 3]
    assert read_target("t", [0.5, 1.5, float("nan")], None).classes == [0.5, 1.5]
    assert read_target("t", [True, False, None], None).classes == [False, True]


def test_an_explicit_order_counts_and_may_name_missing_words():
    target = read_target("t", ["none", "some", "", "many"], ["none", "some", "many"])
    assert target.rank.tolist() == [0, 1, -1, 2]
    assert read_target("t", [3, 1, None], ["3", "1"]).classes == [3, 1]


def test_nulls_are_not_ratings_even_where_a_rating_is_called_none():
    target = read_target("t", [None, "None", float("nan"), "Mild"], ["None", "Mild"])
    assert target.rank.tolist() == [-1, 0, -1, 1]
    assert read_target("t", ["5", "4 ", None], ["4 ", "5 "]).classes == ["4", "5"]


def test_ratings_of_the_order_that_no_row_has_are_reported():
    target = read_target("t", ["low", "high", ""], ["low", "middle", "high"])
    assert target.classes == ["low", "high"]
    assert "middle" in target.notes[0]


def test_text_that_begins_with_numbers_is_ordered_by_them():
    assert read_target("t", ["10 stars", "2 stars", "", "1 star"], None).classes == [
        "1 star",
        "2 stars",
        "10 stars",
    ]


@pytest.mark.parametrize(
    ("cells", "order", "message"),
    [
        (["", None], None, "every cell is empty"),
        (["1", "2"], None, "every row is rated already"),
        ([-1, 2], None, "empty those cells"),
        (["1", "1", ""], None, "all 2 ratings are '1'"),
        (["red", "blue", "tea", "red", ""], None, r"'red' \(2\), 'blue' \(1\).*lowest.*`order`"),
        (["a", "b", ""], ["a", "c"], "'b', which `order` does not name"),
        (["a", "b", "d", "e", ""], ["a", "c"], "'b', 'd', 'e', which `order` does not name"),
        (["a", "b", ""], ["a", "a"], "each rating once"),
        ([[1], [2], None], None, "values of type list"),
        (["a", "b", ""], ["a", "b", ""], "one of the names is empty"),
        (["a", "b", ""], ["a<b"], "`order` a<b: name at least two ratings.* separated by commas"),
        (["1,5", "2,5", ""], ["1", "5", "2", "5"], "'5' occurs twice.*comma: \"1,5\""),
        (["1,5", "2,5", ""], ["1.5", "2.5"], "does not name; .*quotes around a rating"),
        ([1.0, 2.0, float("inf"), None], None, "holds inf, which is not a rating"),
        (["a" * 999, "b", "c", ""], None, "'aaaaa*\\.\\.\\.' \\(1\\), 'b'"),
        (
            [str(i) for i in range(5000)] + [""],
            None,
            "5,000 distinct values, but .* at most 30. To rate a number, turn it into ranks",
        ),
        ([f"review {i} x" for i in range(99)] + [""], None, "99 .* Name the column of the ratings"),
    ],
)
def test_what_cannot_be_a_target_is_rejected(cells, order, message):
    with pytest.raises(TableError, match=message):
        read_target("t", cells, order)


@pytest.mark.parametrize(
    ("cells", "classes", "note"),
    [
        (["poor", "good", "fair", ""], ["poor", "fair", "good"], "in the order poor < fair < good"),
        (["B+", "A", "C", "B", None], ["C", "B", "B+", "A"], "C < B < B+ < A"),
        (["4/5", "1/5", "3/5", ""], ["1/5", "3/5", "4/5"], "ordered by their numbers: 1/5"),
        (["Good", "good ", "GOOD", "Good", "bad", ""], ["bad", "Good"], "'good' and 'GOOD' are"),
        (["1", "5", "?", "-", "3", "n/a"], ["1", "3", "5"], "says '?': taken as not rated"),
        (
            ["1", "2", "3", "4", "5", "44", ""],
            None,
            "rated 44, far from the others (1 to 5): a typ",
        ),
        (["1", "1", "2", "2", "3", ""], None, "only one row is rated 3"),
    ],
    ids=str,
)
def test_readings_are_sensible_and_reported(cells, classes, note):
    target = read_target("t", cells, None)
    assert classes is None or target.classes == classes
    assert any(note in n for n in target.notes)


def test_spellings_follow_the_order_and_marks_can_be_named():
    target = read_target("t", ["LOW", "High", "nix", "low", ""], ["low", "high"], missing=["nix"])
    assert target.classes == ["low", "high"]
    assert target.rank.tolist() == [0, 1, -1, 0, -1]
    apart = read_target("t", ["a", "A", ""], ["a", "A"])
    assert apart.rank.tolist() == [0, 1, -1]


def test_signs_digits_and_letters_are_never_merged():
    cells = ["-2", "-1", "0", "1", "2", "2", ""]
    target = read_target("t", cells, None)
    assert target.classes == ["-2", "-1", "0", "1", "2"]
    assert target.rank.tolist() == [0, 1, 2, 3, 4, 4, -1]
    grades = ["A", "A-", "B+", "B", "B-", "C", "C-", "F", "A", ""]
    target = read_target("t", grades, None)
    assert target.classes == ["F", "C-", "C", "B-", "B", "B+", "A-", "A"]
    assert target.labels(target.rank)[:-1] == grades[:-1]
    assert not any("is taken as" in note for note in target.notes)


def test_spellings_that_count_as_one_class_are_reported_and_leave_as_they_were_given():
    cells = ["Good", "good", "good", "bad", " bad", ""]
    target = read_target("t", cells, None)
    assert target.classes == ["bad", "good"]
    assert target.labels(np.maximum(target.rank, 0)) == [*cells[:-1], "bad"]
    assert "'Good' is taken as 'good'; to keep them apart" in target.notes[0]
    with pytest.raises(TableError, match="order cannot be known: 'very-good'"):
        read_target("t", ["very-good", "very good", "bad", ""], None)


@given(
    st.lists(
        st.text(st.sampled_from("AaBb12+-\u2212. _"), min_size=1, max_size=4),
        min_size=2,
        max_size=12,
    ),
    st.booleans(),
)
def test_a_given_rating_never_changes(cells, named):
    order = sorted({c.strip() for c in cells} - {""}) if named else None
    try:
        target = read_target("t", [*cells, "", None], order)
    except TableError:  # the order is asked for, or there is one rating only
        return
    labels = target.labels(np.maximum(target.rank, 0))
    rated = np.flatnonzero(target.rank >= 0)
    assert [labels[i] for i in rated] == [cells[i] for i in rated]
    for i in rated:
        for j in rated:
            one, other = cells[i].strip(), cells[j].strip()
            if target.rank[i] == target.rank[j] and one.lower() != other.lower():
                assert rating_value(one) == rating_value(other) is not None


def test_none_is_a_rating_where_the_scale_says_so():
    cells = ["none"] * 6 + ["mild", "moderate", "severe", "", ""]
    target = read_target("t", cells, None)
    assert target.classes == ["none", "mild", "moderate", "severe"]
    assert any("'none' (6 cells of t) is taken as a rating" in note for note in target.notes)
    assert read_target("t", cells, None, missing=["none"]).classes == ["mild", "moderate", "severe"]


def test_words_that_may_be_ratings_are_asked_about():
    eucalyptus = ["none"] * 6 + ["low", "average", "good", "best", ""]
    with pytest.raises(TableError, match=r"'low' \(1\).* and 'none' \(6\), which may mean"):
        read_target("t", eucalyptus, None)
    order = ["none", "low", "average", "good", "best"]
    assert read_target("t", eucalyptus, order).classes == order
    with pytest.raises(TableError, match="are the 6 cells of t that say 'none' ratings"):
        read_target("t", ["none"] * 6 + ["poor", "fair", "good", ""], None)
    # Without another unrated row it is the word that marks the rows to rate; that is said.
    target = read_target("t", ["none"] * 6 + ["poor", "fair", "good"], None)
    assert (target.rank[:6] == -1).all()
    assert "if it is a rating, name it in `order`" in target.notes[0]


@pytest.mark.parametrize(
    ("ratings", "mark"), [(("x", "y", "z"), "x"), (("5 stars", "4 stars", "unknown"), "unknown")]
)
def test_a_frequent_word_that_looks_like_a_class_is_never_dropped_in_silence(ratings, mark):
    cells = [*ratings] * 5 + [""]
    with pytest.raises(TableError, match=f"5 cells of t that say '{mark}' ratings"):
        read_target("t", cells, None)
    assert len(read_target("t", cells, None, missing=[mark]).classes) == 2


@pytest.mark.parametrize("mark", ["NA", "n/a", "null", "?", "#N/A"])
def test_any_frequent_word_may_be_named_as_a_rating(mark):
    cells = [mark, "low", "high"] * 5 + [""]
    assert "if it is a rating, name it in `order`" in read_target("t", cells, None).notes[0]
    assert len(read_target("t", cells, [mark, "low", "high"]).classes) == 3
    # A rare word, one among numbers, one that was named, or the only mark there is, hardly is one.
    for rated, missing in (
        ([mark, *["low", "high"] * 5, ""], []), ([mark, "1", "2"] * 5 + [""], []),
        (cells, [mark]), (cells[:-1], []),
    ):  # fmt: skip
        assert "if it is a rating" not in read_target("t", rated, None, missing).notes[0]


def test_the_question_of_the_order_names_frequent_words_for_missing():
    bonds = ["NA", "B", "BB", "BBB"] * 5 + [""]
    with pytest.raises(TableError, match=r"and 'NA' \(5\), which may mean 'not rated'"):
        read_target("t", bonds, None)
    with pytest.raises(TableError, match=r"'BBB' \(5\)\. Which is the lowest"):
        read_target("t", bonds, None, missing=["NA"])


def test_signs_are_ratings_and_not_marks_of_missing_ones():
    cells = ["--", "-", "-", "0", "+", "++", "", ""]
    target = read_target("t", cells, None)
    assert target.classes == ["--", "-", "0", "+", "++"]
    assert target.rank.tolist() == [0, 1, 1, 2, 3, 4, -1, -1]
    assert "'-' (2 cells of t) is taken as a rating" in " ".join(target.notes)
    assert read_target("t", ["0", "1", "-", "-", ""], None).classes == ["0", "1"]
    # Without an empty cell, it is the dash that marks the rows to rate; that is said.
    target = read_target("t", ["-", "-", "0", "+", "++"], None)
    assert target.classes == ["0", "+", "++"]
    assert "if it is a rating, name it in `order`" in target.notes[0]


def test_none_in_several_spellings_is_one_rating():
    cells = ["None", "none", "NONE", "none", "none", "mild", "severe", ""]
    target = read_target("t", cells, None)
    assert [str(c).lower() for c in target.classes] == ["none", "mild", "severe"]
    assert target.labels(np.maximum(target.rank, 0))[:-1] == cells[:-1]
    assert read_target("t", cells, None, missing=["none"]).classes == ["mild", "severe"]


def test_given_ratings_keep_their_type_unless_many_files_need_one():
    cells = [4, 4.0, "4", 5, None]
    given, rank = np.array([True] * 4 + [False]), np.array([0, 0, 0, 1, 1])
    assert [repr(c) for c in original_labels(cells, given, [4, 5], rank)] == [
        "4", "4.0", "'4'", "5", "5",
    ]  # fmt: skip
    labels = original_labels(cells, given, [4, 5], rank, one_type=True)
    assert [repr(c) for c in labels] == ["4", "4", "4", "5", "5"]


@pytest.mark.parametrize(
    ("counts", "rare", "classes"),
    [
        ({"+": 35, "-": 30, "0": 25, "++": 6, "--": 4, "": 50}, "--", ["--", "-", "0", "+", "++"]),
        (
            {"mild": 20, "moderate": 20, "severe": 20, "none": 1, "": 50}, "none",
            ["none", "mild", "moderate", "severe"],
        ),
    ],
)  # fmt: skip
def test_a_rare_word_that_completes_a_known_scale_is_a_rating(counts, rare, classes):
    cells = [word for word, n in counts.items() for _ in range(n)]
    target = read_target("g", cells, None)
    assert target.classes == classes
    given = np.array(cells) == rare
    assert (target.rank[given] == 0).all()
    assert any(rare in note and "taken as a rating" in note for note in target.notes)
