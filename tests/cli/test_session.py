import contextlib
import re
import signal
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from commands import run

from tordinal.cli import session
from tordinal.cli.main import app
from tordinal.cli.session import (
    ProgressDisplay,
    console_for,
    grid,
    ignore_interrupts,
    reporting_errors,
    with_option_names,
)
from tordinal.exceptions import InputError


@contextlib.contextmanager
def refused():
    """What is inside must end with exit status 2."""
    with pytest.raises(typer.Exit) as left:
        yield
    assert left.value.exit_code == 2


class Clock:
    """A clock that the test moves, in place of the module's."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.parametrize("name", ["target", "order", "text", "columns", "drop", "encoding", "by"])
def test_parameters_are_named_as_options_that_there_are(name):
    assert with_option_names(f"`{name}` x: bad; see `{name}`") == f"--{name} x: bad; see --{name}"
    label = typer.main.get_command(app).commands["label"]
    assert f"--{name}" in {option for parameter in label.params for option in parameter.opts}


def test_other_text_in_backticks_stays():
    for text in ("run `tordinal label`", "`targets` x", "target x", "`C2`"):
        assert with_option_names(text) == text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("`target` t: every cell is empty"), "Error: --target t: every cell is empty\n"),
        (OSError("x.csv: no such file"), "Error: x.csv: no such file\n"),
        (InputError("a\x1b[2Jb \u202e [bold]c"), "Error: a␛[2Jb [U+202E] [bold]c\n"),
        (InputError("long " * 60), "Error: " + "long " * 60 + "\n"),
        (
            MemoryError("8 GiB"),
            "Error: out of memory (8 GiB); use fewer rows, or --method redsvm\n",
        ),
        (KeyboardInterrupt(), "Error: interrupted; nothing was written\n"),
    ],
)
def test_bad_input_becomes_one_line_on_standard_error(error, said, capsys):
    with refused(), reporting_errors():
        raise error
    assert capsys.readouterr() == ("", said)


def test_what_an_interrupt_leaves_may_be_said_otherwise(capsys):
    with refused(), reporting_errors("stopped; what was done is kept"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "Error: stopped; what was done is kept\n"


def failing_inside_numpy(*_, **__):
    return np.eye(3) @ np.eye(2)


@pytest.mark.parametrize("debug", [False, True])
def test_a_bug_is_shown_as_one_with_the_traceback_on_request(debug, capsys):
    with pytest.raises(typer.Exit) as left, reporting_errors(debug=debug):
        failing_inside_numpy()
    assert left.value.exit_code == 70
    said = capsys.readouterr().err
    assert "Error: This is a bug in tordinal, not in your input. Please report it" in said
    assert "ValueError: matmul: " in said
    assert "test_session.py, line" in said
    assert ("Traceback" in said) == debug


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_a_failure_inside_numpy_is_no_mistake_of_the_user(reviews, tmp_path, monkeypatch):
    shared = ["label", reviews, "--target", "stars", "-o", tmp_path / "o.csv", "--method"]
    with monkeypatch.context() as patch:
        patch.setattr("tordinal.estimators.REDSVM.predict_proba", failing_inside_numpy)
        said = run(*shared, "redsvm", code=70).output
        assert "This is a bug in tordinal" in said
        assert "Traceback" in run(*shared, "redsvm", "--debug", code=70).output
    assert not (tmp_path / "o.csv").exists()
    said = run(*shared, "tor", "--C", "1e308", code=2).output  # what the library itself rejects
    assert "costs of 1e+308 overflow. Scale X" in said


def test_interrupts_and_exits_are_neither_input_errors_nor_bugs():
    with pytest.raises(typer.Abort), reporting_errors():
        raise typer.Abort
    with pytest.raises(SystemExit), reporting_errors():
        raise SystemExit(3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_interrupts_until_the_results_are_put_in_place(number, capsys):
    before = signal.getsignal(number)
    with refused(), reporting_errors():
        signal.raise_signal(number)
    assert "interrupted" in capsys.readouterr().err
    assert signal.getsignal(number) is before
    with reporting_errors():
        ignore_interrupts()
        signal.raise_signal(number)  # too late, and so without effect
    assert capsys.readouterr().err == ""
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_no_signal_is_touched():
    before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    left = []

    def work():
        try:
            with reporting_errors():
                ignore_interrupts()
                raise InputError("bad")
        except typer.Exit as error:
            left.append(error.exit_code)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert left == [2]
    assert [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)] == before


def test_what_compiled_code_makes_of_an_interrupt_is_one(capsys):
    def compiled():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise SystemError("returned a result with an exception set")

    with pytest.raises(typer.Exit), reporting_errors():
        compiled()
    assert "interrupted" in capsys.readouterr().err
    with pytest.raises(typer.Exit) as left, reporting_errors():
        raise SystemError("without an interrupt")
    assert left.value.exit_code == 70


def test_an_interrupt_that_was_swallowed_is_raised_by_the_next_progress():
    reached = []
    with refused(), reporting_errors(), ProgressDisplay(quiet=True) as teller:
        with contextlib.suppress(KeyboardInterrupt):  # as compiled code may
            signal.raise_signal(signal.SIGINT)
        reached.append("went on")
        teller("fitting", 0, 1)
        reached.append("told")
    assert reached == ["went on"]
    with (
        reporting_errors(),
        ProgressDisplay(quiet=True) as teller,
    ):  # the next command starts afresh
        teller("fitting", 0, 1)
        reached.append("told")
    assert reached == ["went on", "told"]


def test_where_nothing_can_be_redrawn_a_line_is_written_for_a_new_name(capsys):
    with ProgressDisplay(quiet=False) as teller:
        for done in range(3):
            teller("reading", done, 2)
        teller("[b]fitting", 0, 1)
        teller("reading", 0, 1)
    assert capsys.readouterr() == ("", "reading ...\n[b]fitting ...\nreading ...\n")


def test_details_are_reported_now_and_then_with_the_time_left(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with ProgressDisplay(quiet=False) as teller:
        for seconds, done, detail in (
            (0, 0, "a"),
            (session.LINE_EVERY - 1, 1, "b"),  # too soon
            (session.LINE_EVERY, 2, "c"),
            (2 * session.LINE_EVERY - 1, 3, "d"),  # too soon
            (600, 4, "e"),
            (700, 1_000, "f"),
        ):
            clock.now = seconds
            teller("running", done, 1_000, detail)
    assert capsys.readouterr().err.splitlines() == [
        "running ...",
        "0/1,000 running a",
        "2/1,000 running c, about 42 min left",
        "4/1,000 running e, about 2490 min left",
        "1,000/1,000 running f",
    ]


def test_long_work_without_details_is_reported_too(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with ProgressDisplay(quiet=False) as teller:
        for done in range(3):
            clock.now = 20.0 * done
            teller("fitting", done, 5)
    assert capsys.readouterr().err.splitlines() == [
        "fitting ...",
        "1/5 fitting, about 80 s left",
        "2/5 fitting, about 60 s left",
    ]


def test_quiet_says_nothing(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with ProgressDisplay(quiet=True) as teller:
        for done in range(5):
            clock.now = 1000.0 * done
            teller("running", done, 5, "a detail")
    console_for("out.csv", quiet=True).print("said")
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_progress_is_drawn_and_then_wiped_away(capsys, monkeypatch):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)
    with ProgressDisplay(quiet=False) as teller:
        teller("running", 3, 7, "books")
    drawn = capsys.readouterr().err
    assert "running ..." not in drawn  # lines are for where nothing can be redrawn
    plain = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", drawn)
    assert "running books" in plain
    assert "3/7" in plain
    assert drawn.rindex("\x1b[2K") > drawn.rindex("books")


def test_a_command_talks_on_standard_error_where_the_table_goes_to_standard_output(capsys):
    console_for("out.csv", quiet=False).print("beside the table")
    assert capsys.readouterr() == ("beside the table\n", "")
    console_for("-", quiet=False).print("apart from the table")
    assert capsys.readouterr() == ("", "apart from the table\n")


def test_a_grid_has_its_title_and_columns(capsys):
    table = grid("rating", "given", title="Ratings")
    table.add_row("low", "3")
    console_for("out.csv", quiet=False).print(table)
    said = capsys.readouterr().out
    assert said.splitlines()[0].strip() == "Ratings"
    assert re.search(r"rating\s+.\s+given", said)
    assert re.search(r"low\s+.\s+3", said)


def test_warnings_are_shown_without_the_code_they_come_from():
    usual = warnings.formatwarning
    with reporting_errors():
        text = warnings.formatwarning("did not converge\x1b", UserWarning, "base.py", 3)
    assert text == "Warning: did not converge\N{SYMBOL FOR ESCAPE}\n"
    assert warnings.formatwarning is usual
