"""``tordinal demo``: the main job on data that ships with scikit-learn."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from tordinal import REDSVM, TOR
from tordinal.datasets import quantize
from tordinal.metrics import mean_absolute_error, mean_zero_one_error


def run_demo(out: Path, n_labels: int, seed: int) -> None:
    """Hide most grades, write the table, grade the rest with TOR and RED-SVM, and show how well that went."""
    console = Console()
    data = load_diabetes(as_frame=True)
    grade = quantize(data.target, n_ranks=5)
    kept = np.zeros(len(grade), dtype=bool)
    kept[np.random.default_rng(seed).permutation(len(grade))[:n_labels]] = True
    out.mkdir(parents=True, exist_ok=True)
    table = data.data.assign(grade=pd.array(np.where(kept, grade, 0), dtype="Int64"))
    table.loc[~kept, "grade"] = pd.NA
    table.to_csv(out / "diabetes.csv", index=False)
    console.print(
        f"[bold]{len(grade)}[/] patients, 10 measurements each, disease progression in 5 grades; "
        f"[bold]{n_labels}[/] grades are known, the others hidden."
    )

    X = StandardScaler().fit_transform(data.data)
    y = np.where(kept, grade, -1)
    shown = Table("method", "zero-one error", "absolute error", "objective", "trainings", "swaps", "seconds")
    graded = table.copy()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("compiling (once; kept on disk)")
        REDSVM(kernel="perceptron").fit(X[:20], grade[:20])
        for name, model, rows in (
            ("RED-SVM", REDSVM(kernel="perceptron"), kept),
            ("TOR", TOR(kernel="perceptron"), kept | ~kept),
        ):
            progress.update(task, description=f"grading with {name}")
            start = time.perf_counter()
            model.fit(X[rows], y[rows])
            seconds = time.perf_counter() - start
            predicted = model.transduction_ if name == "TOR" else np.where(kept, grade, model.predict(X))
            graded[f"grade_{name.lower().replace('-', '')}"] = predicted
            shown.add_row(
                name,
                f"{mean_zero_one_error(grade[~kept], predicted[~kept]):.3f}",
                f"{mean_absolute_error(grade[~kept], predicted[~kept]):.3f}",
                f"{model.objective_:.2f}",
                str(len(model.history_)),
                str(sum(record["swaps"] for record in model.history_)),
                f"{seconds:.2f}",
            )
    graded.to_csv(out / "diabetes-graded.csv", index=False)
    console.print(shown)
    console.print("Errors are measured on the hidden grades, which neither method saw.")
    console.print(f"The table to grade:  {out / 'diabetes.csv'}\nThe graded table:    {out / 'diabetes-graded.csv'}")
