"""How each claim of the paper is checked on the table of results."""

from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from tordinal.experiments.cells import BENCHMARK, SENTIMENT
from tordinal.experiments.findings import (
    BOTH,
    FEWEST,
    Check,
    Finding,
    by_seed,
    compare,
    gains,
    less,
    pick,
    swapped,
)
from tordinal.experiments.methods import PAPER

SVOR = ("SVOR-EXC", "SVOR-IMC")
GUESSING = 0.8  # zero-one error of guessing among five equally frequent classes


def _better(
    finding: Finding,
    r: pd.DataFrame,
    study: str,
    names: tuple[str, ...],
    one: str,
    others: tuple[str, ...],
    error: str,
) -> Finding:
    """Check that a method has a significantly smaller error than others on each data set."""
    for dataset, other in product(names, others):
        a, b, p = compare(r, study, dataset, one, other, error)
        finding.add_less((a, b, p), f"{dataset}: {one} {a:.3f}, {other} {b:.3f}")
    return finding


def _means(r: pd.DataFrame, dataset: str, error: str) -> pd.DataFrame:
    """Mean errors on a benchmark set by number of labels, over runs that all the methods have."""
    runs = pick(r, study="benchmark", dataset=dataset)
    table = runs.pivot_table(index=["labels", "seed"], columns="method", values=error)
    return table.reindex(columns=list(PAPER)).dropna().groupby(level="labels").mean()


# Benchmark sets -----------------------------------------------------------------------------------


def tor_best(r: pd.DataFrame) -> Finding:
    """TOR has the least zero-one error."""
    return _better(
        Finding(), r, "benchmark", BENCHMARK, "TOR", ("RED-SVM", *SVOR, "M-TSVM"), "zero_one"
    )


def _margin(
    finding: Finding, r: pd.DataFrame, study: str, dataset: str, other: str, least: float
) -> None:
    """Check that TOR is better at every number of labels, by a margin."""
    a, b, p = compare(r, study, dataset, "TOR", other, "zero_one")
    gain = 100 * gains(r, study, dataset, "zero_one", other, by="labels")
    if len(gain):
        span = (
            f"by number of labels {gain.min():+.1f} to {gain.max():+.1f} points better than {other}"
        )
        finding.add_less(
            (a, b, p), f"{dataset}: {span}; {a:.3f} against {b:.3f}", enough=gain.min() >= least
        )


def tor_over_svor(r: pd.DataFrame) -> Finding:
    """TOR is at least 2 points below SVOR."""
    finding = Finding()
    for dataset, other in product(BENCHMARK, SVOR):
        _margin(finding, r, "benchmark", dataset, other, 2.0)
    return finding


def svor_alike(r: pd.DataFrame) -> Finding:
    """Both SVOR methods have similar errors."""
    finding = Finding()
    for dataset in BENCHMARK:
        a, b, _ = compare(r, "benchmark", dataset, "SVOR-EXC", "SVOR-IMC", "zero_one")
        if np.isfinite(a):
            finding.add(
                abs(a - b) < 0.01,
                f"{dataset}: SVOR-EXC {a:.3f}, SVOR-IMC {b:.3f} (less than a point apart; no test)",
            )
    return finding


def red_over_svor(r: pd.DataFrame) -> Finding:
    """RED-SVM has a smaller error than SVOR."""
    return _better(Finding(), r, "benchmark", BENCHMARK, "RED-SVM", SVOR, "zero_one")


def gains_by_set(r: pd.DataFrame) -> Finding:
    """TOR gains more on Bank and Census."""
    finding = Finding()
    for high, low in product(("bank", "census"), ("abalone", "california")):
        a, b = (gains(r, "benchmark", name, "zero_one") for name in (low, high))
        if min(len(a), len(b)) >= FEWEST:
            # Realisations of two data sets have nothing in common: the test is not paired.
            p = float(mannwhitneyu(a, b, alternative="less").pvalue)
            points = f"{high} {100 * b.mean():+.1f} points, on {low} {100 * a.mean():+.1f}"
            finding.add_less((a.mean(), b.mean(), p), f"gain over RED-SVM on {points}")
    return finding


