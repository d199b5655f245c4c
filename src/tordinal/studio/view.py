"""What the page shows, as JSON: plain values and sentences; the page puts them in as text."""

from dataclasses import asdict
from typing import Any

from tordinal.reduction import UNLABELED
from tordinal.studio.assessor import Assessor
from tordinal.studio.finishing import Finishing
from tordinal.studio.session import Item, RatingSession
from tordinal.tables.estimates import scale_of
from tordinal.tables.finished import FinishedError
from tordinal.tables.raters import FEWEST, agreement, self_agreement
from tordinal.tables.stopping import forecast_error, ratings_needed
from tordinal.tables.values import number

__all__ = ["estimates_view", "history_view", "keys_of", "state_view"]

MORE = 20  # ratings whose gain is forecast
SNIPPET = 90  # characters of a row in a list
SHOWN_HISTORY, SHOWN_LOOKS, LONGEST_LIST = 10, 5, 20  # entries
# Marks that turn the direction of text: several cells share a line here.
NO_DIRECTION = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
ACTIONS = "snu"  # keys of the page that are no ratings
DIGITS = [*"1234567890"]
LETTERS = [c for c in "abcdefghijklmnopqrstuvwxyz" if c not in ACTIONS]


def keys_of(classes: list[Any]) -> list[str]:
    """The key of each rating: 1, 2, ... 9, 0 and letters, if no rating is a digit.

    A digit on the scale is always its own key. Then the other ratings have letters, so that no
    digit means another number.

    Examples
    --------
    >>> keys_of([0, 1, 2]), keys_of(["low", "high"]), keys_of([-1, 0, 1]), keys_of(range(1, 11))[-1]
    (['0', '1', '2'], ['1', '2'], ['a', '0', '1'], 'a')
    """
    own = [str(c) if str(c) in DIGITS else "" for c in classes]
    keys = iter(LETTERS if any(own) else [*DIGITS, *LETTERS])
    return [key or next(keys, "") for key in own]


def state_view(
    session: RatingSession, assessor: Assessor, finishing: Finishing, notes: list[str]
) -> dict[str, Any]:
    """All that the page shows but the estimates."""
    item = session.item()
    project = session.project
    history = session.history()
    return {
        "item": None if item is None else _item_view(session, item),
        "rows": len(project.rows),
        "rated": _n_rated(session),
        "mine": sum(event.event == "rate" for _, event in history),
        "skipped": sum(event.event != "rate" for _, event in history),
        "history": [_entry(session, i, event) for i, event in history[:SHOWN_HISTORY]],
        "version": assessor.version,
        "behind": assessor.is_behind,
        "notes": [*notes, *_log_notes(session)],
        "finish": asdict(finishing.status),
    }


def _n_rated(session: RatingSession) -> int:
    """Rows that are rated in the table or by anybody."""
    return int((session.project.ranks(session.logged) != UNLABELED).sum())


def history_view(session: RatingSession) -> list[dict[str, Any]]:
    """All rows that the rater has rated or skipped, the latest first."""
    return [_entry(session, i, event) for i, event in session.history()]


def _item_view(session: RatingSession, item: Item) -> dict[str, Any]:
    project = session.project
    cells = project.cells(item.place)
    mine = session.logged.ratings.get(item.place, {}).get(session.rater)
    return {
        "place": item.place,
        "row": project.table.number(item.place),
        "kind": item.kind,
        # The first rating is not shown where it is asked for again.
        "rating": None if mine is None or item.kind != "change" else str(mine.rating),
        "texts": [[name, cells[name]] for name in project.texts if name in cells],
        "others": [[name, cells[name]] for name in project.others if name in cells],
    }


def _entry(session: RatingSession, place: int, event: Any) -> dict[str, Any]:
    predicted = session.predicted(place)
    return {
        "place": place,
        "row": session.project.table.number(place),
        "event": event.event,
        "rating": None if event.rating is None else str(event.rating),
        "predicted": None if predicted is None else str(predicted),
        "note": event.note,
        "snippet": _snippet(session, place),
    }


def _snippet(session: RatingSession, place: int) -> str:
    text = " · ".join(session.project.cells(place).values())
    text = " ".join(text[: 2 * SNIPPET].translate(NO_DIRECTION).split())
    return text if len(text) <= SNIPPET else text[: SNIPPET - 1] + "…"


def _log_notes(session: RatingSession) -> list[str]:
    """What does not fit between the log and the table."""
    logged, notes = session.logged, []
    if logged.moved:
        notes.append(
            f"{len(logged.moved):,} rated rows have moved in the table since they were rated; "
            "they were recognised by their cells"
        )
    changes = (
        (logged.changed, "has changed", "have changed"),
        (logged.missing, "is gone", "are gone"),
    )
    for rows, one, many in changes:
        listed = ", ".join(map(str, rows[:LONGEST_LIST]))
        if len(rows) == 1:
            notes.append(
                f"1 rated row {one} since it was rated, so its rating is not used: row {listed}"
            )
        elif rows:
            notes.append(
                f"{len(rows):,} rated rows {many} since they were rated, so their ratings are not "
                f"used: rows {listed}"
            )
    return notes


