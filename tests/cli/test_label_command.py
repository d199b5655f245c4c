import os
import re
import subprocess
import sys

from commands import run

from tordinal.cli.label_command import Method
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES


def test_the_help_names_every_kernel_and_loss():
    text = " ".join(run("label", "--help").output.split())
    for name in (*KERNELS, *LOSSES):
        assert name in text or name == "precomputed"


def test_help_reads_like_a_manual_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv[1:] = ['label', '--help']\nfrom tordinal.cli import main\n"
        "try: main()\nexcept SystemExit: "
        "print([m for m in ('numpy', 'sklearn', 'numba', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.stdout.rstrip().endswith("[]")
    for option in (
        "--target",
        "--text",
        "--columns",
        "--drop",
        "--order",
        "--method",
        "--report",
        "--model",
        "--seed",
    ):
        assert option in done.stdout


def test_help_wraps_at_any_width_and_flags_take_no_value():
    lines = run("label", "--help", env={"COLUMNS": "60"}).output.splitlines()
    start = next(i for i, line in enumerate(lines) if "OUT has every row" in line)
    paragraph = lines[start : next(i for i in range(start, 99) if not lines[i].strip())]
    assert all(len(line.split()) > 3 for line in paragraph[:-1])
    assert not any("--quick" in line and "bool" in line for line in lines)
    titles = [found[1] for line in lines if (found := re.match(r"╭─ (\w+) ─", line))]
    assert titles == ["Arguments", "Options", "Input", "Model", "Output", "Run"]


def test_an_unknown_method_is_rejected_with_the_known_ones():
    output = run(
        "label", "in.csv", "--target", "t", "-o", "o.csv", "--method", "svm", code=2
    ).output
    for method in Method:
        assert method.value in output
    assert "Traceback" not in output


def test_a_missing_gpu_is_named_before_the_table_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    result = run("label", "no.csv", "--target", "t", "-o", "o.csv", "--engine", "cuda", code=2)
    said = " ".join(result.output.split())
    assert "--engine cuda needs CuPy, which is not installed" in said
    assert 'pip install "tordinal[cuda]", or use --engine host' in said
