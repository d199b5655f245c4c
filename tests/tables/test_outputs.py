import os
from pathlib import Path

import pytest

from tordinal.tables.files import write_table
from tordinal.tables.outputs import OutputFolder, Outputs, is_own_output
from tordinal.tables.table import Table
from tordinal.tables.values import TableError


def test_outputs_appear_together_or_not_at_all(tmp_path):
    (tmp_path / "one").write_text("before")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    with Outputs({}, {"--out": one, "--report": two}) as outputs:
        outputs.write(one, lambda file: file.write(b"after"))  # and no commit
    assert (tmp_path / "one").read_text() == "before"
    assert os.listdir(tmp_path) == ["one"]
    with Outputs({}, {"--out": one, "--report": two}) as outputs:
        outputs.write(one, lambda file: file.write(b"after"))
        outputs.write(two, lambda file: file.write(b"new"))
        assert (tmp_path / "one").read_text() == "before"
        outputs.commit()
    assert (tmp_path / "one").read_text() == "after"
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


def test_a_full_disk_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "out.csv").write_text("before")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    path = str(tmp_path / "out.csv")
    with pytest.raises(TableError, match="disk is full"), Outputs({}, {"--out": path}) as outputs:
        outputs.write(path, fail)
    assert (tmp_path / "out.csv").read_text() == "before"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_links_to_an_input_are_seen(tmp_path):
    (tmp_path / "in.csv").write_text("a\n1\n")
    (tmp_path / "soft.csv").symlink_to(tmp_path / "in.csv")
    os.link(tmp_path / "in.csv", tmp_path / "hard.csv")
    for name in ("in.csv", "soft.csv", "hard.csv"):
        with pytest.raises(TableError, match="same file"):
            Outputs({"FILE": str(tmp_path / "in.csv")}, {"--out": str(tmp_path / name)})
    with pytest.raises(TableError, match="same file"):
        Outputs({}, {"--out": str(tmp_path / "x"), "--report": str(tmp_path / "x")})


def test_a_folder_or_file_without_permission_is_rejected(tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("before")
    (tmp_path / "locked").mkdir()
    # The system's answer is replaced, as root may write everywhere.
    denied = {str(tmp_path / "out.csv"), str(tmp_path / "locked")}
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) not in denied)
    for name in ("out.csv", "locked/o.csv"):
        with pytest.raises(TableError, match=r"--out .* permission denied"):
            Outputs({}, {"--out": str(tmp_path / name)})
    assert (tmp_path / "out.csv").read_text() == "before"


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    out = tmp_path / "rated"
    with OutputFolder("--out", str(out)) as folder:
        (folder.part / "a").write_text("half")  # and no commit
        assert not out.exists()
    assert os.listdir(tmp_path) == []
    with OutputFolder("--out", str(out)) as folder:
        a, b = folder.places(["a", "sub/folder/b"])
        Path(a).write_text("whole")
        Path(b).write_text("whole")
        folder.commit()
    assert (out / "a").read_text() == (out / "sub" / "folder" / "b").read_text() == "whole"
    assert os.listdir(tmp_path) == ["rated"]
    with pytest.raises(TableError, match="is not empty"):
        OutputFolder("--out", str(out))
    with pytest.raises(TableError, match="is a file"):
        OutputFolder("--out", str(out / "a"))
    with pytest.raises(TableError, match="there is no folder"):
        OutputFolder("--out", str(tmp_path / "no" / "rated"))


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_form_may_be_replaced_until_somebody_has_rated_rows_in_it(kind, tmp_path):
    path = tmp_path / f"form.{kind}"
    for stars, own in ((["", ""], True), (["", "3"], False), ([0, None], False)):
        form = Table(
            ["row", "stars", "text", "stars_confidence", "stars_rows_left"],
            [[2, 3], stars, ["a", "b"], [0.5, 0.5], [9, 8]], kind,
        )  # fmt: skip
        with open(path, "wb") as file:
            write_table(form, {}, file, str(path), ".")
        assert is_own_output(str(path), "stars") is own


def test_a_form_needs_no_record_of_draws_and_may_be_answered_with_none(tmp_path):
    path = tmp_path / "form.csv"
    for stars, own in ((["", ""], True), (["", "3"], False), (["none", "none"], False)):
        names = ["row", "stars", "text", "stars_confidence"]
        form = Table(names, [[2, 3], stars, ["a", "b"], [0.5, 0.5]], "csv")
        with open(path, "wb") as file:
            write_table(form, {}, file, str(path), ".")
        assert is_own_output(str(path), "stars") is own
        assert is_own_output(str(path)) is own


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_a_rated_table_is_not_replaced_once_somebody_has_rated_more_rows_in_it(kind, tmp_path):
    path = tmp_path / f"rated.{kind}"
    cases = (
        ([4, None], ["given", "predicted"], True),
        ([4, 5], ["given", "predicted"], False),
        ([4, 5], ["predicted", "predicted"], True),  # of `predict`, which compares
        ([4, None], ["predicted", "predicted"], False),  # typed into a column that was empty
        (
            [4, None, None, 2],
            ["given", "predicted", "predicted", "predicted"],
            False,
        ),  # a new class
        ([4, 99, 99, 99], ["given", "predicted", "predicted", "predicted"], True),  # a mark
        ([4, 99, 99, 5], ["given", "predicted", "predicted", "predicted"], False),
    )
    for stars, source, own in cases:
        n = len(stars)
        rated = Table(
            ["stars", "stars_predicted", "stars_confidence", "stars_source"],
            [stars, [4, 5, 5, 5][:n], [1.0, 0.5, 0.5, 0.5][:n], source], kind,
        )  # fmt: skip
        with open(path, "wb") as file:
            write_table(rated, {}, file, str(path), ".")
        assert is_own_output(str(path), "stars") is own
        assert is_own_output(str(path)) is own


@pytest.mark.parametrize(
    ("name", "content", "own"),
    [
        ("notes.csv", "text\nI wonder what stars_confidence means\n", False),
        ("notes.jsonl", '{"text": "stars_confidence"}\n', False),
        ("analysis.py", 'print(table["stars_confidence"].mean())\n', False),
        ("rated.csv", 'text;"stars_confidence"\na;0,5\n', True),
        ("rated.jsonl", '{"text": "a", "stars_confidence": 0.5}\n', True),
        ("other.csv", "text,my_stars_confidence\na,0.5\n", False),
    ],
)
def test_a_file_that_only_mentions_a_column_of_answers_is_not_an_output(
    name, content, own, tmp_path
):
    (tmp_path / name).write_text(content)
    assert is_own_output(str(tmp_path / name), "stars") is own
