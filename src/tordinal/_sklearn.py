"""Names of scikit-learn that are not public, in one place, as a new version may change them."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Replacement for scikit-learn's mixin in versions without it."""


__all__ = [
    "CallbackSupport",
    "HasMethods",
    "Interval",
    "NameOf",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
]


class NameOf(StrOptions):
    """Constraint: a name that a table knows at the time of the fit.

    Parameters
    ----------
    table : mapping of str
        The table.
    """

    def __init__(self, table: Mapping[str, Any]):
        super().__init__(set(table))
        self.table = table

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is such a name."""
        return isinstance(val, str) and val in self.table

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, self.table))}}}"
