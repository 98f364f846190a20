"""Objects out of recorded bodies: whole ones, patches applied to what is known, and mere names.

Beside `auditreplay`, which knows what a write means; here is only what its bodies hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from suture.app.rules import Rules
from suture.app.watches import Watches
from suture.app.whatif import kept
from suture.model.graph import Graph
from suture.model.kindnames import kind_of
from suture.model.names import PODS, SECRETS, Gvk, Gvr, ObjectKey, Resource
from suture.model.objects import ClusterObject, NodeFacts, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.request import DeleteOptions
from suture.model.selectors import Operator, Selector
from suture.wire.admission import Options
from suture.wire.audit import Write
from suture.wire.kinds import SHAPES
from suture.wire.oddities import UNREADABLE, TrimError
from suture.wire.patches import strategic
from suture.wire.trim import PARTIAL, READERS, Reader, Trimmer

PLACEHOLDER = "by-name:"
"""What the uid begins with of an object of which the log tells no more than its name."""

NO_OBJECTS = frozenset({"Status", "Scale", "Eviction", "DeleteOptions", "Table"})
"""Kinds that stand where an object may, and are none."""

NO_WHOLE = NO_OBJECTS | {PARTIAL}
"""Kinds that do not tell what a write made of its object; of a delete the metadata is something."""

_any = msgspec.json.Decoder()


class _Head(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""


class _Size(msgspec.Struct, gc=False):
    replicas: int | None = None


class _Sized(msgspec.Struct, gc=False):
    spec: _Size | None = None


class _Target(msgspec.Struct, gc=False):
    name: str = ""


class _Binding(msgspec.Struct, gc=False):
    target: _Target | None = None


class _Items(msgspec.Struct, gc=False):
    items: list[msgspec.Raw] | None = None


class Bodies:
    """Reads the bodies of one log's writes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # WHY keys: the audit policy of most clusters leaves Secrets at Metadata; where not, only
        # the names of their entries are read.
        self._trimmer = Trimmer(secret_keys=True)
        Rules(self._trimmer, Watches(), graph).load(graph)
        self._kinds = {resource: kind for (_, kind), resource in graph.kinds.items()}
        self._readers: dict[Gvr, Reader] = {}
        self._number = 0

    def gvk(self, write: Write) -> Gvk:
        """Return the kind of what a write is about."""
        return self._reader(write).gvk

    def after(self, write: Write, row: int | None = None) -> ClusterObject | None:
        """Return an object after a create, an update or a patch; None where the log tells nothing.

        A patch alone is applied to what the model knows of the object, in a live `row`.
        """
        if write.response and write.subresource in ("", "status"):
            found = self._read(write.response, write)
            if found is not None:
                return found
        if not write.request or write.subresource:
            return None
        old = None if row is None else self._graph.at(row)
        if write.verb in ("create", "update"):
            return self._lived(self._read(write.request, write), write, old)
        return None if old is None else self._patched(write, old)

    def items(self, write: Write) -> Iterator[ClusterObject]:
        """Yield the objects of a collection's answer."""
        if not write.response:
            return
        try:
            found = msgspec.json.decode(write.response, type=_Items)
        except UNREADABLE:
            return
        reader = self._reader(write)
        for item in found.items or ():
            thing = _read_odd(reader, item)
            if thing is not None:
                yield _placed(thing, write)

    def named(self, key: ObjectKey) -> ClusterObject:
        """Return an object of which only the name is known: its edges are unknown."""
        self._number += 1
        gvk = Gvk(key.resource.group, "", self._kind(key.resource))
        return ClusterObject(key, f"{PLACEHOLDER}{self._number}", gvk)

    def options(self, write: Write) -> DeleteOptions:
        """Return what a delete said of its manner."""
        found = _decoded(write.request, Options)
        if found is None:
            return DeleteOptions()
        # WHY no preconditions: they held, or the delete would not have been.
        return DeleteOptions(found.propagation(), found.grace_period_seconds)

    def keeps(self, write: Write) -> bool:
        """Whether a deleted pod stays for its grace; the kubelet's own delete ends it at once."""
        if write.key.resource != PODS:
            return False
        found = _decoded(write.request, Options)
        forced = found is not None and found.grace_period_seconds == 0
        return not forced and not write.user.username.startswith("system:node:")

    def size(self, write: Write) -> int | None:
        """Return the size that a scale asks for."""
        for body in (write.response, write.request):
            found = _decoded(body, _Sized)
            if found is not None and found.spec is not None:
                # Go leaves zero out.
                return found.spec.replicas or 0
        return None

    def sized(self, key: ObjectKey, size: int) -> ClusterObject | None:
        """Return an object with another size."""
        row = self._graph.row(key)
        if row is None:
            return None
        thing = self._graph.at(row)
        if not isinstance(thing.facts, WorkloadFacts):
            return None
        facts = msgspec.structs.replace(thing.facts, replicas=size)
        return msgspec.structs.replace(thing, facts=facts)

    def bound(self, write: Write, key: ObjectKey) -> ClusterObject | None:
        """Return a pod on the node that its binding names."""
        row = self._graph.row(key)
        found = _decoded(write.request, _Binding)
        if row is None or found is None or found.target is None:
            return None
        thing = self._graph.at(row)
        if not isinstance(thing.facts, PodFacts):
            return None
        facts = msgspec.structs.replace(thing.facts, node=found.target.name)
        return msgspec.structs.replace(thing, facts=facts)

    # ---- reading

    def _kind(self, resource: Resource) -> str:
        """Return the kind of a type, which a snapshot made of manifests may have none of."""
        known = self._kinds.get(resource)
        if known is None:
            shape = SHAPES.get(resource)
            known = kind_of(resource, self._graph.kinds) if shape is None else shape.kind
        return known

    def _reader(self, write: Write) -> Reader:
        """Return what reads the objects of a write's endpoint."""
        found = self._readers.get(write.gvr)
        if found is None:
            resource = write.key.resource
            gvk = Gvk(write.gvr.group, write.gvr.version, self._kind(resource))
            if len(self._readers) >= READERS:
                self._readers.clear()
            found = self._trimmer.reader(resource, gvk, full=resource != SECRETS)
            self._readers[write.gvr] = found
        return found

    def _read(self, body: bytes, write: Write) -> ClusterObject | None:
        """Read a whole object of the write's kind; None for a Status, or what is cut short."""
        reader = self._reader(write)
        none = NO_OBJECTS if write.verb == "delete" else NO_WHOLE
        document = reader.decoded(body)
        if document is not None:
            if document.kind in none:
                return None
            return _placed(reader.made(document), write)
        head = _decoded(body, _Head)
        if head is None or head.kind in none:
            return None
        thing = _read_odd(reader, body)
        return None if thing is None else _placed(thing, write)

    def _lived(
        self, thing: ClusterObject | None, write: Write, old: ClusterObject | None
    ) -> ClusterObject | None:
        """Return what a request wrote with the life that the server gave it."""
        if thing is None or thing.uid:
            return thing
        uid = old.uid if old is not None else write.uid or self.named(thing.key).uid
        return msgspec.structs.replace(thing, uid=uid)

    def _patched(self, write: Write, old: ClusterObject) -> ClusterObject | None:
        """Return an object with a merge, strategic or apply patch; JSON patches tell no whole."""
        try:
            patch = _any.decode(write.request)
        except UNREADABLE:
            return None
        if not isinstance(patch, dict):
            return None
        body = strategic(_sketch(old), patch)
        body.setdefault("metadata", {})
        new = _read_odd(self._reader(write), msgspec.json.encode(body))
        if new is None:
            return None
        return _with_known(kept(old, _placed(new, write), patch), old, patch)


