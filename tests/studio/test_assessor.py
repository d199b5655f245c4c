import time

import numpy as np

from tordinal.studio.assessor import Assessor, state_of
from tordinal.studio.session import PREFETCHED, RatingSession


def rate(session, truth, n):
    for _ in range(n):
        item = session.item()
        session.rate(item.place, truth[item.place], item.kind)


def finish(assessor):
    for _ in range(50):
        if assessor.update():
            return
    raise AssertionError("the assessor does not come to an end")


def test_estimates_follow_the_ratings(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    assert assessor.is_behind
    finish(assessor)
    assert session.assessment is None
    rate(session, grades[1], 12)
    assert assessor.is_behind
    finish(assessor)
    assert not assessor.is_behind
    assert session.assessment.n_ratings == len(session.logged.combined())
    assert [p.n_ratings for p in assessor.course] == [session.assessment.n_ratings]
    version = assessor.version
    rate(session, grades[1], 20)
    finish(assessor)
    assert assessor.version > version
    assert assessor.curve is not None
    assert len(assessor.course) >= 2


def test_estimates_are_shown_before_rows_are_drawn_ahead(opened, grades, monkeypatch):
    session = RatingSession(opened())
    assessor = Assessor(session)
    rate(session, grades[1], 12)
    seen = []
    monkeypatch.setattr(
        session, "prefetch", lambda: seen.append((assessor.version, assessor.course))
    )
    assessor.update()
    assert [(version, len(course)) for version, course in seen] == [(1, 1)]


def test_the_course_is_found_again_after_a_restart(opened, grades):
    session = RatingSession(opened())
    rate(session, grades[1], 60)
    assessor = Assessor(RatingSession(opened()))
    finish(assessor)
    numbers = [p.n_ratings for p in assessor.course]
    assert len(numbers) >= 4
    assert numbers == sorted(numbers)
    assert assessor.course[0].high > assessor.course[-1].high


def test_rows_are_drawn_ahead(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    finish(assessor)
    ahead = [c.place for c in session.logged.choices if c.state == "open"]
    assert len(ahead) == PREFETCHED
    assert session.item().place == ahead[0]


def test_in_the_background(opened, grades):
    session = RatingSession(opened())
    assessor = Assessor(session)
    assessor.start()
    rate(session, grades[1], 15)
    end = time.monotonic() + 60
    while (assessor.is_behind or session.assessment is None) and time.monotonic() < end:
        time.sleep(0.05)
    assessor.stop()
    assert session.assessment.n_ratings == len(session.logged.combined())


def test_a_failure_is_reported_and_rating_goes_on(opened, grades, monkeypatch):
    session = RatingSession(opened())
    assessor = Assessor(session)

    def fail(*_):
        raise FloatingPointError("no luck")

    monkeypatch.setattr("tordinal.studio.assessor.assess", fail)
    assessor.start()
    end = time.monotonic() + 60
    while not assessor.failure and time.monotonic() < end:
        time.sleep(0.02)
    rate(session, grades[1], 3)
    assessor.stop()
    assert assessor.failure == "FloatingPointError: no luck"
    assert len(session.logged.combined()) == 3


def test_ranks_and_draws_of_a_log(opened, grades):
    session = RatingSession(opened())
    rate(session, grades[1], 8)
    rank, selection = state_of(session.project, session.logged)
    assert (rank >= 0).sum() == 8
    assert len(selection.draws) == 8
    assert np.isfinite(selection.weights()).all()
