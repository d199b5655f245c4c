import numpy as np

from tordinal import REDSVM
from tordinal.progress import Progress


def test_the_first_verbose_fit_says_that_code_may_be_compiled(capsys, monkeypatch):
    monkeypatch.setattr(Progress, "seen", False)
    X, y = np.arange(20.0)[:, None], np.arange(20) // 10
    for _ in range(2):
        REDSVM(verbose=1).fit(X, y)
    assert capsys.readouterr().out.count("first fit: compiled code is loaded, or compiled") == 1
