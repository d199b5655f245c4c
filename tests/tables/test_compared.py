from tordinal.tables.columns import TableEncoder
from tordinal.tables.compared import Compared, compare
from tordinal.tables.rating import Settings, rate
from tordinal.tables.table import Table
from tordinal.tables.target import read_target

SIZES = [1, 2, 3, 8, 9, 10]


def test_rows_that_were_learned_from_do_not_count():
    target = read_target("grade", ["1", "", "1", "2", "", "2"], None)
    model = rate(
        {"size": SIZES}, target, TableEncoder(), Settings(method="tor"), lambda *_: None
    ).model
    table = Table(["size", "grade"], [SIZES, ["1", "2.0", "1", "2", None, "none"]], "csv")
    compared = compare(model, table, ["1", "1", "1", "2", "2", "2"])
    assert compared == Compared(rated=4, new=1, wrong=1, steps=1)
    assert "learned from 3 of the 4 rated rows" in compared.about("grade")
    both = compared + Compared(2, 2, 0, 0)
    assert "On 3 rated rows that are new to it: 33 % wrong, off by 0.33 steps" in both.about(
        "grade"
    )
    assert "No row of grade" in Compared().about("grade")


def test_what_the_model_calls_a_rating_is_one():
    order = ["none", "mild", "severe"]
    target = read_target("grade", ["none", "", "none", "mild", "", "severe"], order)
    model = rate(
        {"size": SIZES}, target, TableEncoder(), Settings(method="tor"), lambda *_: None
    ).model
    sizes = [size + 0.5 for size in SIZES]
    table = Table(["size", "grade"], [sizes, ["none", "None", "", "mild", "Severe", "x"]], "csv")
    compared = compare(model, table, ["none", "mild", "none", "mild", "severe", "none"])
    assert compared == Compared(rated=4, new=4, wrong=1, steps=1)


def test_ratings_that_the_model_does_not_know_are_reported():
    target = read_target("grade", ["1", "", "1", "2", "", "2"], None)
    model = rate(
        {"size": SIZES}, target, TableEncoder(), Settings(method="tor"), lambda *_: None
    ).model
    cells = ["9", "?", "n/a", "", None, "\x1bbad"]
    compared = compare(model, Table(["size", "grade"], [SIZES, cells], "csv"), ["1"] * 6)
    assert compared == Compared(unknown=2, example="9")
    said = (compared + Compared(unknown=3, example="7")).about("grade")
    assert said.startswith("No row of grade has a rating to compare with.")
    assert "5 cells of grade are excluded from the error" in said
    assert "such as '9'" in said
    one = Compared(unknown=1, example="7").about("grade")
    assert one.endswith("1 cell of grade is excluded from the error: the model has no rating '7'.")
    assert "\x1b" not in Compared(unknown=1, example="\x1bbad").about("grade")
