"""Where everything stands: a neighbourhood becomes rectangles, paths and labels with coordinates.

What needs the object stands left of it, what it needs stands right; edges run left to right.
Each label stands on the straight last piece of its edge, at the side of the box that is further
out, in a column that is as wide as its longest label: so no text ever lies on another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import msgspec

from suture.cli import modelwords as words
from suture.cli.drawing.layers import Layering, layered, placed
from suture.cli.drawing.lettering import shorten, width
from suture.model.boxes import GATHERING, Box, Line, Neighbourhood
from suture.model.edges import Edge
from suture.model.kindnames import ABBREVIATED
from suture.model.names import plural_of
from suture.model.neighbours import Side

CAPTION, NAME, STATE, LABEL, PILL = 11.0, 13.0, 11.0, 10.5, 9.5
"""Sizes of letters, in px."""

PAD = 11.0
STRIPE = 5.0
MIN_WIDTH, MAX_WIDTH = 132.0, 264.0
"""LIMIT: px; a pod's name of 40 letters fits, longer ones lose their middle."""

GAP = 16.0
"""Between two things of one layer."""

NAMES = 3
"""LIMIT: names of one line; more are a number."""

PORT = 18.0
"""Between two edges that end at one box: one line of label."""

BEND = 48.0
"""Room in which edges bend, between two layers."""

ARROW = 8.0
BEND_HEIGHT = 10.0
STACKED = 6.0
"""How far the edge of a stack shows behind a box that stands for several."""


class Rect(msgspec.Struct, frozen=True):
    """A rectangle, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Half-way down."""
        return self.y + self.height / 2


class Face(msgspec.Struct, frozen=True):
    """What is written in a box."""

    pill: str
    caption: str
    place: str
    name: str
    state: str


class PlacedBox(msgspec.Struct, frozen=True):
    """A box with its place, and its edges in words.

    `edges` reach it from nearer the centre; `loops` close a cycle and are not drawn.
    """

    box: Box
    rect: Rect
    face: Face
    edges: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    optional: bool = False
    bad: bool = False

    @property
    def stacked(self) -> bool:
        """Whether it is drawn as a stack."""
        return self.box.count > 1


class Route(msgspec.Struct, frozen=True):
    """The way of an edge, by its knots from left to right; `near` is nearer the centre."""

    near: int
    far: int
    knots: tuple[tuple[float, float], ...]


class Label(msgspec.Struct, frozen=True):
    """The words of all edges that share an end, from `left`, on a line at `y`."""

    far: int
    text: str
    left: float
    width: float
    y: float


class Drawing(msgspec.Struct, frozen=True):
    """Everything with its place; the centre's middle is at the height 0."""

    boxes: tuple[PlacedBox, ...]
    routes: tuple[Route, ...]
    labels: tuple[Label, ...]
    left: float
    right: float
    top: float
    bottom: float


def draw(found: Neighbourhood) -> Drawing:
    """Place a neighbourhood."""
    centre = _centre(found)
    boxes, routes, labels = [centre], list[Route](), list[Label]()
    for side in Side:
        part = _Part(found, side, centre.rect)
        part.place()
        boxes += part.boxes
        routes += part.routes
        labels += part.labels
        if part.loops.get(0):
            loops = (*boxes[0].loops, *part.loops[0])
            boxes[0] = msgspec.structs.replace(boxes[0], loops=loops)
    return Drawing(
        boxes=tuple(sorted(boxes, key=lambda one: one.box.number)),
        routes=tuple(routes),
        labels=tuple(labels),
        left=min(one.rect.x for one in boxes),
        right=max(one.rect.right + STACKED * one.stacked for one in boxes),
        top=min(one.rect.y for one in boxes),
        bottom=max(one.rect.bottom + STACKED * one.stacked for one in boxes),
    )


def _centre(found: Neighbourhood) -> PlacedBox:
    box = found.centre
    face = _face(found, box, MAX_WIDTH)
    wide, high = _wide(face), _high(box, face, 1)
    return PlacedBox(
        box,
        Rect(-wide / 2, -high / 2, wide, high),
        face,
        states=tuple(words.states(found, box)),
        bad=words.bad(found, box),
    )


