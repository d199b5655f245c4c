import numpy as np
import pytest

from tordinal.tables.columns import TableEncoder
from tordinal.tables.surrogate import fit_surrogate

RNG = np.random.default_rng(0)
N = 600
TABLE = {
    "review": [
        " ".join(RNG.choice(["good", "bad", "blue", "round", "soft", "story about a thing"], 3))
        for _ in range(N)
    ],
    "price": RNG.normal(10, 3, N).round(2).tolist(),
    "shop": RNG.choice(["north", "south", "east"], N).tolist(),
}


def has(word):
    return np.array([word in text.split() for text in TABLE["review"]], dtype=float)


@pytest.fixture(scope="module")
def encoded():
    encoder = TableEncoder(text=["review"], columns=["review", "price", "shop"])
    return encoder, encoder.plan(TABLE).encode(TABLE)


def test_an_additive_rule_is_found_again(encoded):
    encoder, X = encoded
    shop = np.array([{"north": 0.5}.get(s, 0.0) for s in TABLE["shop"]])
    price = np.abs(np.array(TABLE["price"]) - 10) / 3  # not monotone: bins find it
    truth = has("good") - 0.5 * has("bad") + shop + price
    surrogate = fit_surrogate(TABLE, X, encoder, truth)
    assert surrogate.agreement > 0.85
    shown = surrogate.terms["review"].shown
    effect = dict(zip(shown, surrogate.coef, strict=False))
    assert effect["good"] == pytest.approx(1.0, abs=0.1)
    assert effect["bad"] == pytest.approx(-0.5, abs=0.1)
    assert abs(effect["blue"]) < 0.1
    # The contributions of a row and the mean make up its rating.
    rows = np.arange(50)
    words, others = surrogate.contributions(surrogate.encode(TABLE, X, rows))
    parts = np.asarray(words.sum(axis=1)).ravel() + others.sum(axis=1)
    rest = truth[rows] - parts
    assert rest.std() < 0.3 * truth.std()


def test_noise_is_no_agreement(encoded):
    encoder, X = encoded
    assert fit_surrogate(TABLE, X, encoder, RNG.normal(size=N)).agreement < 0.1


def test_nothing_to_explain(encoded):
    encoder, X = encoded
    assert fit_surrogate(TABLE, X, encoder, np.ones(N)) is None
    assert fit_surrogate(TABLE, X[:10], encoder, np.arange(10.0)) is None
