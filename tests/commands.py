"""Running the command in tests, and the table that most of them rate."""

import subprocess
import sys

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from tordinal.cli.main import app
from tordinal.datasets import make_reviews
from tordinal.tables.many import find_files

TEXTS, STARS = make_reviews(150, random_state=0)
FAST = ["--method", "tor"]
COMMAND = [sys.executable, "-c", "from tordinal.cli import main; main()"]


def frame():
    """Reviews of which a third has stars, with mixed columns."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": range(150),
            "review": TEXTS,
            "price": np.where(rng.random(150) < 0.1, np.nan, rng.normal(size=150)),
            "shop": rng.choice(["north", "south"], 150),
            "stars": pd.array(
                [s if i % 3 == 0 else None for i, s in enumerate(STARS)], dtype="Int64"
            ),
        }
    )


def run(*arguments, code=0, **options):
    """Run the command in this process; its exit status must be the given one."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], **options)
    assert result.exit_code == code, result.output
    return result


def command(*arguments, **options):
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, timeout=300, check=False, **options
    )


def parquet_files(folder):
    """The rows of `frame` in three Parquet files, one of them without rows."""
    ends = [0, 20, 20, 150]
    for i in range(3):
        frame()[ends[i] : ends[i + 1]].to_parquet(folder / f"{i}.parquet", index=False)
    return find_files(str(folder / "*.parquet"))