def _face(found: Neighbourhood, box: Box, room: float) -> Face:
    """Put a box into as many words as there is room for."""
    inside = room - 2 * PAD - STRIPE
    many = plural_of(box.kind) if box.count > 1 else box.kind
    caption = f"… {box.count:,} more {many}" if box.rest else f"{box.count:,} {many}"
    if box.count == 1 and not box.rest:
        caption, name = box.kind, shorten(box.names[0], inside, NAME, bold=True)
    elif box.owner:
        of, _, owner = box.owner.partition(" ")
        caption, name = f"{caption} of {of}", shorten(owner, inside, NAME, bold=True)
    else:
        name = _some(box, inside)
    place = box.namespace if box.namespace != words.home(found) or box.number == 0 else ""
    pill = ABBREVIATED.get(box.resource.plural, "")
    taken = (width(pill, PILL, bold=True) + 16 if pill else 0.0) + width(
        caption, CAPTION, bold=True
    )
    place = shorten(f"in {place}", max(inside - taken - 8, 0), CAPTION) if place else ""
    state = ", ".join(words.states(found, box))
    return Face(
        pill=pill,
        caption=caption,
        place=place if place != "…" else "",
        name=name,
        state=shorten(state, inside, STATE),
    )


def _some(box: Box, room: float) -> str:
    """Return as many names of a box as there is room for, and how many more there are."""
    for count in range(min(len(box.names), NAMES), 0, -1):
        more = f" +{box.count - count:,}" if box.count > count else ""
        listed = f"{', '.join(box.names[:count])}{more}"
        if width(listed, NAME, bold=True) <= room:
            return listed
    more = f" +{box.count - 1:,}" if box.count > 1 else ""
    left = room - width(more, NAME, bold=True)
    return f"{shorten(box.names[0], left, NAME, bold=True)}{more}"


def _wide(face: Face) -> float:
    """Return how wide a box has to be for its words."""
    caption = width(face.caption, CAPTION, bold=True)
    if face.pill:
        caption += width(face.pill, PILL, bold=True) + 16
    if face.place:
        caption += 8 + width(face.place, CAPTION)
    inside = max(caption, width(face.name, NAME, bold=True), width(face.state, STATE))
    return min(max(inside + 2 * PAD + STRIPE, MIN_WIDTH), MAX_WIDTH)


def _high(box: Box, face: Face, ports: int) -> float:
    high = 46.0
    high += 16 if face.state else 0
    high += 8 if words.share(box) else 0
    return max(high, ports * PORT + 4)


