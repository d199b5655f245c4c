"""``tordinal label`` through the real command."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import COMMAND, FAST, STARS, TEXTS, command, frame, run

from tordinal.datasets import make_reviews
from tordinal.text import meaning

WORDS = {1: "awful", 2: "meh", 3: "fair", 4: "good", 5: "great"}


def test_csv_with_text_and_mixed_columns_in_two_processes(reviews, tmp_path):
    names = ("out.csv", "r.html", "m.skops")
    arguments = ["label", reviews, "--target", "stars", "-o", names[0], "--C", "1"]
    arguments += ["--report", names[1], "--model", names[2]]
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    done = command(*arguments, cwd=one)
    assert done.returncode == 0, done.stderr.decode()
    quiet = command(*arguments, "-q", cwd=two)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    out, report = one / names[0], one / names[1]
    said = done.stdout.decode()
    for expected in (
        "identifier",
        "letters",
        "out.csv",
        "r.html",
        "m.skops",
        "without.",
    ):
        assert expected in said
    before, after = reviews.read_text().splitlines(), out.read_text().splitlines()
    assert all(b.startswith(a + ",") for a, b in zip(before, after, strict=True))
    table = pd.read_csv(out)
    given = table["stars"].notna()
    assert (table["stars_source"] == np.where(given, "given", "predicted")).all()
    assert (table.loc[given, "stars_predicted"] == table.loc[given, "stars"]).all()
    assert table["stars_predicted"].isin([1, 2, 3, 4, 5]).all()
    assert table["stars_confidence"].between(0, 1).all()
    error = (table["stars_predicted"] - STARS).abs()[~given].mean()
    assert error < np.abs(STARS - 3)[~given].mean()
    assert "<svg" in report.read_text()


def test_parquet_in_and_out_keeps_types(tmp_path):
    frame().to_parquet(tmp_path / "in.parquet")
    run(
        "label", tmp_path / "in.parquet", "--target", "stars", "-o", tmp_path / "out.parquet", *FAST
    )
    table = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(table[frame().columns], frame(), check_dtype=False)
    assert table["stars_predicted"].dtype.kind == "i"
    assert table["stars_confidence"].dtype.kind == "f"


def test_an_ordered_categorical_of_parquet_needs_no_order(tmp_path):
    words = frame()["stars"].map(WORDS)
    data = frame().assign(stars=pd.Categorical(words, list(WORDS.values()), ordered=True))
    data.to_parquet(tmp_path / "in.parquet")
    run(
        "label",
        tmp_path / "in.parquet",
        "--target",
        "stars",
        "-o",
        tmp_path / "out.jsonl",
        "--model",
        tmp_path / "m",
        *FAST,
    )
    assert "awful < meh < fair < good < great" in run("inspect", tmp_path / "m").output


def test_json_lines_keep_numbers_and_lines(tmp_path):
    rows = [
        {"text": t, **({"stars": int(s)} if i % 3 == 0 else {})}
        for i, (t, s) in enumerate(zip(TEXTS, STARS, strict=True))
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run(
        "label",
        tmp_path / "in.jsonl",
        "--target",
        "stars",
        "--text",
        "text",
        "-o",
        tmp_path / "out.jsonl",
        *FAST,
    )
    rated = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k in ("text", "stars")} for row in rated] == rows
    assert all(isinstance(row["stars_predicted"], int) for row in rated)


def test_standard_input_and_output_carry_the_table_alone(reviews):
    done = command("label", "-", "--target", "stars", "-o", "-", *FAST, input=reviews.read_bytes())
    assert done.returncode == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert len(rows) == 150
    assert {row["stars_source"] for row in rows} == {"given", "predicted"}
    assert b"Rated 100 of 150 rows" in done.stderr


def test_string_ranks_follow_the_order_and_keep_their_spelling(tmp_path):
    data = frame().assign(stars=frame()["stars"].map(WORDS))
    data.to_csv(tmp_path / "in.csv", index=False)
    arguments = [
        "label",
        tmp_path / "in.csv",
        "--target",
        "stars",
        "-o",
        tmp_path / "out.csv",
        *FAST,
    ]
    assert "--order" in run(*arguments, code=2).output
    run(*arguments, "--order", "awful, meh, fair, good, great", "--model", tmp_path / "m.skops")
    assert pd.read_csv(tmp_path / "out.csv")["stars_predicted"].isin(WORDS.values()).all()
    assert "awful < meh < fair < good < great" in run("inspect", tmp_path / "m.skops").output


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_jobs(reviews, tmp_path):
    for jobs in ("1", "2"):
        (tmp_path / jobs).mkdir()
        paths = [tmp_path / jobs / n for n in ("o.csv", "r.html", "m.skops")]
        run(
            "label", reviews, "--target", "stars", "--C", "1", "--seed", "3", "--jobs", jobs,
            "-o", paths[0], "--report", paths[1], "--model", paths[2],
        )  # fmt: skip
    for name in ("o.csv", "r.html"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name
    one, two = (zipfile.ZipFile(tmp_path / jobs / "m.skops") for jobs in ("1", "2"))
    assert one.namelist() == two.namelist()
    for name in one.namelist():
        if not name.endswith(".json"):  # where the number of jobs is kept
            assert one.read(name) == two.read(name), name


def bad_inputs(folder):
    """Arguments and the message they lead to."""
    (folder / "full.csv").write_text("x,t\n1,1\n2,2\n3,1\n")
    (folder / "empty.csv").write_text("x,t\n1,\n2,\n")
    (folder / "one.csv").write_text("x,t\n1,1\n2,1\n3,\n")
    (folder / "many.csv").write_text("x,t\n" + "".join(f"{i},{i}\n" for i in range(5000)) + "1,\n")
    (folder / "ragged.csv").write_text("x,t\n1,1\n2,2,3\n4,\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "latin.csv").write_bytes(b"x,t\ncaf\xe9,1\nb,2\nc,\n")
    (folder / "ok.csv").write_text("x,t\n1,1\n2,2\n3,\n")
    ok, out = folder / "ok.csv", folder / "out.csv"
    target = ["--target", "t"]
    return {
        "no such column; did you mean 't'": [ok, "--target", "tt", "-o", out],
        "--text y: no such column": [ok, *target, "--text", "y", "-o", out],
        "every cell is empty": [folder / "empty.csv", *target, "-o", out],
        "every row is rated already": [folder / "full.csv", *target, "-o", out],
        "all 2 ratings are '1'": [folder / "one.csv", *target, "-o", out],
        "turn it into ranks with": [folder / "many.csv", *target, "-o", out],
        "line 3 has 3 cells": [folder / "ragged.csv", *target, "-o", out],
        "holds binary data": [folder / "binary.csv", *target, "-o", out],
        "line 2 is not UTF-8": [folder / "latin.csv", *target, "-o", out],
        "OUT must be a folder": [folder, *target, "-o", out],
        "no such file": [folder / "absent.csv", *target, "-o", out],
        "there is no folder": [ok, *target, "-o", folder / "no" / "out.csv"],
        "--report": [ok, *target, "-o", out, "--report", folder],
        "is the same file as FILE": [ok, *target, "-o", ok],
        "is the same file as --out": [ok, *target, "-o", out, "--report", out],
        "cannot tell the format": [ok, *target, "-o", folder / "out.docx"],
        "that is the target": [ok, *target, "--columns", "x,t", "-o", out],
        "--C -1 must be a positive number": [ok, *target, "--C", "-1", "-o", out],
        "--jobs 0": [ok, *target, "--jobs", "0", "-o", out],
        "is a device or a pipe": [ok, *target, "-o", out, "--report", "/dev/null"],
    }


def test_bad_input_is_rejected_and_nothing_is_written_or_replaced(tmp_path):
    cases = bad_inputs(tmp_path)
    (tmp_path / "out.csv").write_text("before")
    listing = sorted(os.listdir(tmp_path))
    for message, arguments in cases.items():
        said = " ".join(run("label", *arguments, "--force", code=2).output.split())
        assert message in said, (message, said)
        assert "Traceback" not in said
        assert (tmp_path / "out.csv").read_text() == "before"
        assert sorted(os.listdir(tmp_path)) == listing


def test_a_full_disk_is_reported_and_leaves_the_old_result(reviews, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"
    out.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = run(
        "label", reviews, "--target", "stars", "-o", out, "--method", "redsvm", "--force", code=2
    ).output
    assert "the disk is full" in " ".join(said.split())
    assert out.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "reviews.csv"]


def test_an_existing_file_is_replaced_only_on_request(reviews, tmp_path):
    out, report = tmp_path / "out.csv", tmp_path / "report.html"
    out.write_text("mine")
    command = ["label", reviews, "--target", "stars", "-o", out, "--method", "redsvm"]
    said = " ".join(run(*command, code=2).output.split())
    assert "out.csv exists already; name another file, or use --force" in said
    assert out.read_text() == "mine"
    run(*command, "--force", "--report", report)
    first = out.read_bytes()
    run(*command, "--report", report)  # its own outputs may be replaced
    assert out.read_bytes() == first
    report.write_text("<html>mine</html>")
    assert "report.html exists already" in run(*command, "--report", report, code=2).output


def test_a_command_may_be_repeated_on_all_of_its_outputs(reviews, tmp_path):
    form = tmp_path / "next.csv"
    names = {"-o": "out.csv", "--report": "r.html", "--model": "m.skops", "--groups": "g.csv"}
    outputs = [word for option, name in names.items() for word in (option, tmp_path / name)]
    command = ["label", reviews, "--target", "stars", "--by", "shop", "--method", "redsvm"]
    command += [*outputs, "--next", 5, form]
    for _ in range(2):
        run(*command)
    form.write_text(form.read_text().replace(",,", ",5,", 1))  # somebody begins to rate
    rated = form.read_text()
    assert "next.csv exists already" in " ".join(run(*command, code=2).output.split())
    assert form.read_text() == rated


def test_the_report_counts_the_rows_that_were_rated(reviews, tmp_path):
    out, report = tmp_path / "out.csv", tmp_path / "report.html"
    command = ["label", reviews, "--target", "stars", "-o", out, "--method", "redsvm"]
    run(*command, "--abstain", "0.6", "--report", report)
    source = pd.read_csv(out)["stars_source"].value_counts()
    page = report.read_text()
    assert f"<h1>{source['predicted']:,} rows rated from" in page
    assert f"{source['unsure']:,} rows have a confidence below 0.6 and stay unrated" in page


def test_an_interrupt_ends_at_once_and_leaves_the_old_result(tmp_path):
    texts, stars = make_reviews(3000, random_state=0)
    labels = [str(s) if i < 300 else "" for i, s in enumerate(stars)]
    pd.DataFrame({"review": texts, "stars": labels}).to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "out.csv").write_text("before")
    process = subprocess.Popen(
        [*COMMAND, "label", "in.csv", "--target", "stars", "-o", "out.csv", "--C", "1", "--force"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    for line in process.stderr:
        if b"transductive candidates" in line:  # said when the first of many is done
            break
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    rest = process.communicate(timeout=120)[1].decode()
    assert process.returncode == 2, rest
    assert "interrupted; nothing was written" in rest
    assert "ensemble" not in rest  # which comes after the candidates
    assert time.monotonic() - sent < 60
    assert (tmp_path / "out.csv").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_table_that_cannot_be_sent_leaves_no_files(reviews, tmp_path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [
                *COMMAND,
                "label",
                reviews,
                "--target",
                "stars",
                "-o",
                "-",
                "--report",
                "r.html",
                "--method",
                "redsvm",
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            cwd=tmp_path,
        )
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert not (tmp_path / "r.html").exists()


def test_names_with_spaces_and_brackets(tmp_path):
    data = frame().rename(columns={"price": " price", "shop": "[bold]shop"})
    data.to_csv(tmp_path / "in.csv", index=False)
    run(
        "label", tmp_path / "in.csv", "--target", "stars", "--columns", "price,[bold]shop",
        "-o", tmp_path / "o.csv", "--model", tmp_path / "m[bold]x[b].skops", *FAST,
    )  # fmt: skip
    said = run("inspect", tmp_path / "m[bold]x[b].skops", env={"COLUMNS": "250"}).output
    assert "m[bold]x[b].skops" in said
    assert "[bold]shop" in said


def test_its_own_output_can_be_rated_again(reviews, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    run("label", reviews, "--target", "stars", "-o", first, *FAST)
    table = pd.read_csv(first, dtype=str, keep_default_na=False)
    row = int(np.flatnonzero(table["stars"] == "")[0])
    table.loc[row, "stars"] = "5"  # somebody has rated it since
    table.to_csv(first, index=False)
    said = " ".join(run("label", first, "--target", "stars", "-o", second, *FAST).output.split())
    assert "of an earlier run are replaced: stars_predicted, stars_confidence, stars_so" in said
    again = pd.read_csv(second, dtype=str, keep_default_na=False)
    assert list(again.columns) == list(table.columns)
    assert again.loc[row, "stars_source"] == "given"
    assert again.loc[row, "stars_predicted"] == "5"


def grades(*four):
    """The grade of row i: one of four in turn."""
    return lambda i: four[i % 4]


SPREADSHEETS = {  # header, how the other cells of row i are written, grades, what is said
    "percent and currency": (
        "share,price,grade\n", lambda i: f'{i * 7 % 100}%,"${1000 + i:,}.50",',
        grades("low", "high", "", ""),
        ["'0%' is 0", "'$1,000.50' is 1000.5", "low < high"],
    ),
    "decimal commas": (
        "share;price;grade\n", lambda i: f"{i},5;1.{i:03d},50 EUR;", grades("B", "A-", "", ""),
        ["'0,5' is 0.5", "EUR' is 1000.5", "B < A-"],
    ),
    "question marks and dates": (
        "n,day,grade\n", lambda i: f"{'?' if i % 9 == 0 else i},{i % 27 + 1}/12/2023,",
        grades("Good", "good", "bad", "?"),
        ["as missing: '?'", "/12/2023' is 2023-12-", "is taken as", "say '?': taken as not rated"],
    ),
    "a mark of one's own": (
        "n,grade\n", lambda i: f"{'weg' if i % 5 == 0 else i * i},", grades("1", "2", "weg", ""),
        ["say 'weg': taken as not rated"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SPREADSHEETS)
def test_cells_as_people_write_them(case, tmp_path):
    header, row, grade, expected = SPREADSHEETS[case]
    rows = [f"{row(i)}{grade(i)}\n" for i in range(60)]
    (tmp_path / "in.csv").write_text(header + "".join(rows))
    said = run(
        "label", tmp_path / "in.csv", "--target", "grade", "-o", tmp_path / "out.csv",
        "--method", "redsvm", "--missing", "weg", env={"COLUMNS": "250"},
    ).output  # fmt: skip
    said = " ".join(said.split())
    for words in expected:
        assert words in said


def test_texts_are_read_by_their_meaning_where_asked(tmp_path, monkeypatch):
    pytest.importorskip("wordllama")
    words = [["wonderful", "superb", "lovely", "great"], ["awful", "horrid", "dreadful", "bad"]]
    rows = [
        f'"a {words[i % 2][i // 2 % 4]} film {i}",{("1", "0")[i % 2] if i < 24 else ""}'
        for i in range(60)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["review,liked", *rows]) + "\n")
    shared = ["label", tmp_path / "t.csv", "--text", "review", "--target", "liked"]
    model = tmp_path / "m.skops"
    old = run(*shared, "--meaning", "-o", tmp_path / "old.csv", *FAST).output
    assert "--embeddings and --meaning are deprecated: use --encoder wordllama" in old
    shared += ["--encoder", "wordllama"]
    run(*shared, "-o", tmp_path / "o.csv", "--model", model, *FAST)
    assert (tmp_path / "o.csv").read_text() == (tmp_path / "old.csv").read_text()
    answer = pd.read_csv(tmp_path / "o.csv")["liked_predicted"].to_numpy()
    assert np.mean(answer == 1 - np.arange(60) % 2) > 0.9
    run("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    again = pd.read_csv(tmp_path / "p.csv")["liked_predicted"].to_numpy()
    assert np.mean(again == answer) > 0.9
    monkeypatch.setitem(sys.modules, "wordllama", None)
    meaning._wordllama.cache_clear()
    said = run(*shared, "-o", tmp_path / "none.csv", *FAST, code=2).output
    assert 'pip install "tordinal[meaning]"' in said
    meaning._wordllama.cache_clear()


def test_groups_are_estimated_printed_and_written(tmp_path):
    table, groups = tmp_path / "t.csv", tmp_path / "groups.csv"
    texts, stars = make_reviews(200, random_state=0)
    names = ["pan", "pot", "lid" + " of glass" * 20]
    data = pd.DataFrame({"review": texts, "product": np.resize(names, 200)})
    data["stars"] = [str(s) if i < 60 else "" for i, s in enumerate(stars)]
    data.to_csv(table, index=False)
    shared = ["label", table, "--target", "stars", "-o", tmp_path / "o.csv", "--method", "redsvm"]
    said = run(*shared, "--by", "product", "--groups", groups).output
    assert "Average of all 200 rows: " in said
    written = pd.read_csv(groups)
    assert sorted(written["group"]) == sorted(names)
    assert len([line for line in said.splitlines() if "of glass" in line]) == 1
    assert written["rows"].sum() == 200
    for row in written.itertuples():
        assert f"{row.average_low:.2f} to {row.average_high:.2f}" in said
    assert "--groups needs --by" in run(*shared, "--groups", groups, code=2).output
    assert "prodct" in run(*shared, "--by", "prodct", code=2).output


def test_texts_are_read_by_an_encoder_that_is_tuned_or_nothing_is_written(
    tmp_path, tiny_model, monkeypatch
):
    from tordinal.text import encoder

    monkeypatch.setattr(encoder, "ON_CPU", {"n_folds": 2, "epochs": 2})
    rows = [f"{('good', 'bad')[i % 2]} book {i},{i % 2 if i < 24 else ''}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["review,liked", *rows]) + "\n")
    shared = ["label", tmp_path / "t.csv", "--text", "review", "--target", "liked", *FAST,
              "--encoder", tiny_model, "-o", tmp_path / "o.csv"]  # fmt: skip
    model = tmp_path / "m.skops"
    said = " ".join(run(*shared, "--model", model).output.split())
    assert "Note: there is no GPU" in said
    assert "use --tune." in said
    said = run(*shared, "--model", model, "--tune").output
    assert "there is no GPU" not in said
    assert "tuning the encoder" in said
    assert "Writing model shards" not in said
    assert "tiny, tuned by the ratings" in " ".join(run("inspect", model).output.split())
    run("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    (answer, again) = (pd.read_csv(tmp_path / f"{n}.csv")["liked_predicted"][24:] for n in "op")
    assert np.mean(answer == again) > 0.9
    before = sorted(path.name for path in tmp_path.iterdir())

    def interrupt(*_, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(encoder.CrossTuning, "run", interrupt)
    other = [*shared[:-1], tmp_path / "other.csv", "--model", tmp_path / "other.skops"]
    assert "nothing was written" in run(*other, "--tune", code=2).output
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    many = ["label", f"{tmp_path}/*.csv", "--target", "liked", "--encoder", tiny_model]
    assert "requires a single table" in run(*many, "-o", tmp_path / "many", code=2).output


def test_nothing_heavy_is_imported_without_an_encoder(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    code = (
        "import sys; from commands import run; "
        f"run('label', {str(tmp_path / 't.csv')!r}, '--target', 'stars', '--method', 'tor', "
        f"'-o', {str(tmp_path / 'o.csv')!r}); "
        "print([m for m in ('torch', 'transformers', 'sentence_transformers', 'wordllama') "
        "if m in sys.modules])"
    )
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tests
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_summary_of_many_columns_fits_a_screen(tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(60, 384)).round(4))
    wide.columns = [f"v{j}" for j in range(384)]
    wide["shop"] = rng.choice(["north", "south"], 60)
    wide["patient_id"] = [f"P-{i:04d}" for i in range(60)]
    wide["grade"] = [1 + int(v > 0) if i < 40 else None for i, v in enumerate(wide["v0"])]
    wide.to_csv(tmp_path / "in.csv", index=False)
    out = run("label", tmp_path / "in.csv", "--target", "grade", "--method", "redsvm",
              "-o", tmp_path / "out.csv", "--report", tmp_path / "r.html")  # fmt: skip
    lines = out.output.splitlines()
    assert len(lines) < 50
    assert any("v0, v1, v2 and 381 more" in line for line in lines)
    assert any("shop" in line and "category" in line for line in lines)
    assert any("patient_id" in line and "excluded" in line for line in lines)
    page = (tmp_path / "r.html").read_text()
    tables = page[: page.index("How it was done")]
    lists = [re.findall(r"<th[^>]*>(.*?)</th>", part) for part in tables.split("<thead>")[1:]]
    lists = [[name for name in names if name in wide] for names in lists if "patient_id" in names]
    assert lists, "rows are listed with what identifies them"
    assert all(names[0] == "patient_id" and len(names) <= 5 for names in lists), lists
    assert "What was done with each column" in page
