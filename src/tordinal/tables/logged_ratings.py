"""The ratings in a log, for the rows of a table."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tordinal.tables.answers import is_earlier
from tordinal.tables.fingerprints import row_fingerprints
from tordinal.tables.rating_events import Event, Header
from tordinal.tables.rating_order import spelled
from tordinal.tables.table import Table
from tordinal.tables.target import is_rated
from tordinal.tables.values import TableError, visible

__all__ = [
    "Choice",
    "LoggedRatings",
    "find_rows",
    "fingerprint_columns",
    "new_header",
    "read_logged_ratings",
    "table_fingerprints",
]

Key = tuple[int | str | None, str]  # number and fingerprint of a row when it was logged


@dataclass(frozen=True)
class Choice:
    """A row that was drawn to be rated.

    Attributes
    ----------
    place : int
        Place of the row in the table.
    probability : float
        With which it was drawn, given those before.
    audit : bool
        Whether it was drawn uniformly from all rows that were left.
    state : {"rated", "skipped", "open"}
        What became of it: rated by somebody, skipped by all who saw it, or still to be rated.
    n_left : int
        Rows without a rating among which it was drawn.
    rater : str
        For whom it was drawn.
    """

    place: int
    probability: float
    audit: bool
    state: str
    n_left: int
    rater: str = ""


@dataclass
class LoggedRatings:
    """The ratings in a log, by the places of the rows in a table.

    Attributes
    ----------
    classes : list
        The ratings from the lowest to the highest.
    n_unrated : int
        Rows without a rating when the first row was drawn.
    ratings : dict of int to dict of str to Event
        The rating that counts, by row and rater: the last one that was not undone.
    repeats : list of (int, Event)
        Rows that were rated again to see whether the rater agrees with the first rating.
    skipped : dict of int to dict of str to Event
        The last "skip" or "unsure" of rows that the rater has not rated.
    kept : dict of int to set of str
        Raters who have looked at their rating of a row again, and kept it.
    choices : list of Choice
        Rows that were drawn, in the order of choice.
    moved : list of (int or str, int)
        Numbers of rated rows in the log that now stand elsewhere, and their places.
    changed, missing : list of int or str
        Numbers of rated rows in the log whose cells are others now, or that are gone. What was
        logged about them is in nothing above.
    """

    classes: list[Any]
    n_unrated: int
    ratings: dict[int, dict[str, Event]] = field(default_factory=dict)
    repeats: list[tuple[int, Event]] = field(default_factory=list)
    skipped: dict[int, dict[str, Event]] = field(default_factory=dict)
    kept: dict[int, set[str]] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    moved: list[tuple[int | str | None, int]] = field(default_factory=list)
    changed: list[int | str | None] = field(default_factory=list)
    missing: list[int | str | None] = field(default_factory=list)

    def only(self, places: Container[int]) -> "LoggedRatings":
        """What is logged about some rows."""
        return replace(
            self,
            ratings={i: by for i, by in self.ratings.items() if i in places},
            repeats=[(i, event) for i, event in self.repeats if i in places],
            skipped={i: by for i, by in self.skipped.items() if i in places},
            kept={i: by for i, by in self.kept.items() if i in places},
            choices=[choice for choice in self.choices if choice.place in places],
        )

    @property
    def raters(self) -> list[str]:
        """The raters of the rows, sorted."""
        return sorted({rater for by_rater in self.ratings.values() for rater in by_rater})

    def of(self, rater: str) -> dict[int, Any]:
        """The ratings of one rater by row."""
        return {i: found[rater].rating for i, found in self.ratings.items() if rater in found}

    def combined(self) -> dict[int, Any]:
        """One rating by row: the median of its raters; of two middle ones, the later."""
        result = {}
        for i, by_rater in self.ratings.items():
            events = list(by_rater.values())  # in the order of time
            events_by_rank = sorted(events, key=lambda e: self.classes.index(e.rating))
            n = len(events)
            middle = [events_by_rank[(n - 1) // 2], events_by_rank[n // 2]]
            result[i] = max(middle, key=events.index).rating
        return result


def fingerprint_columns(table: Table, target: str) -> list[str]:
    """The columns that identify rows: all but the target and those of earlier runs."""
    return [n for n in table.names if n != target and not is_earlier(n, target)]


def new_header(
    table: Table, target: str, classes: Sequence[Any], n_unrated: int, file: str = ""
) -> Header:
    """The header of a log for a table.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings.
    classes : sequence
        All ratings from the lowest to the highest: texts or numbers.
    n_unrated : int
        Rows without a rating.
    file : str
        Name of the table's file, without its folder.

    Returns
    -------
    header : Header
        For `RatingsLog`.
    """
    return Header(
        target=target, classes=list(classes), columns=fingerprint_columns(table, target),
        n_rows=len(table), n_unrated=n_unrated, table=file,
    )  # fmt: skip


def find_rows(
    keys: Iterable[Key], numbers: Sequence[int | str], prints: Sequence[str]
) -> dict[Key, int]:
    """The places of rows of a log in a table.

    A row is where its number says if the cells there are the same, or else where the same cells
    are. Rows with the same cells are told apart by their order.

    Parameters
    ----------
    keys : iterable of (int or str, str)
        Numbers and fingerprints of the logged rows.
    numbers : sequence of int or str
        Numbers of the rows of the table.
    prints : sequence of str
        Their fingerprints.

    Returns
    -------
    places : dict of (int or str, str) to int
        The place of each row that was found.

    Examples
    --------
    >>> find_rows([(2, "a"), (3, "b"), (4, "c")], [2, 3, 4], ["b", "a", "a"])
    {(2, 'a'): 1, (3, 'b'): 0}
    """
    keys = list(dict.fromkeys(keys))
    place_of = {number: i for i, number in enumerate(numbers)}
    alike: dict[str, list[int]] = defaultdict(list)
    for i, code in enumerate(prints):
        alike[code].append(i)
    places = {
        key: place_of[key[0]]
        for key in keys
        if key[0] in place_of and prints[place_of[key[0]]] == key[1]
    }
    taken = set(places.values())
    for key in keys:
        if key not in places and key[1] in alike:
            free = [i for i in alike[key[1]] if i not in taken]
            # None is free if a row was logged before and after it moved.
            places[key] = free[0] if free else alike[key[1]][-1]
            taken.add(places[key])
    return {key: places[key] for key in keys if key in places}


def read_logged_ratings(
    header: Header,
    events: Sequence[Event],
    table: Table,
    prints: Sequence[str] | None = None,
    given: Collection[int] | None = None,
) -> LoggedRatings:
    """Find the rows of a log in a table, and which of their events count.

    Parameters
    ----------
    header : Header
        The header of the log.
    events : sequence of Event
        Its events, in the order of the log.
    table : Table
        The table.
    prints : sequence of str or None
        Fingerprints of its rows, as `row_fingerprints` over the columns of the header gives them.
        None: they are computed.
    given : collection of int or None
        Rows that have a rating in the table: they were not to be drawn. None: its cells
        that are no marks of missing values.

    Returns
    -------
    logged : LoggedRatings
        Ratings, choices and what does not fit the table.

    Raises
    ------
    TableError
        If the table lacks a column that identifies rows.

    Examples
    --------
    >>> table = Table(["text", "stars"], [["bad", "good"], ["", ""]], "csv", above=1)
    >>> header = new_header(table, "stars", [1, 2, 3], 2)
    >>> code = row_fingerprints({"text": ["good"]}, ["text"])[0]
    >>> first = Event(event="rate", row=3, fingerprint=code, rating=2)
    >>> second = Event(event="rate", row=3, fingerprint=code, rating=3)
    >>> read_logged_ratings(header, [first, second], table).combined()
    {1: 3}
    >>> undo = Event(event="undo", of=second.id)
    >>> read_logged_ratings(header, [first, second, undo], table).combined()
    {1: 2}
    """
    if prints is None:
        prints = table_fingerprints(header, table)
    numbers = [table.number(i) for i in range(len(table))]
    undone = _undone(events)
    of_rows = [event for event in events if event.event != "undo"]
    places = find_rows(((e.row, e.fingerprint) for e in of_rows), numbers, prints)
    logged = LoggedRatings(header.classes, header.n_unrated)
    counted = [event for event in of_rows if event.id not in undone]
    given_keys = [(e.row, e.fingerprint) for e in counted if e.event in ("rate", "repeat")]
    _note_rows(logged, given_keys, places, numbers)
    drawn: dict[int, tuple[Event, int]] = {}
    given = _given(header, table) if given is None else given
    seen: set[int] = set()  # rows that were to be drawn until they were
    for event in of_rows:
        i = places.get((event.row, event.fingerprint))
        if i is None:
            continue
        # A row whose rating was undone was drawn all the same.
        counts = event.id not in undone
        is_drawn = event.probability is not None and (counts or event.event != "choose")
        if is_drawn:
            # What was imported may not say among how many rows it was drawn.
            drawn.setdefault(i, (event, event.n_left or max(header.n_unrated - len(seen), 1)))
        if i not in given and (is_drawn or event.event == "rate"):
            seen.add(i)
        if not counts:
            continue
        if event.event == "repeat":
            logged.repeats.append((i, event))
        elif event.event == "rate":
            by_rater = logged.ratings.setdefault(i, {})
            before = by_rater.pop(event.rater, None)  # so that the order is that of time
            by_rater[event.rater] = event
            kept = logged.kept.setdefault(i, set())
            (kept.add if before and before.rating == event.rating else kept.discard)(event.rater)
        elif event.event == "keep":
            logged.kept.setdefault(i, set()).add(event.rater)
        elif event.event in ("skip", "unsure"):
            logged.skipped.setdefault(i, {})[event.rater] = event
    for i, skippers in list(logged.skipped.items()):
        left = {r: e for r, e in skippers.items() if r not in logged.ratings.get(i, {})}
        logged.skipped[i] = left
        if not left:
            del logged.skipped[i]
    for i, (event, n_left) in drawn.items():
        state = "rated" if i in logged.ratings else "skipped" if i in logged.skipped else "open"
        assert event.probability is not None
        logged.choices.append(Choice(i, event.probability, event.audit, state, n_left, event.rater))
    return logged


def table_fingerprints(header: Header, table: Table) -> list[str]:
    """Fingerprints of the rows of a table over the columns of a log."""
    gone = [name for name in header.columns if name not in table.names]
    if gone:
        raise TableError(
            f"the table has no column {visible(gone[0])!r}, which the ratings were given with; use "
            "the table as it was"
        )
    if not header.columns:
        return ["0" * 16] * len(table)
    cells = {name: table[name] for name in header.columns}
    return row_fingerprints(cells, header.columns)


def _given(header: Header, table: Table) -> set[int]:
    """Rows that have a rating in the table: they were not to be drawn."""
    if header.target not in table.names:
        return set()
    cells = table[header.target]
    return {i for i, cell in enumerate(cells) if is_rated(spelled(cell), None, ())}


def _undone(events: Sequence[Event]) -> set[str]:
    """The events that do not count; an undo that was undone itself does nothing."""
    undone: set[str] = set()
    for event in reversed(events):
        if event.event == "undo" and event.id not in undone:
            undone.add(event.of)
    return undone


def _note_rows(
    logged: LoggedRatings, keys: list[Key], places: dict[Key, int], numbers: Sequence[int | str]
) -> None:
    """Note which rows have moved, changed or gone."""
    known = set(numbers)
    for key in dict.fromkeys(keys):
        if key not in places:
            (logged.changed if key[0] in known else logged.missing).append(key[0])
        elif numbers[places[key]] != key[0]:
            logged.moved.append((key[0], places[key]))
