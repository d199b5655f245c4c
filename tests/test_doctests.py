"""The examples in the docstrings of the installed package run and say what they say."""

import doctest
import importlib
import pkgutil

import matplotlib as mpl
import numpy as np
import pytest

import tordinal

MODULES = sorted(m.name for m in pkgutil.walk_packages(tordinal.__path__, "tordinal."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    mpl.use("Agg")
    with np.printoptions(legacy=False):
        result = doctest.testmod(
            importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
        )
    assert result.failed == 0


def test_every_public_name_has_an_example_and_is_in_the_reference():
    from pathlib import Path

    import tordinal.datasets
    import tordinal.inference
    import tordinal.metrics
    import tordinal.model_selection
    import tordinal.plotting

    reference = Path(__file__).parents[1] / "docs" / "api.md"
    text = reference.read_text()
    public = [(tordinal, name) for name in tordinal.__all__]
    public += [(tordinal.datasets, name) for name in tordinal.datasets.__all__]
    public += [
        (tordinal.inference, name) for name in tordinal.inference.__all__ if name[0].islower()
    ]
    public += [
        (tordinal.metrics, n)
        for n in dir(tordinal.metrics)
        if n[0] != "_" and n.endswith(("_error", "_kappa", "_score"))
    ]
    public += [(tordinal.model_selection, "TransductiveKFold")]
    public += [
        (tordinal.plotting, name) for name in tordinal.plotting.__all__ if not name.isupper()
    ]
    for module, name in public:
        assert ">>>" in (getattr(module, name).__doc__ or ""), name
        assert name in text, f"{name} is not in docs/api.md"
