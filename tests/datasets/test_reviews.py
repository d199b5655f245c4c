import re

import numpy as np

from tordinal.datasets import make_reviews
from tordinal.datasets._reviews import OPINIONS


def test_the_seed_decides():
    texts, stars = make_reviews(40, random_state=3)
    again, same = make_reviews(40, random_state=3)
    assert texts == again
    np.testing.assert_array_equal(stars, same)
    assert make_reviews(40, random_state=4)[0] != texts


def test_reviews_are_sentences_with_one_to_five_stars():
    texts, stars = make_reviews(300, random_state=0)
    assert len(texts) == len(stars) == 300
    assert set(stars) == {1, 2, 3, 4, 5}
    for text in texts:
        sentences = text.split(". ")
        assert 2 <= len(sentences) <= 8
        assert text.endswith(".")
        assert not set("{}") & set(text)
        assert all(sentence[0].isupper() for sentence in sentences)


def test_words_of_opinion_mostly_belong_to_the_rating_or_a_neighbour():
    texts, stars = make_reviews(1000, random_state=0)
    opinions = [set(words.split()) for words in OPINIONS]
    used = np.zeros((5, 5))
    for text, star in zip(texts, stars, strict=True):
        words = re.findall(r"[a-z]+", text.lower())
        used[star - 1] += [sum(word in known for word in words) for known in opinions]
    share = used / used.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(share.argmax(axis=1), range(5))
    far = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
    assert (share[far] < 0.15).all()
    assert (share[far] > 0).all()
