"""The first baseline: the same trimmed objects in plain dicts, asked the same.

What one writes on the first day: a dict of objects by key, and a dict or list for each way in which
they are looked for. Shares no line with `suture.model.graph`, so that equal answers mean something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from suture.model.names import API_SERVICES, CRDS, NAMESPACES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    CrdFacts,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    SliceFacts,
    WebhookFacts,
    WorkloadFacts,
)
from suture.model.selectors import Operator, Selector


class Plain:
    """Objects by key, and the indexes that the questions need."""

    def __init__(self) -> None:
        self.objects: dict[ObjectKey, ClusterObject] = {}
        self.lives: dict[str, ClusterObject] = {}
        self.of_type: defaultdict[Resource, list[ClusterObject]] = defaultdict(list)
        self.in_namespace: defaultdict[str, list[ClusterObject]] = defaultdict(list)
        self.owned: defaultdict[str, list[ClusterObject]] = defaultdict(list)
        self.labelled: defaultdict[tuple[str, str, str], list[ClusterObject]] = defaultdict(list)
        self.services_in: defaultdict[str, list[ClusterObject]] = defaultdict(list)
        self.slices_of: defaultdict[tuple[str, str], list[ClusterObject]] = defaultdict(list)
        self.referring: defaultdict[tuple[str, str], list[ClusterObject]] = defaultdict(list)

    def add(self, thing: ClusterObject) -> None:
        """Take an object in."""
        key, facts = thing.key, thing.facts
        self.objects[key] = thing
        self.lives[thing.uid] = thing
        self.of_type[key.resource].append(thing)
        if key.namespace:
            self.in_namespace[key.namespace].append(thing)
        for owner in thing.owners:
            self.owned[owner.uid].append(thing)
        if key.resource == PODS:
            for label, value in thing.labels.items():
                self.labelled[key.namespace, label, value].append(thing)
        elif key.resource == SERVICES:
            self.services_in[key.namespace].append(thing)
        if isinstance(facts, SliceFacts) and facts.service:
            self.slices_of[key.namespace, facts.service].append(thing)
        for ref in set(_referred(thing)):
            self.referring[ref.namespace, ref.name].append(thing)

    # ---- small questions

    def pod_selectors(self, pod: ObjectKey) -> list[ClusterObject]:
        """Return the Services that select a pod."""
        labels = self.objects[pod].labels
        return [one for one in self.services_in[pod.namespace] if _selects(one, labels)]

    def service_loss(self, service: ObjectKey) -> tuple[int, list[ClusterObject]]:
        """Return what a Service's delete takes: its ready endpoints, and who refers to it."""
        facts = self.objects[service].facts
        place = (service.namespace, service.name)
        if isinstance(facts, ServiceFacts) and facts.selector is not None:
            ready = self.reselect(service.namespace, facts.selector)
        else:
            ready = len(
                {
                    target
                    for one in self.slices_of[place]
                    if isinstance(one.facts, SliceFacts)
                    for target in one.facts.ready
                }
            )
        return ready, self.referring[place]

    def descendants(self, deployment: ObjectKey) -> list[ClusterObject]:
        """Return what goes with a Deployment."""
        return self._closure([self.objects[deployment]])

    def reselect(self, namespace: str, selector: Selector) -> int:
        """Return how many serving pods of a namespace a selector would match."""
        lists = [
            self.labelled[namespace, one.key, one.values[0]]
            for one in selector.requirements
            if one.operator is Operator.IN and len(one.values) == 1
        ]
        return sum(
            1
            for pod in min(lists, key=len)
            if not pod.deleted
            and isinstance(pod.facts, PodFacts)
            and pod.facts.ready
            and selector.matches(pod.labels)
        )

    # ---- giants

    def everything_of(self, whole: ObjectKey) -> list[ClusterObject]:
        """Return what goes with a namespace or a definition."""
        return self._closure([self.objects[whole]])

    def all_services(self) -> list[ClusterObject]:
        """Return what goes with all Services."""
        return self._closure(self.of_type[SERVICES])

    def keys(self, found: Collection[ClusterObject]) -> frozenset[ObjectKey]:
        """Name objects by their keys."""
        return frozenset(one.key for one in found)

    def _closure(self, roots: Iterable[ClusterObject]) -> list[ClusterObject]:
        queue = list(roots)
        gone = {one.uid for one in queue}
        found: list[ClusterObject] = []
        while queue:
            thing = queue.pop()
            for one in self._taken_along(thing, gone):
                if one.uid not in gone:
                    gone.add(one.uid)
                    found.append(one)
                    queue.append(one)
        return found

    def _taken_along(self, thing: ClusterObject, gone: set[str]) -> Iterable[ClusterObject]:
        if thing.key.resource == NAMESPACES:
            yield from self.in_namespace[thing.key.name]
        elif thing.key.resource == CRDS and isinstance(thing.facts, CrdFacts):
            yield from self.of_type[thing.facts.resource]
            yield from self._registered_for(thing, thing.facts)
        for child in self.owned.get(thing.uid, ()):
            if all(self._absent(owner.uid, child, gone) for owner in child.owners):
                yield child

    def _absent(self, owner: str, child: ClusterObject, gone: set[str]) -> bool:
        if owner in gone:
            return True
        found = self.lives.get(owner)
        return found is None or found.key.namespace not in ("", child.key.namespace)

    def _registered_for(
        self, definition: ClusterObject, facts: CrdFacts
    ) -> Iterable[ClusterObject]:
        group = facts.resource.group
        others = {
            version
            for one in self.of_type[CRDS]
            if one is not definition
            and isinstance(one.facts, CrdFacts)
            and one.facts.resource.group == group
            for version in one.facts.served_versions
        }
        for version in facts.served_versions:
            found = self.objects.get(ObjectKey(API_SERVICES, "", f"{version}.{group}"))
            if (
                found is not None
                and version not in others
                and "kube-aggregator.kubernetes.io/automanaged" in found.labels
            ):
                yield found


def _selects(service: ClusterObject, labels: Mapping[str, str]) -> bool:
    facts = service.facts
    return (
        isinstance(facts, ServiceFacts)
        and facts.selector is not None
        and facts.selector.matches(labels)
    )


def _referred(thing: ClusterObject) -> Iterable[ServiceRef]:
    match thing.facts:
        case WebhookFacts(webhooks=webhooks):
            yield from (one.service for one in webhooks if one.service is not None)
        case ApiServiceFacts(service=service) if service is not None:
            yield service
        case CrdFacts(conversion=service) if service is not None:
            yield service
        case RouteFacts(services=services):
            yield from services
        case WorkloadFacts(service=name) if name:
            yield ServiceRef(thing.key.namespace, name)
        case _:
            return
