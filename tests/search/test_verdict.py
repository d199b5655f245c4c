import re

import numpy as np
from problems import hide, ordinal_problem

from tordinal import TORCV


def test_errors_and_verdict_follow_from_the_held_out_predictions():
    X, y = ordinal_problem(120, 3)
    labels = hide(y, 40)
    model = TORCV(C=[0.1, 1.0], kernel="linear", cv=3).fit(X, labels)
    known = labels >= 0
    distance = np.abs(model.cv_predictions_[known].astype(int) - y[known])
    assert model.cv_errors_["this model"] == (np.mean(distance > 0), np.mean(distance))
    assert set(model.cv_errors_) == {"this model", "supervised", "transductive"}
    said = re.fullmatch(
        r"transduction (helps|does not help) here: MAE (\S+) against (\S+) supervised "
        r"\(3-fold, 40 labels\)",
        model.verdict_,
    )
    plain, others = (model.cv_errors_[kind][1] for kind in ("supervised", "transductive"))
    assert said[1] == ("helps" if others < plain else "does not help")
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