def mtsvm_mostly_worst(r: pd.DataFrame) -> Finding:
    """M-TSVM has the largest zero-one error in most experiments."""
    finding = Finding()
    for dataset in BENCHMARK:
        means = _means(r, dataset, "zero_one")
        if len(means):
            worst = int((means.idxmax(axis=1) == "M-TSVM").sum())
            others = means.drop(columns="M-TSVM").mean()
            finding.add(
                2 * worst > len(means),
                f"{dataset}: worst at {worst} of {len(means)} numbers of labels; "
                f"M-TSVM {means['M-TSVM'].mean():.3f}, next {others.idxmax()} {others.max():.3f} "
                "(no test)",
            )
    return finding


def mtsvm_worst_mae(r: pd.DataFrame) -> Finding:
    """M-TSVM has the largest absolute error."""
    finding = Finding()
    for dataset in BENCHMARK:
        others = _means(r, dataset, "mae").drop(columns="M-TSVM").mean()
        if others.notna().all():
            worst = str(others.idxmax())
            a, b, p = compare(r, "benchmark", dataset, worst, "M-TSVM", "mae")
            finding.add_less((a, b, p), f"{dataset}: M-TSVM {b:.3f}, next {worst} {a:.3f}")
    return finding


def tor_not_best_mae(r: pd.DataFrame) -> Finding:
    """Another method has a smaller absolute error than TOR."""
    finding = Finding()
    for dataset in BENCHMARK:
        others = _means(r, dataset, "mae").drop(columns="TOR").mean()
        if others.notna().all():
            best = str(others.idxmin())
            a, b, p = compare(r, "benchmark", dataset, best, "TOR", "mae")
            # The best of the others was picked from the results: Bonferroni's correction.
            finding.add_less(
                (a, b, min(1.0, len(others) * p)),
                f"{dataset}: TOR {b:.3f}, best other {best} {a:.3f}, "
                f"p-value times the {len(others)} others",
            )
    return finding


# Algorithm 3's data -------------------------------------------------------------------------------


def red_deteriorates(r: pd.DataFrame) -> Finding:
    """The errors of the initialisation rise with p."""
    finding, rows = Finding(), swapped(r, "synthetic")
    for error, name in BOTH.items():
        mean = rows.groupby("setting")[f"initial_{error}"].mean()
        if len(mean) > 2:
            steps = mean.diff().dropna()
            finding.add(
                (steps > 0).all(),
                f"{name}: {mean.iloc[0]:.3f} at p = {mean.index[0]}, "
                f"{mean.iloc[-1]:.3f} at {mean.index[-1]}; "
                f"it rises in {(steps > 0).sum()} of {len(steps)} steps (no test)",
            )
    return finding


def largest_near_tenth(r: pd.DataFrame) -> Finding:
    """The gain is largest at p = 0.1, and smaller at 0."""
    finding, rows = Finding(), swapped(r, "synthetic")
    for error, name in BOTH.items():
        mean = rows.groupby("setting")[f"gain_{error}"].mean()
        if len(mean) > 2 and {0.0, 0.1} <= set(mean.index):
            top = mean.idxmax()
            finding.add(
                abs(top - 0.1) < 0.05,
                f"{name}: falls most at p = {top}, by {mean[top]:.4f}; at 0.1 {mean[0.1]:.4f} "
                "(no test)",
            )
            a, b, p = less(*(by_seed(pick(rows, setting=s), f"gain_{error}") for s in (0.0, 0.1)))
            finding.add_less(
                (a, b, p), f"{name}: falls by {a:.4f} without overlap (0) and by {b:.4f} at 0.1"
            )
    return finding


