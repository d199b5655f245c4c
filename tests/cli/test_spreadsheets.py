"""Tables as people keep them, with the real command: what each habit must come to."""

import gzip
import io
import json

import numpy as np
import openpyxl
import pandas as pd
import pytest
from commands import FAST, run

RNG = np.random.default_rng(0)
SIZE = np.round(RNG.normal(size=60), 2)
GRADE = np.digitize(SIZE, [-0.4, 0.4])
WORDS = np.array(["poor", "fair", "good"])[GRADE]
RATED = [i % 2 == 0 for i in range(60)]


def csv(values=WORDS, sizes=SIZE, top="", end="", delimiter=",", header=("name", "size", "grade")):
    """A table of 60 rows of which every second one is rated."""
    lines = [delimiter.join(header)]
    for i, (size, value) in enumerate(zip(sizes, values, strict=True)):
        lines.append(delimiter.join([f"item {i}", str(size), str(value) if RATED[i] else ""]))
    return (top + "\n".join(lines) + "\n" + end).encode()


def workbook(top=()):
    book = openpyxl.Workbook()
    page = book.active
    for row in top:
        page.append(row)
    page.append(["name", "size", "grade"])
    for i in range(60):
        page.append([f"item {i}", float(SIZE[i]), str(WORDS[i]) if RATED[i] else None])
    book.create_sheet("Other")["A1"] = "kept"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


COMMA_SIZES = [str(s).replace(".", ",") for s in SIZE]
SEVERAL = np.where(np.arange(60) % 8 == 0, np.char.upper(WORDS.astype(str)), WORDS)
MARKED = ["?" if i % 11 == 0 else s for i, s in enumerate(SIZE)]

# File name, content, options, what must be said, and what must be in the answer.
HABITS = {
    "Excel": ("t.xlsx", workbook(), [], ["first of 2 sheets"], "xlsx"),
    "Excel with a title": ("t.xlsx", workbook([["My list"], []]), [], ["My list"], "xlsx"),
    "a sheet by name": ("t.xlsx", workbook(), ["--sheet", "Sheet"], [], "xlsx"),
    "Unicode text": ("t.txt", csv(delimiter="\t").decode().encode("utf-16"), [], [], "txt"),
    "sep= line": ("t.csv", csv(top="sep=;\n", delimiter=";"), [], [], "csv"),
    "packed": ("t.csv.gz", gzip.compress(csv()), [], [], "csv"),
    "decimal commas": ("t.csv", csv(sizes=COMMA_SIZES, delimiter=";"), [], ["0,"], "csv"),
    "title rows": ("t.csv", csv(top="Results of May,,\n"), [], ["Results of May"], "csv"),
    "a total": ("t.csv", csv(end="Total,0.5,\n"), [], ["row 62 looks like a total"], "csv"),
    "spellings": ("t.csv", csv(SEVERAL), [], ["'GOOD'", "taken as"], "csv"),
    "marks": ("t.csv", csv(sizes=MARKED), [], ["as missing: '?' (6)"], "csv"),
    "marks of one's own": (
        "t.csv", csv(sizes=["x0" if i % 9 == 0 else s for i, s in enumerate(SIZE)]),
        ["--missing", "x0"], ["imputed"], "csv",
    ),
    "two columns of one name": (
        "t.csv", csv(header=("size", "size", "grade")), [], ["called 'size', 'size (2)'"], "csv",
    ),
    "percent": ("t.csv", csv(sizes=[f"{s}%" for s in SIZE]), [], ["%' is"], "csv"),
    "money": ("t.csv", csv(sizes=[f"${s}" for s in SIZE]), [], ["'$"], "csv"),
    "days first": (
        "t.csv", csv(sizes=[f"{d:02d}/01/2023" for d in np.clip(15 + 6 * SIZE, 1, 31).astype(int)]),
        [], ["2023-01-"], "csv",
    ),
    "n/a": ("t.csv", csv().replace(b",\n", b",n/a\n"), [], ["taken as not rated"], "csv"),
}  # fmt: skip


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_understood(habit, tmp_path):
    name, content, options, said, kind = HABITS[habit]
    (tmp_path / name).write_bytes(content)
    out = tmp_path / name.replace("t.", "out.", 1)
    order = ["--order", "poor,fair,good"]
    drop = "size" if habit == "two columns of one name" else "name"
    done = run(
        *("label", tmp_path / name, "--target", "grade", "-o", out, *order, *FAST, *options),
        *("--drop", drop),
        env={"COLUMNS": "300"},
    )
    for words in said:
        assert words in done.output, done.output
    assert "number" in done.output or "date" in done.output
    if kind == "xlsx":
        book = openpyxl.load_workbook(out)
        assert book["Other"]["A1"].value == "kept"
        rows = list(book.worksheets[0].iter_rows(values_only=True))
        head = next(i for i, row in enumerate(rows) if row[0] == "name")
        predicted = [row[3] for row in rows[head + 1 :]]
    else:
        raw = out.read_bytes()
        raw = gzip.decompress(raw) if name.endswith("gz") else raw
        text = raw.decode("utf-16" if kind == "txt" else "utf-8")
        before = content if not name.endswith("gz") else gzip.decompress(content)
        before = before.decode("utf-16" if kind == "txt" else "utf-8")
        for old, new in zip(before.splitlines(), text.splitlines(), strict=True):
            assert new.startswith(old)  # every line as it was, with cells added
        cut = ";" if ";" in text else "\t" if kind == "txt" else ","
        lines = [line.split(cut) for line in text.splitlines()]
        head = next(i for i, line in enumerate(lines) if "grade_predicted" in line)
        at = lines[head].index("grade_predicted")
        predicted = [line[at] for line in lines[head + 1 :]][:60]
    assert np.mean([p.lower() == w for p, w in zip(predicted, WORDS, strict=True)]) > 0.75


