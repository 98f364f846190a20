"""The neighbourhood of one object: what it needs and what needs it, as boxes of alike objects.

Pure, and the one truth behind the terminal's tree, the drawing and their JSON. Twelve pods of a
ReplicaSet are one box with a count; what is missing or cannot be known is a box too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from suture.model.boxes import (
    EDGE_ORDER,
    GATHERING,
    Box,
    Line,
    Maker,
    Met,
    Neighbourhood,
    Use,
)
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.kindnames import Kinds
from suture.model.names import PODS, ObjectKey, Resource
from suture.model.neighbours import NOWHERE, Side, neighbours

DEPTH: Final = 4
"""Steps followed unless told: a Deployment's ReplicaSets, their pods, Services, their routes."""

SINGLY: Final = 4
"""LIMIT: alike objects shown one by one; more are one box. Pods, and the instances of a definition
or members of a namespace, are one box from two on."""

SHOWN: Final = 6
"""LIMIT: boxes of one type by one edge at one place; the rest are one box, counted in full."""

BOXES: Final = 45
"""LIMIT: boxes of one side, after which nothing is followed further: with more, no drawing can be
read, and the tree is longer than any screen."""

FOLLOWED: Final = 5_000
"""LIMIT: objects of one box that are followed; at 20 us each a tenth of a second."""

PEEKED: Final = 20
"""LIMIT: objects looked at to say whether anything follows behind a box that was not followed."""


def neighbourhood(
    view: GraphView,
    row: int,
    kinds: Kinds,
    *,
    sides: Collection[Side] = tuple(Side),
    depth: int = DEPTH,
) -> Neighbourhood:
    """Walk from a row on one or both sides, nearest first. `kinds` as the graph holds them."""
    thing = view.at(row)
    maker = Maker(view, kinds)
    centre = maker.box(None, 0, [Met(thing.key, row)])
    boxes, lines = [centre], list[Line]()
    for side in Side:
        if side in sides:
            walk = _Walk(maker, side, row, thing.key, first=len(boxes))
            walk.run(depth)
            boxes += walk.finished()
            lines += walk.lines()
    return Neighbourhood(tuple(boxes), tuple(dict.fromkeys(lines)), depth)