def fading(r: pd.DataFrame) -> Finding:
    """The gain falls from p = 0.2 on."""
    finding, rows = Finding(), swapped(r, "synthetic")
    settings = sorted(s for s in set(rows["setting"]) if s >= 0.2)
    for error, name in BOTH.items():
        if len(settings) > 2:
            a, b, p = less(
                *(
                    by_seed(pick(rows, setting=s), f"gain_{error}")
                    for s in (settings[-1], settings[0])
                )
            )
            finding.add_less(
                (a, b, p),
                f"{name}: falls by {b:.4f} at {settings[0]} and by {a:.4f} at {settings[-1]}",
            )
    return finding


def failing(r: pd.DataFrame) -> Finding:
    """Both are within ten points of guessing from p = 0.6 on."""
    finding, rows = Finding(), swapped(r, "synthetic")
    for p, group in rows[rows["setting"] >= 0.6].groupby("setting"):
        before, after = group["initial_zero_one"].mean(), group["zero_one"].mean()
        finding.add(
            min(before, after) > GUESSING - 0.1,
            f"p = {p}: RED-SVM {before:.3f}, TOR {after:.3f}, guessing {GUESSING:.3f} "
            "(within 0.1 of it; no test)",
        )
    return finding


# C1 -----------------------------------------------------------------------------------------------


def every_C(r: pd.DataFrame) -> Finding:
    """TOR is better at every C1."""
    finding = Finding()
    for (dataset, C), group in r[r["study"] == "sensitivity"].groupby(["dataset", "setting"]):
        a, b, p = compare(group, "sensitivity", str(dataset), "TOR", "RED-SVM", "zero_one")
        finding.add_less((a, b, p), f"{dataset}, C1 = {C:g}: TOR {a:.3f}, RED-SVM {b:.3f}")
    return finding


def steadier(r: pd.DataFrame) -> Finding:
    """TOR's error varies less over C1."""
    finding = Finding()
    for dataset, group in r[r["study"] == "sensitivity"].groupby("dataset"):
        table = group.pivot_table(
            index="seed", columns=["method", "setting"], values="zero_one"
        ).dropna()
        if {"TOR", "RED-SVM"} <= set(group["method"]):
            a, b, p = less(
                *(table[m].max(axis=1) - table[m].min(axis=1) for m in ("TOR", "RED-SVM"))
            )
            finding.add_less(
                (a, b, p), f"{dataset}: range over C1 of TOR {a:.3f}, of RED-SVM {b:.3f}"
            )
    return finding


# Sentiment sets -----------------------------------------------------------------------------------


def sentiment_gain(r: pd.DataFrame) -> Finding:
    """TOR is at least 8 points better."""
    finding = Finding()
    for dataset in SENTIMENT:
        _margin(finding, r, "sentiment", dataset, "RED-SVM", 8.0)
    return finding


def larger_on_sentiment(r: pd.DataFrame) -> Finding:
    """TOR gains more on the sentiment sets than on the benchmark sets."""
    finding = Finding()
    for error, name in BOTH.items():
        mean = {
            study: [gain.mean() for n in names if len(gain := gains(r, study, n, error))]
            for study, names in (("benchmark", BENCHMARK), ("sentiment", SENTIMENT))
        }
        if all(mean.values()):
            described = "; ".join(
                f"{s} {', '.join(f'{v:+.3f}' for v in values)}" for s, values in mean.items()
            )
            finding.add(
                np.mean(mean["sentiment"]) > np.mean(mean["benchmark"]),
                f"{name}, gain over RED-SVM: {described} (no test)",
            )
    return finding


