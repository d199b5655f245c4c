import numpy as np
import pytest

from tordinal.text import SentenceEncoder
from tordinal.text.cost import estimate_cost


def test_cost_follows_from_what_will_be_seen(tiny_model, rated):
    texts, _, y = rated
    frozen = SentenceEncoder(tiny_model, tune=False)
    frozen.fit(texts)
    told = []
    tuned = SentenceEncoder(
        tiny_model, epochs=2, n_folds=3, random_state=0, callback=lambda *parts: told.append(parts)
    )
    cost = estimate_cost(frozen, tuned, texts, y, 2.0)
    # Three folds of 24 ratings: 16 are learned from in each, and all in the end; twice each, and
    # in the second round with as many pseudo-labelled texts.
    assert (cost.ratings, cost.texts, cost.windows) == (24, 48, 3 * 2 * (3 * 16 + 24))
    tuned.fit_transform(texts, y)
    embedded = told[-1][2] - 3 * cost.windows
    # All texts have eight tokens, so that time is in proportion to texts.
    assert cost.seconds == pytest.approx(2.0 * told[-1][2] / 48)
    assert cost.seconds_per_batch == pytest.approx(2.0 * 3 * 24 / 48)
    assert embedded > 0
    assert str(cost).startswith(f"about {cost.seconds:.0f} s (24 ratings, 48 texts, 432 windows")
    assert "about 8 minutes" in str(
        estimate_cost(frozen, tuned, texts, y, 2.0 * 480 / cost.seconds)
    )
    with pytest.raises(ValueError, match="too few to tune"):
        estimate_cost(frozen, tuned, texts, np.where(np.arange(48) < 2, y, -1), 2.0)
