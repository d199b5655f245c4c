"""The diagram of the architecture: ``python docs/architecture.py FILE``.

It is drawn from the true import graph. A box is a module or package, a row is a layer of
``tests/test_layers.py``, and a line leads from a box up to one that it imports. Lines that follow
from others are not drawn. ``conf.py`` makes the diagram whenever the docs are built.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_layers import GROUPS, imports, modules  # type: ignore[import-not-found]

__all__ = ["boxes", "diagram", "shortest_description", "true_imports"]

WIDTH, ROW, TITLE = 900, 58, 130  # pixels: the picture, a layer, and the names of the groups
HEIGHT, LETTER, SIDE = 28, 7.6, 90  # pixels: a box, a letter, and how far single boxes are moved
# They import everything, only start the command, or are empty.
HIDDEN = {"__init__", "__main__", "engines"}


def boxes():
    """Names of the boxes, by group and layer."""
    for title, layers in GROUPS.items():
        rows = [[name for name in names if name not in HIDDEN] for names in layers]
        if any(rows):
            yield title, [names for names in rows if names]


def true_imports():
    """Pairs (box, a box that it imports)."""
    files = dict(modules())
    known = {name for _, rows in boxes() for names in rows for name in names}

    def box_of(module):
        found = [name for name in known if f"{module}.".startswith(f"{name}.")]
        return max(found, key=len, default=None)

    pairs = {
        (box_of(m), box_of(other)) for m, path in files.items() for other in imports(path, files)
    }
    return {(a, b) for a, b in pairs if a and b and a != b}


def shortest_description(pairs):
    """The pairs that do not follow from others, as a -> c does from a -> b and b -> c."""
    direct = {a: {b for start, b in pairs if start == a} for a, _ in pairs}

    def reachable(name, seen):
        for other in direct.get(name, set()) - seen:
            seen.add(other)
            reachable(other, seen)
        return seen

    def follows(a, b):
        return any(b in reachable(c, set()) for c in direct[a] - {b})

    return {(a, b) for a, b in pairs if not follows(a, b)}


def diagram():
    """The diagram as SVG, in the colours of the page around it."""
    lines = shortest_description(true_imports())
    places, bands, y = {}, [], 0.0
    for title, rows in boxes():
        bands.append((title, y, len(rows) * ROW))
        for names in rows:
            _place(names, y + ROW / 2, lines, places)
            y += ROW
    parts = [
        f'<div class="architecture"><svg viewBox="0 0 {WIDTH} {y:g}" role="img" '
        'aria-label="Modules by layer; a line leads from a module up to one that it imports.">'
    ]
    for number, (title, top, height) in enumerate(bands):
        shade = "shaded" if number % 2 == 0 else "plain"
        parts.append(f'<rect class="{shade}" x="0" y="{top:g}" width="{WIDTH}" height="{height}"/>')
        parts.append(f'<text class="group" x="10" y="{top + 24:g}">{title}</text>')
    for a, b in sorted(lines):
        (x0, y0, _), (x1, y1, _) = places[a], places[b]
        start, end = y0 - HEIGHT / 2, y1 + HEIGHT / 2
        bend = max(18.0, 0.4 * (start - end))
        parts.append(
            f'<path class="import" d="M{x0:g} {start:g} C{x0:g} {start - bend:g} {x1:g} '
            f'{end + bend:g} {x1:g} {end:g}"><title>{a} imports {b}</title></path>'
        )
    for name, (x, y, width) in places.items():
        parts.append(
            f'<rect class="box" x="{x - width / 2:g}" y="{y - HEIGHT / 2:g}" width="{width:g}" '
            f'height="{HEIGHT}" rx="4"/><text class="name" x="{x:g}" y="{y + 5:g}">{name}</text>'
        )
    return "\n".join([*parts, "</svg></div>\n"])


def _place(names, y, lines, places):
    """Put the boxes of a layer below those that they import, spread over the width."""

    def wanted(name):
        above = [places[b][0] for a, b in lines if a == name and b in places]
        return sum(above) / len(above) if above else (TITLE + WIDTH) / 2

    names = sorted(names, key=wanted)
    widths = [LETTER * len(name) + 20 for name in names]
    gap = (WIDTH - TITLE - sum(widths)) / (len(names) + 1)
    x = TITLE + gap
    if len(names) == 1:  # to the left and to the right in turn, so that lines have room to pass
        x = wanted(names[0]) - widths[0] / 2 + (SIDE if y % (2 * ROW) < ROW else -SIDE)
    for name, width in zip(names, widths, strict=True):
        places[name] = (x + width / 2, y, width)
        x += width + gap


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(diagram())
