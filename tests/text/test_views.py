import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.datasets import make_reviews
from tordinal.text import TextVectorizer, TextViews


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
