import datetime
import io
import zipfile

import openpyxl
import openpyxl.chart
import pytest
from openpyxl.styles import Font

from tordinal.tables.table import Table
from tordinal.tables.values import TableError
from tordinal.tables.workbooks import read_workbook, write_workbook

DAY = datetime.datetime(2023, 12, 31)


def workbook():
    """A title, a header in bold, types of all kinds, and another sheet."""
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Reviews"
    page.append(["Reviews of 2023"])
    page.append([])
    page.append(["review", "price", "when", "stars"])
    page.append(["=1+1 is not what I ordered", 2.5, DAY, 5])
    page.append(["Bad", None, None, None])
    page["A4"].data_type = "s"
    page["C4"].number_format = "DD/MM/YYYY"
    for cell in page[3]:
        cell.font = Font(bold=True)
    other = book.create_sheet("Notes")
    other["B2"], other["B3"] = "keep me", "=SUM(1,2)"
    return saved(book)


def saved(book):
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_sheet_is_read_with_its_types():
    table = read_workbook("t.xlsx", workbook(), None)
    assert table.names == ["review", "price", "when", "stars"]
    assert table["price"] == [2.5, None]
    assert table["when"] == [DAY, None]
    assert table["stars"] == [5, None]
    assert [table.number(i) for i in range(2)] == [4, 5]
    assert any("Reviews of 2023" in note for note in table.notes)
    assert any("first of 2 sheets" in note for note in table.notes)


def test_everything_else_stays_as_it_is():
    table = read_workbook("t.xlsx", workbook(), "Reviews")
    out = io.BytesIO()
    write_workbook(table, {"stars_predicted": [5, 1], "stars_source": ["given", "=2+2"]}, out)
    book = openpyxl.load_workbook(out)
    page = book["Reviews"]
    assert [cell.value for cell in page[3]][-2:] == ["stars_predicted", "stars_source"]
    assert page["E3"].font.bold
    assert [page["E4"].value, page["E5"].value] == [5, 1]
    assert (page["F5"].value, page["F5"].data_type) == ("=2+2", "s")  # text, not a formula
    assert page["C4"].number_format == "DD/MM/YYYY"
    assert page["A1"].value == "Reviews of 2023"
    assert book["Notes"]["B2"].value == "keep me"
    assert book["Notes"]["B3"].value == "=SUM(1,2)"


def test_earlier_answers_are_written_over():
    table = read_workbook("t.xlsx", workbook(), None)
    once, twice = io.BytesIO(), io.BytesIO()
    write_workbook(table, {"p": [5, 1]}, once)
    again = read_workbook("t.xlsx", once.getvalue(), None).without(["p"])
    write_workbook(again, {"p": [4, 2]}, twice)
    assert read_workbook("t.xlsx", twice.getvalue(), None)["p"] == [4, 2]
    assert len(read_workbook("t.xlsx", twice.getvalue(), None).names) == 5


def test_other_tables_become_a_workbook_of_plain_values():
    table = Table(["a", "n"], [["=HYPERLINK(1)", "b\x00c"], [10**20, "x" * 40_000]], "csv")
    out = io.BytesIO()
    write_workbook(table, {}, out)
    page = openpyxl.load_workbook(out).active
    assert (page["A2"].value, page["A2"].data_type) == ("=HYPERLINK(1)", "s")
    assert page["A3"].value == "b\ufffdc"
    assert page["B2"].value == str(10**20)
    assert len(page["B3"].value) == 32_767


def test_a_missing_sheet_and_an_empty_one_are_rejected():
    with pytest.raises(TableError, match="choose from Reviews, Notes"):
        read_workbook("t.xlsx", workbook(), "Data")
    with pytest.raises(TableError, match="is empty"):
        read_workbook("t.xlsx", saved(openpyxl.Workbook()), None)


def test_what_unpacks_to_too_much_is_rejected_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr("tordinal.tables.workbooks.LARGEST", 1000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 2000)
    with pytest.raises(TableError, match="unpacks to more"):
        read_workbook("t.xlsx", out.getvalue(), None)


