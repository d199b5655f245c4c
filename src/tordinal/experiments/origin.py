"""Which code made a result: its version, and its commit where it runs from a repository."""

import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

__all__ = ["commit", "origin"]

UNKNOWN = "unknown"
CHANGED = "+changes"


@lru_cache
def commit(folder: str | None = None) -> str:
    """The last commit that changed the source, for code that runs from a repository.

    Commits that change documents alone leave it as it is.

    Parameters
    ----------
    folder : str or None
        Folder of the source. None: that of this package.

    Returns
    -------
    commit : str
        Short hash, followed by ``+changes`` if there are some that were not committed; "unknown"
        for an installed package.
    """
    where = Path(__file__).parents[1] if folder is None else Path(folder)

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(where), *arguments], capture_output=True, text=True, check=True,
            timeout=20,
        ).stdout.strip()  # fmt: skip

    try:
        last = git("log", "-1", "--format=%h", "--", ".")
        changed = git("status", "--porcelain", "--", ".") if last else ""
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return (last + (CHANGED if changed else "")) or UNKNOWN


def origin() -> dict[str, str]:
    """Version and commit, as in every result.

    Returns
    -------
    origin : dict of str to str
        ``version`` and ``commit``.
    """
    return {"version": version("tordinal"), "commit": commit()}
