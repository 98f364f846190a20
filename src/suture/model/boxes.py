"""Boxes of alike objects: the values of which a neighbourhood is made, and how they are made.

Pure. Knows what objects are and how they are; where they are met, `neighbourhood` knows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

import msgspec

from suture.model.absence import doubt
from suture.model.edges import Edge
from suture.model.facts import KeysFacts
from suture.model.graph import GraphView
from suture.model.kindnames import Kinds, kind_of
from suture.model.marks import marks_of
from suture.model.names import ObjectKey, Resource
from suture.model.neighbours import NOWHERE, Side
from suture.model.objects import (
    ClusterObject,
    NodeFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
    controller_of,
)

NAMED = 12
"""LIMIT: names kept of a box; what a tooltip can show."""

GATHERING = frozenset({Edge.NAMESPACE, Edge.DEFINITION})
"""Edges that say where an object belongs: its siblings there are gathered by type alone."""


class Presence(StrEnum):
    """Whether the objects of a box are there."""

    PRESENT = "present"
    MISSING = "missing"
    UNKNOWN = "unknown"


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the objects of a box are, in sum; each field is 0, None or empty where it means nothing.

    `countable` can be ready or not (pods that have not finished, nodes), `ready` of them are.
    `endpoints` of `backing` pods selected are what a Service can send traffic to now. `grave`:
    whoever draws it says that this is bad, for a reason that is in the marks.
    """

    countable: int = 0
    ready: int = 0
    finished: int = 0
    terminating: int = 0
    wanted: int | None = None
    endpoints: int | None = None
    backing: int | None = None
    marks: tuple[str, ...] = ()
    grave: bool = False


class Box(msgspec.Struct, frozen=True):
    """Objects that are alike, seen from the centre: `number` 0 is the centre itself.

    `names` are the first few of `count`; `owner` the controller of all of them, as `Kind name`.
    `rest`: stands for siblings beside those shown. `more`: has neighbours that are not shown.
    """

    number: int
    side: Side | None
    depth: int
    resource: Resource
    kind: str
    namespace: str
    names: tuple[str, ...]
    count: int
    presence: Presence = Presence.PRESENT
    why: str = ""
    owner: str = ""
    condition: Condition = Condition()
    rest: bool = False
    more: bool = False


class Line(msgspec.Struct, frozen=True):
    """Edges of one kind from one box to another: `links` in number, reading `keys`.

    `objects` of the box that they were followed to have one: of the needed on the side of what is
    needed, else of the needing; None where nothing was followed.
    `lost` are those of the keys that the needed object does not have, though it is there.
    `optional`: none of them keeps its object from starting.
    """

    needer: int
    needed: int
    edge: Edge
    links: int
    objects: int | None = None
    keys: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    optional: bool = False


class Neighbourhood(msgspec.Struct, frozen=True):
    """An object, its neighbours within `depth` steps, and every edge found between them."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    depth: int

    @property
    def centre(self) -> Box:
        """The object itself."""
        return self.boxes[0]

    @property
    def objects(self) -> int:
        """How many objects all boxes stand for, the centre not counted."""
        return sum(box.count for box in self.boxes[1:])


class Use:
    """Edges of one kind to one object or box, added up."""

    __slots__ = ("keys", "links", "lost", "objects", "optional")

    def __init__(self) -> None:
        self.links = 0
        self.objects = 0
        self.keys: set[str] = set()
        self.lost: set[str] = set()
        self.optional = True

    def add(self, other: Use) -> None:
        """Add what the edges of the kind to one more object say."""
        self.links += other.links
        self.objects += 1
        self.keys |= other.keys
        self.lost |= other.lost
        self.optional = self.optional and other.optional

    def count(self, key: str, *, lost: bool, optional: bool) -> None:
        """Add one edge, and the key that it reads; `lost`: the object has no such key."""
        self.links += 1
        self.optional = self.optional and optional
        if key:
            self.keys.add(key)
            if lost:
                self.lost.add(key)


class Met:
    """An object met from a box, and by which edges."""

    __slots__ = ("key", "row", "uses")

    def __init__(self, key: ObjectKey, row: int = NOWHERE) -> None:
        self.key = key
        self.row = row
        self.uses: dict[Edge, Use] = {}

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges by which it was met, in the order of `Edge`."""
        return tuple(sorted(self.uses, key=EDGE_ORDER.__getitem__))


EDGE_ORDER: Mapping[Edge, int] = {edge: at for at, edge in enumerate(Edge)}


