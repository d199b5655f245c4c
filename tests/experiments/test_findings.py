"""The comparisons behind the verdicts."""

import numpy as np
import pytest
from problems import study_results
from scipy.stats import wilcoxon

from tordinal.experiments.findings import Finding, compare, holm


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


def test_corrected_p_values_are_those_of_holm():
    p = [0.01, 0.01, 0.02, 0.2, 0.5]
    corrected = holm(p)
    assert [corrected[v] for v in p] == pytest.approx([0.05, 0.05, 0.06, 0.4, 0.5])
    finding = Finding()
    finding.add_less((1.0, 2.0, 0.01), "sure")
    finding.add_less((1.0, 2.0, 0.02), "perhaps")
    finding.add(True, "seen")
    assert finding.verdict() == "holds"
    assert finding.verdict({0.01: 0.03, 0.02: 0.06}) == "holds in part"
    assert finding.passed({0.01: 0.03, 0.02: 0.06}) == 2
