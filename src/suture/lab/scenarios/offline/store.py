"""The objects of a predicted cluster, whole and as JSON, with the graph kept equal to them.

Lives apart from `server`, which decides what may be written: here is what is there. Bodies are
never written into: a change is another body, and everybody who follows is told of both.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Object
from suture.model.clock import Now
from suture.model.graph import Graph, GraphView
from suture.model.names import CRDS, SECRETS, Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject, CrdFacts
from suture.model.rulebook import rules_by_kind
from suture.model.rules import ReferenceRule, RuleFacts
from suture.wire.discovery import ApiResource
from suture.wire.trim import Trimmer

BEGAN = Now(1_000_000_000_000, 1_787_654_700.0)
"""When every offline run begins. Any moment would do: runs make their own time."""

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
"""SOURCE: apimachinery's rand.String: no vowels, and nothing that looks like one."""


class Thing(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One object at one moment: as JSON value and text, and trimmed as the model reads it."""

    api: ApiResource
    body: Object
    raw: bytes
    seen: ClusterObject

    @property
    def key(self) -> ObjectKey:
        """Where it is found."""
        return self.seen.key

    @property
    def uid(self) -> str:
        """Its life."""
        return self.seen.uid

    @property
    def metadata(self) -> Object:
        """Its metadata, not to be written into."""
        found: Object = self.body["metadata"]
        return found

    @property
    def spec(self) -> Object:
        """Its spec, empty where it has none; not to be written into."""
        return self.body.get("spec") or {}

    @property
    def status(self) -> Object:
        """Its status, empty where it has none; not to be written into."""
        return self.body.get("status") or {}


Observer = Callable[[Thing | None, Thing | None], None]
"""Told of each change, before and after; None before: it is new, None after: it is gone."""


class Store:
    """All objects by place, their kinds, and the graph of them."""

    def __init__(self) -> None:
        self.apis: dict[Resource, ApiResource] = {}
        self._defined: dict[tuple[str, str], Resource] = {}
        self.graph = Graph()
        self.observers: list[Observer] = []
        self.began = BEGAN
        self.foretold: dict[tuple[Resource, str, str], deque[str]] = {}
        """Uids that objects will have once they are created: a recording knows them."""
        self._things: dict[Resource, dict[tuple[str, str], Thing]] = {}
        self._by_uid: dict[str, Thing] = {}
        self.trimmer = Trimmer(secret_keys=True)
        """What reads objects, by the rules of the definitions that are there."""
        self._rules: dict[str, tuple[ReferenceRule, ...]] = {}
        self._version = 1000
        self._lives = 0
        # WHY a seed: what is predicted twice must be the same twice.
        self._chance = random.Random(1)  # noqa: S311 names, no secrets

    # ---- time and names

    def now(self) -> Now:
        """Return the moment that the run has come to."""
        return self.began.plus_s(now_s())

    def stamp(self) -> str:
        """Return the moment as objects carry it."""
        moment = datetime.fromtimestamp(self.now().utc_s, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_uid(self) -> str:
        """Return a uid that no object had."""
        self._lives += 1
        return f"0ff11e00-0000-4000-8000-{self._lives:012x}"

    def uid_for(self, resource: Resource, namespace: str, name: str) -> str:
        """Return the uid of a new object at a place."""
        waiting = self.foretold.get((resource, namespace, name))
        return waiting.popleft() if waiting else self.new_uid()

    def suffix(self) -> str:
        """Return five letters as the API server adds them to a `generateName`."""
        return "".join(self._chance.choices(_SUFFIX, k=5))

    # ---- kinds

    def serve(self, api: ApiResource) -> None:
        """Begin to serve a kind."""
        resource = api.resource
        self.apis[resource] = api
        self._things.setdefault(resource, {})
        self.graph.declare(api.group, api.kind, resource)
        self.graph.note_listed(resource)
        self.graph.heard(resource, str(self._version), self.now().mono_ns)

    def unserve(self, resource: Resource) -> None:
        """Serve a kind no more."""
        self.apis.pop(resource, None)
        self._things.pop(resource, None)
        self.graph.forget(resource)

    def api_of(self, resource: Resource, version: str = "") -> ApiResource | None:
        """Return a served kind, at a version where one is named."""
        api = self.apis.get(resource)
        if api is None or not version or api.version == version:
            return api
        return msgspec.structs.replace(api, version=version)

    # ---- objects

    @property
    def view(self) -> GraphView:
        """The graph as it is, nothing laid over it."""
        return GraphView(self.graph, overlaid=False)

    def find(self, resource: Resource, namespace: str, name: str) -> Thing | None:
        """Return the object at a place, None where there is none."""
        return self._things.get(resource, {}).get((namespace, name))

    def life(self, uid: str) -> Thing | None:
        """Return one life of an object, None where it is over."""
        return self._by_uid.get(uid)

    def all(self, resource: Resource, namespace: str = "") -> list[Thing]:
        """Return the objects of a kind, of one namespace where it is named, in etcd's order."""
        found = self._things.get(resource, {})
        wanted = [place for place in found if not namespace or place[0] == namespace]
        # WHY joined: etcd sorts the whole path, in which `/` stands after `-` and before `0`.
        return [found[place] for place in sorted(wanted, key="/".join)]

    def count(self, resource: Resource) -> int:
        """Return how many objects of a kind there are."""
        return len(self._things.get(resource, {}))

    def children(self, uid: str) -> list[Thing]:
        """Return the objects that name `uid` as an owner, oldest first."""
        found = [self._at(row) for row in self.graph.children(uid)]
        return sorted(found, key=lambda one: one.uid)

    def members(self, namespace: str) -> list[Thing]:
        """Return all objects of a namespace."""
        return [self._at(row) for row in tuple(self.graph.members(namespace))]

    def __iter__(self) -> Iterator[Thing]:
        return iter(tuple(self._by_uid.values()))

    def _at(self, row: int) -> Thing:
        return self._by_uid[self.graph.at(row).uid]

    def made(self, api: ApiResource, body: Object) -> Thing:
        """Return a body as it would be stored now; nothing changes but the version counted."""
        self._version += 1
        whole = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self._version)}}
        raw = msgspec.json.encode(whole)
        gvk = Gvk.of(str(whole.get("apiVersion", "")), str(whole.get("kind", "")))
        return Thing(api, whole, raw, self._seen(raw, api.resource, gvk))

    def _seen(self, raw: bytes, resource: Resource, gvk: Gvk) -> ClusterObject:
        """Return an object as it is watched: of Secrets the metadata alone."""
        return self.trimmer.trim(raw, resource, gvk, full=resource != SECRETS)

    def put(self, api: ApiResource, body: Object) -> Thing:
        """Add an object or replace its earlier state, and tell."""
        after = self.made(api, body)
        place = (after.key.namespace, after.key.name)
        before = self._things[api.resource].get(place)
        if before is not None and before.uid != after.uid:
            del self._by_uid[before.uid]
        self._things[api.resource][place] = after
        self._by_uid[after.uid] = after
        self.graph.put(after.seen)
        self.trimmer.applications.note(after.key, there=True)
        self._learn(after)
        self._tell(before, after)
        return after

    def _learn(self, thing: Thing) -> None:
        """Read kinds by what their definitions and the rules of the cluster say of them."""
        facts = thing.seen.facts
        found: tuple[ReferenceRule, ...] = ()
        known = len(self._defined)
        if isinstance(facts, CrdFacts):
            found = facts.rules
            # WHY beside those that are served: it is served a moment later.
            self._defined[facts.resource.group, facts.kind] = facts.resource
        elif isinstance(facts, RuleFacts) and facts.rule is not None:
            found = (facts.rule,)
        if found == self._rules.get(thing.uid, ()) and len(self._defined) == known:
            return
        self._rules[thing.uid] = found
        served = {(api.resource.group, api.kind): api.resource for api in self.apis.values()}
        kinds = {**served, **self._defined}
        every = (rule for rules in self._rules.values() for rule in rules)
        self.trimmer.declare(rules_by_kind(every, kinds).kinds)

    def read_anew(self) -> None:
        """Read all there is once more, as whoever starts now does: marks by what they name."""
        for fresh in self.graph.freshness.values():
            fresh.began = str(self._version)
        for thing in tuple(self._by_uid.values()):
            seen = self._seen(thing.raw, thing.key.resource, thing.seen.gvk)
            if seen.needs != thing.seen.needs:
                after = Thing(thing.api, thing.body, thing.raw, seen)
                self._things[thing.key.resource][thing.key.namespace, thing.key.name] = after
                self._by_uid[thing.uid] = after
                self.graph.put(seen)

    def precedes_definition(self, thing: Thing) -> bool:
        """Whether a definition was written after its instance: it may be stored otherwise then.

        SOURCE: apiserver, etcd3 store `GuaranteedUpdate`: what is written as it was is written all
        the same where it is stored in a former version.
        """
        resource = thing.key.resource
        definition = self.find(CRDS, "", f"{resource.plural}.{resource.group}")
        if definition is None:
            return False
        return int(definition.seen.resource_version) > int(thing.seen.resource_version)

    def remove(self, thing: Thing) -> None:
        """Take one life of an object out, and tell; nothing happens when it is over already."""
        if self._by_uid.get(thing.uid) is None:
            return
        before = self._by_uid.pop(thing.uid)
        self.trimmer.applications.note(before.key, there=False)
        del self._things[before.key.resource][before.key.namespace, before.key.name]
        self.graph.remove(before.key, before.uid)
        self._tell(before, None)

    def amend(self, thing: Thing, change: Object, **metadata: Any) -> Thing | None:
        """Replace top-level fields, and fields of the metadata (None: dropped), of what is there.

        Returns the object as it then is, None when its life is over meanwhile.
        """
        now = self._by_uid.get(thing.uid)
        if now is None:
            return None
        merged = {**now.metadata, **metadata}
        kept = {key: value for key, value in merged.items() if value is not None}
        body = {**now.body, **change, "metadata": kept}
        return now if body == now.body else self.put(now.api, body)

    def _tell(self, before: Thing | None, after: Thing | None) -> None:
        for observer in self.observers:
            observer(before, after)