def few_beat_many(r: pd.DataFrame) -> Finding:
    """TOR with 100 labels is better than RED-SVM with 400."""
    finding = Finding()
    for dataset in SENTIMENT:
        runs = pick(r, study="sentiment", dataset=dataset)
        few, many = pick(runs, method="TOR", labels=100), pick(runs, method="RED-SVM", labels=400)
        a, b, p = less(by_seed(few, "zero_one"), by_seed(many, "zero_one"))
        finding.add_less(
            (a, b, p), f"{dataset}: TOR with 100 labels {a:.3f}, RED-SVM with 400 {b:.3f}"
        )
    return finding


def red_mae_near_one(r: pd.DataFrame) -> Finding:
    """RED-SVM is wrong by about one with 100 labels."""
    finding = Finding()
    for dataset in SENTIMENT:
        runs = pick(r, study="sentiment", dataset=dataset, method="RED-SVM", labels=100)
        if len(runs):
            finding.add(
                abs(runs["mae"].mean() - 1) < 0.15,
                f"{dataset}: {runs['mae'].mean():.3f} (within 0.15; no test)",
            )
    return finding


def sentiment_mae(r: pd.DataFrame) -> Finding:
    """TOR has the smallest absolute error."""
    return _better(Finding(), r, "sentiment", SENTIMENT, "TOR", ("RED-SVM", "M-TSVM"), "mae")


def mtsvm_with_few(r: pd.DataFrame) -> Finding:
    """M-TSVM has a smaller absolute error than RED-SVM with 100 labels."""
    return _better(
        Finding(), pick(r, labels=100), "sentiment", SENTIMENT, "M-TSVM", ("RED-SVM",), "mae"
    )


def spread(r: pd.DataFrame) -> Finding:
    """The standard deviation over realisations is smaller than that of RED-SVM."""
    finding = Finding()
    for dataset in SENTIMENT:
        deviation = (
            pick(r, study="sentiment", dataset=dataset)
            .groupby(["method", "labels"])["zero_one"]
            .std()
        )
        mean = deviation.groupby("method").mean()
        for method in ("TOR", "M-TSVM"):
            if {method, "RED-SVM"} <= set(mean.index) and np.isfinite(mean["RED-SVM"]):
                finding.add(
                    mean[method] < mean["RED-SVM"],
                    f"{dataset}: deviation of {method} {mean[method]:.4f}, "
                    f"of RED-SVM {mean['RED-SVM']:.4f} (no test)",
                )
    return finding


# Swapping -----------------------------------------------------------------------------------------


def swaps_lower_objective(r: pd.DataFrame) -> Finding:
    """The objective is lower after every swap."""
    finding = Finding()
    rows = r[r["method"] == "TOR"]
    for study, group in rows.groupby("study") if "rises" in rows else ():
        swaps, rises = int(group["swaps"].sum()), int(group["rises"].sum())
        finding.add(
            rises == 0,
            f"{study}: {swaps:,} pairs swapped in {len(group):,} runs, {rises} trainings not lower",
        )
    return finding


def swapping_lowers_errors(r: pd.DataFrame) -> Finding:
    """Swapping lowers both errors."""
    finding, rows = Finding(), swapped(r, "swapping")
    for (dataset, group), (error, name) in product(rows.groupby("dataset"), BOTH.items()):
        a, b, p = less(by_seed(group, error), by_seed(group, f"initial_{error}"))
        finding.add_less((a, b, p), f"{dataset}, {name}: {b:.4f} before, {a:.4f} after")
    return finding


def less_with_labels(value: str) -> Check:
    """Something about TOR falls between the fewest and the most labels."""

    def check(r: pd.DataFrame) -> Finding:
        finding, rows = Finding(), swapped(r, "swapping")
        for dataset, group in rows.groupby("dataset"):
            fewest, most = group["labels"].min(), group["labels"].max()
            if fewest < most:
                a, b, p = less(*(by_seed(pick(group, labels=n), value) for n in (most, fewest)))
                finding.add_less(
                    (a, b, p), f"{dataset}: {b:.3g} with {fewest} labels, {a:.3g} with {most}"
                )
        return finding

    return check
