"""Drawing primitives of the report: shapes, a description and a table of numbers.

Colours are CSS variables of the page, so that a picture follows light, dark and print.
"""

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

__all__ = ["STEPS", "WIDTH", "Picture", "class_colour", "margin", "percent", "short", "ticks"]

WIDTH = 480
WIDE, NARROW = frozenset("mwMW@%&"), frozenset("fijlrt.,:;'! |()[]-")
STEPS = 20  # parts of the colour scale, from calm to strong: a low rating need not be a bad one


@dataclass
class Picture:
    """A drawing, its title, a description for those who cannot see it, and its table of numbers."""

    title: str
    description: str
    header: list[str]
    rows: list[list[str]]
    height: float
    shapes: list[Markup] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Width in the units of its coordinates."""
        return WIDTH

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, tip: str = ""
    ) -> None:
        """A filled rectangle."""
        shape = Markup(
            '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}">{}</rect>'
        )
        self.shapes.append(shape.format(x, y, max(width, 0.0), max(height, 0.0), fill, _tip(tip)))

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A line of a CSS class."""
        shape = Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>')
        self.shapes.append(shape.format(x1, y1, x2, y2, kind))

    def circle(self, x: float, y: float, kind: str, tip: str = "") -> None:
        """A small circle of a CSS class."""
        shape = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="5" class="{}">{}</circle>')
        self.shapes.append(shape.format(x, y, kind, _tip(tip)))

    def text(self, x: float, y: float, content: str, anchor: str = "start", kind: str = "") -> None:
        """A text."""
        shape = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>')
        self.shapes.append(shape.format(x, y, anchor, kind, content))


def _tip(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text) if text else Markup("")


def class_colour(k: int, n: int) -> str:
    """Colour of class k of n, from calm to strong; the page defines it for light and dark mode.

    Examples
    --------
    >>> class_colour(0, 5), class_colour(4, 5)
    ('var(--rank-0)', 'var(--rank-20)')
    """
    return f"var(--rank-{round(STEPS * k / (n - 1)) if n > 1 else 0})"


def margin(names: list[str], most: float = 222.0) -> float:
    """Room on the left for names, in the larger letters of small screens, too."""
    return max(56.0, min(most, 24.0 + 8.2 * max(map(_length, names))))


def short(text: str, length: int = 24) -> str:
    """A name cut to fit a picture, to a length in letters of average width.

    Examples
    --------
    >>> short("willing to illuminate it", 18), short("MAXIMUM WARM WATER", 18)
    ('willing to illuminate…', 'MAXIMUM WARM…')
    """
    if _length(text) <= length:
        return text
    while text and _length(text) > length - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _length(text: str) -> float:
    """Width of a text in letters of average width."""
    return sum(_letter(c) for c in text)


def _letter(c: str) -> float:
    """Width of a letter."""
    if c.isupper() or c in WIDE:
        return 1.35
    if c in NARROW:
        return 0.6
    return 1.16 if c.isdigit() else 1.0


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f} %"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers within a range, up to about as many as asked for.

    Examples
    --------
    >>> ticks(2.6, 3.76)
    [2.6, 2.8, 3.0, 3.2, 3.4, 3.6]
    """
    rough = (high - low) / most
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next((factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.8), 10)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(np.round(k * step, 12)) for k in range(first, last + 1)]
