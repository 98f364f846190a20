"""Places: one type in one namespace, and the rows that are there.

What most walks begin with: everything in a namespace, everything of a type, all of one in the
other. A place goes with its last row, so that namespaces that come and go leave nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from suture.model.graph.columns import NONE, integers, loaded
from suture.model.names import CRDS, MUTATING_POLICIES, PODS, VALIDATING_POLICIES, Gvk, Resource

POD_CLASSES: Final = Resource("graph.suture.dev", "podclasses")
"""Where pod classes are rows: a type that no cluster serves."""
NEED_SETS: Final = Resource("graph.suture.dev", "needsets")
"""Where sets of needs are rows."""
POLICIES: Final = frozenset({VALIDATING_POLICIES, MUTATING_POLICIES})
"""Types whose objects say of which kind the parameters are that their bindings name."""
LIMBO: Final = Resource("graph.suture.dev", "limbo")
"""Where lives are rows of which only the uid is known: owners that nobody has seen."""


class Kind:
    """One type: its kind as objects write it, how many there are, and its places."""

    __slots__ = (
        "changes", "count", "gvk", "of_definitions", "of_pods", "of_policies", "places", "resource",
    )  # fmt: skip

    def __init__(self, resource: Resource, gvk: Gvk, count: int = 0) -> None:
        self.resource = resource
        self.gvk = gvk
        self.count = count
        self.changes = 0
        """How often an object of the type began, was written or ended."""
        self.places: dict[str, int] = {}
        self.of_pods = resource == PODS
        self.of_definitions = resource == CRDS
        self.of_policies = resource in POLICIES


class Places:
    """Places by number; number 0 is limbo."""

    __slots__ = ("_free", "by_namespace", "head", "kind", "kinds", "namespace", "uses")

    def __init__(self) -> None:
        self.kinds: dict[Resource, Kind] = {}
        self.kind: list[Kind] = []
        self.namespace: list[str] = []
        self.uses = integers()
        self.head = integers()
        """The number of the chain of a place's rows; NONE as long as it has had none."""
        self.by_namespace: dict[str, dict[Resource, int]] = {}
        self._free: list[int] = []
        self.make(LIMBO, "")
        self.uses[0] = 1

    def find(self, resource: Resource, namespace: str) -> int:
        """Return a place; NONE where nothing is there."""
        kind = self.kinds.get(resource)
        return NONE if kind is None else kind.places.get(namespace, NONE)

    def make(self, resource: Resource, namespace: str) -> int:
        """Return a place, new where it has to be."""
        kind = self.kinds.get(resource)
        if kind is None:
            kind = self.kinds[resource] = Kind(resource, Gvk("", "", ""))
        place = kind.places.get(namespace)
        if place is None:
            if self._free:
                place = self._free.pop()
                self.kind[place], self.namespace[place] = kind, namespace
            else:
                place = len(self.kind)
                self.kind.append(kind)
                self.namespace.append(namespace)
                self.uses.append(0)
                self.head.append(NONE)
            kind.places[namespace] = place
            self.by_namespace.setdefault(namespace, {})[resource] = place
        return place

    def use(self, place: int) -> None:
        """Note one more row in a place."""
        self.uses[place] += 1

    def release(self, place: int) -> None:
        """Note one row less in a place, which goes with its last."""
        self.uses[place] -= 1
        if self.uses[place]:
            return
        kind, namespace = self.kind[place], self.namespace[place]
        del kind.places[namespace]
        there = self.by_namespace[namespace]
        del there[kind.resource]
        if not there:
            del self.by_namespace[namespace]
        self._free.append(place)

    def of_kind(self, resource: Resource) -> Iterable[int]:
        """Return the places of a type."""
        kind = self.kinds.get(resource)
        return () if kind is None else kind.places.values()

    def of_namespace(self, namespace: str) -> Mapping[Resource, int]:
        """Return the places of a namespace, by type."""
        return self.by_namespace.get(namespace, {})

    def resource(self, place: int) -> Resource:
        """Return the type of a place."""
        return self.kind[place].resource

    def restore(
        self,
        kinds: Iterable[tuple[Resource, Gvk, int]],
        places: Iterable[tuple[Resource, str]],
        uses: bytes,
        head: bytes,
    ) -> None:
        """Take over what an equal one held; places that are free have the type LIMBO."""
        self.kinds = {resource: Kind(resource, gvk, count) for resource, gvk, count in kinds}
        self.kind, self.namespace, self.by_namespace, self._free = [], [], {}, []
        for place, (resource, namespace) in enumerate(places):
            kind = self.kinds[resource]
            self.kind.append(kind)
            self.namespace.append(namespace)
            if resource == LIMBO and place:
                self._free.append(place)
                continue
            kind.places[namespace] = place
            self.by_namespace.setdefault(namespace, {})[resource] = place
        self.uses, self.head = loaded(uses), loaded(head)

    @property
    def size_bytes(self) -> int:
        """About how much memory the places take: 250 bytes each, in lists and maps."""
        return 250 * len(self.kind)

    def listed(self) -> list[tuple[Resource, str]]:
        """Return type and namespace of every place by number, free ones as LIMBO."""
        free = set(self._free)
        return [
            (LIMBO, "") if place in free else (self.kind[place].resource, self.namespace[place])
            for place in range(len(self.kind))
        ]