def test_confidences_have_the_decimal_comma_of_the_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv(sizes=COMMA_SIZES, delimiter=";"))
    out = tmp_path / "out.csv"
    run("label", tmp_path / "t.csv", "--target", "grade", "--order", "poor,fair,good", "--drop",
        "name", "-o", out, *FAST, "--probabilities")  # fmt: skip
    table = pd.read_csv(out, sep=";", decimal=",")
    assert table["grade_confidence"].between(0, 1).all()
    shares = table[[f"grade_probability_{w}" for w in ("poor", "fair", "good")]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-3)


def test_rows_below_a_confidence_stay_unrated(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv())
    out = tmp_path / "out.csv"
    said = run("label", tmp_path / "t.csv", "--target", "grade", "--order", "poor,fair,good",
               "--drop", "name", "-o", out, *FAST, "--abstain", "0.75").output  # fmt: skip
    table = pd.read_csv(out)
    unsure = table["grade_source"] == "unsure"
    assert 0 < unsure.sum() < 30
    assert table.loc[unsure, "grade_predicted"].isna().all()
    assert (table.loc[unsure, "grade_confidence"] < 0.75).all()
    assert (table.loc[table["grade_source"] == "predicted", "grade_confidence"] >= 0.75).all()
    assert f"{unsure.sum()} rows below a confidence of 0.75 stay unrated" in " ".join(said.split())


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_rows_to_rate_next_are_filled_in_and_fed_back(kind, tmp_path):
    source = tmp_path / f"t.{kind}"
    source.write_bytes(csv() if kind == "csv" else workbook())
    shared = [source, "--target", "grade", "--order", "poor,fair,good", "--drop", "name", *FAST]
    form, out = tmp_path / f"next.{kind}", tmp_path / f"out.{kind}"
    run("label", *shared, "-o", out, "--next", "4", form)
    asked = pd.read_csv(form) if kind == "csv" else pd.read_excel(form)
    assert len(asked) == 4
    assert asked["grade"].isna().all()
    assert {"row", "size", "grade_predicted", "grade_confidence"} <= set(asked.columns)
    rows = asked["row"].to_numpy() - 2
    assert not np.array(RATED)[rows].any()
    asked["grade"] = WORDS[rows]
    asked.to_csv(form, index=False) if kind == "csv" else asked.to_excel(form, index=False)
    said = run("label", *shared, "-o", out, "--filled", form).output
    assert "4 ratings were filled in" in said
    answer = pd.read_csv(out) if kind == "csv" else pd.read_excel(out)
    assert (answer["grade_source"] == "given").sum() == 34
    assert (answer["grade_predicted"].to_numpy()[rows] == WORDS[rows]).all()


def test_quick_is_one_model(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv())
    model = tmp_path / "m.skops"
    run("label", tmp_path / "t.csv", "--target", "grade", "--order", "poor,fair,good", "--drop",
        "name", "-o", tmp_path / "out.csv", "--quick", "--model", model)  # fmt: skip
    said = run("inspect", model, env={"COLUMNS": "200"}).output
    assert said.count("perceptron") == 1
    assert "expected error" in said


