"""Verdicts on a made-up table of results."""

import pytest
from problems import study_results

from tordinal.experiments import claims
from tordinal.experiments.claims import CLAIMS, claims_page, judge, read_reasons


def test_every_claim_is_judged(monkeypatch):
    judged = judge(study_results())
    verdict = {j.text: j.finding.verdict() for j in judged}
    assert len(CLAIMS) == 25
    assert len(verdict) == 30  # five of them are about the absolute error on reviews
    assert verdict["TOR has the least zero-one error on every benchmark set"] == "holds"
    assert verdict["TOR is not the best in absolute error on the benchmark sets"] == "does not hold"
    assert verdict["The gain of TOR is largest near p = 0.1, and smaller at p = 0"] == "holds"
    assert verdict["Label swapping strictly decreases the objective"] == "holds in part"
    assert verdict["TOR needs fewer trainings as labels grow"] == "holds"
    assert "not measured" not in verdict.values()
    with monkeypatch.context() as patch:
        patch.setattr(claims, "judge", lambda results: judged)  # not all of it a second time
        page = claims_page(study_results())
    assert page.count("| VI-") == 29
    assert page.count("| abstract") == 1
    assert "sentiment: 560 pairs swapped in 140 runs, 12 trainings not lower" in page
    few = judge(study_results(studies=("sentiment",)))
    measured = [j.claim.section for j in few if j.finding.verdict() != "not measured"]
    assert measured == ["abstract", *["VI-B"] * 9]


def test_a_reason_is_given_only_for_the_verdict_it_was_written_for(tmp_path):
    path = tmp_path / "reasons.toml"
    assert read_reasons(path) == {}
    best, not_best = (
        "TOR has the least zero-one error on every benchmark set",
        "M-TSVM is worst in absolute error",
    )
    path.write_text(
        f'["{best}"]\nverdict = "holds"\nwhy = "the table was made so"\n'
        f'["{not_best}"]\nverdict = "holds"\nwhy = "it is not so"\n'
    )
    page = claims_page(study_results(studies=("benchmark",)), read_reasons(path))
    assert f"| {best} | holds | does not hold | 16 of 16 | the table was made so |" in page
    assert "it is not so" not in page
    for wrong in (
        '["no claim"]\nverdict = "holds"\nwhy = "x"',
        f'["{best}"]\nwhy = "x"',
        "no TOML",
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"reasons.toml"):
            read_reasons(path)


def test_absolute_errors_on_reviews_are_judged_in_stars_and_in_ranks():
    results = study_results(studies=("sentiment",))
    near = results["dataset"].isin(["books", "dvd", "electronics", "kitchen"])
    results.loc[near, "mae"] = results.loc[near, "mae"] + 0.9
    text = "With 100 labels the absolute error of RED-SVM is close to one"
    judged = {j.text: j.finding for j in judge(results)}
    assert judged[f"{text} (in stars)"].verdict() == "does not hold"
    assert (
        judged[f"{text} (in ranks)"].checks[0].text != judged[f"{text} (in stars)"].checks[0].text
    )
    plain = judge(results.drop(columns=["rank_mae", "initial_rank_mae"]))
    assert [j.text for j in plain] == [claim.text for claim in CLAIMS]


def test_a_page_of_mixed_results_says_so(monkeypatch):
    monkeypatch.setattr(claims, "CLAIMS", CLAIMS[:1])  # which the page has below its origin
    results = study_results().assign(version="0.2.0", commit="a1")
    assert "(tordinal 0.2.0 (a1))" in claims_page(results)
    results.loc[results.index[0], "commit"] = "b2"
    assert "MIXED: tordinal 0.2.0 (a1)" in claims_page(results)
