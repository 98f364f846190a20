"""A drawing as SVG: one file without anything from elsewhere, light or dark as its reader is.

Everything that a page may want to move or dim carries the number of its box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

import msgspec

from suture.cli import modelwords as words
from suture.cli.drawing.colours import Family, family, style
from suture.cli.drawing.lettering import shorten, width
from suture.cli.drawing.placing import (
    ARROW,
    CAPTION,
    PAD,
    PILL,
    STRIPE,
    Drawing,
    Label,
    PlacedBox,
    Rect,
    Route,
)
from suture.model.boxes import Box, Presence
from suture.model.neighbours import Side

MARGIN = 28.0
HEAD = 80.0
"""Height of the title and of what the sides are called."""

FOOT = 22.0
"""Height of one line of the legend."""

MIN_PAGE = 620.0
"""So that a title has its room over a drawing of two boxes."""

RADIUS = 7.0


class Titles(msgspec.Struct, frozen=True):
    """What stands above a drawing, and above its left side."""

    title: str
    lines: tuple[str, ...]
    left: str = "what needs it"


def svg(drawing: Drawing, titles: Titles, *, theme: str = "") -> str:
    """Write a drawing as an SVG element. `theme`: as `colours.style` has it."""
    inner = drawing.right - drawing.left
    page = max(inner, MIN_PAGE) + 2 * MARGIN
    legend, rows = _legend(drawing, page - 2 * MARGIN)
    high = HEAD + 18 * len(titles.lines) + (drawing.bottom - drawing.top) + 44 + rows * FOOT
    right = (page - inner) / 2 - drawing.left
    down = HEAD + 18 * (len(titles.lines) - 1) + MARGIN - drawing.top
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{page:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {page:.0f} {high:.0f}" role="img" aria-label="{_safe(titles.title)}">'
    )
    parts = [
        root,
        f"<title>{_safe(titles.title)}</title>",
        f"<style>{style(theme=theme)}</style>",
        f'<rect class="paper" width="{page:.0f}" height="{high:.0f}"/>',
        *_titles(titles, page),
        f'<g transform="translate({right:.1f} {down:.1f})">',
        *_sides(drawing, titles.left),
        *(_route(one, drawing) for one in drawing.routes),
        *(_label(one) for one in drawing.labels),
        *(part for one in drawing.boxes for part in _box(one)),
        "</g>",
        f'<g transform="translate({MARGIN:.0f} {high - rows * FOOT:.0f})">',
        *legend,
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _titles(titles: Titles, page: float) -> list[str]:
    room = page - 2 * MARGIN
    parts = [_text("h1", MARGIN, 40, shorten(titles.title, room, 20, bold=True))]
    parts += [
        _text("h2 quiet", MARGIN, 62 + 18 * at, shorten(line, room, 12))
        for at, line in enumerate(titles.lines)
    ]
    return parts


def _sides(drawing: Drawing, left: str) -> list[str]:
    """Name the sides, above their boxes."""
    centre, y = drawing.boxes[0].rect, drawing.top - 14
    sides = {one.box.side for one in drawing.boxes}
    parts = []
    if Side.NEEDED_BY in sides:
        parts.append(_text("side quiet", centre.x - 16, y, f"← {left}", anchor="end"))
    if Side.NEEDS in sides:
        parts.append(_text("side quiet", centre.right + 16, y, "what it needs →"))
    return parts


# ---- edges


def _route(route: Route, drawing: Drawing) -> str:
    """Draw an edge: straight along its layers, bent between them, an arrow at the needed end."""
    boxes = {one.box.number: one for one in drawing.boxes}
    needed = route.far if boxes[route.far].box.side is Side.NEEDS else route.near
    alarm = ""
    if boxes[needed].box.presence is Presence.MISSING:
        alarm = " mild" if boxes[needed].optional else " alarm"
    end_x, end_y = route.knots[-1]
    path = f"M{_n(route.knots[0][0])} {_n(route.knots[0][1])}"
    # WHY short of the end: the line's own end would blunt the arrow.
    knots = (*route.knots[:-1], (end_x - ARROW + 1, end_y))
    for (x, y), (to_x, to_y) in pairwise(knots):
        if math.isclose(y, to_y, abs_tol=0.05):
            path += f"H{_n(to_x)}"
        else:
            half = (x + to_x) / 2
            path += f"C{_n(half)} {_n(y)} {_n(half)} {_n(to_y)} {_n(to_x)} {_n(to_y)}"
    arrow = (
        f"M{_n(end_x)} {_n(end_y)}l-{_n(ARROW)} -{_n(ARROW / 2)}v{_n(ARROW)}z"
    )  # fmt: skip
    numbers = f'data-near="{route.near}" data-far="{route.far}"'
    return (
        f'<g class="edge" {numbers}><path class="route{alarm}" d="{path}"/>'
        f'<path class="arrow{alarm}" d="{arrow}"/></g>'
    )


def _label(label: Label) -> str:
    numbers = f' data-label="{label.far}"'
    return _text("label", label.left, label.y - 4, label.text, more=numbers)


# ---- boxes


def _box(one: PlacedBox) -> list[str]:
    box, rect, face = one.box, one.rect, one.face
    classes = ["box", family(box.resource).value]
    classes += ["centre"] if box.number == 0 else []
    classes += [] if box.presence is Presence.PRESENT else [box.presence.value]
    classes += ["mild"] if one.optional and box.presence is Presence.MISSING else []
    left = rect.x + STRIPE + PAD
    parts = [f'<g class="{" ".join(classes)}" data-box="{box.number}">']
    parts.append(f"<title>{_safe(tooltip(one))}</title>")
    if one.stacked:
        parts += [_rect("card", rect, shift) for shift in (6.0, 3.0)]
    parts.append(_rect("card", rect))
    parts.append(
        f'<rect class="stripe" x="{_n(rect.x)}" y="{_n(rect.y + 6)}" width="{_n(STRIPE)}" '
        f'height="{_n(rect.height - 12)}" rx="2"/>'
    )
    parts += _caption(one, left)
    parts.append(_text("name", left, rect.y + 36, face.name))
    if face.state:
        parts.append(_text(f"state {_alarm(one)}".strip(), left, rect.y + 52, face.state))
    parts += _bar(box, rect, left)
    parts.append("</g>")
    return parts


def _caption(one: PlacedBox, left: float) -> list[str]:
    """Write the kind, with its short name in a pill, and the namespace where it is another."""
    face, y = one.face, one.rect.y + 18
    parts, x = [], left
    if face.pill:
        wide = width(face.pill, PILL, bold=True) + 10
        parts.append(
            f'<rect class="stripe" x="{_n(x)}" y="{_n(y - 10)}" width="{_n(wide)}" height="13" '
            'rx="6.5"/>'
        )
        parts.append(_text("pill pilled", x + wide / 2, y, face.pill, anchor="middle"))
        x += wide + 6
    parts.append(_text("caption", x, y, face.caption))
    if face.place:
        parts.append(_text("place", x + width(face.caption, CAPTION, bold=True) + 8, y, face.place))
    return parts


def _alarm(one: PlacedBox) -> str:
    if one.box.presence is Presence.MISSING:
        return "doubt" if one.optional else "gone"
    if one.box.presence is Presence.UNKNOWN or one.box.condition.terminating:
        return "doubt"
    return "bad" if one.bad else ""


def _bar(box: Box, rect: Rect, left: float) -> list[str]:
    """Draw which share is ready."""
    share = words.share(box)
    if share is None:
        return []
    room, y = rect.right - PAD - left, rect.bottom - 11
    ready, of = share
    good = room * ready / of
    parts = [
        f'<rect class="track" x="{_n(left)}" y="{_n(y)}" width="{_n(room)}" height="4" rx="2"/>'
    ]
    if ready < of:
        parts.append(
            f'<rect class="lost" x="{_n(left)}" y="{_n(y)}" width="{_n(room)}" height="4" rx="2"/>'
        )
    if ready:
        parts.append(
            f'<rect class="share" x="{_n(left)}" y="{_n(y)}" width="{_n(good)}" height="4" rx="2"/>'
        )
    return parts


def tooltip(one: PlacedBox) -> str:
    """Return everything that is known of a box, a line each."""
    box = one.box
    place = f" in {box.namespace}" if box.namespace else ""
    lines = [f"{words.title(box)}{place}", str(box.resource)]
    lines += one.states
    if box.count > 1:
        lines += box.names
        more = box.count - len(box.names)
        lines += [f"and {more:,} more"] if more else []
    lines += one.edges
    lines += [f"↺ {loop}" for loop in one.loops]
    lines += ["more follows behind it"] if box.more else []
    return "\n".join(lines)


# ---- the legend


def _legend(drawing: Drawing, room: float) -> tuple[list[str], int]:
    """Explain what occurs in the drawing, and say in how many lines."""
    boxes = drawing.boxes
    shown = {family(one.box.resource) for one in boxes}
    items = [
        (f'<rect class="{one} stripe" y="-9" width="10" height="10" rx="2"/>', one.value)
        for one in Family
        if one in shown
    ]
    if any(one.stacked for one in boxes):
        card = '<rect class="card" x="{0}" y="{1}" width="9" height="7" rx="2"/>'
        stack = card.format(3, -6) + card.format(0, -9)
        items.append((stack, "several alike"))
    if any(words.share(one.box) for one in boxes):
        bar = '<rect class="share" y="-6" width="12" height="4" rx="2"/>'
        items.append((bar, "share that is ready"))
    for presence, words_ in ((Presence.MISSING, "missing"), (Presence.UNKNOWN, "cannot be known")):
        if any(one.box.presence is presence for one in boxes):
            card = '<rect class="card" y="-9" width="12" height="10" rx="2"/>'
            items.append((f'<g class="{presence.value}">{card}</g>', words_))
    return _flow(items, room)


def _flow(items: Sequence[tuple[str, str]], room: float) -> tuple[list[str], int]:
    parts, x, row = [], 0.0, 0
    for mark, text in items:
        wide = 18 + width(text, 11) + 18
        if x and x + wide > room:
            x, row = 0.0, row + 1
        parts.append(
            f'<g transform="translate({_n(x)} {_n(row * FOOT)})">{mark}'
            f"{_text('legend quiet', 18, 0, text)}</g>"
        )
        x += wide
    return parts, row + 1


# ---- how things are written


def _text(classes: str, x: float, y: float, text: str, *, anchor: str = "", more: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{classes}" x="{_n(x)}" y="{_n(y)}"{anchored}{more}>{_safe(text)}</text>'


def _rect(classes: str, rect: Rect, shift: float = 0.0) -> str:
    return (
        f'<rect class="{classes}" x="{_n(rect.x + shift)}" y="{_n(rect.y + shift)}" '
        f'width="{_n(rect.width)}" height="{_n(rect.height)}" rx="{_n(RADIUS)}"/>'
    )


def _safe(text: str) -> str:
    """Escape a text; what XML cannot hold at all, control characters above all, is told as one."""
    shown = "".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in text)
    return escape(shown, {'"': "&quot;"})


def _n(number: float) -> str:
    """Write a coordinate: a tenth of a pixel is enough."""
    return f"{round(number, 1) + 0.0:g}"
