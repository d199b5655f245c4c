"""Every code block of every page is executed, by Sphinx or here, or checked here.

Sphinx executes ``{code-cell}`` blocks when the docs are built and fails on an error. Blocks of
``python`` are executed here, those of a page one after the other and after its cells; lines that
start a command are parsed.
"""

import ast
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from tordinal.cli.main import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(page for page in DOCS.rglob("*.md") if not page.is_relative_to(DOCS / "_build")),
]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
COMMANDS = typer.main.get_command(app).commands
STUDIO = "studio"  # the page comes with the command
MODULES = {"benchmarks", "build", "pip", "pytest", "sphinx", "tordinal"}
PROGRAMS = {"actionlint", "git", "mypy", "pipx", "pre-commit", "python", "ruff", "tordinal"}
NOT_EXECUTED = "# not executed: "
DIRECTIVES = {"{toctree}", "{eval-rst}", "{math}", "{include}", "{image}", "{raw}"}
FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Language and text of each fenced block of a page."""
    for match in FENCE.finditer(page.read_text()):
        yield match[3].strip(), match[4]


def name(page):
    return page.relative_to(ROOT).as_posix()


EVERY = [
    pytest.param(language, text, id=f"{name(page)}:{i}")
    for page in PAGES
    for i, (language, text) in enumerate(blocks(page))
]


@pytest.mark.parametrize(("language", "text"), EVERY)
def test_every_block_is_of_a_kind_that_is_checked(language, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = language.split()[0] if language else "console"
    assert kind in DIRECTIVES | {"{code-cell}", "python", "console", "text"}
    if kind == "console":
        found = commands(text)
        assert found
        for command in found:
            check_command(command)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_cells_are_on_pages_that_sphinx_executes(page):
    has_cells = any(language.startswith("{code-cell}") for language, _ in blocks(page))
    assert has_cells == ("file_format: mystnb" in page.read_text())


WITH_PYTHON = [
    page
    for page in PAGES
    if any(
        language == "python" and not text.startswith(NOT_EXECUTED)
        for language, text in blocks(page)
    )
]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_runs(page, tmp_path, monkeypatch, request):
    texts = [t for language, t in blocks(page) if language == "python"]
    if any("SentenceEncoder" in text for text in texts):
        (tmp_path / "models").mkdir()
        folder = request.getfixturevalue("tiny_model")
        (tmp_path / "models" / "all-MiniLM-L6-v2").symlink_to(folder)
    if any("starlette" in text for text in texts):
        pytest.importorskip("starlette")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for language, text in blocks(page):
        if language.startswith("{code-cell}"):
            text = "\n".join(x for x in text.splitlines() if not x.startswith((":tags", "!", "%")))
        elif language != "python" or text.startswith(NOT_EXECUTED):
            continue
        exec(compile(text, name(page), "exec"), namespace)
    assert len(namespace) > 2


@pytest.mark.parametrize(("language", "text"), EVERY)
def test_what_is_not_executed_is_at_least_python(language, text):
    if text.startswith(NOT_EXECUTED):
        assert len(text.splitlines()[0]) > len(NOT_EXECUTED)  # a reason
        assert ast.parse(text).body


def commands(text):
    """Commands of a block: all lines, or those after `$ ` where there are such lines."""
    lines = text.replace("\\\n", " ").splitlines()
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    chosen = prompted or [line for line in lines if line.strip()]
    return [part for line in chosen for part in re.split(r" && | \| ", line)]


def check_command(command):
    words = shlex.split(command, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words = words[1:]
    assert words[0] in PROGRAMS, command
    if words[0] == "tordinal":
        check_tordinal(words[1:])
    if words[:2] == ["python", "-m"]:
        assert words[2] in MODULES, command
        if words[2] == "benchmarks" and not words[3].startswith("-"):
            assert (ROOT / "benchmarks" / f"bench_{words[3].lower()}.py").exists(), command
        if words[2] == "pip":
            named = re.findall(r"\[([\w,]+)\]", command)
            assert {extra for group in named for extra in group.split(",")} <= set(EXTRAS)


def check_tordinal(words):
    if words[0] == STUDIO and STUDIO not in COMMANDS:
        return
    command = COMMANDS[words[0]]
    if "..." not in words:
        for word in words:  # some options check at once that their file exists
            if re.fullmatch(r"[\w-]+\.\w+", word):
                Path(word).touch()
        command.make_context(words[0], words[1:], resilient_parsing=False)
        return
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known | {"..."}


def test_wrong_commands_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in ("tordinal label x.csv --target y --outt z", "python -m pip install '.[gpu]'"):
        with pytest.raises(Exception, match=r"outt|gpu"):
            check_command(wrong)


INLINE = [
    pytest.param(found, id=f"{name(page)}: {found[:40]}")
    for page in PAGES
    for found in sorted(set(re.findall(r"`(tordinal [a-z]+[^`]*)`", page.read_text())))
    if found.split()[1] in COMMANDS
]


@pytest.mark.parametrize("command", INLINE)
def test_options_in_the_text_exist(command):
    check_tordinal([*command.split()[1:], "..."])


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_nothing_is_excluded():
    kinds = [language for page in PAGES for language, _ in blocks(page)]
    assert kinds.count("python") >= 4
    assert sum(kind.startswith("{code-cell}") for kind in kinds) >= 40
    n_fences = sum(len(re.findall(r"^ *`{3}", page.read_text(), re.M)) for page in PAGES)
    assert n_fences == 2 * len(kinds)
