"""An impact as boxes and lines: what goes with what, and who is hit, to be drawn like a model.

Rows of a graph mean something only until it changes, so a picture is made while the change is
still ahead. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from suture.impact.effects import (
    AdmissionPathBroken,
    Effect,
    EndpointsLost,
    ObjectsRemoved,
    PodsLost,
    ReferenceBroken,
    RouteBroken,
    ServiceEmptied,
    Victim,
)
from suture.impact.effects.severity import Severity
from suture.impact.ground.change import Change
from suture.impact.words.graded import severity
from suture.impact.words.telling import phrase, told
from suture.model.boxes import Box, Condition, Line, Maker, Met, Neighbourhood
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.kindnames import Kinds, kind_of
from suture.model.names import (
    CLAIMS,
    DAEMON_SETS,
    DEPLOYMENTS,
    INGRESSES,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.neighbours import Side

HIT = 40
"""LIMIT: boxes of what stays and is hit; a picture with more is looked at by nobody."""

DEEP = 8
"""LIMIT: steps from what is asked to what goes; a namespace's content is there after four."""

KINDS = 12
"""LIMIT: types shown below one box; the rest is one box of its own."""

GONE = "would be gone"

FIRST = (SERVICES, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, CLAIMS, INGRESSES, PODS, REPLICA_SETS)
"""What people look for first in a picture of what goes."""

_BY_SERVICE = (ServiceEmptied, EndpointsLost)


def picture(
    view: GraphView, change: Change, effects: Sequence[Effect], kinds: Kinds
) -> Neighbourhood | None:
    """Return what a change takes along and whom it hits; None where there is nothing to draw."""
    roots = change.direct or tuple(
        row
        for row in (
            change.rewritten.row if change.rewritten is not None else None,
            change.resized.row if change.resized is not None else None,
        )
        if row is not None
    )
    if not roots:
        return None
    drawing = _Picture(view, kinds, roots[: len(change.direct) or 1], gone=bool(change.direct))
    drawing.take(change.cascaded)
    drawing.hit(effects)
    return drawing.whole()


