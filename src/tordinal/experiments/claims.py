"""The claims of the paper's section VI and abstract: what was measured, a verdict, and the reason.

The reason for a verdict belongs to a study and not to this code: it is written by hand into
``reasons.toml`` beside the results, with the verdict that it explains, and not shown if the
results give another verdict.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tordinal.experiments import checks
from tordinal.experiments.cells import LABELS, MANY_LABELS
from tordinal.experiments.findings import LEVEL, Check, Finding, holm
from tordinal.experiments.table import describe_origins

__all__ = ["CLAIMS", "Claim", "Judged", "claims_page", "judge", "read_reasons"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Attributes
    ----------
    section : str
        The section that states it.
    text : str
        The claim itself.
    check : callable
        Measures it on a table of results.
    on_reviews : bool
        Whether it is about the absolute error on reviews, which is measured in stars and in ranks:
        there are no reviews of 3 stars, so 2 and 4 are two stars apart, and one rank.
    """

    section: str
    text: str
    check: Check
    on_reviews: bool = False


@dataclass(frozen=True)
class Judged:
    """A claim, the reading of the absolute error that it was judged by, and the finding."""

    claim: Claim
    reading: str
    finding: Finding

    @property
    def text(self) -> str:
        """The claim, with its reading where it has one."""
        return self.claim.text + (f" (in {self.reading})" if self.reading else "")


CLAIMS = [
    Claim(
        "abstract", "Label swapping strictly decreases the objective", checks.swaps_lower_objective
    ),
    Claim("VI-A1", "TOR has the least zero-one error on every benchmark set", checks.tor_best),
    Claim(
        "VI-A1",
        "TOR improves on SVOR-EXC and SVOR-IMC by at least 2 points, up to 6",
        checks.tor_over_svor,
    ),
    Claim("VI-A1", "SVOR-EXC and SVOR-IMC are similar on all benchmark sets", checks.svor_alike),
    Claim(
        "VI-A1",
        "RED-SVM improves significantly on SVOR-EXC and SVOR-IMC on all benchmark sets",
        checks.red_over_svor,
    ),
    Claim(
        "VI-A1",
        "TOR gains more over RED-SVM on Bank and Census than on the others",
        checks.gains_by_set,
    ),
    Claim(
        "VI-A1", "M-TSVM is worst in zero-one error in most experiments", checks.mtsvm_mostly_worst
    ),
    Claim("VI-A1", "M-TSVM is worst in absolute error", checks.mtsvm_worst_mae),
    Claim(
        "VI-A1",
        "TOR is not the best in absolute error on the benchmark sets",
        checks.tor_not_best_mae,
    ),
    Claim(
        "VI-A2", "On Algorithm 3's data RED-SVM deteriorates as p grows", checks.red_deteriorates
    ),
    Claim(
        "VI-A2",
        "The gain of TOR is largest near p = 0.1, and smaller at p = 0",
        checks.largest_near_tenth,
    ),
    Claim("VI-A2", "The gain fades from p = 0.2 on", checks.fading),
    Claim("VI-A2", "Both fail from p = 0.6 on", checks.failing),
    Claim(
        "VI-A2",
        "TOR gains more on the sentiment sets than on the benchmark sets",
        checks.larger_on_sentiment,
        on_reviews=True,
    ),
    Claim("VI-A3", "TOR is better than RED-SVM at every C1", checks.every_C),
    Claim("VI-A3", "TOR is steadier over C1 than RED-SVM", checks.steadier),
    Claim("VI-B", "TOR is 8 to 12 points better than RED-SVM on sentiment", checks.sentiment_gain),
    Claim("VI-B", "TOR with 100 labels is better than RED-SVM with 400", checks.few_beat_many),
    Claim(
        "VI-B",
        "With 100 labels the absolute error of RED-SVM is close to one",
        checks.red_mae_near_one,
        on_reviews=True,
    ),
    Claim(
        "VI-B",
        "TOR has a lower absolute error than RED-SVM and M-TSVM on sentiment",
        checks.sentiment_mae,
        on_reviews=True,
    ),
    Claim(
        "VI-B",
        "With few labels M-TSVM has a lower absolute error than RED-SVM",
        checks.mtsvm_with_few,
        on_reviews=True,
    ),
    Claim("VI-B", "TOR and M-TSVM spread less than RED-SVM", checks.spread),
    Claim(
        "VI-B",
        "Swapping lowers both errors on sentiment",
        checks.swapping_lowers_errors,
        on_reviews=True,
    ),
    Claim("VI-B", "Swapping helps less as labels grow", checks.less_with_labels("gain_zero_one")),
    Claim("VI-B", "TOR needs fewer trainings as labels grow", checks.less_with_labels("trainings")),
]


