import itertools
import math

import pytest

from tordinal.tables.scales import SCALES, known_order, levels_of, plain


@pytest.mark.parametrize(
    "order",
    [
        ["low", "medium", "high"],
        ["Small", "Medium", "Large"],
        ["S", "M", "L", "XL"],
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["F", "D", "C-", "C", "C+", "B", "A-", "A", "A+"],
        ["B\u2212", "B", "A\u2013", "A"],  # minus and dash of typesetting
        ["poor", "fair", "good", "very good", "excellent"],
        ["never", "rarely", "sometimes", "often", "always"],
        ["not_recom", "recommend", "very_recom", "priority", "spec_prior"],
        ["unacc", "acc", "good", "vgood"],
        ["★", "★★", "★★★☆", "★★★★★"],
        ["one star", "two stars", "five stars"],
        ["no", "yes"],
        ["Very dissatisfied", "Dissatisfied", "Satisfied", "Very satisfied"],
    ],
    ids=str,
)
def test_scales_that_people_know(order):
    step = max(7, math.factorial(len(order)) // 500 | 1)
    for labels in itertools.islice(itertools.permutations(order), 0, None, step):
        assert known_order(list(labels)) == order


@pytest.mark.parametrize(
    "labels", [["red", "green", "blue"], ["good", "purple"], ["ok", "okay"], ["a1", "b2"]], ids=str
)
def test_what_is_on_no_scale_has_no_order(labels):
    assert known_order(labels) is None


def test_words_are_compared_plainly():
    assert plain("  Very-GOOD ") == "very good"
    assert plain("-") == "-"
    assert known_order(["HIGH", "low "]) == ["low ", "HIGH"]


def test_no_word_stands_twice_on_a_scale():
    for scale in SCALES:
        words = [word for level in scale for word in level.split("|")]
        assert len(set(words)) == len(words)
        assert all(plain(word) == word for word in words)


def test_letter_grades_with_and_without_a_minus_are_different_levels():
    labels = ["B-", "B", "B+", "A-", "A", "A+"]
    levels = [levels_of(labels)[plain(label)] for label in labels]
    assert levels == sorted(levels)
    assert len(set(levels)) == 6
    assert plain("--") != plain("-")
