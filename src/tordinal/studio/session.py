"""One rater's session: which row is shown, and what happens to it.

Every method that changes something appends to the log, and the log is on disk before it returns.
Several sessions may rate one table at the same time, in one process or in several.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.exceptions import InputError
from tordinal.reduction import UNLABELED, Ranks
from tordinal.studio.project import Project
from tordinal.tables.assessment import Assessment
from tordinal.tables.logged_ratings import LoggedRatings
from tordinal.tables.raters import repeats_to_ask
from tordinal.tables.rating_events import Event, new_id
from tordinal.tables.suggest import draw_rows

__all__ = ["ConflictError", "Item", "RatingSession"]

# Rows that are drawn ahead: the next one is there at once, however fast somebody rates. They rest
# on fewer ratings; that costs little, as batches of 10 rows save ratings, too (benchmarks active).
PREFETCHED = 4
FEWEST_TO_REPEAT, REPEAT_EVERY = 10, 12  # own ratings from which, and how often, rows come again
KINDS = ("new", "shared", "repeat", "change", "skipped")
SHARED = 0.25  # of the rows of a second rater, as long as there are rows that others have rated
ATTEMPTS = 20  # to draw a row while others draw, too


class ConflictError(InputError):
    """What was asked for does not fit what has happened in the meantime."""


@dataclass(frozen=True)
class Item:
    """What the rater is asked.

    Attributes
    ----------
    place : int
        Place of the row in the table.
    kind : str
        One of `KINDS`: a row that was drawn, one that another rater has rated, one that this rater
        has rated and is asked again, one whose rating is to be changed, or one that was skipped.
    """

    place: int
    kind: str


@dataclass
class RatingSession:
    """The session of one rater.

    Parameters
    ----------
    project : Project
        The table and its log.
    rater : str, default=""
        Name of the rater.
    seed : int, default=0
        Seed of all draws.
    on_change : callable
        Called after every event, with the session unlocked.

    Attributes
    ----------
    assessment : Assessment or None
        What the ratings said when they were last looked at; set from outside. Rows are drawn by
        its probabilities.

    Examples
    --------
    >>> import tempfile
    >>> from tordinal.studio.project import open_project
    >>> from tordinal.tables.table import Table
    >>> table = Table(["size", "grade"], [["1", "2", "8", "9"], [""] * 4], "csv", above=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     project = open_project(table, "grade", folder + "/a.csv", order=["low", "high"])
    ...     session = RatingSession(project)
    ...     first = session.item()
    ...     session.rate(first.place, "high", first.kind)
    ...     second = session.item()
    >>> first.kind, second.place != first.place, session.logged.combined()[first.place]
    ('new', True, 'high')
    """

    project: Project
    rater: str = ""
    seed: int = 0
    on_change: Callable[[], None] = lambda: None
    assessment: Assessment | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._drawing = threading.Lock()  # no two threads draw at the same time
        self._item: Item | None = None
        self._shown: dict[int, int] = {}  # the model's rank before a row was rated
        self.logged = self.project.read_log()

    # Reading -------------------------------------------------------------------------------------

    @property
    def confirmed(self) -> set[int]:
        """Places of ratings that this rater has looked at again, and kept."""
        return {i for i, raters in self.logged.kept.items() if self.rater in raters}

    def refresh(self) -> bool:
        """Read what others have appended. Returns whether there was something."""
        with self._lock:
            if not self.project.log.refresh():
                return False
            self.logged = self.project.read_log()
        self.on_change()
        return True

    def state(self) -> tuple[int, LoggedRatings]:
        """How many events were read, and what they say: both of one moment."""
        with self._lock:
            return len(self.project.log.events), self.logged

    def item(self) -> Item | None:
        """What the rater is asked now; None where every row is rated or skipped."""
        while True:
            with self._lock:
                if self._item is None or not self._is_open(self._item):
                    self._item = self._next_item()
                if self._item is not None:
                    return self._item
            # Not under the lock: a draw takes a while, and others may rate in the meantime.
            if not self._draw(1):
                return None

    def predicted(self, place: int) -> Any:
        """What models without its rating predict for a row that this rater has rated.

        None for rows that are not rated yet: predictions must not lead the rater.
        """
        with self._lock:
            if self.rater not in self.logged.ratings.get(place, {}):
                return None
            rank = self._shown.get(place, self._predicted_rank(place))
            return None if rank is None else self.project.classes[rank]

    def history(self) -> list[tuple[int, Event]]:
        """The places and events of this rater that count, the latest first; one by row."""
        with self._lock:
            found = [
                (i, by[self.rater]) for i, by in self.logged.ratings.items() if self.rater in by
            ]
            found += [
                (i, by[self.rater]) for i, by in self.logged.skipped.items() if self.rater in by
            ]
        return sorted(found, key=lambda pair: pair[1].time, reverse=True)

    # Rating --------------------------------------------------------------------------------------

    def rate(self, place: int, rating: Any, kind: str, *, id: str = "", note: str = "") -> None:
        """Rate a row.

        Parameters
        ----------
        place : int
            Place of the row.
        rating : object
            One of the classes.
        kind : str
            That of the item: "change" replaces an earlier rating, "repeat" keeps it.
        id : str, default=""
            What identifies the event: sent twice, it happens once.
        note : str, default=""
            What the rater wrote.

        Raises
        ------
        ConflictError
            If the row has been rated elsewhere in the meantime.
        """
        if kind not in KINDS:
            raise InputError(f"kind {kind!r} must be one of {', '.join(KINDS)}")
        self._append("repeat" if kind == "repeat" else "rate", place, kind, id, rating, note)

    def skip(self, place: int, *, id: str = "") -> None:
        """Pass over a row: it is not asked again."""
        self._append("skip", place, "skip", id)

    def unsure(self, place: int, *, id: str = "", note: str = "") -> None:
        """Leave a row unrated, with a note."""
        self._append("unsure", place, "skip", id, note=note)

    def undo(self, *, id: str = "") -> Item | None:
        """Undo the last event of this rater that counts. Returns the row that it was about."""
        with self._lock:
            self._read()
            if self._is_logged(id):
                return self._item
            undone: set[str] = set()
            for event in reversed(self.project.log.events):
                if event.rater != self.rater or event.id in undone or event.event == "choose":
                    continue
                if event.event == "undo":
                    undone.add(event.of)
                    continue
                places = self._places(event)
                if not places:
                    continue
                self._write(Event(event="undo", of=event.id, rater=self.rater, id=id or new_id()))
                self._shown.pop(places[0], None)
                kind = "repeat" if event.event == "repeat" else "new"
                if kind == "new" and self.rater in self.logged.ratings.get(places[0], {}):
                    kind = "change"
                self._item = Item(places[0], kind)
                break
            else:
                return None
        self.on_change()
        return self._item

    def look_again(self, place: int) -> Item:
        """Show a row whose rating is to be changed, or that was skipped."""
        with self._lock:
            self._check_place(place)
            if self.rater in self.logged.ratings.get(place, {}):
                kind = "change"
            else:
                kind = "skipped" if self.rater in self.logged.skipped.get(place, {}) else "new"
            self._item = Item(place, kind)
            return self._item

    def back(self, *, id: str = "") -> None:
        """Leave a rating, or a skipped row, as it is, and go on."""
        with self._lock:
            item = self._item
            if item is None or item.kind not in ("change", "skipped"):
                return
            self._item = None
        if item.kind == "change":
            self._append("keep", item.place, "change", id)

    # Drawing -------------------------------------------------------------------------------------

    def prefetch(self) -> None:
        """Draw rows ahead."""
        # Where others draw all the time, a row is drawn when it is asked for.
        with contextlib.suppress(ConflictError):
            self._draw(PREFETCHED)

    def _draw(self, n: int) -> bool:
        """Draw rows by the probabilities so far until n wait. Returns whether there were enough."""
        for _ in range(ATTEMPTS):
            while not self._drawing.acquire(timeout=0.01):
                if len(self._own_draws()) >= n:
                    return True
            try:
                with self._lock:
                    if len(self._own_draws()) >= n:
                        return True
                    rank, n_events = self._undrawn(), len(self.project.log.events)
                    p = self._probabilities()
                if (rank != UNLABELED).all():
                    return False
                self._log_draw(rank, n_events, p)
            finally:
                self._drawing.release()
        raise ConflictError("others rate at the same time, and no row could be drawn; try again")

    def _undrawn(self) -> Ranks:
        """The ranks of rows; rows that were drawn and are skipped or open have some rank, too."""
        rank = self.project.ranks(self.logged)
        placeholder = max(0, *rank.tolist())
        for choice in self.logged.choices:
            k = self.project.index.get(choice.place)
            if k is not None and rank[k] == UNLABELED:
                rank[k] = placeholder
        return rank

    def _log_draw(self, rank: Ranks, n_events: int, p: NDArray[np.float64] | None) -> None:
        """Draw one of the rows without a rank, and log it unless these have changed since."""
        project = self.project
        draw = draw_rows(
            project.X, rank, len(project.classes), 1, probability=p, seed=self.seed + n_events
        )[0]
        place = project.rows[draw.place]
        event = Event(
            event="choose", row=project.table.number(place), fingerprint=project.prints[place],
            rater=self.rater, probability=draw.probability, audit=draw.audit, n_left=draw.n_left,
        )  # fmt: skip
        with self._lock:
            while np.array_equal(self._undrawn() != UNLABELED, rank != UNLABELED):
                # Ratings of rows that were drawn before leave the draw as it is.
                written = project.log.append(event, if_unchanged=True)
                self.logged = project.read_log()
                if written:
                    return

    def _probabilities(self) -> NDArray[np.float64] | None:
        """Class probabilities to draw by; None before two ratings differ: rows cover the data."""
        if self.assessment is not None:
            return self.assessment.probability
        rank, n_classes = self.project.ranks(self.logged), len(self.project.classes)
        if len(np.unique(rank[rank != UNLABELED])) < 2:
            return None
        return np.full((len(rank), n_classes), 1.0 / n_classes)  # no model has been fitted yet

    # Inner workings ------------------------------------------------------------------------------

    def _next_item(self) -> Item | None:
        rated = self.logged.of(self.rater)
        n_repeats = sum(e.rater == self.rater for _, e in self.logged.repeats)
        if len(rated) >= FEWEST_TO_REPEAT + REPEAT_EVERY * n_repeats:
            again = repeats_to_ask(self.logged, self.rater, 1, self.seed)
            if again:
                return Item(again[0], "repeat")
        shared = self._shared_row(len(rated))
        if shared is not None:
            return Item(shared, "shared")
        own = self._own_draws()
        return Item(own[0], "new") if own else None

    def _shared_row(self, n_rated: int) -> int | None:
        """A row that others have rated, for some of the rows of a further rater."""
        rows = sorted(
            i for i, by in self.logged.ratings.items()
            if self.rater not in by and self.rater not in self.logged.skipped.get(i, {})
        )  # fmt: skip
        rng = np.random.default_rng([self.seed, n_rated, 2])
        return int(rng.choice(rows)) if rows and rng.random() < SHARED else None

    def _own_draws(self) -> list[int]:
        """Rows that were drawn for this rater and wait to be rated."""
        with self._lock:
            return [
                c.place for c in self.logged.choices
                if c.state == "open" and c.rater == self.rater and c.place in self.project.index
            ]  # fmt: skip

    def _is_open(self, item: Item) -> bool:
        """Whether a row still is to be asked."""
        if item.kind in ("change", "repeat", "skipped"):
            return True
        skipped = self.rater in self.logged.skipped.get(item.place, {})
        return self.rater not in self.logged.ratings.get(item.place, {}) and not skipped

    def _append(
        self, event: str, place: int, kind: str, id: str, rating: Any = None, note: str = ""
    ) -> None:
        project = self.project
        with self._lock:
            self._read()
            if self._is_logged(id):
                return  # sent twice
            self._check_place(place)
            if rating is not None or event in ("rate", "repeat"):
                rating = self._on_scale(rating)
            mine = self.logged.ratings.get(place, {}).get(self.rater)
            if mine is not None and kind in ("new", "shared", "skip", "skipped"):
                raise ConflictError(
                    f"Row {project.table.number(place)} was rated {mine.rating} in another window. "
                    "To change that, choose it in the history."
                )
            predicted = self._predicted_rank(place)
            self._write(
                Event(
                    event=event, row=project.table.number(place),
                    fingerprint=project.prints[place], rating=rating, rater=self.rater,
                    note=note, id=id or new_id(),
                )
            )  # fmt: skip
            if predicted is not None and mine is None and event == "rate":
                self._shown[place] = predicted
            if self._item is not None and self._item.place == place:
                self._item = None
        self.on_change()

    def _is_logged(self, id: str) -> bool:
        return bool(id) and any(e.id == id for e in self.project.log.events)

    def _predicted_rank(self, place: int) -> int | None:
        if self.assessment is None:
            return None
        return self.assessment.predicted_rank(self.project.index[place])

    def _write(self, event: Event) -> None:
        self.project.log.append(event)
        self.logged = self.project.read_log()

    def _read(self) -> None:
        if self.project.log.refresh():
            self.logged = self.project.read_log()

    def _places(self, event: Event) -> list[int]:
        """The place of the row of an event, if the table still has it."""
        project = self.project
        return [
            i for i in project.rows
            if project.prints[i] == event.fingerprint and project.table.number(i) == event.row
        ] or [
            i for i in project.rows if project.prints[i] == event.fingerprint
        ][:1]  # fmt: skip

    def _check_place(self, place: int) -> None:
        if place not in self.project.index:
            raise InputError(f"the table has no row at place {place} that can be rated")

    def _on_scale(self, rating: Any) -> Any:
        for c in self.project.classes:
            if str(c) == str(rating):
                return c
        raise InputError(f"{rating!r} is not on the scale")
