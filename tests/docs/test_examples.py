"""The gallery: examples are executed when the docs are built; here, what that does not check."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


def test_there_are_enough():
    assert len(EXAMPLES) >= 15
    for folder in (ROOT / "examples").iterdir():
        assert (
            (folder if folder.is_dir() else folder.parent).joinpath("GALLERY_HEADER.rst").exists()
        )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_shows_a_picture(path):
    text = path.read_text()
    docstring = ast.get_docstring(ast.parse(text))
    title, underline = docstring.splitlines()[:2]
    assert title.endswith("?")
    assert underline == "=" * len(title)
    assert "plt.show()" in text
    assert path.name.startswith("plot_")  # others are not executed
    assert len(text.splitlines()) < 90


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_uses_public_names_and_downloads_nothing(path):
    tree = ast.parse(path.read_text())
    imported = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    ours = [n for n in imported if n.module.split(".")[0] == "tordinal"]
    assert ours
    for node in ours:
        module = importlib.import_module(node.module)
        for alias in node.names:
            assert not alias.name.startswith("_")
            assert hasattr(module, alias.name), f"{node.module}.{alias.name}"
    assert not any(a.name.startswith("fetch_") for n in imported for a in n.names)
