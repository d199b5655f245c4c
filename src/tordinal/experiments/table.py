"""The table of results: one line per result, written as soon as it is known."""

import contextlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pandas as pd

__all__ = ["KEY", "ResultTable", "alone_in", "describe_origins"]

KEY = ("study", "dataset", "method", "labels", "seed", "setting")  # what identifies a result
NUMBERS = ("zero_one", "mae")  # what every result has
# What some have.
OPTIONAL = (
    "C1",
    "trainings",
    "swaps",
    "rises",
    "rank_mae",
    "initial_zero_one",
    "initial_mae",
    "initial_rank_mae",
)


class ResultTable:
    """Results as JSON lines; a line that was cut when the machine stopped is skipped when read.

    Parameters
    ----------
    path : str or path
        The file; it need not exist.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = ResultTable(folder.name + "/results.jsonl")
    >>> key = {"study": "synthetic", "dataset": "clusters", "method": "TOR", "labels": 200}
    >>> table.append({**key, "seed": 0, "setting": 0.1, "zero_one": 0.3, "mae": 0.3})
    >>> len(ResultTable(table.path).keys())
    1
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.ignored: list[int] = []

    def rows(self) -> Iterator[dict[str, Any]]:
        """All results; `ignored` then has the numbers of lines that hold none."""
        self.ignored = []
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    row = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:  # a line that was cut, with another one written after it
                    row = None
                if _is_result(row):
                    yield row
                else:
                    self.ignored.append(number)

    def keys(self) -> set[tuple[Any, ...]]:
        """The keys of all results."""
        return {tuple(row[name] for name in KEY) for row in self.rows()}

    def append(self, row: dict[str, Any]) -> None:
        """Add a result and write it to disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, sort_keys=False).encode() + b"\n"
        with self.path.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # what an earlier run left of a line
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def move_other_versions(self, version: str) -> dict[str, int]:
        """Move results of other versions to files of their own, ``results-VERSION.jsonl``.

        Parameters
        ----------
        version : str
            The version whose results stay.

        Returns
        -------
        moved : dict of str to int
            How many there were, by version.
        """
        others: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows():
            if (made_by := row.get("version", version)) != version:
                others.setdefault(str(made_by), []).append(row)
        if not others:
            return {}
        for made_by, rows in others.items():
            name = re.sub(r"[^\w.+-]", "_", made_by)
            apart = ResultTable(self.path.with_name(f"{self.path.stem}-{name}.jsonl"))
            known = apart.keys()
            for row in rows:
                if tuple(row[k] for k in KEY) not in known:
                    apart.append(row)
        kept = [row for row in self.rows() if row.get("version", version) == version]
        part = self.path.with_name(self.path.name + ".part")
        part.write_text("".join(json.dumps(row) + "\n" for row in kept))
        os.replace(part, self.path)
        return {made_by: len(rows) for made_by, rows in others.items()}

    def frame(self) -> pd.DataFrame:
        """All results, the last one of each key, in a fixed order."""
        rows = list(self.rows())
        frame = pd.DataFrame(
            rows,
            columns=list(
                dict.fromkeys([*KEY, *NUMBERS, *OPTIONAL, *(n for row in rows for n in row)])
            ),
        )
        frame = frame.astype(dict.fromkeys(["setting", *OPTIONAL], np.float64))
        return frame.drop_duplicates(subset=list(KEY), keep="last").sort_values(
            list(KEY), ignore_index=True
        )


def describe_origins(results: pd.DataFrame) -> str:
    """Which code made some results, in words, also where several versions did.

    Examples
    --------
    >>> describe_origins(pd.DataFrame({"version": ["0.2.0"] * 3, "commit": ["a1", "a1", "b2"]}))
    'MIXED: tordinal 0.2.0 (a1) 2 results, tordinal 0.2.0 (b2) 1'
    """
    if "version" not in results or results["version"].isna().all():
        return ""
    commits = results["commit"] if "commit" in results else pd.Series("", index=results.index)
    named = [
        f"tordinal {v}" + (f" ({c})" if isinstance(c, str) and c else "")
        for v, c in zip(results["version"], commits, strict=True)
    ]
    (first, n), *others = Counter(named).most_common()
    if not others:
        return first
    return f"MIXED: {first} {n:,} results, " + ", ".join(f"{name} {m:,}" for name, m in others)


def _is_result(row: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a line of the file holds a result."""

    def number(name: str) -> bool:
        return (
            isinstance(row[name], (int, float))
            and not isinstance(row[name], bool)
            and math.isfinite(row[name])
        )

    return (
        isinstance(row, dict)
        and all(name in row for name in (*KEY, *NUMBERS))
        and all(isinstance(row[name], str) for name in ("study", "dataset", "method"))
        and all(isinstance(row[name], int) for name in ("labels", "seed"))
        and (row["setting"] is None or number("setting"))
        and all(number(name) for name in NUMBERS)
        and all(row.get(name) is None or number(name) for name in OPTIONAL)
    )


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder, so that two runs do not compute the same results at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ModuleNotFoundError:  # there is none on Windows
            pass
        except BlockingIOError:
            raise OSError(
                f"another run is writing to {folder}; wait for it, or choose another folder"
            ) from None
        try:
            yield
        finally:
            (folder / ".lock").unlink(missing_ok=True)
