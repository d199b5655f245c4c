import numpy as np

from tordinal.tables.terms import Terms


def test_words_are_shown_as_they_are_written_most_often():
    terms = Terms(["great voices", "a great voice", "Great voices!", "two garages"], 1)
    assert {"voices", "great", "great voices", "garages"} <= set(terms.shown)
    assert not {"voic", "garag"} & set(terms.shown)
    assert len(set(terms.shown)) == len(terms.shown)
    place = terms.shown.index("voices")
    assert terms.presence(["one VOICE", None, ""])[:, [place]].toarray().ravel().tolist() == [
        1,
        0,
        0,
    ]


def test_negations_make_phrases_and_are_no_words():
    terms = Terms(["not good", "it is not good", "good"], 1)
    assert terms.shown == ["good", "not good"]
    np.testing.assert_array_equal(terms.presence(["not the good one"]).toarray(), [[1, 0]])


def test_contractions_are_words():
    texts = ["I've tried, it doesn't work. Don\u2019t buy what they'll sell", "it's a cook's knife"]
    terms = Terms(texts, 1)
    assert set(terms.shown) == {
        "doesn't work", "work", "tried", "don't buy", "buy", "sell", "cook", "cook knife", "knife",
    }  # fmt: skip
    assert terms.presence(["it doesn\u2019t work"]).sum() == 2
    assert terms.presence(["it won't work"]).sum() == 1


def test_rare_terms_are_excluded_and_a_word_counts_once_per_text():
    terms = Terms(["bad bad bad", "good", "good"], 2)
    assert terms.shown == ["good"]


def test_smileys_and_scripts_without_spaces():
    terms = Terms(["loved it \U0001f600", "\u597d\u5403", "\u597d\u5403"], 1)
    assert "\U0001f600" in terms.shown
    assert "\u597d\u5403" in terms.shown
    assert not any(" " in term and "\u597d" in term for term in terms.shown)
