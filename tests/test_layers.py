"""Data flows one way: a module imports only from its own layer and those before it."""

import ast
from collections import defaultdict
from pathlib import Path

import tordinal

SOURCE = Path(tordinal.__file__).parent

# Longer names win: `engines.base` is not in the layer of `engines`. docs/architecture.py draws it.
GROUPS = {
    "What is solved": [
        ["_sklearn", "exceptions", "reduction", "threads"],
        ["couplings", "distances", "labels", "losses", "swapping", "training_set"],
        ["calibration", "class_ratios", "costs", "kernels", "problem"],
    ],
    "Where it runs": [
        ["engines", "engines.base"],
        ["engines.host"],
        ["engines.cuda", "engines.dask"],
    ],
    "How": [["solvers"]],
    "The algorithm": [["transduction"]],
    "A fit": [
        ["projection"],
        ["fitting"],
        ["metrics", "model_selection", "parallel", "progress"],
    ],
    "The library": [
        ["search"],
        ["estimators"],
        ["dask", "inference", "active", "text", "datasets", "plotting"],
        ["__init__"],
    ],
    "The application": [
        ["tables"],
        ["report", "experiments"],
        ["rated"],
        ["rated_table"],
        ["studio"],
        ["cli"],
        ["__main__"],
    ],
}
LAYERS = [names for layers in GROUPS.values() for names in layers]
LIBRARY = LAYERS.index(["__init__"])


def modules():
    """Names of all modules, without `tordinal.`, and their files."""
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix(".__init__") or "__init__", path


def imports(path, known):
    """Modules of tordinal that a file imports at its top level or inside its functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tordinal":
            package = node.module.removeprefix("tordinal").removeprefix(".")
            for alias in node.names:
                inner = f"{package}.{alias.name}".removeprefix(".")
                yield inner if inner in known else package or "__init__"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "tordinal":
                    yield alias.name.removeprefix("tordinal").removeprefix(".") or "__init__"


def layer_of(module):
    found = [
        (len(name), number)
        for number, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    assert found, f"{module} is in no layer of tests/test_layers.py"
    return max(found)[1]


def test_no_arrow_points_backwards():
    files = dict(modules())
    wrong = sorted(
        f"{module} imports {other}"
        for module, path in files.items()
        # The package itself only names what it exports, when it is asked for.
        if module != "__init__"
        for other in set(imports(path, files))
        if layer_of(other) > layer_of(module)
    )
    assert wrong == []


def test_the_library_never_imports_the_application():
    files = dict(modules())
    library = {m: p for m, p in files.items() if layer_of(m) < LIBRARY}
    assert len(library) > 60
    wrong = [
        f"{module} imports {other}"
        for module, path in library.items()
        for other in imports(path, files)
        if layer_of(other) >= LIBRARY
    ]
    assert wrong == []


def test_no_two_classes_have_the_same_name():
    """But for the estimators of a cluster, which are used instead of the local ones."""
    homes = defaultdict(list)
    for module, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    assert {name for name, found in homes.items() if len(found) > 1} == {"TOR", "REDSVM"}


def test_the_graph_is_the_true_one():
    files = dict(modules())
    assert "engines.base" in set(imports(files["transduction"], files))
    assert "estimators.tor" in set(imports(files["tables.settings"], files)) or "estimators" in set(
        imports(files["tables.settings"], files)
    )
