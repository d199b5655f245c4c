"""The table of results: one line per result, on disk as soon as it is known."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["KEY", "ResultTable"]

KEY = ("study", "dataset", "method", "labels", "seed", "setting")  # what tells results apart


class ResultTable:
    """Results as JSON lines. A line is written whole or, if the machine stops in the middle of it, left out when read.

    Parameters
    ----------
    path : str or path
        The file; it need not exist.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = ResultTable(folder.name + "/results.jsonl")
    >>> row = {"study": "synthetic", "dataset": "p", "method": "TOR", "labels": 200, "seed": 0, "setting": 0.1, "mae": 0.3}
    >>> table.append(row)
    >>> len(ResultTable(table.path).keys())
    1
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All whole lines."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    try:
                        row = json.loads(line)
                    except ValueError:  # a line that was cut, with another one written after it
                        continue
                    if isinstance(row, dict) and all(name in row for name in KEY):
                        yield row

    def keys(self) -> set[tuple[Any, ...]]:
        """The keys of all results."""
        return {tuple(row[name] for name in KEY) for row in self.rows()}

    def append(self, row: dict[str, Any]) -> None:
        """Add a result and bring it to the disk."""
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

    def frame(self) -> pd.DataFrame:
        """All results, the last one of each key, in a fixed order."""
        frame = pd.DataFrame(list(self.rows()))
        if len(frame) == 0:
            return pd.DataFrame(columns=[*KEY, "zero_one", "mae"])
        return frame.drop_duplicates(subset=list(KEY), keep="last").sort_values(list(KEY), ignore_index=True)
