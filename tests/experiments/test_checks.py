"""The comparisons behind the verdicts."""

import numpy as np
import pytest
from problems import study_results
from scipy.stats import wilcoxon

from tordinal.experiments.checks import compare


def test_paired_comparisons_agree_with_scipy():
    table = study_results()
    rows = table[(table["study"] == "sentiment") & (table["dataset"] == "dvd")]
    one, other = (
        rows[rows["method"] == m].groupby("seed")["mae"].mean() for m in ("TOR", "RED-SVM")
    )
    a, b, p = compare(table, "sentiment", "dvd", "TOR", "RED-SVM", "mae")
    assert (a, b) == pytest.approx((one.mean(), other.mean()))
    assert p == wilcoxon(one, other, alternative="less").pvalue == 1 / 32
    assert np.isnan(compare(table, "sentiment", "cars", "TOR", "RED-SVM", "mae")).all()
    # Runs that only one of the methods has do not count.
    partial = table.drop(rows[(rows["method"] == "TOR") & (rows["labels"] > 100)].index)
    shared = rows[rows["labels"] == 100].set_index("method")["mae"]
    assert compare(partial, "sentiment", "dvd", "TOR", "RED-SVM", "mae")[1] == pytest.approx(
        shared["RED-SVM"].mean()
    )