def estimates_view(
    session: RatingSession, assessor: Assessor, goal: float | None
) -> dict[str, Any]:
    """What the ratings say about the finished table."""
    project, found, logged = session.project, session.assessment, session.logged
    view: dict[str, Any] = {
        # Events change what is shown before they are assessed: a rating that is kept, say.
        "version": assessor.version + len(project.log.events), "behind": assessor.is_behind,
        "failure": assessor.failure, "rated": _n_rated(session),
        "ratings": 0 if found is None else found.n_ratings,
        "course": [asdict(point) for point in assessor.course], "goal": goal,
        "error": None, "sentences": [], "shares": [], "looks": [], "discuss": [],
    }  # fmt: skip
    sentences = view["sentences"]
    if found is not None and found.error is not None:
        view["error"] = _error_view(found.error)
        sentences += _forecasts(assessor, found.error, len(project.rows), goal)
    if found is not None and found.estimates is not None:
        sentences.append(_average(found.estimates.mean, project.classes))
        view["shares"] = [
            {"label": str(label), **{name: _finite(row[name]) for name in ("value", "low", "high")}}
            for label, (_, row) in zip(
                project.classes, found.estimates.shares.iterrows(), strict=True
            )
        ]
    mine = logged.of(session.rater)
    if found is not None:
        # Beside each, what the models say now, which is why it is here.
        looks = [
            (k, project.rows[k]) for k in found.second_looks
            if project.rows[k] in mine and project.rows[k] not in session.confirmed
        ]  # fmt: skip
        view["looks"] = [
            _entry(session, i, logged.ratings[i][session.rater])
            | {"predicted": str(project.classes[found.predicted_rank(k)])}
            for k, i in looks[:SHOWN_LOOKS]
        ]
    own = self_agreement(logged, session.rater)
    if own is not None:
        sentences.append(
            f"You and yourself: {_continued(str(own))} So no prediction of your ratings can be off "
            f"by less than about {own.floor:.2f} steps."
            if own.n >= FEWEST else str(own)
        )  # fmt: skip
    for other in logged.raters:
        both = None if other == session.rater else agreement(logged, session.rater, other)
        if both is None:
            continue
        sentences.append(
            f"You and {other or 'the unnamed rater'}: {_continued(both.describe('rated by both'))}"
        )
        view["discuss"] += [
            {
                "place": i, "row": project.table.number(i), "rating": str(one),
                "rater": other or "unnamed", "other": str(two), "snippet": _snippet(session, i),
            }
            for i, one, two in both.to_discuss[:LONGEST_LIST]
        ]  # fmt: skip
    return view


def _error_view(error: FinishedError) -> dict[str, float]:
    return {
        "value": error.error, "low": error.low, "high": error.high,
        "high_anytime": error.high_anytime,
    }  # fmt: skip


def _forecasts(
    assessor: Assessor, error: FinishedError, n_rows: int, goal: float | None
) -> list[str]:
    """What more ratings would bring, and how many a goal needs."""
    if assessor.curve is None:
        return []
    n_left = n_rows - assessor.curve.n
    now = error.error * n_rows / n_left if n_left > 0 else None
    sentences = []
    if n_left > MORE:
        sentences.append(str(forecast_error(assessor.curve, MORE, n_rows, now)))
    if goal is not None:
        sentences.append(str(ratings_needed(assessor.curve, goal, n_rows, now)))
        if error.high_anytime <= goal:
            sentences.append(
                "You can stop: the error is below your goal, and this holds however often you have "
                "looked."
            )
    return sentences


def _average(mean: Any, classes: list[Any]) -> str:
    """The average of all rows, in one sentence."""
    scale = scale_of(classes)
    unit = "" if all(number(c) is not None for c in classes) else (
        f" on the scale from {scale[0]:g} ({classes[0]}) to {scale[-1]:g} ({classes[-1]})"
    )  # fmt: skip
    if _finite(mean.low) is None:
        return f"Average of all rows: {mean.value:.2f}{unit}; too few ratings for an interval."
    return (
        f"Average of all rows: {mean.value:.2f}{unit} (90 % interval {mean.low:.2f} to "
        f"{mean.high:.2f})."
    )


def _continued(sentence: str) -> str:
    """A sentence after a colon."""
    return sentence[:1].lower() + sentence[1:]


def _finite(value: Any) -> float | None:
    return float(value) if value == value else None
