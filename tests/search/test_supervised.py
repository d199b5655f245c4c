import numpy as np
from problems import hide, ordinal_problem, search_data

from tordinal import REDSVM, TORCV
from tordinal.progress import Progress
from tordinal.search.candidates import Candidate
from tordinal.search.supervised import best_settings, cross_validate

SILENT = Progress(TORCV(), 1)


def test_supervised_predictions_are_those_of_the_estimator():
    X, y = ordinal_problem(90, 3)
    data = search_data(X, hide(y, 30), cv=3)
    candidates = [Candidate(C, "linear", "hinge") for C in (0.1, 1.0)]
    trials = cross_validate(data, candidates, SILENT)
    for trial, C in zip(trials, (0.1, 1.0), strict=True):
        for split, labels in trial.labels.items():
            hidden = data.labeled[data.held_out(split)]
            known = np.setdiff1d(data.labeled, hidden)
            model = REDSVM(C=C, tol=1e-5).fit(X[known], data.rows.rank[known])
            near = np.abs(model.predict_projection(X[hidden])[:, None] - model.thresholds_) < 0.02
            clear = ~near.any(axis=1)  # of a threshold, which tolerances move
            np.testing.assert_array_equal(labels[clear], model.predict(X[hidden])[clear])
            assert clear.mean() > 0.7
        assert len(trial.scores) == 6


def test_progress_counts_every_fit():
    X, y = ordinal_problem(60, 3)
    heard = []
    owner = TORCV(callback=lambda *what: heard.append(what))
    data = search_data(X, hide(y, 20), cv=3)
    candidates = [Candidate(1.0, kernel, "hinge") for kernel in ("linear", "rbf")]
    cross_validate(data, candidates, Progress(owner, 1))
    assert heard == [("supervised candidates", done + 1, 12) for done in range(12)]


def test_the_best_settings_are_near_the_top():
    X, y = ordinal_problem(90, 3)
    data = search_data(X, hide(y, 30), cv=3)
    candidates = [
        Candidate(C, kernel, "hinge") for kernel in ("linear", "rbf") for C in (1e-7, 0.1, 1.0)
    ]
    best = best_settings(cross_validate(data, candidates, SILENT))
    assert {c.kernel for c in best} == {"linear", "rbf"}
    assert len(best) == 2
    assert all(c.C > 1e-7 for c in best)
