import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tordinal import text
from tordinal.datasets import make_reviews
from tordinal.text import LatentAxes, ReviewVectorizer, TextVectorizer, TextViews, spaced_words


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


def test_what_is_no_text_is_refused_by_name():
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


def test_latent_axes_are_a_truncated_svd_of_unit_length():
    texts, _ = make_reviews(80, random_state=0)
    axes = LatentAxes(TextVectorizer(), n_axes=5)
    X = axes.fit_transform(texts)
    assert X.shape == (80, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    U, s, _ = np.linalg.svd(TextVectorizer().fit_transform(texts).toarray(), full_matrices=False)
    best = U[:, :5] * s[:5]
    best /= np.linalg.norm(best, axis=1, keepdims=True)
    np.testing.assert_allclose(X @ X.T, best @ best.T, atol=1e-6)
    np.testing.assert_allclose(axes.transform(texts), X, atol=1e-12)


def test_axes_are_learned_from_some_texts_and_place_all():
    texts, _ = make_reviews(200, random_state=0)
    axes = LatentAxes(TextVectorizer(), n_axes=4, learn_from=50).fit(texts)
    assert axes.n_axes_ == 4
    X = LatentAxes(TextVectorizer(), n_axes=4, learn_from=50).fit_transform(texts)
    np.testing.assert_array_equal(X, axes.transform(texts))
    assert len(axes.vectorizer_.vocabulary_) < len(TextVectorizer().fit(texts).vocabulary_)


def test_texts_without_frequent_terms_have_no_axes():
    axes = LatentAxes(TextVectorizer(min_df=3))
    assert axes.fit_transform(["one", "two", "three"] * 2).shape == (6, 0)
    assert axes.transform(["four"]).shape == (1, 0)
    views = TextViews().fit(["good", "bad"])
    assert list(views.views_) == ["words"]


def test_views_are_columns_of_one_matrix():
    texts, _ = make_reviews(120, random_state=1)
    views = TextViews(n_axes=6)
    X = views.fit_transform(texts)
    assert sp.issparse(X)
    assert X.shape[1] == len(views.get_feature_names_out())
    words = views.views_["words"]
    expected = TextVectorizer().fit_transform(texts)
    np.testing.assert_array_equal(X[:, words].toarray(), expected.toarray())
    assert len(views.views_["phrases and letters"]) == 12
    assert len(views.views_["words, phrases and letters"]) == X.shape[1]
    length = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    np.testing.assert_allclose(length, 3.0, atol=1e-9)
    np.testing.assert_allclose(views.transform(texts).toarray(), X.toarray(), atol=1e-12)
    assert views.transform(["zzz"]).nnz == 0


def test_phrases_know_negation():
    texts = ["not good", "good", "not bad", "bad"] * 10
    X = TextViews(n_axes=4).fit_transform(texts).toarray()
    words = X[:, TextViews(n_axes=4).fit(texts).views_["words"]]
    np.testing.assert_array_equal(words[0], words[1])
    assert not np.allclose(X[0], X[1])


class Lengths:
    """Knows of texts how long they are, and how many words they have."""

    def encode(self, texts):
        return np.array([[len(t), len(t.split())] for t in texts], dtype=np.float32)


def test_meaning_is_a_view_of_its_own():
    texts, _ = make_reviews(60, random_state=0)
    views = TextViews(n_axes=3, meaning=Lengths())
    X = views.fit_transform(texts)
    meant = X[:, views.views_["meaning"]].toarray()
    assert meant.shape == (60, 2)
    np.testing.assert_allclose(np.linalg.norm(meant, axis=1), 1.0)
    assert len(views.views_["words, phrases, letters and meaning"]) == X.shape[1]
    assert views.get_feature_names_out()[-1] == "(meaning 2)"
    np.testing.assert_allclose(views.transform(texts).toarray(), X.toarray(), atol=1e-12)
    vectorizer = TextVectorizer().fit(texts)
    other = TextViews(n_axes=3, meaning=vectorizer).fit(texts)
    assert len(other.views_["meaning"]) == len(vectorizer.vocabulary_)
    with pytest.raises(ValueError, match="neither encode"):
        TextViews(meaning=3).fit(texts)
    with pytest.raises(ValueError, match="one finite row"):
        TextViews(meaning=Short()).fit(texts)


class Short:
    def encode(self, texts):
        return np.ones((1, 2))


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


def test_axes_of_texts_that_have_fewer_than_asked_for():
    texts = ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"] * 20
    axes = LatentAxes(TextVectorizer(stop_words=None), n_axes=5)
    X = axes.fit_transform(texts)
    assert np.isfinite(X).all()
    assert np.array_equal(X[:6], X[6:12])
    terms = axes.vectorizer_.transform(texts)
    kept = axes.svd_.explained_variance_ratio_.sum()
    assert kept > 0.7, "five axes of six equally frequent words hold most of them"
    assert terms.shape[1] == 6


def test_meaning_by_the_package_that_comes_along(monkeypatch):
    pytest.importorskip("wordllama")
    texts = ["a wonderful film", "a marvellous movie", "the tax form is late", ""] * 3
    views = TextViews(n_axes=2, meaning="wordllama")
    X = views.fit_transform(texts)[:, views.views_["meaning"]].toarray()
    assert X.shape == (12, 256)
    assert X[0] @ X[1] > 2 * abs(X[0] @ X[2]), "films are nearer to each other than to taxes"
    assert not X[3].any()
    assert np.array_equal(views.transform(texts[:2])[:, views.views_["meaning"]].toarray(), X[:2])


def test_a_missing_package_for_meaning_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    text._wordllama.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r'pip install "tordinal\[meaning\]"'):
        TextViews(meaning="wordllama").fit(["good story", "dull plot"])
