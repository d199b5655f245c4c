import sys

import pytest

from tordinal import REDSVM, TOR, TORCV
from tordinal.tables.settings import MANY_ROWS, Settings, make_estimator
from tordinal.tables.values import TableError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "`C` 0 must be a positive number"),
        ({"method": "best"}, "`method` best is not known"),
        ({"kernel": "precomputed"}, "`kernel` precomputed is not known"),
        ({"loss": "none"}, "`loss` none is not known"),
        ({"jobs": 0}, "`n_jobs` 0"),
        ({"engine": "gpu"}, "`engine` gpu is not known"),
        ({"engine": "cuda", "single": True}, "`engine` cuda: many tables"),
        ({"quick": True, "method": "tor"}, "`quick` requires `method` auto"),
    ],
)
def test_wrong_settings_are_rejected_before_anything_is_read(options, message):
    with pytest.raises(TableError, match=message):
        Settings(**options)


def test_the_settings_choose_the_estimator():
    def made(method, n_rows=100, views=None, **options):
        return make_estimator(method, Settings(**options), views, [0, 1, 2], n_rows)

    assert isinstance(made("redsvm", views={"words": [0]}), REDSVM)
    assert made("redsvm", views={"words": [0]}).kernel == "linear"
    assert made("tor", C=5.0).get_params()["C"] == 5.0
    assert isinstance(made("tor", MANY_ROWS + 1), TOR)
    assert made("tor", MANY_ROWS + 1).swaps == "all"
    assert made("tor").swaps == "single"
    assert made("tor").kernel == "perceptron"
    search = made("auto", quick=True, loss="logistic")
    assert isinstance(search, TORCV)
    assert (search.ensemble_size, search.loss, search.kernel) == (1, "logistic", "perceptron")
    assert made("auto", seed=7).random_state == 7
    assert made("auto").engine == "host"
    assert {made(method, engine="auto").engine for method in ("auto", "tor", "redsvm")} == {"auto"}


def test_a_missing_gpu_is_an_error_before_anything_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="CuPy, which is not installed"):
        Settings(engine="cuda")
