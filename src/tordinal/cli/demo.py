"""``tordinal demo``: `tordinal label` on data that come with scikit-learn."""

from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from sklearn.datasets import load_diabetes

from tordinal.cli.label import Job, run_label
from tordinal.datasets import make_reviews, quantize
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.tables.settings import Settings
from tordinal.tables.values import TableError


def run_demo(out: Path, n_labels: int, seed: int) -> None:
    """Hide most grades, rate the table with ``tordinal label``, and compare with the truth."""
    console = Console()
    data = load_diabetes(as_frame=True, scaled=False)
    grade = quantize(data.target, n_ranks=5)
    kept = np.zeros(len(grade), dtype=bool)
    kept[np.random.default_rng(seed).permutation(len(grade))[:n_labels]] = True
    out.mkdir(parents=True, exist_ok=True)
    table = data.data.assign(grade=pd.array(np.where(kept, grade, 0), dtype="Int64"))
    table.loc[~kept, "grade"] = pd.NA
    table.to_csv(out / "diabetes.csv", index=False)
    names = {
        name: str(out / name)
        for name in ("diabetes.csv", "graded.csv", "report.html", "model.skops")
    }
    console.print(
        f"[bold]{len(grade)}[/] patients, 10 measurements each, disease progression in 5 grades; "
        f"[bold]{n_labels}[/] grades are known, the others hidden.\n"
        + escape(
            f"$ tordinal label {names['diabetes.csv']} --target grade -o {names['graded.csv']} "
            f"--report {names['report.html']} --model {names['model.skops']}"
        ),
        highlight=False,
        soft_wrap=True,
    )
    job = Job(
        file=names["diabetes.csv"], target="grade", out=names["graded.csv"],
        report=names["report.html"], model=names["model.skops"], force=True,
    )  # fmt: skip
    run_label(job, Settings())
    hidden = grade[~kept]
    predicted = pd.read_csv(out / "graded.csv")["grade_predicted"].to_numpy()[~kept]
    guess = np.full(len(hidden), int(np.median(grade[kept])))
    console.print(
        "Compared with the hidden grades: "
        f"{100 * mean_zero_one_error(hidden, predicted):.0f} % wrong, "
        f"off by {mean_absolute_error(hidden, predicted):.2f} steps on average "
        f"(always predicting the same grade: {100 * mean_zero_one_error(hidden, guess):.0f} %, "
        f"{mean_absolute_error(hidden, guess):.2f}).\n"
        f"Open {escape(names['report.html'])} in a browser.",
        highlight=False,
        soft_wrap=True,
    )


def write_reviews(path: Path, seed: int) -> None:
    """Write a table of made-up reviews of three products, every fifth of them with stars."""
    if path.exists():
        raise TableError(f"{path} exists already; name another file, or remove it")
    texts, stars = make_reviews(300, random_state=seed)
    rng = np.random.default_rng(seed)
    kept = rng.permutation(300)[:60]
    given = pd.Series(stars, dtype="Int64").where(np.isin(np.arange(300), kept))
    # Some products are better than others.
    product = np.array(["kettle", "lamp", "radio"])[
        np.digitize(stars + rng.normal(0, 2, 300), [2, 4])
    ]
    pd.DataFrame({"product": product, "review": texts, "stars": given}).to_csv(path, index=False)
    Console().print(
        f"Written: {escape(str(path))}, 300 reviews, 60 of them with stars. Rate the rest:\n"
        + escape(
            f"$ tordinal label {path} --text review --target stars -o rated.csv "
            "--report report.html"
        ),
        highlight=False,
        soft_wrap=True,
    )
