"""Well-known ordered scales: agreement, quality, frequency, letters, stars.

A level is a set of words that stand for the same; a scale is its levels from the lowest to the
highest. Words are looked up in lower case, with single spaces for spaces, dashes and underscores.
That is for finding the order only: no two ratings are ever merged because they are on one level.
"""

import re
from collections.abc import Collection

__all__ = ["is_sign", "known_order", "levels_of", "plain"]

SCALES: tuple[tuple[str, ...], ...] = (
    # Words of one level are separated by |.
    (
        "strongly disagree|totally disagree|completely disagree|disagree strongly", "disagree",
        "somewhat disagree|slightly disagree|rather disagree|disagree somewhat",
        "neutral|neither agree nor disagree|neither|undecided|unsure|not sure",
        "somewhat agree|slightly agree|rather agree|agree somewhat", "agree",
        "strongly agree|totally agree|completely agree|agree strongly",
    ),
    (
        "very dissatisfied|very unsatisfied|extremely dissatisfied", "dissatisfied|unsatisfied",
        "somewhat dissatisfied|slightly dissatisfied", "neutral|neither|indifferent|okay|ok",
        "somewhat satisfied|slightly satisfied", "satisfied", "very satisfied|extremely satisfied",
    ),
    (
        "terrible|horrible|awful|abysmal|very poor|very bad|worst", "bad|poor|weak|inferior",
        "fair|mediocre|below average", "average|ok|okay|neutral|medium|acceptable|satisfactory",
        "decent|above average", "good", "very good|great",
        "excellent|outstanding|superb|best|perfect",
    ),
    ("never", "rarely|seldom|hardly ever", "sometimes|occasionally", "often|frequently",
     "usually|mostly|very often", "always"),
    (
        "none|no|nil|zero|absent", "very low|minimal|negligible", "low|minor|little|mild|slight",
        "medium low",
        "medium|moderate|mid|middle|average|normal", "medium high", "high|major",
        "very high|severe|extreme", "critical|highest",
    ),
    ("xxs", "xs|extra small|tiny", "s|small", "m|medium", "l|large|big", "xl|extra large|huge",
     "xxl", "xxxl"),
    ("very unlikely|extremely unlikely", "unlikely", "neutral|possible|maybe", "likely",
     "very likely|extremely likely|certain"),
    ("not important|unimportant|not at all important", "slightly important", "moderately important",
     "important", "very important", "extremely important|essential"),
    ("very easy", "easy", "medium|moderate|normal", "hard|difficult", "very hard|very difficult"),
    ("beginner|novice|basic", "elementary", "intermediate", "advanced", "expert|master|proficient"),
    ("not recommended|not recom|not recommend", "recommended|recommend",
     "very recommended|very recom", "priority", "special priority|spec prior"),
    ("one|first", "two|second", "three|third", "four|fourth", "five|fifth", "six|sixth",
     "seven|seventh", "eight|eighth", "nine|ninth", "ten|tenth"),
    ("one star|1 star", "two stars|2 stars", "three stars|3 stars", "four stars|4 stars",
     "five stars|5 stars"),
    ("false|no|n", "maybe|perhaps|unknown", "true|yes|y"),
    ("fail|failed|unacceptable|unacc", "pass|passed|acceptable|acc", "good", "very good|vgood",
     "merit|credit", "distinction|honours|honors"),
    ("cold|freezing", "cool|chilly", "mild|warm", "hot"),
    ("young|child", "adult|middle aged", "old|senior|elderly"),
    ("bronze", "silver", "gold", "platinum", "diamond"),
)  # fmt: skip
LETTER = re.compile(r"([a-f])\s*([+\-\u2212\u2013]|plus|minus)?")
STARS = re.compile(r"[*★⭐☆\s]+")
SIGNS = re.compile(r"\++|[-\u2212\u2013]+|0|o|=|~|±|\+/-")


def plain(label: str) -> str:
    """A label as it is looked up on a scale: lower case, single spaces; a final minus stays.

    Examples
    --------
    >>> plain(" Very_Good "), plain("A-")
    ('very good', 'a-')
    """
    text = label.strip()
    words = re.sub(r"[\s_\-\u2013]+", " ", text).strip().casefold()
    return words + "-" * text.endswith(("-", "\u2212", "\u2013")) if words else text


def known_order(labels: Collection[str]) -> list[str] | None:
    """Labels from the lowest to the highest, if they are of a known scale.

    Examples
    --------
    >>> known_order(["high", "Low", "medium"])
    ['Low', 'medium', 'high']
    >>> known_order(["B", "A-", "A"])
    ['B', 'A-', 'A']
    >>> known_order(["+", "0", "--", "-"])
    ['--', '-', '0', '+']
    >>> known_order(["red", "green", "blue"]) is None
    True
    """
    for place in (_by_stars, _by_signs, _by_letter, *map(_on, SCALES)):
        places = [place(label) for label in labels]
        if None not in places and len(set(places)) == len(places):
            return [label for _, label in sorted(zip(places, labels, strict=True))]
    return None


def levels_of(labels: Collection[str]) -> dict[str, float]:
    """Levels of the words of the known scale that most of the labels are on; empty if none are.

    Unlike `known_order` it takes labels of one level, and labels that are on no scale.

    Examples
    --------
    >>> levels = levels_of(["high", "Low", "I cannot tell"])
    >>> levels["low"] < levels["medium"] < levels["high"], "i cannot tell" in levels
    (True, False)
    """
    scales = [
        {w: float(k) for k, ws in enumerate(scale) for w in ws.split("|")} for scale in SCALES
    ]
    for place in (_by_stars, _by_signs, _by_letter):
        found = {plain(label): place(label) for label in labels}
        scales.append({word: float(k) for word, k in found.items() if k is not None})
    words = set(map(plain, labels))
    best = max(scales, key=lambda scale: len(words & scale.keys()))
    return best if words & best.keys() else {}


def _on(scale: tuple[str, ...]):  # type: ignore[no-untyped-def]
    levels = {word: k for k, words in enumerate(scale) for word in words.split("|")}
    return lambda label: levels.get(plain(label))


def _by_stars(label: str) -> int | None:
    """★★★☆☆ is three."""
    shown = label.strip()
    if not STARS.fullmatch(shown):
        return None
    return sum(shown.count(c) for c in "*★⭐")


def is_sign(label: str) -> bool:
    """Whether a label is on the scale -- < - < 0 < + < ++.

    Examples
    --------
    >>> is_sign("++"), is_sign("-1")
    (True, False)
    """
    return SIGNS.fullmatch(label.strip()) is not None


def _by_signs(label: str) -> int | None:
    """++ is two, -- is minus two; 0, o and = are between + and -."""
    shown = label.strip()
    if not is_sign(shown):
        return None
    if shown in ("±", "+/-"):
        return 0
    return shown.count("+") - sum(shown.count(c) for c in "-\u2212\u2013")


def _by_letter(label: str) -> int | None:
    """Letters as marks of schools: A is the best."""
    match = LETTER.fullmatch(label.strip().lower())
    if match is None:
        return None
    sign = {"": 0, "+": 1, "plus": 1}.get(match[2] or "", -1)
    return -3 * (ord(match[1]) - ord("a")) + sign
