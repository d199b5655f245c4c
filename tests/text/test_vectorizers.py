import pickle

import numpy as np
import pytest
from sklearn.base import clone

from tordinal.datasets import make_reviews
from tordinal.text import ReviewVectorizer, TextVectorizer, TextViews
from tordinal.text.vectorizers import spaced_words


def test_rows_have_unit_length_and_their_inner_product_is_the_cosine():
    texts, _ = make_reviews(50, random_state=0)
    X = ReviewVectorizer().fit_transform(texts)
    assert X.format == "csr"
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)).ravel(), 1.0)


def test_stop_words_go_and_inflections_meet():
    vectorizer = ReviewVectorizer().fit(["The runner was running and runs"])
    assert set(vectorizer.vocabulary_) == {"runner", "run"}


def test_a_word_unseen_in_training_counts_by_its_stem():
    vectorizer = ReviewVectorizer().fit(["amazed by the plot", "a dull plot"])
    assert vectorizer.transform(["amazing"]).nnz == 1


def test_without_a_language_words_stay_as_they_are():
    assert "stories" in ReviewVectorizer(language=None).fit(["two stories"]).vocabulary_


def test_n_grams_are_of_stems():
    assert (
        "love stori" in ReviewVectorizer(ngram_range=(1, 2)).fit(["loved the stories"]).vocabulary_
    )


def test_parameters_survive_a_clone():
    vectorizer = ReviewVectorizer(min_df=2, language="german", dtype=np.float32)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert clone(vectorizer).fit_transform(["Häuser Haus", "Haus"]).dtype == np.float32


def test_an_unknown_language_is_named():
    with pytest.raises(ValueError, match=r"language='klingon'.*english"):
        ReviewVectorizer(language="klingon").fit(["a text"])


def test_what_is_no_text_is_rejected_by_name():
    for missing in (None, np.nan, 3):
        with pytest.raises(ValueError, match="every text must be a string"):
            ReviewVectorizer().fit(["good", missing])


def test_stop_words_of_the_user_are_found_whatever_their_case():
    assert list(
        ReviewVectorizer(stop_words=["Good"]).fit(["Good film", "good book"]).vocabulary_
    ) == ["film", "book"]


def test_smileys_and_characters_are_words_where_there_are_no_spaces():
    cut = TextVectorizer().build_analyzer()
    assert cut("Loved it 😀😀 :-) 5/5") == ["love", "😀", "😀", ":-)"]
    assert cut("很好吃") == ["很", "好", "吃", "很好", "好吃", "很好吃"]
    assert cut("I love 東京タワー") == ["love", *TextVectorizer().build_analyzer()("東京タワー")]
    assert cut("Words only, as ever") == ReviewVectorizer().build_analyzer()("Words only, as ever")


def test_words_are_counted_where_there_are_no_spaces():
    assert spaced_words("three short words") == 3
    assert spaced_words("非常好吃的") > 2


def test_a_vectorizer_is_saved_as_a_text_and_comes_back_whole():
    texts, _ = make_reviews(60, random_state=0)
    views = TextViews(n_axes=3).fit(texts)
    again = pickle.loads(pickle.dumps(views))
    assert again.words_.vocabulary_ == views.words_.vocabulary_
    assert isinstance(views.words_.__getstate__()["vocabulary_"], str)
    np.testing.assert_array_equal(
        again.transform(texts).toarray(), views.transform(texts).toarray()
    )
    assert not any("\n" in term for term in views.letters_.vectorizer_.vocabulary_)
    assert not hasattr(pickle.loads(pickle.dumps(TextVectorizer())), "vocabulary_")