def test_columns_that_drown_a_review_are_excluded_and_reported(tmp_path):
    from tordinal.datasets import make_reviews

    texts, stars = make_reviews(300, random_state=2)
    rng = np.random.default_rng(0)
    words = np.array(["red", "blue", "big", "small", "lamp", "cup", "tent", "sock", "pan", "pen"])
    names = [" ".join(rng.choice(words, 6)) for _ in range(25)]
    products = [names[i] for i in rng.integers(0, len(names), len(texts))]
    given = pd.Series(stars, dtype="Int64").where(np.arange(300) % 4 == 0)
    table = pd.DataFrame({"review": texts, "product": products, "price": rng.random(300).round(3)})
    table["stars"] = given
    table.to_csv(tmp_path / "t.csv", index=False)
    said = run("label", tmp_path / "t.csv", "--target", "stars", "-o", tmp_path / "o.csv", *FAST,
               env={"COLUMNS": "200"}).output  # fmt: skip
    assert "excluded, because held-out rows are rated as well without them: product, price;" in said
    kept = run("label", tmp_path / "t.csv", "--target", "stars", "-o", tmp_path / "p.csv", *FAST,
               "--columns", "review,product", env={"COLUMNS": "200"}).output  # fmt: skip
    assert "excluded, because" not in kept
    hidden = given.isna()
    wrong = [
        np.mean(pd.read_csv(tmp_path / name)["stars_predicted"][hidden] != stars[hidden])
        for name in ("o.csv", "p.csv")
    ]
    assert wrong[0] <= wrong[1]


def test_characters_carry_information_where_there_are_no_spaces(tmp_path):
    rng = np.random.default_rng(0)
    good, bad, filler = "好棒优美赞", "差坏糟烂丑", "的一是在不了有和人这中大为上个国我以要他"
    rows = []
    for i in range(120):
        own = good if i % 2 else bad
        text = "".join(rng.permutation([*rng.choice(list(filler), 12), *rng.choice(list(own), 2)]))
        rows.append((text + ("😀" if i % 2 else "😡"), ("1" if i % 2 else "0") if i < 40 else ""))
    pd.DataFrame(rows, columns=["comment", "liked"]).to_csv(tmp_path / "t.csv", index=False)
    said = run("label", tmp_path / "t.csv", "--target", "liked", "-o", tmp_path / "o.csv", *FAST)
    assert "text" in said.output
    answer = pd.read_csv(tmp_path / "o.csv")["liked_predicted"]
    assert np.mean(answer == np.arange(120) % 2) > 0.85


def test_names_and_cells_beyond_the_usual_stay_safe(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv())
    shared = ["--target", "grade", "--order", "poor,fair,good", "--drop", "name", *FAST]
    long = tmp_path / ("x" * 245 + ".csv")
    run("label", tmp_path / "t.csv", *shared, "-o", long)
    assert long.exists()
    said = run("label", tmp_path / "t.csv", *shared, "-o", tmp_path / ("x" * 260 + ".csv"), code=2)
    assert "longer than 255" in said.output
    (tmp_path / "huge.csv").write_bytes(csv(sizes=[1e200, *SIZE[1:]]))
    said = run("label", tmp_path / "huge.csv", *shared, "-o", tmp_path / "o.csv", code=2).output
    assert "column size holds 1e+200" in said
    big = [
        json.dumps({"n": 10**30 + i, "grade": word if rated else None})
        for i, (word, rated) in enumerate(zip(WORDS.tolist(), RATED, strict=True))
    ]
    (tmp_path / "big.jsonl").write_text("\n".join(big))
    run("label", tmp_path / "big.jsonl", *shared[:-len(FAST) - 2], *FAST, "--columns", "n", "-o",
        tmp_path / "o.parquet")  # fmt: skip
    assert pd.read_parquet(tmp_path / "o.parquet")["n"][0] == str(10**30)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("t.xls", "save it as .xlsx"), ("t.ods", "save it as"), ("t.json", ".jsonl")],
)
def test_what_cannot_be_read_is_rejected_with_the_remedy(name, remedy, tmp_path):
    (tmp_path / name).write_bytes(b"x")
    said = run("label", tmp_path / name, "--target", "a", "-o", tmp_path / "o.csv", code=2).output
    assert remedy in " ".join(said.split())
