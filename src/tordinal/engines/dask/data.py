"""X, y and weights of a fit, block by block on the workers: checked, encoded and scaled."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.dask import preparing
from tordinal.engines.dask.waiting import finished
from tordinal.engines.host.rows import DENSE_FEATURES, MOST_FEATURES, NEAR_ONE, power_of_four
from tordinal.labels import encode_labels, label_array

__all__ = ["BlockedData", "is_dask"]


class BlockedData:
    """X, y and weights on the workers.

    Attributes
    ----------
    prepared : list of Future
        The blocks, as `PreparedBlock`.
    sizes : list of int
        Rows of each.
    """

    def __init__(
        self, client: Any, X: Any, y: Any, weight: Any, classes: Any, token: str,
        transductive: bool,
    ):  # fmt: skip
        from dask.delayed import delayed

        if not is_dask(X) or X.ndim != 2:
            raise ValueError(
                f"X must be a Dask array of rows and features, got {type(X).__name__}; for data of "
                "one machine use tordinal.TOR and tordinal.REDSVM"
            )
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        blocks = X.to_delayed().ravel().tolist()
        labels = _blocks(y, X, "y")
        weights = [None] * len(blocks) if weight is None else _blocks(weight, X, "sample_weight")
        self.n_features = self._features(client, X, blocks)
        self.dense = not _is_sparse(X) or self.n_features <= DENSE_FEATURES
        self.few_features = self.dense and self.n_features <= MOST_FEATURES
        raw = client.compute(
            [delayed(preparing.read_rows)(i, b, self.dense) for i, b in enumerate(blocks)]
        )
        finished(client, raw)
        kept = client.compute([delayed(_plain)(b) for b in labels])
        distinct = client.gather(client.map(preparing.distinct_labels, kept, pure=False))
        self.classes = _classes([labels for labels, _ in distinct], y, classes, transductive)
        moments = client.gather(client.map(preparing.moments, raw, pure=False))
        self.sizes = [n for n, _, _ in moments]
        for i, ((_, n), m) in enumerate(zip(distinct, self.sizes, strict=True)):
            if n != m:
                raise ValueError(
                    f"X and y: block {i} has {m} rows and {n} labels; align their blocks"
                )
        total = max(sum(self.sizes), 1)
        self.centre: Any = None
        if self.dense:
            self.centre = sum(s for _, s, _ in moments) / total
            # Not `map`, which makes a task of a large argument that has the argument's name.
            squares = [client.submit(preparing.squares, b, self.centre, pure=False) for b in raw]
            spread = sum(client.gather(squares))
            self.scale = power_of_four(spread / total)
        else:
            self.scale = power_of_four(sum(s for _, _, s in moments) / total)
            self.scale = 1.0 if 1.0 / NEAR_ONE <= self.scale <= NEAR_ONE else self.scale
        sent = client.compute([delayed(_plain)(w) if w is not None else None for w in weights])
        self.prepared = [
            client.submit(
                preparing.prepare, i, b, lab, w, classes=self.classes, centre=self.centre,
                scale=self.scale, token=token, pure=False,
            )
            for i, (b, lab, w) in enumerate(zip(raw, kept, sent, strict=True))
        ]  # fmt: skip

    @staticmethod
    def _features(client: Any, X: Any, blocks: list[Any]) -> int:
        from dask.delayed import delayed

        if np.isfinite(X.shape[1]):
            return int(X.shape[1])
        return int(client.compute(delayed(preparing.features_of)(blocks[0])).result()[1])


def is_dask(X: Any) -> bool:
    """Whether something is a collection of Dask."""
    return hasattr(X, "to_delayed") and hasattr(X, "dask")


def _is_sparse(X: Any) -> bool:
    meta = X._meta
    return hasattr(meta, "tocsr") or hasattr(meta, "tocoo")


def _blocks(y: Any, X: Any, name: str) -> list[Any]:
    """Labels or weights in the blocks of X."""
    n = X.numblocks[0]
    if is_dask(y):
        blocks = list(np.asarray(y.to_delayed(), dtype=object).ravel())
        if len(blocks) != n:
            raise ValueError(f"{name} has {len(blocks)} blocks and X has {n}: align their blocks")
        return blocks
    sizes = X.chunks[0]
    if not np.isfinite(sizes).all():
        raise ValueError(
            f"{name} must be a Dask array or Series where X has blocks of unknown size"
        )
    values = y if hasattr(y, "__len__") and hasattr(y, "dtype") else label_array(y)
    if len(values) != sum(sizes):
        raise ValueError(f"{name} has {len(values)} entries for {sum(sizes)} rows of X")
    ends = np.cumsum((0, *sizes))
    cut = getattr(values, "iloc", values)
    return [cut[a:b] for a, b in itertools.pairwise(ends)]


def _plain(block: Any) -> Any:
    return block


def _classes(distinct: list[Any], y: Any, classes: Any, transductive: bool) -> NDArray[Any]:
    """All labels in their order."""
    dtype = getattr(getattr(y, "_meta", y), "dtype", None)
    if classes is None and getattr(dtype, "ordered", False):
        used = {label for labels in distinct for label in labels.tolist()}
        classes = [c for c in dtype.categories if c in used]  # type: ignore[union-attr]
    kinds = {labels.dtype.kind for labels in distinct if len(labels)}
    if len(kinds) == 1 and "O" not in kinds:
        values = np.concatenate([labels for labels in distinct if len(labels)])
    else:
        merged = dict.fromkeys(v for labels in distinct for v in labels.tolist())
        values = np.empty(len(merged), dtype=object)
        values[:] = list(merged)
    if len(values) == 0:
        raise ValueError("y: no row is labelled. Label at least one row of two classes.")
    return encode_labels(values, classes, transductive=transductive)[0]
