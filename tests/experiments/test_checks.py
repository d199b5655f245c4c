"""Checks of single claims on a made-up table, and on the same table with two methods exchanged."""

import pytest
from problems import study_results

from tordinal.experiments import checks


@pytest.mark.parametrize("check", [checks.tor_best, checks.tor_over_svor])
def test_a_claim_about_tor_does_not_hold_where_its_errors_are_those_of_another(check):
    table = study_results(studies=("benchmark",))
    assert check(table).verdict() == "holds"
    swapped = {"TOR": "SVOR-EXC", "SVOR-EXC": "TOR"}
    finding = check(table.assign(method=table["method"].replace(swapped)))
    assert finding.verdict() != "holds"
    assert finding.passed() < len(finding.checks)