def test_new_columns_go_beside_merged_cells_and_old_ones_are_unmerged():
    book = openpyxl.Workbook()
    page = book.active
    for row in (["stars", "note"], [5, "a"], [None, "b"]):
        page.append(row)
    page.merge_cells("B2:D3")
    stream = io.BytesIO()
    book.save(stream)
    table = read_workbook("t.xlsx", stream.getvalue(), None)
    out = io.BytesIO()
    write_workbook(table, {"stars_predicted": [5, 4], "note": ["c", "d"]}, out)
    rated = openpyxl.load_workbook(out).active
    head = {cell.value: cell.column for cell in rated[1]}
    assert head["stars_predicted"] == 5
    assert [rated.cell(i, 5).value for i in (2, 3)] == [5, 4]
    assert [rated.cell(i, 2).value for i in (2, 3)] == ["c", "d"]


def test_new_columns_stay_on_the_sheet_below_a_row_merged_across_it():
    book = openpyxl.Workbook()
    for row in (["stars", "note"], [5, "a"], ["the end"]):
        book.active.append(row)
    book.active.merge_cells("A3:XFD3")
    stream = io.BytesIO()
    book.save(stream)
    out = io.BytesIO()
    table = read_workbook("t.xlsx", stream.getvalue(), None)
    write_workbook(table, {"stars_predicted": [5, 4]}, out)
    rated = openpyxl.load_workbook(out).active
    assert [cell.value for cell in rated["C"]] == ["stars_predicted", 5, 4]


def test_times_with_a_zone_are_written_as_text():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    when = datetime.datetime(2024, 5, 6, 7, 8, tzinfo=zone)
    out = io.BytesIO()
    write_workbook(Table(["when"], [[when, None]], "parquet"), {}, out)
    assert openpyxl.load_workbook(out).active["A2"].value == "2024-05-06T07:08:00+02:00"


def test_a_workbook_without_a_sheet_of_cells_is_rejected():
    book = openpyxl.Workbook()
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=1, min_row=1, max_row=2))
    book.create_chartsheet("Chart").add_chart(chart)
    stream = io.BytesIO()
    book.save(stream)
    with pytest.raises(TableError, match="Chart is a chart; name a sheet"):
        read_workbook("t.xlsx", stream.getvalue(), "Chart")
    book.active = 1
    book.remove(book.worksheets[0])
    stream = io.BytesIO()
    book.save(stream)
    with pytest.raises(TableError, match="no sheet with cells"):
        read_workbook("t.xlsx", stream.getvalue(), None)
    table = Table(["a"], [[1]], "xlsx", workbook=stream.getvalue(), sheet="Sheet")
    with pytest.raises(TableError, match="lists its sheets in two ways"):
        write_workbook(table, {}, io.BytesIO())


def test_formulas_without_a_value_are_reported():
    book = openpyxl.Workbook()
    page = book.active
    for row in (["a title", None], ["n", "sum"], [1, "=A3+1"], [2, "=A4+1"], [3, None]):
        page.append(row)
    stream = io.BytesIO()
    book.save(stream)
    table = read_workbook("t", stream.getvalue(), None)
    assert table["sum"] == [None, None, None]
    assert any(n.startswith("2 cells of sum are formulas without a value") for n in table.notes)
    page["B3"], page["B4"] = "text", 3
    stream = io.BytesIO()
    book.save(stream)
    table = read_workbook("t", stream.getvalue(), None)
    assert table["sum"] == ["text", 3, None]
    assert not any("formulas" in note for note in table.notes)


def test_earlier_answers_that_nothing_replaces_are_emptied():
    table, once, twice = read_workbook("t.xlsx", workbook(), None), io.BytesIO(), io.BytesIO()
    write_workbook(table, {"stars_predicted": [5, 1], "stars_reasons": ["a", "b"]}, once)
    again = read_workbook("t.xlsx", once.getvalue(), None)
    again = again.without(["stars_predicted", "stars_reasons"])
    write_workbook(again, {"stars_predicted": [4, 2]}, twice)
    found = read_workbook("t.xlsx", twice.getvalue(), None)
    assert found["stars_predicted"] == [4, 2]
    assert "stars_reasons" not in found.names
    assert found["price"] == [2.5, None]
