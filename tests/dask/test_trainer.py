import itertools

import numpy as np
import pytest
from clusters import in_blocks
from problems import hide, ordinal_problem
from sklearn.exceptions import ConvergenceWarning

import tordinal
from tordinal.dask import TOR, trainer


@pytest.mark.parametrize(("loss", "tol"), [("hinge", 0.3), ("laplacian", 1e-3)])
def test_a_warm_start_that_is_better_is_kept(client, loss, tol, monkeypatch):
    """With a coarse tolerance a swap gains less than a training may lose."""
    kept = []
    original = trainer.replace

    def noted(fit, **changes):
        kept.append("next_start" in changes)
        return original(fit, **changes)

    monkeypatch.setattr(trainer, "replace", noted)
    X, y = ordinal_problem(200, 4, noise=1.0)
    hidden = hide(y, 30)
    model = TOR(loss=loss, tol=tol, C2_start=0.1, swaps="single")
    model.fit(in_blocks(X, [100, 100]), hidden)
    assert any(kept)
    for before, after in itertools.pairwise(model.history_[1:]):
        if before["C2"] == after["C2"]:
            assert after["objective"] < before["objective"]
    exact = tordinal.TOR(loss=loss, C2_start=0.1, kernel="linear").fit(X, hidden)
    assert model.objective_ == pytest.approx(exact.objective_, rel=tol)


def test_a_fit_that_fails_warns_and_is_not_worse_than_nothing(client):
    X, y = ordinal_problem(60, 3)
    hidden = hide(y, 20)
    with pytest.warns(ConvergenceWarning, match="violation"):
        model = TOR(C=1e6, max_iter=1, C2_start=1e5).fit(in_blocks(X, [60]), hidden)
    nothing = 1e6 * 20 * 2 + model.history_[-1]["C2"] * 40 * 2  # every loss is 1 at w = 0, t = 0
    assert model.objective_ <= nothing
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(("kind", "scale"), [("TOR", 1e100), ("REDSVM", 1e150)])
def test_features_beyond_double_precision_are_rejected_as_on_one_machine(client, kind, scale):
    X, y = ordinal_problem(60, 3)
    y = hide(y, 20) if kind == "TOR" else y
    with pytest.raises(ValueError, match="X or C is too large"):
        getattr(tordinal.dask, kind)().fit(in_blocks(scale * X, [30, 30]), y)
