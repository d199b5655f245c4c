"""Tuning of an encoder once for each fold of the labelled texts, and once with all labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.class_ratios import ratio_of_counts
from tordinal.estimators import REDSVM
from tordinal.labels import single_column
from tordinal.model_selection import content_folds
from tordinal.progress import Progress
from tordinal.reduction import UNLABELED, Ranks, ranks
from tordinal.text.tuning import PseudoLabeled, Schedule, boundary_weights, tune
from tordinal.text.windows import KeptWindows, Windows, embed
from tordinal.transduction import class_counts

__all__ = ["TUNING", "CrossTuning", "Work", "count_work", "deal_texts", "read_texts"]

Array = NDArray[np.float64]

STANDARD = 500  # texts that set location and scale of each encoder's projection
TUNING = 3  # a text in training takes as long as so many that are only embedded


def count_work(
    rank: Ranks, held_out: NDArray[np.bool_], epochs: int, *, transduce: bool
) -> tuple[int, int]:
    """Count the texts that one encoder sees in training, and those that it embeds.

    Parameters
    ----------
    rank : ndarray of shape (n_texts,)
        Ranks, -1 for unlabelled texts.
    held_out : ndarray of bool of shape (n_texts,)
        Labelled texts that are held out.
    epochs : int
        How often each labelled text is seen.
    transduce : bool
        Whether unlabelled texts take part.

    Returns
    -------
    trained, embedded : int
        Numbers of texts, as often as they are seen.

    Examples
    --------
    >>> import numpy as np
    >>> rank, none = np.array([0, 1, 0, 1, -1, -1]), np.zeros(6, dtype=bool)
    >>> count_work(rank, none, 10, transduce=False)
    (40, 12)
    >>> count_work(rank, none, 10, transduce=True)
    (120, 18)
    """
    n = int(((rank != UNLABELED) & ~held_out).sum())
    n_pool = pool_size(rank, held_out, n * epochs) if transduce else 0
    asked = int((held_out if held_out.any() else rank == UNLABELED).sum())
    embedded = n + min(len(rank), STANDARD) + asked
    if n_pool == 0:
        return n * epochs, embedded
    return 3 * n * epochs, embedded + n + n_pool


def pool_size(rank: Ranks, held_out: NDArray[np.bool_], most: int) -> int:
    """Number of texts without a known rating to use: no more than will be seen."""
    n_unlabeled = int((rank == UNLABELED).sum())
    return min(n_unlabeled + int(held_out.sum()), most) if n_unlabeled else 0


class Work:
    """Counts work done and reports it."""

    def __init__(self, progress: Progress, name: str, total: int):
        self.progress, self.name, self.total, self.done = progress, name, total, 0

    def add(self, n: int) -> None:
        """Count n more."""
        self.done += n
        self.progress.part(self.name, min(self.done, self.total), self.total)


class CrossTuning:
    """Tunes copies of one pretrained encoder, with some of the labels held out."""

    def __init__(
        self, estimator: Any, model: Any, windows: Windows, texts: list[str],
        rank: Ranks, n_classes: int, seed: int, progress: Progress,
    ):  # fmt: skip
        self.estimator, self.model, self.texts = estimator, model, texts
        self.windows = KeptWindows(windows)
        self.rank, self.n_classes = rank, n_classes
        self.schedule = Schedule(
            estimator.epochs, estimator.batch_size, estimator.learning_rate, estimator.n_layers
        )
        self.pretrained = {name: t.detach().cpu().clone() for name, t in model.state_dict().items()}
        n = len(texts)
        self.standard = np.unique(np.linspace(0, n - 1, min(n, STANDARD)).astype(int))
        self.seed = seed
        self.work = Work(progress, "tuning the encoder", 0)

    def plan(self, held_out: list[NDArray[np.bool_]]) -> None:
        """Count the texts that will be embedded, a text in training as several."""
        for rows in held_out:
            trained, embedded = count_work(
                self.rank, rows, self.schedule.epochs, transduce=self.estimator.transduce
            )
            self.work.total += TUNING * trained + embedded

    def run(
        self, held_out: NDArray[np.bool_], asked: NDArray[np.bool_], seed: int
    ) -> tuple[dict[str, Any], Array]:
        """Tune without the ratings of some texts; return the projection, and that of some texts."""
        known = np.flatnonzero((self.rank != UNLABELED) & ~held_out)
        y = self.rank[known]
        cut = self.windows([self.texts[i] for i in known])
        self._tune(cut, y, seed)
        pool = self._pool(held_out, len(known))
        if len(pool):
            head = self._head(known)
            h = self._embed(pool) @ head.coef_
            counts = self._class_counts(y, h, head.thresholds_)
            pseudo_y, weight = boundary_weights(h, counts)
            pool_cut = self.windows([self.texts[i] for i in pool])
            self._tune(cut, y, seed, PseudoLabeled(pool_cut, pseudo_y, weight))
        return self._project(known, asked)

    def _project(
        self, known: NDArray[np.int64], asked: NDArray[np.bool_]
    ) -> tuple[dict[str, Any], Array]:
        """Fit the threshold model to the known rows; return it, and h of some texts."""
        head = self._head(known)
        h = self._embed(self.standard) @ head.coef_
        location, scale = float(h.mean()), float(h.std()) or 1.0
        projection = {
            "coef_": head.coef_ / scale,
            "intercept_": -location / scale,
            "thresholds_": (head.thresholds_ - location) / scale,
        }
        rows = np.flatnonzero(asked)
        return projection, self._embed(rows) @ projection["coef_"] + projection["intercept_"]

    def _pool(self, held_out: NDArray[np.bool_], n_known: int) -> NDArray[np.int64]:
        """Choose the texts without a known rating to use: no more than will be seen."""
        unlabeled = np.flatnonzero((self.rank == UNLABELED) | held_out)
        if not self.estimator.transduce:
            return unlabeled[:0]
        n = pool_size(self.rank, held_out, n_known * self.schedule.epochs)
        if n in (0, len(unlabeled)):
            return unlabeled[:n]
        chosen = np.random.default_rng(self.seed).choice(len(unlabeled), n, replace=False)
        return unlabeled[np.sort(chosen)]

    def _class_counts(self, y: Ranks, h: Array, thresholds: Array) -> NDArray[np.int64]:
        """How many pseudo-labels each class gets: the mean of the labelled and predicted ratio."""
        predicted = np.bincount(ranks(h, thresholds), minlength=self.n_classes)
        given = np.bincount(y, minlength=self.n_classes)
        ratio = ratio_of_counts("blended", given, lambda: predicted)
        return class_counts(ratio, len(h), lambda: predicted)

    def _tune(
        self, cut: list[Any], y: Ranks, seed: int, pseudo: PseudoLabeled | None = None
    ) -> None:
        """Tune from the pretrained weights."""
        self.model.load_state_dict(self.pretrained)
        tune(
            self.model, cut, y, self.n_classes, self.schedule, seed, pseudo,
            on_texts=lambda n: self.work.add(TUNING * n),
        )  # fmt: skip

    def _head(self, known: NDArray[np.int64]) -> REDSVM:
        """Fit the threshold model to the embeddings of the known rows."""
        head = REDSVM(C=self.estimator.C, loss="logistic", classes=list(range(self.n_classes)))
        return head.fit(self._embed(known), self.rank[known])

    def _embed(self, rows: NDArray[np.int64]) -> Array:
        return embed(self.model, self.windows, [self.texts[i] for i in rows], self.work.add)


def deal_texts(texts: list[str], rank: Ranks, n_folds: int) -> NDArray[np.int64]:
    """Deal the labelled texts into folds, equal texts into the same; -1 for unlabelled texts."""
    labeled = rank != UNLABELED
    code = np.unique(np.array(texts, dtype=object), return_inverse=True)[1]
    given, rank = rank, rank.copy()
    for k in np.unique(code[labeled]):  # equal texts count as of one class, whatever their labels
        copies = labeled & (code == k)
        rank[copies] = np.sort(given[copies])[(copies.sum() - 1) // 2]
    content = code[:, None]
    n = len(np.unique(code[labeled]))
    fold = np.full(len(rank), UNLABELED)
    for n_splits in range(min(n_folds, n), 1, -1):
        try:
            fold = content_folds(content, rank, n_splits)
        except ValueError:
            continue  # more folds than texts that can be held out
        break
    # The only text of a class is held out as well: its projection must not know its rating.
    alone = np.flatnonzero(labeled & (fold == UNLABELED))
    which = np.unique(content[alone], return_inverse=True)[1].ravel()
    fold[alone] = which % max(2, int(fold.max()) + 1)
    for k in range(int(fold.max()) + 1):
        if len(np.unique(given[labeled & (fold != k)])) < 2:
            raise ValueError(
                f"y: {int(labeled.sum())} labels are too few to tune an encoder: without a part of "
                "them only one class is labelled. Label at least two different texts of each of "
                "two classes, or pass tune=False."
            )
    return fold


def read_texts(texts: Any) -> list[str]:
    """Read texts from a list, an array, a series or the one column of a data frame."""
    if isinstance(texts, (str, bytes)):
        raise ValueError("texts must be an iterable of strings, got one string: pass [text]")
    texts = single_column(texts)
    if getattr(texts, "ndim", 1) == 2 and texts.shape[1] == 1:
        texts = texts[:, 0]
    read = list(texts)
    for text in read:
        if not isinstance(text, str):
            raise ValueError(
                f"every text must be a string, but one is {text!r}; put '' where there is none"
            )
    if not read:
        raise ValueError("texts has 0 texts; pass at least one")
    # Half of a character outside the BMP, as of a text that was cut, has no tokens.
    return [
        str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in read
    ]
