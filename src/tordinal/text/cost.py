"""The cost of tuning an encoder, from the time that embedding the same texts took."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tordinal.reduction import UNLABELED, Ranks
from tordinal.text.cross_tuning import TUNING, count_work, deal_texts
from tordinal.text.encoder import SentenceEncoder
from tordinal.text.windows import Windows

__all__ = ["TuningCost", "estimate_cost"]


@dataclass(frozen=True)
class TuningCost:
    """The cost of tuning.

    Attributes
    ----------
    ratings, texts, windows : int
        Labelled texts, all texts, and windows that are seen in training.
    seconds_per_batch : float
        Of a batch of labelled texts.
    seconds : float
        Altogether.
    """

    ratings: int
    texts: int
    windows: int
    seconds_per_batch: float
    seconds: float

    def __str__(self) -> str:
        about = f"{self.seconds:.0f} s" if self.seconds < 90 else f"{self.seconds / 60:.0f} minutes"
        return (
            f"about {about} ({self.ratings:,} ratings, {self.texts:,} texts, {self.windows:,} "
            f"windows in training, {self.seconds_per_batch:.2g} s a batch here)"
        )


def estimate_cost(
    embedded: SentenceEncoder, tuned: SentenceEncoder, texts: Sequence[str], rank: Ranks,
    seconds: float,
) -> TuningCost:  # fmt: skip
    """Estimate the cost of `tuned.fit_transform`.

    Parameters
    ----------
    embedded : SentenceEncoder
        A fitted encoder that is not tuned.
    tuned : SentenceEncoder
        The one that would be tuned.
    texts : sequence of str
        The texts.
    rank : ndarray of shape (n_texts,)
        Their ranks, -1 for unlabelled ones.
    seconds : float
        How long `embedded` took for the texts.

    Returns
    -------
    cost : TuningCost
        Time is in proportion to tokens; those in training count three times.

    Raises
    ------
    ValueError
        If the ratings are too few to tune by.
    """
    fold = deal_texts(list(texts), rank, tuned.n_folds)
    nothing = np.zeros(len(rank), dtype=bool)
    held_out = [*(fold == k for k in range(int(fold.max()) + 1)), nothing]
    counts = [count_work(rank, rows, tuned.epochs, transduce=tuned.transduce) for rows in held_out]
    n_trained, n_embedded = np.sum(counts, axis=0)
    before = sum(len(w) for of_text in embedded._windows(texts) for w in of_text)
    cut = Windows(embedded._model, tuned.window, tuned.max_windows)(texts)
    of_window = float(np.mean([np.mean([len(w) for w in of_text]) for of_text in cut]))
    of_text = float(np.mean([sum(map(len, of_text)) for of_text in cut]))
    per_token = seconds / max(before, 1)
    n_labeled = int((rank != UNLABELED).sum())
    return TuningCost(
        n_labeled, len(texts), int(n_trained),
        per_token * TUNING * of_window * min(tuned.batch_size, n_labeled),
        per_token * float(TUNING * of_window * n_trained + of_text * n_embedded),
    )  # fmt: skip
