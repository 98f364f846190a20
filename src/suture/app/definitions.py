"""What the cluster's own objects say of its kinds: definitions, and APIs with servers of their own.

An observer of the model, so that a kind is followed as soon as its definition says that it is
served, long before the cluster is asked again which kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from suture.model.graph import Graph
from suture.model.names import API_SERVICES, CRDS, Resource
from suture.model.objects import ApiServiceFacts, ClusterObject, CrdFacts, PodState
from suture.wire.discovery import ApiResource

VERBS = frozenset({"get", "list", "watch", "create", "update", "patch", "delete"})
"""What can be done with the instances of every definition."""


class Definitions:
    """Remembers definitions and APIServices, and tells when kinds come, change, or go.

    `defined` is told what an established definition serves, and the versions it may be asked at;
    `withdrawn` what is served no more; `unclear` that only the cluster itself can tell.
    """

    heeds: AbstractSet[Resource] | None = frozenset({CRDS, API_SERVICES})

    def __init__(
        self,
        defined: Callable[[ApiResource, tuple[str, ...]], None],
        withdrawn: Callable[[Resource], None],
        unclear: Callable[[], None],
    ) -> None:
        self._defined = defined
        self._withdrawn = withdrawn
        self._unclear = unclear
        self._definitions: dict[str, CrdFacts] = {}
        self._services: dict[str, ApiServiceFacts] = {}

    def load(self, graph: Graph) -> None:
        """Take over what a graph has already, as one that was read from a file does."""
        for row in graph.rows(CRDS):
            thing = graph.at(row)
            if isinstance(thing.facts, CrdFacts):
                self._definitions[thing.key.name] = thing.facts
        for row in graph.rows(API_SERVICES):
            thing = graph.at(row)
            if isinstance(thing.facts, ApiServiceFacts):
                self._services[thing.key.name] = thing.facts

    def served(self) -> Iterator[ApiResource]:
        """Walk the kinds that definitions serve now."""
        for facts in self._definitions.values():
            api = _served(facts)
            if api is not None:
                yield api

    def aggregated(self, api: ApiResource) -> bool:
        """Whether a server other than the API server itself answers for a kind."""
        found = self._services.get(f"{api.version}.{api.group}")
        return found is not None and found.service is not None

    # ---- as an observer

    def began(self, thing: ClusterObject) -> None:
        """Follow what a new definition serves."""
        self._noted(thing)

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:  # noqa: ARG002 its instances are there until it is gone
        """Follow what a definition serves now."""
        self._noted(thing)

    def restated(self, state: PodState) -> None:
        """Nothing: a pod defines nothing."""

    def ended(self, thing: ClusterObject) -> None:
        """Let the kind go that a definition defined."""
        if thing.key.resource == CRDS:
            if self._definitions.pop(thing.key.name, None) is None:
                self._unclear()
            elif isinstance(thing.facts, CrdFacts):
                self._withdrawn(thing.facts.resource)
        elif thing.key.resource == API_SERVICES:
            self._services.pop(thing.key.name, None)
            self._unclear()

    def _noted(self, thing: ClusterObject) -> None:
        name, facts = thing.key.name, thing.facts
        if thing.key.resource == CRDS:
            if not isinstance(facts, CrdFacts):
                self._unclear()
                return
            self._definitions[name] = facts
            api = _served(facts)
            if api is not None:
                self._defined(api, facts.served_versions)
        elif thing.key.resource == API_SERVICES:
            # WHY only then: an APIService's status says each half minute how its backend is.
            if self._services.get(name) == facts and facts is not None:
                return
            if isinstance(facts, ApiServiceFacts):
                self._services[name] = facts
            self._unclear()


def _served(facts: CrdFacts) -> ApiResource | None:
    """Return the kind that an established definition serves; None while it serves none."""
    if not facts.established or not facts.served_versions:
        return None
    return ApiResource(
        group=facts.resource.group,
        version=facts.served_versions[0],
        plural=facts.resource.plural,
        kind=facts.kind,
        namespaced=facts.namespaced,
        verbs=VERBS,
    )