class _Walk:
    """One side, from the centre outwards, nearest first."""

    def __init__(self, maker: Maker, side: Side, row: int, key: ObjectKey, first: int) -> None:
        self._maker = maker
        self._side = side
        self._first = first
        self._boxes: list[Box] = []
        self._rows: dict[int, list[int]] = {0: [row]}
        self._placed: dict[ObjectKey, int] = {key: 0}
        self._uses: dict[tuple[int, int, Edge], Use] = {}
        self._said: dict[int, set[tuple[Edge, ObjectKey]]] = {}
        self._followed: set[int] = set()

    def run(self, depth: int) -> None:
        """Follow everything within `depth` steps, as long as there is room."""
        reached, step = [0], 0
        while reached and step < depth:
            step += 1
            begun = len(self._boxes)
            for number in reached:
                if len(self._boxes) < BOXES and len(self._rows[number]) <= FOLLOWED:
                    self._follow(number, step)
            reached = [
                self._first + at
                for at in range(begun, len(self._boxes))
                if not self._boxes[at].rest and self._rows[self._first + at]
            ]

    def _follow(self, number: int, depth: int) -> None:
        self._followed.add(number)
        fresh: list[Met] = []
        for met in self._meet(number, self._rows[number]).values():
            known = self._placed.get(met.key)
            if known is None:
                fresh.append(met)
            else:
                self._join(number, known, met)
        parents = {self._maker.thing(row).key for row in self._rows[number]}
        for mets, rest in self._grouped(fresh, parents):
            box = self._maker.box(self._side, depth, mets, rest=rest)
            placed = self._first + len(self._boxes)
            self._boxes.append(msgspec.structs.replace(box, number=placed))
            self._rows[placed] = [met.row for met in mets if met.row != NOWHERE]
            for met in mets:
                self._placed[met.key] = placed
                self._join(number, placed, met)

    def _join(self, near: int, far: int, met: Met) -> None:
        for edge, use in met.uses.items():
            self._uses.setdefault((near, far, edge), Use()).add(use)

    def _meet(self, number: int, rows: Iterable[int]) -> dict[ObjectKey, Met]:
        """Return what the objects of a box meet, less what others say already."""
        maker, side = self._maker, self._side
        mets: dict[ObjectKey, Met] = {}
        for row in rows:
            for link in neighbours(maker.view, row, side):
                # WHY: that everything else is in some namespace too is no news.
                if link.edge is Edge.NAMESPACE and side is Side.NEEDS and number:
                    continue
                met = mets.get(link.other)
                if met is None:
                    there = link.row if link.present else NOWHERE
                    met = mets[link.other] = Met(link.other, there)
                needed = met.row if side is Side.NEEDS else row
                lost = bool(link.key) and needed != NOWHERE and maker.lacks(needed, link.key)
                use = met.uses.setdefault(link.edge, Use())
                use.count(link.key, lost=lost, optional=link.optional)
        self._said[number] = {(edge, met.key) for met in mets.values() for edge in met.uses}
        if side is Side.NEEDS:
            self._drop_of_owners(number, mets)
        else:
            self._drop_of_dependents(mets)
        return {key: met for key, met in mets.items() if met.uses}

    def _drop_of_owners(self, number: int, mets: Mapping[ObjectKey, Met]) -> None:
        """Drop what an owner needs because its dependents, nearer the centre, do already.

        A Deployment's template names what its pods name: said once, of the pods.
        """
        for near, far, edge in list(self._uses):
            if far == number and edge is Edge.OWNER:
                said = self._said.get(near, set())
                self._said[number] |= said
                for met in mets.values():
                    met.uses = {
                        edge: use
                        for edge, use in met.uses.items()
                        if edge is Edge.OWNER or (edge, met.key) not in said
                    }

    def _drop_of_dependents(self, mets: Mapping[ObjectKey, Met]) -> None:
        """Drop what an object needs because its controller does: it follows behind that one."""
        dropped = [
            (met, edge)
            for met in mets.values()
            for edge in met.uses
            if edge is not Edge.OWNER and edge not in GATHERING and self._is_below(met, edge, mets)
        ]
        for met, edge in dropped:
            del met.uses[edge]

    def _is_below(self, met: Met, edge: Edge, mets: Mapping[ObjectKey, Met]) -> bool:
        """Whether a controller of an object was met by the same edge.

        In a ring of controllers none is below another: each would go because of the next.
        """
        seen, above, below = {met.key}, self._above(met, edge, mets), False
        while above is not None:
            if above.key in seen:
                return False
            seen.add(above.key)
            above, below = self._above(above, edge, mets), True
        return below

    def _above(self, met: Met, edge: Edge, mets: Mapping[ObjectKey, Met]) -> Met | None:
        controller = None if met.row == NOWHERE else self._maker.controller(met.row)
        above = mets.get(controller) if controller is not None else None
        return above if above is not None and edge in above.uses else None

    def _grouped(
        self, mets: Iterable[Met], parents: Collection[ObjectKey]
    ) -> Iterable[tuple[list[Met], bool]]:
        """Yield the objects of each new box, and whether it stands for the rest of its kind."""
        alike: dict[tuple[object, ...], list[Met]] = {}
        for met in sorted(mets, key=lambda met: met.key):
            alike.setdefault(self._maker.alike(met, parents), []).append(met)
        places: dict[tuple[tuple[Edge, ...], Resource], list[list[Met]]] = {}
        for same in alike.values():
            gathered = GATHERING.issuperset(same[0].edges)
            singly = 1 if gathered or same[0].key.resource == PODS else SINGLY
            groups = [same] if len(same) > singly else [[met] for met in same]
            places.setdefault((same[0].edges, same[0].key.resource), []).extend(groups)
        order = sorted(
            places, key=lambda place: ([EDGE_ORDER[edge] for edge in place[0]], place[1])
        )
        for place in order:
            # WHY what is not there first: it is what is looked for. At most SINGLY boxes are, so
            # that the rest is all of objects that are there.
            groups = sorted(
                places[place],
                key=lambda group: (group[0].row != NOWHERE, -len(group), group[0].key),
            )
            if len(groups) <= SHOWN:
                yield from ((group, False) for group in groups)
                continue
            yield from ((group, False) for group in groups[: SHOWN - 1])
            yield [met for group in groups[SHOWN - 1 :] for met in group], True

    def finished(self) -> list[Box]:
        """Return the boxes, with word of those behind which something more is to be found."""
        return [
            msgspec.structs.replace(box, more=True)
            if box.number not in self._followed and self._has_more(box.number)
            else box
            for box in self._boxes
        ]

    def _has_more(self, number: int) -> bool:
        mets = self._meet(number, self._rows[number][:PEEKED])
        return any(key not in self._placed for key in mets)

    def lines(self) -> list[Line]:
        """Return the edges between the boxes."""
        forward = self._side is Side.NEEDS
        return [
            Line(
                needer=near if forward else far,
                needed=far if forward else near,
                edge=edge,
                links=use.links,
                objects=use.objects,
                keys=tuple(sorted(use.keys)),
                lost=tuple(sorted(use.lost)),
                optional=use.optional,
            )
            for (near, far, edge), use in sorted(self._uses.items(), key=_by_place)
        ]


def _by_place(entry: tuple[tuple[int, int, Edge], Use]) -> tuple[int, int, int]:
    near, far, edge = entry[0]
    return near, far, EDGE_ORDER[edge]
