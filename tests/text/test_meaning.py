import sys

import numpy as np
import pytest

from tordinal.text import TextViews, meaning


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
    meaning._wordllama.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r'pip install "tordinal\[meaning\]"'):
        TextViews(meaning="wordllama").fit(["good story", "dull plot"])
