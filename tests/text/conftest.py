import numpy as np
import pytest
from tiny_encoder import WORDS


@pytest.fixture(scope="session")
def rated():
    """48 texts with a rating in each, and ranks of which the second half is hidden."""
    rng = np.random.default_rng(0)
    true = np.arange(48) % 3
    texts = [" ".join([*rng.choice(WORDS[3:], 4), *[("bad", "fine", "good")[k]] * 2]) for k in true]
    return texts, true, np.where(np.arange(48) < 24, true, -1)
