"""The model behind a session: fitted again in the background after every rating."""

import threading
from dataclasses import dataclass, field

import numpy as np

from tordinal.reduction import UNLABELED, Ranks
from tordinal.studio.project import Project
from tordinal.studio.session import RatingSession
from tordinal.tables.assessment import Assessment, assess, curve_of
from tordinal.tables.curve import Curve
from tordinal.tables.logged_ratings import LoggedRatings
from tordinal.tables.selection import Selection, drawn_in, select_rows

__all__ = ["Assessor", "Point"]

CURVE_EVERY = 5  # ratings after which the learning curve is computed again
EARLIER_POINTS = 6  # of the course of the error that are computed when rating is taken up again


@dataclass(frozen=True)
class Point:
    """The estimated error of the finished table after some ratings."""

    n_ratings: int
    error: float
    low: float
    high: float
    high_anytime: float


@dataclass
class Assessor:
    """Keeps the assessment of a session up to date, in a thread of its own.

    Parameters
    ----------
    session : RatingSession
        The session; its `assessment` is set here, and rows are drawn ahead.

    Attributes
    ----------
    course : list of Point
        The error by the number of ratings.
    curve : Curve or None
        The learning curve, as of the last few ratings.
    version : int
        Grows with every change of what is here.
    n_assessed : int
        Events of the log that have been looked at.
    failure : str
        What went wrong, if something did.
    """

    session: RatingSession
    course: list[Point] = field(default_factory=list)
    curve: Curve | None = None
    version: int = 0
    n_assessed: int = -1
    failure: str = ""

    def __post_init__(self) -> None:
        self._wake, self._stopped = threading.Event(), False
        self.session.on_change = self.wake
        self._thread = threading.Thread(target=self._run, name="assessor", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the fit that is running."""
        self._stopped = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def wake(self) -> None:
        """Look at the ratings again."""
        self._wake.set()

    @property
    def is_behind(self) -> bool:
        """Whether there are ratings that have not been looked at."""
        return self.n_assessed < len(self.session.project.log.events)

    def _run(self) -> None:
        while not self._stopped:
            self._wake.clear()
            try:
                is_done = self.update()
            except Exception as error:  # shown on the page; rating goes on
                self.failure, is_done = f"{type(error).__name__}: {error}", True
                self.version += 1
            if is_done:
                self._wake.wait()

    def update(self) -> bool:
        """Do what is most urgent. Returns whether nothing is left to do."""
        session, project = self.session, self.session.project
        n_events, logged = session.state()
        if n_events != self.n_assessed:
            rank, selection = state_of(project, logged)
            found = assess(project.X, rank, project.classes, selection)
            session.assessment = found
            self._note(found)
            self.version += 1  # shown before rows are drawn ahead, which takes as long
            session.prefetch()
            n_now, self.failure = session.state()[0], ""
            rated = any(e.event != "choose" for e in project.log.events[n_events:n_now])
            self.n_assessed = n_events if rated else n_now  # rated in the meantime, or not
            return False
        n = 0 if session.assessment is None else session.assessment.n_ratings
        if n and (self.curve is None or n >= self.curve.n + CURVE_EVERY or n < self.curve.n):
            rank, selection = state_of(project, logged)
            curve = curve_of(project.X, rank, len(project.classes), selection, session.seed)
            if curve is not None:
                self.curve, self.version = curve, self.version + 1
                return False
        return not self._add_earlier_point(logged)

    def _note(self, found: Assessment | None) -> None:
        if found is None or found.error is None:
            return
        e = found.error
        point = Point(found.n_ratings, e.error, e.low, e.high, e.high_anytime)
        self.course = [p for p in self.course if p.n_ratings != point.n_ratings]
        self.course = sorted([*self.course, point], key=lambda p: p.n_ratings)

    def _add_earlier_point(self, logged: LoggedRatings) -> bool:
        """Add a point before the first one of the course. Returns whether there was one to add."""
        if not self.course or self.course[0].n_ratings <= 2 * EARLIER_POINTS:
            return False
        project, first = self.session.project, self.course[0].n_ratings
        rank, _ = state_of(project, logged)
        n = first - max(self.course[-1].n_ratings // EARLIER_POINTS, EARLIER_POINTS)
        order = np.flatnonzero(project.given != UNLABELED).tolist()
        order += [project.index[i] for i in logged.ratings if i in project.index]
        order = list(dict.fromkeys(k for k in order if rank[k] != UNLABELED))
        if n < 2 * EARLIER_POINTS or n >= len(order):
            return False
        earlier = np.full(len(rank), UNLABELED)
        earlier[order[:n]] = rank[order[:n]]
        found = assess(project.X, earlier, project.classes, _selection(project, logged, earlier))
        if found is None or found.error is None or len(order[:n]) >= first:
            return False
        self._note(found)
        self.version += 1
        return True


def state_of(project: Project, logged: LoggedRatings) -> tuple[Ranks, Selection | None]:
    """The ranks of the rows, and how the rated ones were chosen."""
    rank = project.ranks(logged)
    return rank, _selection(project, logged, rank)


def _selection(project: Project, logged: LoggedRatings, rank: Ranks) -> Selection | None:
    return select_rows(rank != UNLABELED, drawn_in(logged), project.rows)
