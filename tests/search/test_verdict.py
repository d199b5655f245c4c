import re

import numpy as np
from problems import hide, ordinal_problem

from tordinal import TORCV
from tordinal.search.verdict import effect


def test_errors_and_verdict_follow_from_the_held_out_predictions():
    X, y = ordinal_problem(120, 3)
    labels = hide(y, 40)
    model = TORCV(C=[0.1, 1.0], kernel="linear", cv=3).fit(X, labels)
    known = labels >= 0
    distance = np.abs(model.cv_predictions_[known].astype(int) - y[known])
    assert model.cv_errors_["this model"] == (np.mean(distance > 0), np.mean(distance))
    assert set(model.cv_errors_) == {"this model", "supervised", "transductive"}
    said = re.fullmatch(
        r"transduction (helps|does not help|makes no visible difference) here: MAE (\S+) against "
        r"(\S+) supervised \(3-fold, 40 labels\)",
        model.verdict_,
    )
    plain, others = (model.cv_errors_[kind][1] for kind in ("supervised", "transductive"))
    if others >= plain:
        assert said[1] != "helps"
    assert said[2] == f"{others:.2f}"
    assert said[3] == f"{plain:.2f}"
    results = model.cv_results_
    scores = results["mean_test_score"]
    ranks = results["rank_test_score"]
    best = np.argmin(ranks)
    assert scores[best] == scores[~results["dropped"]].max()


def test_without_transduction_it_says_so():
    X, y = ordinal_problem(60, 3)
    model = TORCV(C=[1.0], kernel="linear", cv=3, transduce=False).fit(X, hide(y, 30))
    assert model.verdict_.startswith("supervised only: MAE ")


def test_a_difference_within_chance_is_not_called_help():
    """Labels that no feature explains: whichever model is ahead, it is by chance."""
    rng = np.random.default_rng(0)
    said = []
    for seed in range(6):
        X, y = rng.normal(size=(150, 4)), np.arange(150) % 3
        model = TORCV(C=[0.1, 1.0], kernel="linear", cv=3, random_state=seed)
        said.append(model.fit(X, hide(y, 40)).verdict_)
    assert sum("makes no visible difference" in s for s in said) >= 4, said


def test_what_folds_disagree_about_is_chance():
    assert effect(0.02, 0.05, 5) == 0
    assert effect(0.05, 0.05, 5) == 1
    assert effect(-0.05, 0.05, 5) == -1
    assert effect(0.0, 0.0, 5) == 0