class Maker:
    """Makes boxes of objects: says what they are and how they are."""

    def __init__(self, view: GraphView, kinds: Kinds) -> None:
        self.view = view
        self._kinds = kinds
        self._things: dict[int, ClusterObject] = {}

    def thing(self, row: int) -> ClusterObject:
        """Return the object in a row; put together once, which costs microseconds."""
        found = self._things.get(row)
        if found is None:
            found = self._things[row] = self.view.at(row)
        return found

    def controller(self, row: int) -> ObjectKey | None:
        """Return the object that controls another; None where none does, or it is gone."""
        owner = controller_of(self.thing(row).owners)
        found = None if owner is None else self.view.find_uid(owner.uid)
        return None if found is None else self.thing(found).key

    def lacks(self, row: int, key: str) -> bool:
        """Whether an object is known not to have an entry that is read of it."""
        facts = self.thing(row).facts
        return isinstance(facts, KeysFacts) and key not in facts.keys

    def alike(self, met: Met, parents: Collection[ObjectKey]) -> tuple[object, ...]:
        """Return what siblings have in common that are shown as one.

        Of objects that are shown as one, `parents`, the children are as alike as they are.
        """
        if met.row == NOWHERE:
            return met.edges, met.key.resource, *self.presence(met)
        facts = self.thing(met.row).facts
        idle = isinstance(facts, WorkloadFacts) and facts.replicas == 0
        gathered = GATHERING.issuperset(met.edges)
        controller = None if gathered else self.controller(met.row)
        whose = None if controller in parents else controller
        return met.edges, met.key.resource, Presence.PRESENT, "", whose, idle

    def presence(self, met: Met) -> tuple[Presence, str]:
        """Return whether an object is there, and where that is unknown, why."""
        if met.row != NOWHERE:
            return Presence.PRESENT, ""
        why = doubt(self.view, met.key)
        return (Presence.UNKNOWN, why) if why else (Presence.MISSING, "")

    def box(self, side: Side | None, depth: int, mets: Sequence[Met], *, rest: bool = False) -> Box:
        """Make a box, numbered later."""
        first = mets[0]
        presence, why = self.presence(first)
        rows = [met.row for met in mets if met.row != NOWHERE]
        controllers = {self.controller(row) for row in rows}
        owner = controllers.pop() if len(controllers) == 1 else None
        namespaces = {met.key.namespace for met in mets}
        return Box(
            number=0,
            side=side,
            depth=depth,
            resource=first.key.resource,
            kind=self._kind(first),
            namespace=namespaces.pop() if len(namespaces) == 1 else "",
            names=tuple(sorted(met.key.name for met in mets)[:NAMED]),
            count=len(mets),
            presence=presence,
            why=why,
            owner=f"{kind_of(owner.resource, self._kinds)} {owner.name}" if owner else "",
            condition=self._condition(rows),
            rest=rest,
        )

    def _kind(self, met: Met) -> str:
        if met.row != NOWHERE:
            return self.thing(met.row).gvk.kind
        return kind_of(met.key.resource, self._kinds)

    def _condition(self, rows: Sequence[int]) -> Condition:
        """Add up how objects of one type are."""
        things = [self.thing(row) for row in rows]
        pods = [thing.facts for thing in things if isinstance(thing.facts, PodFacts)]
        nodes = [thing.facts for thing in things if isinstance(thing.facts, NodeFacts)]
        wanted = [
            thing.facts.replicas
            for thing in things
            if isinstance(thing.facts, WorkloadFacts) and thing.facts.replicas is not None
        ]
        endpoints, backing = self._endpoints(rows)
        return Condition(
            countable=sum(not pod.finished for pod in pods) + len(nodes),
            ready=sum(pod.ready and not pod.finished for pod in pods)
            + sum(node.ready for node in nodes),
            finished=sum(pod.finished for pod in pods),
            terminating=sum(thing.terminating for thing in things),
            wanted=sum(wanted) if wanted else None,
            endpoints=endpoints,
            backing=backing,
            marks=marks_of(things[0]) if len(things) == 1 else (),
        )

    def _endpoints(self, rows: Sequence[int]) -> tuple[int | None, int | None]:
        """Return the ready endpoints of Services in sum, and the pods that they select."""
        ready, backing = None, None
        for row in rows:
            service = self.thing(row)
            facts = service.facts
            if not isinstance(facts, ServiceFacts):
                continue
            ready = (ready or 0) + len(self.view.ready_endpoints(row))
            if facts.selector is not None:
                pods = self.view.pods_selected(service.key.namespace, facts.selector)
                backing = (backing or 0) + len(pods)
        return ready, backing