def _read_odd(reader: Reader, body: bytes | msgspec.Raw) -> ClusterObject | None:
    """Read an object part by part where it is odd; None for what is no JSON at all."""
    try:
        return reader.one(body)
    except TrimError:
        return None


def _placed(thing: ClusterObject, write: Write) -> ClusterObject:
    """Return what was written where it was written, should its body not say so."""
    key, at = thing.key, write.key
    if (key.namespace or not at.namespace) and (key.name or not at.name):
        return thing
    there = ObjectKey(at.resource, key.namespace or at.namespace, key.name or at.name)
    return msgspec.structs.replace(thing, key=there)


def _decoded(body: bytes, kind: type[msgspec.Struct]) -> Any:
    if not body:
        return None
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE:
        return None


def _sketch(thing: ClusterObject) -> dict[str, Any]:
    """Return the body of an object as far as the model knows it, for a patch to be laid on."""
    spec: dict[str, Any] = {}
    match thing.facts:
        case WorkloadFacts(replicas=replicas, selector=selector):
            if replicas is not None:
                spec["replicas"] = replicas
            if selector is not None:
                spec["selector"] = {"matchLabels": _pairs(selector)}
        case ServiceFacts(selector=selector, type=kind):
            spec["type"] = kind
            if selector is not None:
                spec["selector"] = _pairs(selector)
        case NodeFacts(unschedulable=unschedulable):
            spec["unschedulable"] = unschedulable
        case _:
            pass
    metadata: dict[str, Any] = {
        "name": thing.key.name,
        "namespace": thing.key.namespace,
        "uid": thing.uid,
        "labels": dict(thing.labels),
        "finalizers": list(thing.finalizers),
        "ownerReferences": [
            {
                "apiVersion": f"{one.gvk.group}/{one.gvk.version}".lstrip("/"),
                "kind": one.gvk.kind, "name": one.name, "uid": one.uid,
                "controller": one.controller,
            }
            for one in thing.owners
        ],
    }  # fmt: skip
    return {"metadata": metadata, "spec": spec}


def _pairs(selector: Selector) -> dict[str, str]:
    return {
        one.key: one.values[0]
        for one in selector.requirements
        if one.operator is Operator.IN and len(one.values) == 1
    }


def _with_known(new: ClusterObject, old: ClusterObject, patch: Mapping[str, Any]) -> ClusterObject:
    """Return a patched object with what no sketch holds and the patch does not touch."""
    spec = patch.get("spec")
    touched = spec if isinstance(spec, Mapping) else {}
    meta = patch.get("metadata")
    said = meta if isinstance(meta, Mapping) else {}
    facts = new.facts
    match facts, old.facts:
        case WorkloadFacts(), WorkloadFacts() as before if "template" not in touched:
            facts = msgspec.structs.replace(facts, template_hash=before.template_hash)
        case ((WorkloadFacts() | ServiceFacts() | NodeFacts()), _):
            pass
        case _:
            # WHY as it was: of other kinds no sketch is made, and half a body tells wrong facts.
            facts = old.facts
    return msgspec.structs.replace(
        new,
        deleted=old.deleted,
        facts=facts,
        finalizers=new.finalizers if "finalizers" in said else old.finalizers,
        owners=new.owners if "ownerReferences" in said else old.owners,
        needs=new.needs if "template" in touched else old.needs,
    )
