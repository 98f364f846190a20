"""The graph as a walk over everything, slow and obvious: what the fast one is held against.

In the soak's room because a soak asks it about a real cluster; property tests ask it about small
made ones. Knows the meaning of each query and nothing of rows, columns or indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from suture.model.edges import Edge, Need, Selection
from suture.model.facts import PolicyBindingFacts
from suture.model.graph import Life, Put
from suture.model.graph.derived import REFERS, derived_needs
from suture.model.names import NAMESPACES, NODES, PODS, ObjectKey, Resource
from suture.model.objects import (
    ClusterObject,
    CrdFacts,
    PodFacts,
    ServiceFacts,
    SliceFacts,
)
from suture.model.references import POLICY_OF, parameters, selections
from suture.model.selectors import Selector

NamedNeed = tuple[Edge, ObjectKey, bool, str, bool]
"""A need as both ends of it tell: why, what is at the other end, is it there, the entry that is
read, and whether the object starts without it."""


class SlowGraph:
    """Every object by its name, and every answer by asking each of them.

    `gone` are the uids whose removal was admitted.
    """

    def __init__(self, things: Iterable[ClusterObject] = (), gone: Iterable[str] = ()) -> None:
        self.things: dict[ObjectKey, ClusterObject] = {thing.key: thing for thing in things}
        self.gone = frozenset(gone)

    # ---- how it changes

    def put(self, thing: ClusterObject) -> Put:
        """Add an object or replace its earlier state, and tell what that was."""
        before = self.things.get(thing.key)
        self.things[thing.key] = thing
        if before is None:
            return Put(Life.NEW, thing.terminating)
        if before.uid != thing.uid:
            return Put(Life.REPLACED, thing.terminating, _ended(before))
        return Put(Life.SAME, thing.terminating and not before.terminating)

    def remove(self, key: ObjectKey, uid: str = "") -> ClusterObject | None:
        """Take an object out; with a `uid`, only that life of it."""
        before = self.things.get(key)
        if before is None or (uid and before.uid != uid):
            return None
        return _ended(self.things.pop(key))

    def replace(self, resource: Resource, things: Iterable[ClusterObject]) -> None:
        """Make `things` all there is of a type."""
        for key in [key for key in self.things if key.resource == resource]:
            del self.things[key]
        for thing in things:
            self.things[thing.key] = thing

    # ---- what is there

    def __iter__(self) -> Iterator[ClusterObject]:
        return iter(self.things.values())

    def __len__(self) -> int:
        return len(self.things)

    def present(self) -> Iterator[ClusterObject]:
        """Walk what is there and not about to go."""
        return (thing for thing in self if thing.uid not in self.gone)

    def of_uid(self, uid: str) -> set[ObjectKey]:
        """Return where one life of an object is found: two places for types with two names."""
        return {thing.key for thing in self.present() if thing.uid == uid}

    def count(self, resource: Resource) -> int:
        """Return how many objects of a type there are, those about to go included."""
        return sum(thing.key.resource == resource for thing in self)

    def rows(self, resource: Resource) -> list[ObjectKey]:
        """Return the objects of a type that are not about to go."""
        return sorted(thing.key for thing in self.present() if thing.key.resource == resource)

    def members(self, namespace: str) -> list[ObjectKey]:
        """Return what is in a namespace and not about to go."""
        return sorted(thing.key for thing in self.present() if thing.key.namespace == namespace)

    def children(self, uid: str) -> list[ObjectKey]:
        """Return what names `uid` as an owner, of whatever namespace, about to go or not."""
        return sorted(thing.key for thing in self if uid in {owner.uid for owner in thing.owners})

    def definitions(self, resource: Resource) -> set[ObjectKey]:
        """Return the definitions that serve a custom type, about to go or not."""
        return {
            thing.key
            for thing in self
            if isinstance(thing.facts, CrdFacts) and thing.facts.resource == resource
        }

    def namespace_labels(self, namespace: str) -> dict[str, str]:
        """Return a namespace's labels, none where it is not known."""
        found = self.things.get(ObjectKey(NAMESPACES, "", namespace))
        return dict(found.labels) if found is not None else {}

    # ---- who serves whom

    def pods_selected(self, namespace: str, selector: Selector) -> list[ObjectKey]:
        """Return the pods of a namespace that a selector matches, none that is about to go."""
        return sorted(thing.key for thing in self._selected(namespace, selector, self.present()))

    def services_selecting(self, pod: ClusterObject) -> list[ObjectKey]:
        """Return the Services of a pod's namespace whose selector matches it, none about to go."""
        return sorted(
            thing.key
            for thing in self.present()
            if isinstance(thing.facts, ServiceFacts)
            and thing.key.namespace == pod.key.namespace
            and thing.facts.selector is not None
            and thing.facts.selector.matches(pod.labels)
        )

    def serves(self, pod: ClusterObject) -> bool:
        """Whether a pod is Ready and neither terminating nor about to go."""
        return ready(pod) and not pod.terminating and pod.uid not in self.gone

    def ready_endpoints(self, service: ClusterObject) -> set[str]:
        """Return what a Service can send traffic to now: pods' uids, or what slices say."""
        namespace, facts = service.key.namespace, service.facts
        if isinstance(facts, ServiceFacts) and facts.selector is not None:
            pods = self._selected(namespace, facts.selector, self)
            return {pod.uid for pod in pods if self.serves(pod)}
        return {
            target
            for thing in self.present()
            if isinstance(thing.facts, SliceFacts)
            and thing.key.namespace == namespace
            and thing.facts.service == service.key.name
            for target in thing.facts.ready
        }

    def leaving_endpoints(self, service: ClusterObject) -> int:
        """Return how many Ready pods of a Service have an admitted removal not yet seen."""
        facts = service.facts
        if not isinstance(facts, ServiceFacts) or facts.selector is None:
            return 0
        pods = self._selected(service.key.namespace, facts.selector, self)
        return sum(ready(pod) and pod.uid in self.gone for pod in pods)

    def referrers(self, service: ClusterObject) -> list[ObjectKey]:
        """Return what sends calls to a Service by its name, none that is about to go."""
        return sorted(
            thing.key
            for thing in self.present()
            if any(
                need.target == service.key and need.edge in REFERS for need in self._named(thing)
            )
        )

    # ---- who needs whom

    def needs(self, thing: ClusterObject) -> list[NamedNeed]:
        """Return what an object names, sorted."""
        return sorted(
            (need.edge, need.target, need.target in self.things, need.key, need.optional)
            for need in self._named(thing)
        )

    def _named(self, thing: ClusterObject) -> Iterator[Need]:
        """Yield what an object names: its needs, what facts name beside them, a pod's node."""
        yield from thing.needs
        yield from derived_needs(thing)
        policies = POLICY_OF.get(thing.key.resource)
        if policies is not None and isinstance(thing.facts, PolicyBindingFacts):
            policy = self.things.get(ObjectKey(policies, "", thing.facts.policy))
            yield from parameters(thing, policy)
        if isinstance(thing.facts, PodFacts) and thing.facts.node:
            yield Need(Edge.NODE, ObjectKey(NODES, "", thing.facts.node))

    def needed_by(self, thing: ClusterObject) -> list[NamedNeed]:
        """Return what names an object, sorted."""
        return sorted(
            (need.edge, other.key, True, need.key, need.optional)
            for other in self
            for need in self._named(other)
            if need.target == thing.key
        )

    def selected_by(self, thing: ClusterObject) -> list[ObjectKey]:
        """Return the pods of its own namespace that an object selects, about to go or not."""
        space = thing.key.namespace
        wanted = [one.selector for one in selections(thing) if _of_own_pods(one, space)]
        return sorted({pod.key for one in wanted for pod in self._selected(space, one, self)})

    def selecting(self, pod: ClusterObject) -> list[ObjectKey]:
        """Return what selects a pod, about to go or not."""
        return sorted(thing.key for thing in self if pod.key in self.selected_by(thing))

    def owners(self, thing: ClusterObject) -> tuple[set[str], bool]:
        """Return the uids of an object's owners that are there, and whether it names others."""
        named = {owner.uid for owner in thing.owners}
        there = {other.uid for other in self if other.uid in named}
        return there, named != there

    def _selected(
        self, namespace: str, selector: Selector, among: Iterable[ClusterObject]
    ) -> Iterator[ClusterObject]:
        return (
            thing
            for thing in among
            if thing.key.resource == PODS
            and thing.key.namespace == namespace
            and selector.matches(thing.labels)
        )


def _of_own_pods(selection: Selection, namespace: str) -> bool:
    return selection.resource == PODS and selection.namespace == namespace


def ready(pod: ClusterObject) -> bool:
    """Whether a pod says that it is Ready, whatever becomes of it."""
    return isinstance(pod.facts, PodFacts) and pod.facts.ready


def _ended(thing: ClusterObject) -> ClusterObject:
    """Return an object as it is told of when it is over: its needs went with it."""
    return msgspec.structs.replace(thing, needs=())