class _Picture:
    """A picture while it is made; box 0 is what is asked for."""

    def __init__(self, view: GraphView, kinds: Kinds, roots: Sequence[int], *, gone: bool) -> None:
        self._view = view
        self._maker = Maker(view, kinds)
        self._kinds = kinds
        self._box_of: dict[int, int] = dict.fromkeys(roots, 0)
        self._boxes: list[Box] = []
        self._lines: dict[tuple[int, int, Edge], int] = {}
        self._of_kind: dict[Resource, int] = {}
        self._gone: set[int] = set()
        first = self._view.resource(roots[0])
        alike = [row for row in roots if self._view.resource(row) == first]
        self._add(alike, None, 0, gone=gone)

    def take(self, cascaded: Sequence[int]) -> None:
        """Add what goes along, gathered by type below what it goes with; owners come first."""
        left = list(cascaded)
        going = frozenset(left)
        for depth in range(1, DEEP + 1):
            groups: dict[tuple[int, Resource, Edge], list[int]] = {}
            rest: list[int] = []
            for row in left:
                found = self._reason(row, going)
                if found is None:
                    rest.append(row)
                else:
                    spot = (found[0], self._view.resource(row), found[1])
                    groups.setdefault(spot, []).append(row)
            if not groups:
                break
            # WHY after the walk: whose box is known is of the level before, never of this one.
            ranked = sorted(groups.items(), key=lambda item: self._rank(item[0][1], item[1]))
            shown, others = ranked[:KINDS], ranked[KINDS:]
            for (parent, resource, edge), rows in shown:
                number = self._add(rows, Side.NEEDED_BY, depth, gone=True)
                self._lines[number, parent, edge] = len(rows)
                self._of_kind.setdefault(resource, number)
                self._box_of.update(dict.fromkeys(rows, number))
            self._add_rest(others, depth)
            left = rest

    def _rank(self, resource: Resource, rows: Sequence[int]) -> tuple[int, int]:
        """Sort what people look for first, then by number."""
        first = FIRST.index(resource) if resource in FIRST else len(FIRST)
        return first, -len(rows)

    def _add_rest(
        self, others: Sequence[tuple[tuple[int, Resource, Edge], list[int]]], depth: int
    ) -> None:
        """Add one box for the types that have none of their own."""
        if not others:
            return
        number = len(self._boxes)
        self._gone.add(number)
        count = sum(len(rows) for _, rows in others)
        kinds = tuple(kind_of(resource, self._kinds) for (_, resource, _), _ in others)
        parent, resource, edge = others[0][0]
        self._boxes.append(
            Box(
                number,
                Side.NEEDED_BY,
                depth,
                resource,
                "Object",
                "",
                kinds,
                count,
                condition=Condition(marks=(GONE,)),
                rest=True,
            )
        )
        self._lines[number, parent, edge] = count
        for _, rows in others:
            self._box_of.update(dict.fromkeys(rows, number))

    def _reason(self, row: int, going: frozenset[int]) -> tuple[int, Edge] | None:
        """Return the box that an object goes with, and by which edge; None: not placed yet."""
        view = self._view
        owners = [owner.row for owner in view.owners(row)]
        for owner in owners:
            if owner in self._box_of:
                return self._box_of[owner], Edge.OWNER
        if not going.isdisjoint(owners):
            return None
        namespace = view.namespace(row)
        home = view.find(ObjectKey(NAMESPACES, "", namespace)) if namespace else None
        if home is not None and home in self._box_of:
            return self._box_of[home], Edge.NAMESPACE
        crd = view.crd(view.resource(row))
        if crd is not None and crd in self._box_of:
            return self._box_of[crd], Edge.DEFINITION
        return None

    def hit(self, effects: Sequence[Effect]) -> None:
        """Add what stays and is hit, the gravest first."""
        numbers: dict[tuple[str, str, str, str], int] = {}
        for effect in effects:
            if len(numbers) >= HIT:
                break
            if isinstance(effect, ObjectsRemoved | PodsLost):
                continue
            line = told(effect)
            for victim in _hit_by(effect) or line.victims[:1]:
                spot = (victim.group, victim.resource, victim.namespace, victim.name)
                number = numbers.get(spot)
                if number is None:
                    number = numbers[spot] = self._victim(victim, effect)
                if number > 0:
                    grave = severity(effect) is Severity.SEVERE
                    self._mark(number, phrase(line), grave=grave)

    def _victim(self, victim: Victim, effect: Effect) -> int:
        key = ObjectKey(Resource(victim.group, victim.resource), victim.namespace, victim.name)
        row = self._view.find(key)
        if row is not None and row in self._box_of:
            return self._box_of[row]
        number = len(self._boxes)
        if row is not None:
            self._add([row], Side.NEEDED_BY, 1)
            self._box_of[row] = number
        else:
            kind = kind_of(key.resource, self._kinds)
            self._boxes.append(
                Box(number, Side.NEEDED_BY, 1, key.resource, kind, key.namespace, (key.name,), 1)
            )
        parent, edge = self._through(effect)
        depth = self._boxes[parent].depth + 1
        self._boxes[number] = msgspec.structs.replace(self._boxes[number], depth=depth)
        self._lines[number, parent, edge] = 1
        return number

    def _through(self, effect: Effect) -> tuple[int, Edge]:
        """Return the box by which something is hit: that of the cause nearest to it."""
        if isinstance(effect, _BY_SERVICE):
            return self._of_kind.get(PODS, 0), Edge.SELECTS
        if isinstance(effect, AdmissionPathBroken | RouteBroken):
            service = effect.service
            row = self._view.find(ObjectKey(SERVICES, service.namespace, service.name))
            edge = Edge.WEBHOOK if isinstance(effect, AdmissionPathBroken) else Edge.ROUTES_TO
            return self._box_of.get(row, 0) if row is not None else 0, edge
        if isinstance(effect, ReferenceBroken):
            target = effect.target
            row = self._view.find(
                ObjectKey(Resource(target.group, target.resource), target.namespace, target.name)
            )
            return self._box_of.get(row, 0) if row is not None else 0, Edge(effect.edge)
        return 0, Edge.RULE

    def _add(
        self, rows: Sequence[int], side: Side | None, depth: int, *, gone: bool = False
    ) -> int:
        box = self._maker.box(side, depth, [Met(self._view.key(row), row) for row in rows])
        number = len(self._boxes)
        if gone:
            self._gone.add(number)
        # WHY nothing of how it is: a picture of what would be is not to be mistaken for today's.
        condition = Condition(marks=(GONE,) if gone else ())
        self._boxes.append(msgspec.structs.replace(box, number=number, condition=condition))
        return number

    def _mark(self, number: int, words: str, *, grave: bool) -> None:
        """Say what happens to a box that stays; a box has room for one line: the gravest, first."""
        box = self._boxes[number]
        said = box.condition.marks
        condition = msgspec.structs.replace(
            box.condition,
            marks=said if said or number in self._gone else (words,),
            grave=grave or box.condition.grave,
        )
        self._boxes[number] = msgspec.structs.replace(box, condition=condition)

    def whole(self) -> Neighbourhood:
        """Return the picture."""
        lines = tuple(
            Line(needer=needer, needed=needed, edge=edge, links=links)
            for (needer, needed, edge), links in self._lines.items()
            if needer != needed
        )
        depth = max(box.depth for box in self._boxes)
        return Neighbourhood(tuple(self._boxes), lines, depth)


def _hit_by(effect: Effect) -> tuple[Victim, ...]:
    """Return what is hit, where that is not what the effect is told of first."""
    match effect:
        case AdmissionPathBroken(source=source):
            return (source,)
        case RouteBroken(route=route):
            return (route,)
        case ReferenceBroken(users=users):
            return users
        case _:
            return ()
