"""The README: its numbers come from stored results, and its two lines print what it shows."""

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def section(title):
    """Text of a section in one line."""
    return " ".join(README.split(f"\n## {title}\n")[1].split("\n## ")[0].split())


def record(name, **wanted):
    """The one record of a benchmark with these values."""
    records = json.loads((RESULTS / f"{name}.json").read_text())["records"]
    (found,) = [r for r in records if wanted.items() <= r.items()]
    return found


def fast():
    largest = record("redsvm", rows=22784, kernel="perceptron", C=1.0)
    census = record("tor", data="census, 22,484 rows, 100 labels, perceptron")
    small, large = (record("label", table="reviews", rows=n)["s"] for n in (5000, 100_000))
    yield (
        f"Training RED-SVM on 22,784 rows takes {largest['tordinal s']:.1f} s; the original "
        f"authors' C code takes {largest['peer s']:.0f} s."
    )
    yield (
        f"A whole TOR fit of 22,484 rows with {census['trainings']} trainings takes "
        f"{census['tordinal s']:.1f} s; one training of that C code {census['peer s']:.0f} s."
    )
    yield f"`tordinal label` rates 5,000 reviews in {small:.0f} s, and 100,000 in {large:.0f} s."


def good():
    methods = {
        "`TORCV`": "TORCV",
        "`TORCV` without the unrated rows": "TORCV supervised",
        "RED-SVM": "RED-SVM",
        "random forest": "random forest",
        "mord's LogisticAT": "mord LogisticAT",
    }
    for title, method in methods.items():
        found = record("board", labels=60, method=method)
        yield f"| {title} | {found['zero-one']:.3f} | {found['MAE']:.3f} |"
    held = record("promises", set="all")
    yield (
        f"in {held['wrong inside the interval, %']:.0f} % (zero-one) and "
        f"{held['off inside the interval, %']:.0f} % (absolute) of {held['draws']} draws."
    )
    yield f"{len({r['set'] for r in records_of_sets()})} datasets, with 60 ratings"
    n_claims, verdicts, _ = claims()
    yield (
        f"The paper makes {n_claims} claims; five can be read in two ways, which makes "
        f"{sum(verdicts.values())} verdicts. {verdicts['holds']} hold in"
    )
    yield f"{verdicts['holds in part']} hold in part and {verdicts['does not hold']} do not."


def claims():
    """Number of claims, and of each verdict on their readings, plain and corrected."""
    text = (ROOT / "docs" / "study" / "claims.md").read_text()
    verdict = "(holds|holds in part|does not hold)"
    rows = re.findall(rf"^\| [\w-]+ \| (.+?) \| {verdict} \| {verdict} \|", text, re.MULTILINE)
    names = {re.sub(r" \(in (stars|ranks)\)$", "", claim) for claim, _, _ in rows}
    assert len(rows) == len(names) + 5  # five of them are read in two ways
    return len(names), Counter(v for _, v, _ in rows), Counter(v for _, _, v in rows)


def records_of_sets():
    return [r for r in json.loads((RESULTS / "board.json").read_text())["records"] if "set" in r]


@pytest.mark.parametrize(("title", "sentences"), [("How fast", fast), ("How good", good)])
def test_every_number_comes_from_a_stored_result(title, sentences):
    text = section(title)
    for sentence in sentences():
        assert sentence in text
        text = text.replace(sentence, "")
    assert re.findall(r"\d[\d.,]*", text.replace("On 2 cores", "")) == []


def test_the_study_counts_the_same():
    text = " ".join((ROOT / "docs" / "study.md").read_text().split())
    n_claims, verdicts, corrected = claims()
    assert f"The paper makes {n_claims} claims." in text
    assert (
        f"{sum(verdicts.values())} verdicts: {verdicts['holds']} hold, "
        f"{verdicts['holds in part']} hold in part and {verdicts['does not hold']} do not."
    ) in text
    assert (
        f'{corrected["holds"]} of the {sum(corrected.values())} verdicts are "holds", '
        f'{corrected["holds in part"]} "holds in part" and {corrected["does not hold"]} "does not'
    ) in text


def load_script():
    spec = importlib.util.spec_from_file_location("make_report", ROOT / "docs" / "make_report.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_two_lines_print_what_is_shown(tmp_path, monkeypatch):
    script = load_script()
    shown = " ".join(re.search(r"```text\n(.*?)```", README, re.DOTALL).group(1).split())
    assert shown in " ".join(script.PRINTED.read_text().split())
    monkeypatch.setenv("COLUMNS", "80")
    assert len(script.pasted_lines()) == 2
    printed = " ".join(script.run_lines(str(tmp_path)).split())
    # Other versions of the dependencies may choose another model.
    digits = re.compile(r"[\d.]*\d")
    assert digits.sub("N", shown) in digits.sub("N", printed)
    assert (tmp_path / "report.html").exists()


def test_the_commands_that_others_rely_on_stay():
    for command in (
        "python -m pip install . && tordinal demo",
        'python -m pip install ".[test]" && python -m pytest',
    ):
        assert f"\n```\n{command}\n```\n" in README


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    for link in links:
        path, _, anchor = link.partition("#")
        target = ROOT / path
        assert target.exists(), link
        if anchor:
            assert re.search(rf"^#+ {anchor}$", target.read_text(), re.MULTILINE), link