class _Part:
    """One side of the drawing: places its boxes, in the direction away from the centre."""

    def __init__(self, found: Neighbourhood, side: Side, centre: Rect) -> None:
        self._found = found
        self._side = side
        self._sign = 1.0 if side is Side.NEEDS else -1.0
        self._of = {box.number: box for box in found.boxes if box.side is side}
        self._centre = centre
        self._lines = _drawn(found.lines, self._of, side)
        self.boxes: list[PlacedBox] = []
        self.routes: list[Route] = []
        self.labels: list[Label] = []
        self.loops: dict[int, tuple[str, ...]] = {}

    def place(self) -> None:
        """Place the side's boxes, routes and labels."""
        if not self._of:
            return
        layering = layered(list(self._lines))
        self._note_loops(layering)
        ports = self._ports(layering)
        faces = {number: _face(self._found, box, MAX_WIDTH) for number, box in self._of.items()}
        heights = dict.fromkeys(layering.bends, BEND_HEIGHT)
        heights[0] = self._centre.height
        for number, box in self._of.items():
            # WHY twice: what a stack takes below is left free above, so that edges meet its middle.
            stack = 2 * STACKED if box.count > 1 else 0
            heights[number] = _high(box, faces[number], len(ports[number])) + stack
        middles = placed(layering, heights, GAP)
        columns = self._columns(layering, faces, ports)
        rects = {0: self._centre}
        for number, box in self._of.items():
            stack = 2 * STACKED if box.count > 1 else 0
            near, far = columns[_layer_of(layering, number)]
            left = min(near, far)
            high = heights[number] - stack
            rects[number] = Rect(left, middles[number] - high / 2, abs(far - near), high)
            self.boxes.append(
                PlacedBox(
                    box,
                    rects[number],
                    faces[number],
                    edges=self._told(number),
                    loops=self.loops.get(number, ()),
                    optional=words.all_optional(self._found, box),
                    bad=words.bad(self._found, box),
                    states=tuple(words.states(self._found, box)),
                )
            )
        self._connect(layering, rects, columns, ports, middles)

    def _note_loops(self, layering: Layering) -> None:
        for near, far in layering.backward:
            says = self._lines[near, far]
            other = self._of.get(far, self._found.centre)
            self.loops[near] = (*self.loops.get(near, ()), f"{says}: {words.title(other)}")

    def _told(self, number: int) -> tuple[str, ...]:
        """Put the edges into words that lead to a box from nearer the centre."""
        told = []
        for line in self._found.lines:
            near, far = _ends(line, self._side)
            if far == number and near in {0, *self._of}:
                other = words.title(self._of.get(near, self._found.centre))
                keys = f" ({listed})" if (listed := words.keys(line)) else ""
                says = f"{words.edge(line)}{keys}"
                needs = self._side is Side.NEEDS
                told.append(f"{other}: {says} it" if needs else f"{says} {other}")
        return tuple(told)

    def _ports(self, layering: Layering) -> dict[int, list[str]]:
        """Return the different words in which edges reach each box, from the top."""
        ports: dict[int, list[str]] = {number: [] for number in self._of}
        for edge in layering.paths:
            says = self._lines[edge]
            if says not in ports[edge[1]]:
                ports[edge[1]].append(says)
        return ports

    def _columns(
        self, layering: Layering, faces: Mapping[int, Face], ports: Mapping[int, Sequence[str]]
    ) -> list[tuple[float, float]]:
        """Return for each layer where it begins and ends, away from the centre."""
        edge = self._centre.width / 2
        columns = [(-edge * self._sign, edge * self._sign)]
        for layer in layering.layers[1:]:
            shown = [number for number in layer if number in self._of]
            label = max((width(says, LABEL) for one in shown for says in ports[one]), default=0.0)
            near = edge + BEND + label + 2 * ARROW
            edge = near + max(_wide(faces[number]) for number in shown)
            # WHY both ways: a stack shows at its right, where on the left side the edges are.
            columns.append((near * self._sign, edge * self._sign))
            edge += STACKED
        return columns

    def _connect(
        self,
        layering: Layering,
        rects: Mapping[int, Rect],
        columns: Sequence[tuple[float, float]],
        ports: Mapping[int, Sequence[str]],
        middles: Mapping[int, float],
    ) -> None:
        ends = {
            (number, says): rects[number].middle + (at - (len(those) - 1) / 2) * PORT
            for number, those in ports.items()
            for at, says in enumerate(those)
        }
        for (number, says), y in ends.items():
            near, _ = columns[_layer_of(layering, number)]
            wide = width(says, LABEL)
            edge = near + STACKED if self._sign < 0 and self._of[number].count > 1 else near
            left = edge - wide - ARROW - 3 if self._sign > 0 else edge + ARROW / 2 + 1
            self.labels.append(Label(number, says, left, wide, y))
        for (near_box, far_box), path in layering.paths.items():
            y = rects[near_box].middle
            knots = [(columns[_layer_of(layering, near_box)][1], y)]
            for before, node in pairwise(path):
                inner, outer = columns[_layer_of(layering, node)]
                start = columns[_layer_of(layering, before)][1]
                last = node == far_box
                y = ends[far_box, self._lines[near_box, far_box]] if last else middles[node]
                knots += [(start + (BEND + STACKED) * self._sign, y), (inner, y)]
                knots += [] if last else [(outer, y)]
            ordered = knots if self._sign > 0 else knots[::-1]
            self.routes.append(Route(near_box, far_box, tuple(ordered)))


def _layer_of(layering: Layering, node: int) -> int:
    return next(at for at, layer in enumerate(layering.layers) if node in layer)


def _drawn(lines: Sequence[Line], of: Mapping[int, Box], side: Side) -> dict[tuple[int, int], str]:
    """Return the edges to draw on a side, from near to far, with their words.

    That a box belongs to the namespace or definition in the centre is drawn only where nothing
    else connects it: everything does.
    """
    said: dict[tuple[int, int], dict[str, Edge]] = {}
    for line in lines:
        near, far = (line.needer, line.needed) if side is Side.NEEDS else (line.needed, line.needer)
        if near != far and {near, far} <= {0, *of}:
            said.setdefault((near, far), {})[words.edge(line)] = line.edge
    for edge, those in list(said.items()):
        rest = said.keys() - {edge}
        if GATHERING.issuperset(those.values()) and edge[1] in _reached(rest):
            del said[edge]
    return {edge: ", ".join(those) for edge, those in said.items()}


def _ends(line: Line, side: Side) -> tuple[int, int]:
    """Return the ends of an edge, that nearer the centre first."""
    return (line.needer, line.needed) if side is Side.NEEDS else (line.needed, line.needer)


def _reached(edges: Collection[tuple[int, int]]) -> set[int]:
    """Return what edges lead to from the centre."""
    behind: dict[int, list[int]] = {}
    for near, far in edges:
        behind.setdefault(near, []).append(far)
    reached, new = {0}, [0]
    while new:
        new = [far for near in new for far in behind.get(near, ()) if far not in reached]
        reached.update(new)
    return reached
