"""The API reference names every public name, and docstrings say what fitted models have."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from problems import ordinal_problem

from tordinal import MTSVM, REDSVM, SVOR, TOR, TORCV

docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
MODULES = ["", "active", "datasets", "inference", "plotting", "text"]
CLASSES = [TOR, REDSVM, SVOR, MTSVM, TORCV]
BY_SKLEARN = {"n_features_in_", "feature_names_in_"}
SECTIONS = {"losses", "metrics"}  # modules whose members are all in the reference
SINGLE = [
    "class_ratios.estimate_ratio",
    "dask.REDSVM",
    "dask.TOR",
    "exceptions.InputError",
    "kernels.Kernel",
    "kernels.register",
    "model_selection.TransductiveKFold",
]


def public_names():
    for name in MODULES:
        module = importlib.import_module(f"tordinal.{name}".rstrip("."))
        for public in getattr(module, "__all__", []):
            yield f"{name}.{public}".lstrip(".")
    yield from SINGLE


def resolve(path):
    """What a dotted name below `tordinal` is."""
    parts = path.split(".")
    for n in range(len(parts), -1, -1):
        try:
            found = importlib.import_module(".".join(["tordinal", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise AssertionError(path)


def documented():
    """Names that a directive of the page documents, and modules that it documents as a whole."""
    names = set(re.findall(r"^\.\. auto(?:class|function):: (?:tordinal\.)?(\S+)", PAGE, re.M))
    return names, set(re.findall(r"^\.\. automodule:: tordinal\.(\S+)", PAGE, re.M))


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_the_reference_has_every_public_name(name):
    names, modules = documented()
    assert modules >= SECTIONS
    thing = resolve(name)
    assert f"tordinal.{name.partition('.')[0]}" in PAGE
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        assert f"`{name.split('.')[-1]}`" in PAGE
    else:
        assert name in names or name.rpartition(".")[0] in modules


def has_neighbours(name):
    """Constants, results of functions and the four benchmark sets stand alone."""
    alone = {"Estimate", "TableEstimates", "Representativeness", "ErrorEstimate", "Strategy"}
    alone |= {"InputError", "quantize", "COLOURS", "STYLES"}
    last = name.split(".")[-1]
    return last not in alone and (last == "fetch_amazon_reviews" or not last.startswith("fetch_"))


@pytest.mark.parametrize("name", sorted(filter(has_neighbours, set(public_names()))))
def test_neighbours_refer_to_each_other(name):
    thing = resolve(name)
    doc = docscrape.ClassDoc(thing) if inspect.isclass(thing) else docscrape.FunctionDoc(thing)
    assert doc["See Also"]
    home = thing.__module__.removeprefix("tordinal").removeprefix(".").split(".")
    for references, _ in doc["See Also"]:
        for reference, _ in references:
            places = [".".join([*home[:n], reference]) for n in range(len(home), -1, -1)]
            places.append(reference.removeprefix("tordinal."))
            assert reference.startswith("sklearn.") or any(map(exists, places)), reference


def exists(path):
    try:
        return resolve(path) is not None
    except (AttributeError, AssertionError):
        return False


@pytest.fixture(scope="module", params=CLASSES, ids=lambda kind: kind.__name__)
def fitted(request):
    """Models of one class: linear, and with a kernel."""
    X, ranks = ordinal_problem(60, 3)
    kind = request.param
    y = np.where(np.arange(60) < 30, ranks, -1) if kind in (TOR, MTSVM, TORCV) else ranks
    options = {"C": [1.0]} if kind is TORCV else {}
    return [kind(kernel=kernel, **options).fit(X, y) for kernel in ("linear", "rbf")]


def attributes(model):
    return {
        name
        for name in dir(model)
        if name.endswith("_") and name[0] != "_" and hasattr(model, name)
    } - BY_SKLEARN


def test_docstrings_list_exactly_the_fitted_attributes(fitted):
    there = set().union(*map(attributes, fitted))
    doc = docscrape.ClassDoc(type(fitted[0]))
    listed = {name.strip() for entry in doc["Attributes"] for name in entry.name.split(",")}
    assert listed == there


def test_the_table_of_attributes_and_methods_is_true(fitted):
    header, _, *rows = re.findall(r"^\|.*\|$", PAGE.split("fitted models have:")[1], re.M)
    column = header.split("|").index(f" `{type(fitted[0]).__name__}` ")
    in_table = set()
    for row in rows[: rows.index(next(r for r in rows if "predict_projection" in r)) + 1]:
        cells = row.split("|")
        for name in re.findall(r"`(\w+)`", cells[1]):
            in_table |= {name} if cells[column].strip() == "yes" else set()
            there = any(hasattr(model, name) for model in fitted)
            assert there == (cells[column].strip() == "yes"), name
    assert set().union(*map(attributes, fitted)) <= in_table
