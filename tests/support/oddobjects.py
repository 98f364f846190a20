"""Odd objects on their way into a graph: as items of a list and as lines of a watch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from support.kubejson import CRD, DEPLOYMENT, POD, SERVICE, WEBHOOKS, dumps
from support.smallworld import ALL_SELECTORS
from suture.lab.soak.compare import check_indexes, differences
from suture.lab.soak.slowgraph import SlowGraph
from suture.model import names
from suture.model.graph import Graph, GraphView
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.kinds import SHAPES
from suture.wire.pages import Decoders, EventType, Seen
from suture.wire.trim import Trimmer

SPACE = "shop"
NEIGHBOURS = ("a-neighbour", "z-neighbour")

BODIES: Mapping[Resource, dict[str, Any]] = {
    names.PODS: POD,
    names.SERVICES: SERVICE,
    names.DEPLOYMENTS: DEPLOYMENT,
    names.CRDS: CRD,
    names.VALIDATING_WEBHOOKS: WEBHOOKS,
}
"""Ordinary objects; of other kinds the metadata is enough."""


def meta(name: Any = "odd", **more: Any) -> dict[str, Any]:
    """Return metadata with nothing odd about it, but for what is given."""
    return {"name": name, "namespace": SPACE, "uid": f"uid-{name}", "resourceVersion": "7", **more}


def owner(uid: Any, **more: Any) -> dict[str, Any]:
    """Return an ownerReference."""
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "o", "uid": uid, **more}


def pod(name: str, **labels: str) -> dict[str, Any]:
    """Return an ordinary pod that is Ready."""
    return {**POD, "metadata": meta(name, labels=labels)}


class Taken:
    """A graph that is fed from bytes by list or by watch, and a slow one that gets what was read."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.graph = Graph()
        self.view = GraphView(self.graph)
        self.slow = SlowGraph()
        self.trimmer = Trimmer()

    @property
    def odd(self) -> Counter[tuple[str, str]]:
        """What could not be read, by type and part."""
        return self.trimmer.odd

    # ---- bytes come in

    def beside_neighbours(self, resource: Resource, *odd: Any) -> list[ClusterObject]:
        """Take odd objects between two ordinary ones; return what was kept of the odd ones.

        Whatever they are like, the neighbours are whole; and told that all of it is gone, a graph
        of the same is empty.
        """
        before, after = ({**BODIES.get(resource, {}), "metadata": meta(one)} for one in NEIGHBOURS)
        kept = self.take(resource, before, *odd, after)
        assert [one.key.name for one in (kept[0], kept[-1])] == list(NEIGHBOURS)
        assert (kept[0].facts is None) is (resource not in SHAPES)
        passing = Graph()
        for one in kept:
            passing.put(one)
        for one in kept:
            passing.remove(one.key)
        assert len(passing) == 0
        check_indexes(passing)
        return kept[1:-1]

    def take(self, resource: Resource, *bodies: Any) -> list[ClusterObject]:
        """Take objects, given as values or as JSON, by this graph's way."""
        if self.way == "list":
            return self.lists(resource, *bodies)
        return self.hears(resource, *(("ADDED", body) for body in bodies))

    def lists(self, resource: Resource, *items: Any) -> list[ClusterObject]:
        """Take a complete list of a type."""
        body = b",".join(map(_json, items))
        page = self._decoders(resource).page(
            b'{"metadata":{"resourceVersion":"9"},"items":[' + body + b"]}"
        )
        self.graph.replace(resource, page.objects)
        self.slow.replace(resource, page.objects)
        self.agree()
        return page.objects

    def hears(self, resource: Resource, *lines: tuple[str, Any]) -> list[ClusterObject]:
        """Take a block of watch lines; return the objects that they were about."""
        block = b"".join(
            b'{"type":"%s","object":%s}\n' % (kind.encode(), _json(body)) for kind, body in lines
        )
        seen = [one for one in self._decoders(resource).events(block) if isinstance(one, Seen)]
        for one in seen:
            if one.type is EventType.DELETED:
                self.removes(one.thing.key, one.thing.uid)
            else:
                assert self.graph.put(one.thing) == self.slow.put(one.thing)
        self.agree()
        return [one.thing for one in seen]

    def removes(self, key: ObjectKey, uid: str = "") -> None:
        """Take an object out of both graphs."""
        assert self.graph.remove(key, uid) == self.slow.remove(key, uid)

    def _decoders(self, resource: Resource) -> Decoders:
        shape = SHAPES.get(resource)
        kind = shape.kind if shape is not None else resource.plural.title()
        return Decoders(self.trimmer.reader(resource, Gvk(resource.group, "v1", kind)))

    # ---- what became of them

    def agree(self) -> None:
        """Hold every query against a walk over what was read."""
        found = differences(self.graph, self.view, self.slow, selectors=ALL_SELECTORS)
        assert not found, "\n".join(found)
        check_indexes(self.graph)

    def names(self, rows: Iterable[int]) -> set[str]:
        """Return what the objects of rows are called."""
        return {self.view.at(row).key.name for row in rows}

    def row(self, resource: Resource, name: str, namespace: str = SPACE) -> int:
        """Return the row of an object that must be there."""
        row = self.graph.row(ObjectKey(resource, namespace, name))
        assert row is not None, f"{resource} {name}"
        return row

    def at(self, resource: Resource, name: str) -> ClusterObject:
        """Return an object that must be there."""
        return self.graph.at(self.row(resource, name))


def _json(body: Any) -> bytes:
    return body if isinstance(body, bytes) else dumps(body)
