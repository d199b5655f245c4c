"""Candidates: the models that a search tries."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.class_ratios import check_class_ratio
from tordinal.fitting import Recipe
from tordinal.losses import check_loss

__all__ = ["Candidate", "Kind", "Views", "is_ratio", "options", "pick_columns", "read_views"]

Kind = tuple[int, int, str | None]
Views = dict[str | None, NDArray[np.int64] | None]


@dataclass(frozen=True)
class Candidate:
    """A model to try: supervised, or transductive.

    Attributes
    ----------
    C, kernel, loss
        Parameters of the supervised model.
    transductive : bool
        Whether it learns from unlabelled rows.
    class_ratio, swaps, C2_max
        Parameters of a transductive candidate.
    view : str or None
        The view of the features that it uses.
    """

    C: float
    kernel: Any
    loss: Any
    transductive: bool = False
    class_ratio: Any = "labeled"
    swaps: Any = "single"
    C2_max: Any = None
    view: str | None = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the estimator."""
        shared = {"C": self.C, "kernel": self.kernel, "loss": self.loss}
        if not self.transductive:
            return shared
        own = {"class_ratio": self.class_ratio, "swaps": self.swaps, "C2_max": self.C2_max}
        return {**shared, **own}

    @property
    def setting(self) -> "Candidate":
        """The supervised candidate that this one extends."""
        return Candidate(self.C, self.kernel, self.loss, view=self.view)

    @property
    def kind(self) -> Kind:
        """Loss, kernel and view: the same for candidates that differ in C and in transduction."""
        return id(self.loss), id(self.kernel), self.view

    def recipe(self, base: Recipe, n_classes: int) -> Recipe:
        """How to fit it."""
        given = {**self.params, "loss": check_loss(self.loss)}
        if self.transductive:
            given["class_ratio"] = check_class_ratio(self.class_ratio, n_classes)
        return replace(base, **given)


def options(value: Any) -> list[Any]:
    """A parameter of the search as a list of values to try."""
    return list(dict.fromkeys(value)) if isinstance(value, (list, tuple)) else [value]


def is_ratio(value: Any) -> bool:
    """Whether a class ratio is given by numbers."""
    numbers = (int, float, np.number)
    return not isinstance(value, str) and all(isinstance(v, numbers) for v in value)


def read_views(views: Mapping[str, Any] | None, n_features: int, kernels: list[Any]) -> Views:
    """The columns of each view; without views, all columns under the name None.

    Examples
    --------
    >>> read_views({"first": [0], "both": slice(None)}, 2, ["linear"])
    {'first': array([0]), 'both': array([0, 1])}
    """
    if views is None:
        return {None: None}
    if not isinstance(views, Mapping) or len(views) == 0:
        raise ValueError(f"views={views!r} must be a mapping from names to columns, not empty")
    if "precomputed" in kernels:
        raise ValueError(
            'views cannot be combined with kernel="precomputed": X then holds kernel values. Pass '
            "one of the two."
        )
    return {
        name: pick_columns(given, n_features, f"views[{name!r}]") for name, given in views.items()
    }


def pick_columns(given: Any, n_features: int, name: str) -> NDArray[np.int64]:
    """Columns of X as indices, from indices, a mask or a slice.

    Examples
    --------
    >>> pick_columns(slice(1, None), 3, "columns")
    array([1, 2])
    """
    try:
        chosen = np.arange(n_features)[given]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must select some of the {n_features} columns of X: {error}"
        ) from None
    if chosen.ndim != 1 or len(chosen) == 0:
        raise ValueError(f"{name} must select at least one column of X")
    return chosen
