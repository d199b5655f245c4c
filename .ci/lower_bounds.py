"""Print the lower bounds in pyproject.toml as pins: python .ci/lower_bounds.py [EXTRA ...]."""

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?(?:>=([\w.]+))?")


def lower_bounds(project: dict, *extras: str) -> list[str]:
    """``name==version`` for the dependencies of ``project`` and of some of its extras."""
    extra_groups = [project["optional-dependencies"][extra] for extra in extras]
    pins = []
    for requirement in sum(extra_groups, project["dependencies"]):
        match = REQUIREMENT.fullmatch(requirement)
        name, inner, version = match.groups() if match else (requirement, None, None)
        if name == project["name"] and inner:
            pins += lower_bounds({**project, "dependencies": []}, *inner.split(","))
        elif version:
            pins.append(f"{name}=={version}")
        else:
            raise ValueError(f"no lower bound in {requirement!r}: write it as 'name>=version'")
    return pins


if __name__ == "__main__":
    text = Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(lower_bounds(tomllib.loads(text)["project"], *sys.argv[1:])))
