"""The examples of the page of effects, as they are run: a world, a write, and what it says.

Written as YAML; uids follow names, owners are found by kind and name, and a pod whose status is not
written is Ready.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from support.cluster import START, operator
from suture.impact.causes.recent import remember
from suture.impact.effects import NAMES, Effect
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.graph import Graph, GraphView
from suture.model.history import History
from suture.model.names import CRDS, PODS, Gvk, Gvr, ObjectKey, Operation, Propagation, Resource
from suture.model.objects import ClusterObject, CrdFacts
from suture.model.request import DeleteOptions, Request
from suture.model.rulebook import rules_by_kind
from suture.model.rules import ReferenceRule
from suture.model.targets import resource_of
from suture.wire.trim import Trimmer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "effects.md"
_SECTION = re.compile(r"^## `(\w+)`$", re.MULTILINE)
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Object = dict[str, Any]


class Example(msgspec.Struct, frozen=True):
    """One example: the section that it stands in, and its three blocks."""

    effect: str
    world: tuple[Object, ...]
    write: Object
    says: Object


def sections() -> dict[str, str]:
    """Return the page's sections, by the effect's name."""
    parts = _SECTION.split(PAGE.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def examples() -> Iterator[Example]:
    """Yield the examples of the page: blocks in threes."""
    for name, text in sections().items():
        blocks = _BLOCK.findall(text)
        for world, write, says in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
            yield Example(
                name, tuple(yaml.safe_load_all(world)), yaml.safe_load(write), yaml.safe_load(says)
            )


class World:
    """The objects of an example as a graph."""

    def __init__(self, documents: tuple[Object, ...]) -> None:
        self.graph = Graph()
        self._trimmer = Trimmer(secret_keys=True)
        self._resources: dict[tuple[str, str], Resource] = {}
        definitions = [one for one in documents if one["kind"] == "CustomResourceDefinition"]
        for one in definitions:
            names = one["spec"]["names"]
            kind = (one["spec"]["group"], names["kind"])
            self._resources[kind] = Resource(kind[0], names["plural"])
        rules: list[ReferenceRule] = []
        for one in definitions:
            facts = self.object(one).facts
            if isinstance(facts, CrdFacts):
                rules += facts.rules
        self._trimmer.declare(rules_by_kind(rules, self._resources).kinds)
        by_type: dict[Resource, list[ClusterObject]] = {CRDS: [], PODS: []}
        self._bodies: dict[str, bytes] = {}
        for one in documents:
            thing = self.object(one)
            self._bodies[thing.uid] = _body(one)
            by_type.setdefault(thing.key.resource, []).append(thing)
            self.graph.declare(thing.gvk.group, thing.gvk.kind, thing.key.resource)
        for resource, things in by_type.items():
            self.graph.replace(resource, things)
            self.graph.heard(resource, "1", START.mono_ns)
        self.view = GraphView(self.graph, History())
        self.now = START

    def object(self, document: Object) -> ClusterObject:
        """Return a document as the model reads it."""
        gvk = Gvk.of(document["apiVersion"], document["kind"])
        resource = self._resources.get((gvk.group, gvk.kind)) or resource_of(gvk.group, gvk.kind)
        return self._trimmer.trim(_body(document), resource, gvk)

    def request(self, write: Object) -> Request:
        """Return a write as a request: `delete`, `evict`, `scale`, `create` or `update`."""
        (verb,) = write.keys() - {"propagation", "to", "before", "times"}
        if verb in {"create", "update"}:
            return self._written(write[verb], Operation(verb.upper()))
        resource, _, place = write[verb].partition(" ")
        namespace, _, name = place.rpartition("/")
        key = ObjectKey(Resource.parse(resource), namespace, name)
        row = self.view.find(key)
        assert row is not None, f"{key} is not in the example's world"
        target = self.view.at(row)
        options = DeleteOptions(
            Propagation(write["propagation"]) if "propagation" in write else None
        )
        sub = {"delete": "", "evict": "eviction", "scale": "scale"}[verb]
        operation = {"delete": Operation.DELETE, "evict": Operation.CREATE}.get(
            verb, Operation.UPDATE
        )
        return Request(
            uid="example",
            operation=operation,
            gvr=Gvr(key.resource.group, "v1", key.resource.plural),
            gvk=target.gvk,
            subresource=sub,
            namespace=namespace,
            name=name,
            user=operator().user,
            old=target if verb == "delete" else None,
            scale_to=write.get("to"),
            options=options,
        )

    def pass_by(self, write: Object) -> None:
        """Let earlier writes happen, half a second apart: those that a write has `before` it."""
        for earlier in write.get("before", ()):
            for _ in range(earlier.get("times", 1)):
                request = self.request(earlier)
                self.now = self.now.plus_s(0.5)
                remember(request, project(request, self.view), self.view, self.now)
                if request.operation is Operation.UPDATE and request.new is not None:
                    self.graph.put(request.new)
                    self._bodies[request.new.uid] = request.new_body

    def _written(self, document: Object, operation: Operation) -> Request:
        after = self.object(document)
        row = self.view.find(after.key)
        assert (row is None) == (operation is Operation.CREATE), f"{after.key} is there or not"
        resource = after.key.resource
        return Request(
            uid="example",
            operation=operation,
            gvr=Gvr(resource.group, "v1", resource.plural),
            gvk=after.gvk,
            namespace=after.key.namespace,
            name=after.key.name,
            user=operator().user,
            old=None if row is None else self.view.at(row),
            new=after,
            old_body=self._bodies.get(after.uid, b""),
            new_body=_body(document),
        )


def effects_of(example: Example) -> list[Effect]:
    """Return the effects of an example that its section is about."""
    world = World(example.world)
    world.pass_by(example.write)
    request = world.request(example.write)
    impact = estimate(request, project(request, world.view), world.view, operator(), now=world.now)
    return [one for one in impact.effects if NAMES[type(one)] == example.effect]


def said(effect: Effect, fields: Object) -> Object:
    """Return those fields of an effect that an example names, objects as `resource place/name`."""
    plain = msgspec.to_builtins(effect)
    return {name: _short(plain[name]) for name in fields}


def _short(value: object) -> object:
    if isinstance(value, dict):
        group = f".{value['group']}" if value["group"] else ""
        place = f"{value['namespace']}/" if value["namespace"] else ""
        return f"{value['resource']}{group} {place}{value['name']}"
    return [_short(one) for one in value] if isinstance(value, (list, tuple)) else value


def _body(document: Object) -> bytes:
    """Write an object as the API server shows it."""
    return json.dumps(_completed(document)).encode()


def _completed(document: Object) -> Object:
    """Return an object with the uid that follows from its name, and owners with theirs."""
    meta = dict(document["metadata"])
    meta.setdefault("uid", f"{document['kind']}/{meta['name']}")
    meta["ownerReferences"] = [
        {"uid": f"{owner['kind']}/{owner['name']}", **owner}
        for owner in meta.get("ownerReferences", ())
    ]
    found = {**document, "metadata": meta}
    if document["kind"] == "Pod":
        found.setdefault(
            "status",
            {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        )
    return found
