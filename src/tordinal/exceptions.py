"""Errors that users can correct, and how to distinguish them from bugs."""

import dis
from types import TracebackType

__all__ = ["InputError", "user_can_fix"]

# Modules of scikit-learn whose errors are about parameters and data.
VALIDATION = ("sklearn.utils.validation", "sklearn.utils._param_validation")

KINDS = (ValueError, TypeError, ImportError, RuntimeError)


class InputError(ValueError):
    """A file, an option or a value is wrong; the message names it and the remedy."""


def user_can_fix(error: BaseException) -> bool:
    """Tell whether an error is about input or a resource; any other one is a bug.

    `InputError` is. So are errors that tordinal itself or scikit-learn's validation raises about
    parameters, data, a missing package or a lost worker. Errors of the same types from the code
    that they call (NumPy, SciPy) are bugs, because input has been validated by then.

    Parameters
    ----------
    error : BaseException
        The error, with its traceback.

    Returns
    -------
    fixable : bool
        Whether the message tells the user what to change.

    Examples
    --------
    >>> from tordinal.losses import check_loss
    >>> def caught(function, *arguments):
    ...     try:
    ...         function(*arguments)
    ...     except Exception as error:
    ...         return error
    >>> user_can_fix(caught(check_loss, "hing"))
    True
    >>> user_can_fix(caught(int, "not a number"))
    False
    """
    if isinstance(error, InputError):
        return True
    if not isinstance(error, KINDS) or error.__traceback__ is None:
        return False
    innermost: TracebackType = error.__traceback__
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    module = innermost.tb_frame.f_globals.get("__name__", "")
    instruction = innermost.tb_frame.f_code.co_code[innermost.tb_lasti]
    raised_here = dis.opname[instruction] == "RAISE_VARARGS"  # not by compiled code called here
    return raised_here and (module.startswith("tordinal.") or module in VALIDATION)
