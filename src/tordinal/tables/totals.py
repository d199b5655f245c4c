"""Rows at the end of a table that hold totals."""

import re

from tordinal.tables.table import Table

__all__ = ["total_rows"]

TOTAL = re.compile(
    r"\s*(grand |sub)?(total|totals|sum|average|mean|count|summe|gesamt|durchschnitt|moyenne|"
    r"totale|somme|suma|promedio|media)\s*:?\s*",
    re.IGNORECASE,
)
LAST, FIRST_CELLS = 3, 3  # rows from the end, and cells from the left, where such words stand


def total_rows(table: Table) -> list[int]:
    """Rows of totals: one of their first cells is "Total" or alike, as in no other row.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    rows : list of int
        Their places.

    Examples
    --------
    >>> table = Table(["city", "stars"], [["Rome", "Oslo", "Total"], ["4", "", "4"]], "csv")
    >>> total_rows(table)
    [2]
    """
    n = len(table)
    columns = table.columns[:FIRST_CELLS]

    def has_total_word(i: int) -> bool:
        return any(isinstance(c[i], str) and bool(TOTAL.fullmatch(c[i])) for c in columns)

    last = [i for i in range(max(0, n - LAST), n) if has_total_word(i)]
    return last if last and not any(has_total_word(i) for i in range(max(0, n - LAST))) else []