READINGS = ("stars", "ranks")


def judge(results: pd.DataFrame) -> list[Judged]:
    """Judge every claim by the results.

    Parameters
    ----------
    results : DataFrame
        The table of results.

    Returns
    -------
    findings : list of Judged
        Each claim and what was found, in stars and in ranks if that differs.
    """
    papers = results[results["labels"].isin((*LABELS, *MANY_LABELS))]
    both = "rank_mae" in papers and papers["rank_mae"].notna().any()
    ranks = papers
    if both:
        known = papers[papers["rank_mae"].notna()]
        ranks = known.assign(mae=known["rank_mae"], initial_mae=known["initial_rank_mae"])
    return [
        Judged(claim, reading, claim.check(ranks if reading == "ranks" else papers))
        for claim in CLAIMS
        for reading in (READINGS if claim.on_reviews and both else ("",))
    ]


def read_reasons(path: Path) -> dict[str, dict[str, str]]:
    """Reasons by claim, each with the ``verdict`` it explains and the ``why``; none without a file.

    Parameters
    ----------
    path : Path
        A TOML file.

    Returns
    -------
    reasons : dict
        What it holds.

    Raises
    ------
    ValueError
        If it is not such a file, or names an unknown claim.
    """
    if not path.is_file():
        return {}
    try:
        reasons = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    known = {claim.text for claim in CLAIMS} | {
        Judged(claim, reading, Finding()).text
        for claim in CLAIMS
        if claim.on_reviews
        for reading in READINGS
    }
    for text, reason in reasons.items():
        if text not in known or not isinstance(reason, dict) or set(reason) != {"verdict", "why"}:
            raise ValueError(f"{path}: [{text!r}] must name a claim and have verdict and why")
    return reasons


def claims_page(results: pd.DataFrame, reasons: dict[str, dict[str, str]] | None = None) -> str:
    """The page of claims, in Markdown.

    Parameters
    ----------
    results : DataFrame
        The table of results.
    reasons : dict or None
        Why a verdict came out, see `read_reasons`.

    Returns
    -------
    page : str
        A table, and the figures behind each verdict.
    """
    judged = judge(results)
    tests = [c.p for j in judged for c in j.finding.checks if c.p is not None]
    corrected = holm(tests)
    made_by = describe_origins(results)
    lines = [
        "# The paper's claims, measured",
        "",
        f"Made by `tordinal reproduce claims` from {len(results):,} results"
        + (f" ({made_by}). " if made_by else ". ")
        + "A p-value is that of a one-sided Wilcoxon test paired over realisations "
        f"(Mann-Whitney's test between data sets), at level {LEVEL}. "
        f"Behind it stands the value corrected for all {len(tests)} tests of this page by Holm's "
        "method, and the verdict is given by both. "
        "Realisations draw from the same rows, "
        "so it speaks about these data sets and no others. "
        '"Holds" means that every check passed, "holds in part" that some did. '
        "Errors are means over realisations and numbers of labels; a point is 1 % of the rows. "
        "Absolute errors on reviews are read twice: in stars, where 2 and 4 are two apart because "
        "there is no 3, and in ranks 1 to 4, as the paper's equation 13 counts.",
        "",
        "| section | the paper says | verdict | corrected | checks passed | why we think so |",
        "|---|---|---|---|---|---|",
    ]
    for j in judged:
        finding, verdict = j.finding, j.finding.verdict()
        passed = f"{finding.passed()} of {len(finding.checks)}"
        reason = (reasons or {}).get(j.text, {})
        why = reason["why"] if reason.get("verdict") == verdict else ""
        lines.append(
            f"| {j.claim.section} | {j.text} | {verdict} | {finding.verdict(corrected)} | {passed} "
            f"| {why} |"
        )
    for j in judged:
        lines += ["", f"## {j.text}", ""]
        lines += [f"Section {j.claim.section}: **{j.finding.verdict()}**.", ""]
        for c in j.finding.checks:
            p = "" if c.p is None else f" (p = {c.p:.2g}, corrected {corrected[c.p]:.2g})"
            lines.append(f"- {'yes' if c.passed() else 'no'}: {c.text}{p}")
    return "\n".join(lines) + "\n"
