import pytest

from tordinal.tables.table import Table
from tordinal.tables.totals import total_rows


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (["Rome", "Oslo", "Total"], [2]),
        (["Rome", "Oslo", " grand TOTAL: "], [2]),
        (["Rome", "Oslo", "Mean", "Sum"], [2, 3]),
        (["Rome", "Total recall", "Oslo"], []),
        (["Total", "a", "b", "c", "Total"], []),  # a value like any other
        ([1.0, 2.0, 3.0], []),
    ],
)
def test_rows_that_sum_up_are_seen(cells, rows):
    assert total_rows(Table(["city"], [cells], "csv")) == rows
