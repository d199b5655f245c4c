"""Made-up reviews, for examples, tests and benchmarks that need text but no download."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

# From the lowest rating to the highest; neighbours share words, as the ratings of people do.
OPINIONS = (
    "awful terrible broken useless refund horrible waste worst garbage disgusting",
    "poor disappointing weak dull annoying waste broken slow cheap boring",
    "okay average fine mixed decent slow acceptable mediocre ordinary passable",
    "good solid pleasant nice reliable enjoyable decent useful recommend comfortable",
    "excellent wonderful perfect loved brilliant amazing recommend flawless delightful superb",
)
THINGS = """book story plot writing ending chapter author cover print edition film picture sound
    acting scene disc blender kettle knife pan handle motor lid battery screen cable charger
    keyboard camera lens delivery box price manual service quality design colour size material
    button menu warranty support shop gift kitchen desk travel weekend family neighbour teacher
    daughter brother garden winter summer holiday birthday morning evening"""
FRAMES = (
    "the {thing} was {opinion}",
    "{opinion} {thing} for the {thing2}",
    "i bought it for my {thing} and the {thing2} is {opinion}",
    "after a week the {thing} seemed {opinion}",
    "my {thing} says the {thing2} is {opinion}",
    "{opinion}, above all the {thing}",
    "it came with a {thing} and a {thing2}",
    "we took it along one {thing} in the {thing2}",
    "found the {thing} {opinion} and the {thing2} {opinion2}",
)


def make_reviews(
    n_samples: int = 1000, *, random_state: Any = None
) -> tuple[list[str], NDArray[np.int64]]:
    """Make up reviews with 1 to 5 stars.

    Sentences are about things, which are unrelated to the stars. Their words of opinion mostly
    belong to the review's rating, sometimes to a neighbouring one, and sometimes to any.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of reviews.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    texts : list of str
        The reviews.
    stars : ndarray of shape (n_samples,)
        Their ratings.

    See Also
    --------
    make_ordinal_clusters : Made-up clusters, Algorithm 3.
    fetch_amazon_reviews : Real reviews.

    Examples
    --------
    >>> from tordinal.datasets import make_reviews
    >>> texts, stars = make_reviews(3, random_state=0)
    >>> stars
    array([5, 1, 4])
    >>> texts[1].split(".")[0]
    'We took it along one travel in the screen'
    """
    rng = check_random_state(random_state)
    opinions, things = [words.split() for words in OPINIONS], THINGS.split()
    stars = rng.randint(1, 6, size=n_samples)
    texts = []
    for star in stars:
        sentences = []
        for _ in range(rng.randint(2, 9)):
            mood = star - 1 + rng.choice([-1, 0, 0, 0, 1]) if rng.rand() < 0.85 else rng.randint(5)
            words = opinions[min(max(mood, 0), 4)]
            frame = FRAMES[rng.randint(len(FRAMES))]
            thing, other = rng.choice(len(things), 2, replace=False)
            opinion, second = words[rng.randint(len(words))], words[rng.randint(len(words))]
            sentences.append(
                frame.format(
                    thing=things[thing], thing2=things[other], opinion=opinion, opinion2=second
                ).capitalize()
            )
        texts.append(". ".join(sentences) + ".")
    return texts, stars.astype(np.int64)
