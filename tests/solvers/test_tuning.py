import ast
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from tordinal.solvers import tuning

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CLASSES = [node for node in ast.parse(Path(tuning.__file__).read_text()).body
           if isinstance(node, ast.ClassDef)]  # fmt: skip


def comments_of(node):
    """Each comment of a class, and how many fields follow it."""
    lines = Path(tuning.__file__).read_text().splitlines()[node.lineno : node.end_lineno]
    text = "\n".join(line.strip() for line in lines)
    return re.findall(r"((?:^#.*\n)+)((?:^\w+: .*\n?)+)", text, re.MULTILINE)


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_every_constant_says_which_benchmark_set_it(node):
    commented = 0
    for comment, names in comments_of(node):
        said = re.search(
            r"(not\s+measured|benchmarks (\w+))\.$", comment.replace("\n# ", " ").strip()
        )
        assert said, comment
        assert said[2] is None or (BENCHMARKS / f"bench_{said[2]}.py").exists(), comment
        commented += len(names.splitlines())
    assert commented == len(fields(getattr(tuning, node.name)))


@pytest.mark.parametrize("name", tuning.__all__)
def test_nobody_changes_them(name):
    constants = getattr(tuning, name)
    with pytest.raises(FrozenInstanceError):
        setattr(constants, fields(constants)[0].name, 1)
