import numpy as np

from tordinal.tables.columns import TableEncoder
from tordinal.tables.rating import rate
from tordinal.tables.results import Totals, card_of
from tordinal.tables.settings import Settings
from tordinal.tables.target import read_target


def test_totals_of_parts_add_up():
    rank, given = np.array([0, 1, 1, 0]), np.array([True, False, False, True])
    confidence = np.array([1.0, 0.85, 0.95, 1.0])
    whole = Totals.of(rank, given, confidence, 2)
    assert whole.counts == {"given": [2, 0], "predicted": [0, 2]}
    assert whole.sure == {80: 2, 90: 1}
    parts = [Totals.of(rank[s], given[s], confidence[s], 2) for s in (slice(1), slice(1, 4))]
    assert (parts[0] + parts[1]).counts == whole.counts
    assert whole.rows == 4


def test_results_of_a_small_table():
    values = np.arange(60.0) % 30 + np.arange(60) // 30 * 30.5
    grades = ["low" if v < 30 else "high" if i % 2 == 0 else "" for i, v in enumerate(values)]
    target = read_target("grade", grades, ["low", "high"])
    rating = rate(
        {"size": values.tolist()}, target, TableEncoder(), Settings(method="tor"), lambda *_: None
    )
    assert rating.given.sum() == 45
    assert rating.labels[59] == "high"
    assert (rating.confidence[rating.given] == 1.0).all()
    names = [row[0] for row in rating.error_rows]
    assert names[0] == "the model used here"
    assert names[-1] == "always the same rating"
    assert rating.expected_error.judgement == "useful"
    card = card_of(rating, "tor")
    assert (card["method"], card["rows"], card["ratings"]) == ("TOR", 60, 45)
    assert card["counts"]["given"] == [30, 15]
