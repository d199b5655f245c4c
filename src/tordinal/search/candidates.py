"""Candidates: the ways to rate the rows that a search tries."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tordinal.fitting import Recipe, check_class_ratio
from tordinal.losses import check_loss

__all__ = ["Candidate", "is_ratio", "options"]


@dataclass(frozen=True)
class Candidate:
    """One way to rate the rows."""

    C: float
    kernel: Any
    loss: Any
    transductive: bool = False
    class_ratio: Any = "labeled"
    swaps: Any = "single"
    C2_max: Any = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the estimator that this is."""
        shared = {"C": self.C, "kernel": self.kernel, "loss": self.loss}
        if not self.transductive:
            return shared
        ways = {"class_ratio": self.class_ratio, "swaps": self.swaps, "C2_max": self.C2_max}
        return {**shared, **ways}

    @property
    def setting(self) -> "Candidate":
        """The supervised candidate that this one extends."""
        return Candidate(self.C, self.kernel, self.loss)

    @property
    def kind(self) -> tuple[int, int]:
        """What candidates that differ only in C and in how they transduce have in common."""
        return id(self.loss), id(self.kernel)

    def recipe(self, base: Recipe, n_classes: int) -> Recipe:
        """How to fit it."""
        given = {**self.params, "loss": check_loss(self.loss)}
        if self.transductive:
            given["class_ratio"] = check_class_ratio(self.class_ratio, n_classes)
        return replace(base, **given)


def options(value: Any) -> list[Any]:
    """A parameter of the search as the list of what to try."""
    return list(dict.fromkeys(value)) if isinstance(value, (list, tuple)) else [value]


def is_ratio(value: Any) -> bool:
    """Whether a class ratio is given by numbers."""
    numbers = (int, float, np.number)
    return not isinstance(value, str) and all(isinstance(v, numbers) for v in value)
