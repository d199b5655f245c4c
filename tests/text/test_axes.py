import numpy as np

from tordinal.datasets import make_reviews
from tordinal.text import LatentAxes, TextVectorizer, TextViews


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
