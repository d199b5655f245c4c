"""Cross-validation for data in which some rows have no label."""

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from tordinal.labels import encode_labels, label_array, unlabeled_rows
from tordinal.reduction import UNLABELED, Ranks

Index = NDArray[np.int64]


class TransductiveKFold:
    """Stratified folds over the labelled rows.

    Unlabelled rows are in every training set and in no test set. The labels of each class are
    assigned to the folds in turn. A class with fewer labels than folds is in as many folds as it
    has labels, and the only label of a class is never held out, so every class stays in training.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. More of them give larger training sets and take longer.
    shuffle : bool, default=True
        Whether to shuffle the labels of each class before they are assigned.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.

    See Also
    --------
    tordinal.TORCV : A search of its own.
    tordinal.metrics.SCORERS : Scorers that exclude unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, 2, 2, -1, -1])
    >>> for train, test in TransductiveKFold(2, shuffle=False).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def __repr__(self) -> str:
        return (
            f"TransductiveKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, "
            f"random_state={self.random_state})"
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits

    def split(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[tuple[Index, Index]]:
        """Training and test rows of each fold.

        Parameters
        ----------
        X : array-like
            Only its length is used.
        y : array-like of shape (n_samples,)
            Labels; unlabelled rows are marked as in `TOR`.
        groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray
            Indices of the rows.
        """
        if self.n_splits < 2:
            raise ValueError(f"n_splits={self.n_splits} must be at least 2")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the order of the labels plays no part
            labels = label_array(y)
            found = np.unique(labels[~unlabeled_rows(labels)]).tolist()
            rank = encode_labels(y, found, transductive=True)[1]
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = deal_folds(rank, self.n_splits, rng)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def deal_folds(rank: Ranks, n_splits: int, rng: np.random.RandomState | None) -> Index:
    """The fold in which each row is held out; -1 for unlabelled rows and the only row of a class.

    Rows are assigned in turn, class by class, so folds are of equal size.
    """
    fold = np.full(len(rank), -1, dtype=np.int64)
    next_fold = 0
    for k in np.unique(rank[rank != UNLABELED]):
        rows = np.flatnonzero(rank == k)
        if len(rows) == 1:
            continue
        if rng is not None:
            rows = rng.permutation(rows)
        fold[rows] = (next_fold + np.arange(len(rows))) % n_splits
        next_fold += len(rows)
    if next_fold < n_splits:
        raise ValueError(
            f"n_splits={n_splits} is more than the {next_fold} labelled rows that can be held out "
            "(the only label of a class cannot). Use fewer folds or label more rows."
        )
    return fold


def content_folds(X: Any, rank: Ranks, n_splits: int) -> Index:
    """Folds that depend on the content of the labelled rows, not on their order or multiplicity.

    Equal rows of one class go to the same fold: a row that occurs twice leads to the same folds as
    a row of weight 2, and no row is tested by its own copy. Rows are assigned in the order of
    their content.
    """
    labeled = np.flatnonzero(rank != UNLABELED)
    content = content_codes(X[labeled])
    distinct, member = np.unique(
        np.column_stack([rank[labeled], content]), axis=0, return_inverse=True
    )
    fold = np.full(len(rank), -1, dtype=np.int64)
    fold[labeled] = deal_folds(distinct[:, 0], n_splits, None)[member.ravel()]
    return fold


def content_codes(X: Any) -> Index:
    """Number rows by their content: equal rows get the same number, in any order of the rows.

    Examples
    --------
    >>> content_codes(np.array([[2.0], [1.0], [2.0]]))
    array([1, 0, 1])
    """
    if not sp.issparse(X):
        return np.unique(np.asarray(X), axis=0, return_inverse=True)[1].ravel()
    rows = sp.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    keys = [
        rows.indices[a:b].tobytes() + rows.data[a:b].tobytes()
        for a, b in itertools.pairwise(rows.indptr)
    ]
    return np.unique(np.array(keys, dtype=object), return_inverse=True)[1]


def take(X: Any, rows: Index, columns: Index, *, pairwise: bool) -> Any:
    """Rows of X; of a Gram matrix, only their values with `columns`."""
    return X[np.ix_(rows, columns)] if pairwise else X[rows]
