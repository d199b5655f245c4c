"""Files around the package agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_agree():
    """Between releases the version ends in .dev0, and the last release is what can be cited."""
    latest, last = re.findall(r"^## (\S+.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[
        :2
    ]
    version, number = PROJECT["version"], latest.split()[0]
    developed = version.endswith(".dev0")
    assert version == number + ".dev0" * developed
    assert developed == latest.endswith("(unreleased)")
    recipe = re.search(r'^  version: "(\S+)"$', (ROOT / "conda/recipe.yaml").read_text(), re.M)
    assert recipe[1] == version
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited[1] == (last.split()[0] if developed else version)


def test_the_conda_recipe_requires_what_the_package_requires():
    other_names = {"matplotlib": "matplotlib-base"}
    wanted = set()
    for requirement in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement).groups()
        name = name.lower()
        wanted.add(f"{other_names.get(name, name)} >={bound}")
    text = (ROOT / "conda" / "recipe.yaml").read_text()
    run = text.partition("  run:\n")[2].partition("\n\n")[0]
    found = {line.strip().removeprefix("- ") for line in run.splitlines()}
    assert found - wanted == {"python >=${{ python_min }}"}
    assert wanted <= found
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in text


def test_urls_of_the_project_agree():
    home = PROJECT["urls"]["Homepage"]
    pages = "https://tordinal.readthedocs.io"
    assert all(url == pages or url.startswith(home) for url in PROJECT["urls"].values())
    assert f'repository-code: "{home}"' in (ROOT / "CITATION.cff").read_text()
    assert f"homepage: {home}\n" in (ROOT / "conda" / "recipe.yaml").read_text()


def test_workflows_test_the_pythons_of_the_classifiers():
    prefix = "Programming Language :: Python :: "
    versions = [c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(prefix)]
    versions.remove("3")
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    matrix = re.search(r"python: \[(.*)\]", text).group(1)
    assert re.findall(r'"([\d.]+)"', matrix) == versions


def test_the_source_distribution_includes_these_files():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = config["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in [
        "/CITATION.cff",
        "/benchmarks",
        "/conda",
        "/.github",
        "/tests",
        "/docs",
        "/README.md",
    ]:
        assert name in included
        assert (ROOT / name.removeprefix("/")).exists()


def test_the_install_page_lists_every_extra():
    page = (ROOT / "docs" / "guide" / "install.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(PROJECT["optional-dependencies"])


def test_links_of_the_readme_work_on_pypi():
    """There the README has no files beside it."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    text = (ROOT / "README.md").read_text()
    for change in config["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"][
        "substitutions"
    ]:
        text = re.sub(change["pattern"], change["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10
    assert all(link.startswith("https://") for link in links)
    for link in links:
        path = link.partition("/main/")[2].partition("#")[0]
        assert (ROOT / path).exists(), link
