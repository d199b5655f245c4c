from types import SimpleNamespace

import numpy as np
import pytest

from tordinal import REDSVM
from tordinal.datasets import make_reviews
from tordinal.metrics import mean_absolute_error
from tordinal.tables.columns import TableEncoder
from tordinal.tables.rating import Settings, _verdict, rate
from tordinal.tables.target import read_target

TEXTS, STARS = make_reviews(200, random_state=1)


def rated(settings, labels=60, listen=lambda *_: None):
    cells = [str(s) if i < labels else "" for i, s in enumerate(STARS)]
    return rate(
        {"review": TEXTS}, read_target("stars", cells, None), TableEncoder(), settings, listen
    )


def test_given_ratings_stay_and_the_rest_is_better_than_a_guess():
    rating = rated(Settings())
    assert rating.labels[:60] == [str(s) for s in STARS[:60]]
    assert (rating.confidence[:60] == 1.0).all()
    predicted = np.array([int(v) for v in rating.labels[60:]])
    guess = mean_absolute_error(STARS[60:], np.full(140, 3))
    assert mean_absolute_error(STARS[60:], predicted) < 0.8 * guess
    assert set(rating.errors) == {"this model", "supervised", "transductive"}
    assert len(rating.held_out) == 60


@pytest.mark.parametrize("method", ["tor", "redsvm"])
def test_single_models_are_cross_validated_too(method):
    rating = rated(Settings(method=method))
    assert sorted(rating.held_out) == list(range(60))
    truth = rating.target.rank[rating.held_out]
    assert rating.errors["this model"][1] == mean_absolute_error(truth, rating.cv_rank)
    assert ("supervised" in rating.errors) == (method == "tor")
    np.testing.assert_allclose(rating.probability.sum(axis=1), 1.0)


def test_the_supervised_method_sees_rated_rows_only():
    rating = rated(Settings(method="redsvm", C=10.0))
    plain = REDSVM(C=10.0, kernel="linear").fit(rating.X[:60], rating.target.rank[:60])
    np.testing.assert_array_equal(rating.rank[60:], plain.predict(rating.X[60:]))


def test_two_ratings_are_too_few_to_choose_but_enough_to_rate():
    cells = ["1", "5"] + [""] * 18
    rating = rate(
        {"x": list(range(20))},
        read_target("t", cells, None),
        TableEncoder(columns=["x"]),
        Settings(),
        lambda *_: None,
    )
    assert any("too few ratings" in note for note in rating.notes)
    assert rating.errors == {}
    assert set(rating.labels) == {"1", "5"}


def test_progress_tells_what_is_done_of_how_much():
    heard = []
    rated(Settings(C=1.0, kernel="linear", loss="hinge"), listen=lambda *what: heard.append(what))
    stages = list(dict.fromkeys(name for name, _, _ in heard))
    assert stages == [
        "reading columns",
        "supervised candidates",
        "transductive candidates",
        "ensemble",
        "probabilities",
    ]
    assert all(0 <= done <= total for _, done, total in heard)


def verdict(with_them, without, difference, n=100):
    """What is said of two mean errors whose row-by-row difference has this spread."""
    rating = SimpleNamespace(
        transducer=object(), moved=3, selection=None, held_out=np.arange(n),
        errors={"this model": (0.4, 0.5), "supervised": (0.5, without),
                "transductive": (0.5, with_them)},
        spread={"transductive": 0.7, "difference": difference},
    )  # fmt: skip
    return _verdict(rating, "")


def test_a_difference_within_the_noise_is_not_oversold():
    assert "rows make no visible difference" in verdict(0.87, 0.88, 0.5)
    assert "rows make no visible difference" in verdict(0.80, 0.88, 0.5)  # 1.6 standard errors
    assert "rows help" in verdict(0.79, 0.88, 0.5)
    assert "rows do not help" in verdict(0.97, 0.88, 0.5)
    assert "rows help" in verdict(0.87, 0.88, 0.05)  # nearly the same in every row


def test_the_spread_of_the_difference_is_that_of_the_rows():
    rating = rated(Settings(method="tor"))
    truth = rating.target.rank[rating.held_out]
    gain = rating.errors["supervised"][1] - rating.errors["this model"][1]
    off = np.abs(truth - rating.cv_rank)
    assert rating.spread["difference"] > 0
    # Of distances that are whole numbers with this mean difference.
    assert rating.spread["difference"] >= np.sqrt(max(abs(gain) - gain**2, 0)) - 1e-9
    assert rating.spread["this model"] == off.std()
