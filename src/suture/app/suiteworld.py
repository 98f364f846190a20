"""The world of a policy test: a graph of written objects that keeps their bodies, to be patched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from suture.app.rules import Rules
from suture.app.sources import DEFAULT_NAMESPACE, Gatherer
from suture.app.watches import Watches
from suture.app.whatif import QuestionError
from suture.errors import DocumentError
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import (
    CRDS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Gvk,
    ObjectKey,
)
from suture.model.objects import ClusterObject, CrdFacts, WorkloadFacts
from suture.wire.manifests import Found, read_manifests
from suture.wire.patches import applied, strategic
from suture.wire.trim import Trimmer
from suture.wire.undiscovered import Kind, Kinds

BEGIN = Now(1_000_000_000_000, 1_700_000_000.0)
"""When every case begins; a test's time is its own."""

EMPTY = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": DEFAULT_NAMESPACE}}
"""What is in a world of which nothing is said."""


WORKLOADS = (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, REPLICATION_CONTROLLERS)
"""Whose size is in their own spec."""


class Changed(msgspec.Struct, frozen=True):
    """An object before (None: it is new) and after, trimmed and as JSON."""

    old: ClusterObject | None
    new: ClusterObject
    bodies: tuple[bytes, bytes]


class SuiteWorld:
    """Objects as files have them: trimmed into a graph, and whole."""

    def __init__(
        self, objects: Sequence[Mapping[str, object]], texts: Sequence[tuple[bytes, str]] = ()
    ) -> None:
        """Take the objects of a test and of the files that it names.

        Errors: QuestionError for what cannot be read.
        """
        written = [*objects] or ([] if texts else [EMPTY])
        parts = [*texts, *((msgspec.json.encode(one), "cluster") for one in written)]
        gatherer = Gatherer("cluster", BEGIN)
        for text, place in parts:
            gatherer.add(text, place)
        gathered = gatherer.finish()
        bad = [one for one in gathered.notes if one.startswith(("left out", "twice", "odd"))]
        if bad:
            raise QuestionError(f"the cluster of this test cannot be read: {bad[0]}")
        self.graph: Graph = gathered.graph
        for resource in self.graph.freshness:
            # WHY known: the world of a test is all there is, where a file is only a part.
            self.graph.note_listed(resource)
        self._kinds = Kinds()
        for row in self.graph.rows(CRDS):
            facts = self.graph.facts(row)
            if isinstance(facts, CrdFacts):
                self._kinds.learn(facts)
        self._trimmer = Trimmer(secret_keys=True)
        Rules(self._trimmer, Watches(), self.graph).load(self.graph)
        self._bodies = dict(self._read(parts))

    def podless(self) -> list[ObjectKey]:
        """Return the workloads that want pods and have none here: no controller makes them."""
        return [
            self.graph.key(row)
            for resource in WORKLOADS
            for row in self.graph.rows(resource)
            if self._lacks_pods(row)
        ]

    def _lacks_pods(self, row: int) -> bool:
        graph, facts = self.graph, self.graph.facts(row)
        if not isinstance(facts, WorkloadFacts) or not facts.replicas or facts.selector is None:
            return False
        pods = graph.rows(PODS, graph.key(row).namespace)
        return not any(facts.selector.matches(graph.labels(pod) or {}) for pod in pods)

    def _read(self, parts: Sequence[tuple[bytes, str]]) -> Iterator[tuple[ObjectKey, bytes]]:
        for text, place in parts:
            for piece in read_manifests(text, place):
                if isinstance(piece, DocumentError):
                    raise piece
                if isinstance(piece, Found):
                    gvk = Gvk.of(piece.head.api_version, piece.head.kind)
                    meta = piece.head.metadata
                    yield self._key(gvk, meta.namespace, meta.name), bytes(piece.body)

    def _key(self, gvk: Gvk, namespace: str | None, name: str) -> ObjectKey:
        kind = self._kind(gvk)
        home = (namespace or DEFAULT_NAMESPACE) if kind.namespaced else ""
        return ObjectKey(kind.resource, home, name)

    def _kind(self, gvk: Gvk) -> Kind:
        return self._kinds.guess(gvk, namespaced=True)

    def written(self, one: Mapping[str, object], namespace: str | None, verb: str) -> Changed:
        """Return what creating or applying an object makes of it.

        Errors: QuestionError for what is no object.
        """
        meta = one.get("metadata")
        if not isinstance(meta, Mapping) or not meta.get("name"):
            raise QuestionError("an object lacks `metadata.name`")
        gvk = Gvk.of(str(one.get("apiVersion", "")), str(one.get("kind", "")))
        key = self._key(gvk, str(meta.get("namespace") or namespace or "") or None, meta["name"])
        wish = {**one, "metadata": {**meta, "namespace": key.namespace}}
        had = None if verb == "create" else self._bodies.get(key)
        if had is None:
            return Changed(None, self._trimmed(key, gvk, wish), (b"", _json(wish)))
        before = msgspec.json.decode(had)
        return self._changed(key, gvk, before, applied(before, wish))

    def patched(self, key: ObjectKey, patch: Mapping[str, object]) -> Changed:
        """Return what a strategic merge patch makes of an object."""
        row, had = self.graph.row(key), self._bodies.get(key)
        if row is None or had is None:
            raise QuestionError(f"`{key}` is not there")
        before = msgspec.json.decode(had)
        return self._changed(key, self.graph.at(row).gvk, before, strategic(before, patch))

    def _changed(self, key: ObjectKey, gvk: Gvk, before: Any, after: Any) -> Changed:
        self._bodies[key] = _json(after)
        old, new = self._trimmed(key, gvk, before), self._trimmed(key, gvk, after)
        return Changed(old, new, (_json(before), _json(after)))

    def _trimmed(self, key: ObjectKey, gvk: Gvk, body: Any) -> ClusterObject:
        thing = self._trimmer.trim(_json(body), key.resource, gvk)
        row = self.graph.row(key)
        uid = self.graph.uid(row) if row is not None else thing.uid or f"new {key}"
        return msgspec.structs.replace(thing, key=key, uid=uid)


def _json(body: Any) -> bytes:
    return msgspec.json.encode(body)
