"""Verdicts on a made-up table of results."""

from problems import study_results

from tordinal.experiments.claims import CLAIMS, claims_page, judge


def test_every_claim_is_judged():
    found = {claim.text: finding.verdict for claim, finding in judge(study_results())}
    assert len(found) == len(CLAIMS) == 25
    assert found["TOR has the least zero-one error on every benchmark set"] == "holds"
    assert found["TOR is not the best in absolute error on the benchmark sets"] == "does not hold"
    assert found["The gain of TOR is largest near p = 0.1, and smaller at p = 0"] == "holds"
    assert found["Label swapping strictly decreases the objective"] == "holds in part"
    assert found["TOR needs fewer trainings as labels grow"] == "holds"
    assert "not measured" not in found.values()
    page = claims_page(study_results())
    assert page.count("| VI-") == 24
    assert page.count("| abstract") == 1
    assert "sentiment: 560 pairs exchanged in 140 runs, 12 trainings not lower" in page
    few = judge(study_results(studies=("sentiment",)))
    measured = [claim.section for claim, finding in few if finding.verdict != "not measured"]
    assert measured == ["abstract", *["VI-B"] * 6]


def test_a_reason_is_given_only_for_the_verdict_it_was_written_for():
    table = study_results()
    for claim, found in judge(table):
        assert set(claim.why) <= {"holds", "holds in part", "does not hold"}
        assert claim.why.get(found.verdict, "") in claims_page(table)
