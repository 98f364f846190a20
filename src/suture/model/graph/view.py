"""The graph's read-only face: what is there, less what was admitted and is about to go.

The only face of the graph that other rooms see. Speaks rows and counts. An object whose removal
was admitted counts as gone at once (pessimistic); an admitted addition counts only once seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from suture.model.edges import Edge, Link
from suture.model.graph.answers import Owner
from suture.model.graph.column import Column
from suture.model.graph.dependents import dependents, owned_alone
from suture.model.graph.derived import REFERS
from suture.model.graph.graph import Graph
from suture.model.graph.links import Links
from suture.model.graph.reading import NO_GVK
from suture.model.graph.rows import ALIVE, FINISHED, LEAVING, READY, TERMINATING
from suture.model.graph.standing import Standing
from suture.model.history import History
from suture.model.names import CRDS, JOBS, NAMESPACES, PODS, SERVICES, ObjectKey, Resource
from suture.model.objects import (
    NO_LABELS,
    ClusterObject,
    CrdFacts,
    Facts,
    ServiceFacts,
    ServiceRef,
    SliceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

T = TypeVar("T")
_FINISH: Final = frozenset({JOBS})


class GraphView(Standing):
    """Graph and history as one snapshot: nothing changes while a caller computes.

    `overlaid` False: the cluster as it is seen, whatever was admitted.
    """

    def __init__(
        self, graph: Graph, history: History | None = None, *, overlaid: bool = True
    ) -> None:
        self._graph = graph
        self._overlaid = overlaid
        self._leaving = LEAVING if overlaid else 0
        # The columns themselves: these are asked ten times for each object of a cascade.
        self._flags, self._place = graph.rows_of.flags, graph.rows_of.place
        self._kind, self._spaces = graph.places.kind, graph.places.namespace
        self.history = history if history is not None else History()

    # ---- objects

    def find(self, key: ObjectKey) -> int | None:
        """Return the row of the object at `key`; None where there is none or it is gone."""
        row = self._graph.row(key)
        return None if row is None or self._flags[row] & self._leaving else row

    def seen(self, key: ObjectKey) -> int | None:
        """Return the row of the object that the cluster shows at `key`, gone or not."""
        return self._graph.row(key)

    def find_uid(self, uid: str) -> int | None:
        """Return the row of one life of an object; None where it is unknown or gone."""
        row = self._graph.row_of_uid(uid)
        return None if row is None or self._flags[row] & self._leaving else row

    def at(self, row: int) -> ClusterObject:
        """Return the object in a row, gone or not."""
        return self._graph.at(row)

    def key(self, row: int) -> ObjectKey:
        """Return where the object in a row is found."""
        place = self._place[row]
        return ObjectKey(self._kind[place].resource, self._spaces[place], self.name(row))

    def uid(self, row: int) -> str:
        """Return which life of an object a row holds."""
        return self._graph.rows_of.uid(row)

    def resource(self, row: int) -> Resource:
        """Return the type of the object in a row."""
        return self._kind[self._place[row]].resource

    def namespace(self, row: int) -> str:
        """Return the namespace of the object in a row."""
        return self._spaces[self._place[row]]

    def labels(self, row: int) -> Mapping[str, str]:
        """Return the labels of the object in a row."""
        found = self._graph.labels(row)
        # WHY not `or`: to ask labels whether there are any reads them.
        return NO_LABELS if found is None else found

    def label_bytes(self, row: int) -> bytes:
        """Return the same as they are written, unread; empty for none."""
        return self._graph.label_bytes(row)

    def facts(self, row: int) -> Facts | None:
        """Return the facts of the object in a row."""
        return self._graph.facts(row)

    def created(self, row: int) -> float:
        """Return when an object was made, in seconds since the epoch; 0 where it does not say."""
        return self._graph.rows_of.created_s(row)

    def terminating(self, row: int) -> bool:
        """Whether a delete of the object was accepted."""
        return bool(self._flags[row] & TERMINATING)

    def finished(self, row: int) -> bool:
        """Whether a pod or a Job has done its work."""
        if self._flags[row] & FINISHED:
            return True
        if self.resource(row) not in _FINISH:
            return False
        facts = self._graph.facts(row)
        return isinstance(facts, WorkloadFacts) and facts.finished

    def alike(self, row: int) -> int:
        """Return what stands for all objects that owners, labels and needs do not tell apart.

        That is a pod's class; any other object stands for itself. Answers that rest on owners or
        labels alone are worth keeping by it, while the graph does not change.
        """
        of_pods = self._kind[self._place[row]].of_pods
        return self._graph.rows_of.extra[row] if of_pods else row

    def made_of(self, resources: tuple[Resource, ...], make: Callable[[GraphView], T]) -> T:
        """Return what is made of the objects of some types, seen as if none of them were gone.

        Made anew only where any of them has changed: `make` is to rest on nothing else.
        """
        kinds = self._graph.places.kinds
        changes = 0
        for resource in resources:
            kind = kinds.get(resource)
            changes += 0 if kind is None else kind.changes
        known = self._graph.made_of.get(make)
        if known is None or known[0] != changes:
            made = make(GraphView(self._graph, overlaid=False))
            known = self._graph.made_of[make] = changes, made
        found: T = known[1]
        return found

    def gone(self, row: int) -> bool:
        """Whether the object's removal was admitted already, though the cluster still shows it."""
        return bool(self._flags[row] & self._leaving)

    def count(self, resource: Resource) -> int:
        """Return how many objects of a type there are, those about to go included."""
        return self._graph.count(resource)

    def rows(self, resource: Resource, namespace: str | None = None) -> list[int]:
        """Return the rows of a type that are not gone, in one namespace or in all."""
        return self.staying(self._graph.rows(resource, namespace))

    def members(self, namespace: str) -> list[int]:
        """Return everything in a namespace that is not gone."""
        return self.staying(self._graph.members(namespace))

    def dependents(self, rows: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return what some objects own, gone or not: by them alone, and with other owners."""
        return dependents(self._graph, rows)

    def owned_alone(self, row: int) -> list[int] | None:
        """Return what goes with an object by its owners, where that is few and simple; else None.

        Simple: nothing of it has another owner, or a content.
        """
        leaving = self._leaving if self._graph.anything_leaves else 0
        return owned_alone(self._graph, row, leaving=leaving, with_content=self._with_content())

    def containers(self, rows: Sequence[int]) -> list[int]:
        """Return which of some rows hold a namespace or a definition: what has a content."""
        places, place = self._graph.places, self._place
        spaces, definitions = places.find(NAMESPACES, ""), places.find(CRDS, "")
        return [row for row in rows if place[row] == spaces or place[row] == definitions]

    def among(self, rows: Sequence[int], resource: Resource) -> list[int]:
        """Return which of some rows are of a type."""
        wanted = self._graph.places.kinds.get(resource)
        if wanted is None:
            return []
        place, kinds = self._place, self._kind
        return [row for row in rows if kinds[place[row]] is wanted]

    def in_no_namespace(self, rows: Sequence[int]) -> list[int]:
        """Return which of some rows are cluster-scoped."""
        place, names = self._place, self._spaces
        return [row for row in rows if not names[place[row]]]

    def in_namespaces(self, group: str, kind: str) -> bool:
        """Whether objects of a kind, as an ownerReference names it, live in namespaces.

        Its definition says so; of a built-in kind it is seen.
        """
        resource = self._graph.kinds.get((group, kind))
        if resource is None:
            return False
        # WHY first: what is named by kind alone is looked for in a namespace and in none, so that
        # a type may have places in namespaces where nothing of it can ever be.
        crd = self.crd(resource)
        facts = self.facts(crd) if crd is not None else None
        if isinstance(facts, CrdFacts):
            return facts.namespaced
        known = self._graph.places.kinds.get(resource)
        return known is not None and any(known.places)

    def _with_content(self) -> frozenset[int]:
        places = self._graph.places
        return frozenset((places.find(NAMESPACES, ""), places.find(CRDS, "")))

    def owners(self, row: int) -> list[Owner]:
        """Return the owners of the object in a row, as its ownerReferences have them."""
        graph, owners = self._graph, self._graph.owners
        holder = graph.rows_of.extra[row] if graph.resource(row) == PODS else row
        found = []
        for link in owners.outs(holder):
            target, detail = owners.target[link], graph.details[owners.detail[link]]
            there = self._flags[target] & (ALIVE | self._leaving) == ALIVE
            found.append(Owner(target, there, detail.controller, detail.gvk or NO_GVK))
        return found

    def staying(self, rows: Iterable[int]) -> list[int]:
        """Return which of some rows are not gone."""
        if self._overlaid and self._graph.anything_leaves:
            return self._staying(rows)
        return rows if isinstance(rows, list) else list(rows)

    def children(self, uid: str) -> list[int]:
        """Return the objects that name `uid` as an owner, gone or not."""
        return self._graph.children(uid)

    def children_of(self, row: int) -> list[int]:
        """Return the objects that name the object in a row as an owner, gone or not."""
        return self._graph.children_of(row)

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """Return a namespace's labels; none where it is not known."""
        found = self.labels_at(ObjectKey(NAMESPACES, "", namespace))
        return NO_LABELS if found is None else found

    def labels_at(self, key: ObjectKey) -> Mapping[str, str] | None:
        """Return the labels of the object at `key`, gone or not; None where there is none."""
        row = self._graph.row(key)
        return None if row is None else self.labels(row)

    def _staying(self, rows: Iterable[int]) -> list[int]:
        flags = self._flags
        return [row for row in rows if not flags[row] & self._leaving]

    # ---- who serves whom

    def service(self, ref: ServiceRef) -> int | None:
        """Return the row of a Service by name; None where there is none or it is gone."""
        return self.find(ObjectKey(SERVICES, ref.namespace, ref.name))

    def services_of(self, row: int) -> list[int]:
        """Return the Services that select the pod in a row, none that is gone."""
        graph, flags = self._graph, self._flags
        links, selects = graph.links, graph.details.selects
        found: list[int] = []
        link, following = links.in_head[graph.rows_of.extra[row]], links.in_next
        while link >= 0:
            if links.detail[link] == selects:
                source = links.source[link]
                if not flags[source] & self._leaving and graph.resource(source) == SERVICES:
                    found.append(source)
            link = following[link]
        return found

    def services_selecting(self, pod: ClusterObject) -> list[int]:
        """Return the Services that would select a pod with the labels of this one."""
        found = self.selecting(pod.key.namespace, pod.labels)
        return [row for row in found if self._graph.resource(row) == SERVICES]

    def selecting(self, namespace: str, labels: Mapping[str, str]) -> list[int]:
        """Return what would select a pod of these labels by a selector for its own namespace."""
        graph = self._graph
        return [
            row
            for row in graph.selecting_rows(namespace, labels)
            if not self._flags[row] & self._leaving
        ]

    def pods_of(self, row: int) -> list[int]:
        """Return the pods that the object in a row selects, none that is gone."""
        graph, flags = self._graph, self._flags
        return [
            pod
            for class_row in self._classes_of(row)
            for pod in graph.pods_of_class(class_row)
            if not flags[pod] & self._leaving
        ]

    def pods_selected(self, namespace: str, selector: Selector) -> list[int]:
        """Return the pods of a namespace that a selector matches, none that is gone."""
        graph, flags = self._graph, self._flags
        return [
            pod
            for class_row in graph.classes_matching(namespace, (selector,))
            for pod in graph.pods_of_class(class_row)
            if not flags[pod] & self._leaving
        ]

    def serving_selected(self, namespace: str, selector: Selector) -> int:
        """Return how many pods that serve a selector would match."""
        if not self._overlaid:
            return sum(map(self.serves, self.pods_selected(namespace, selector)))
        graph = self._graph
        serving, numbers = graph.classes.serving, graph.rows_of.extra
        return sum(serving[numbers[row]] for row in graph.classes_matching(namespace, (selector,)))

    def serving_count(self, row: int) -> int:
        """Return how many endpoints a Service can send traffic to now."""
        if self._overlaid and (found := self._sum(row, self._graph.classes.serving)):
            return found
        facts = self._graph.facts(row)
        if isinstance(facts, ServiceFacts) and facts.selector is None:
            return len(self.slice_targets(row))
        if not self._overlaid:
            return sum(map(self.serves, self.pods_of(row)))
        return self._sum(row, self._graph.classes.serving)

    def leaving_endpoints(self, row: int) -> int:
        """Return how many Ready pods of a Service have an admitted removal not yet seen."""
        return self._sum(row, self._graph.classes.leaving) if self._overlaid else 0

    def ready_endpoints(self, row: int) -> set[str]:
        """Return what a Service can send traffic to now: uids of Ready pods, or addresses.

        With a selector it is computed from the pods themselves (slices follow them, later);
        without one, from the slices that somebody writes.
        """
        facts = self._graph.facts(row)
        if isinstance(facts, ServiceFacts) and facts.selector is not None:
            return {self._graph.uid(pod) for pod in self.pods_of(row) if self.serves(pod)}
        return self.slice_targets(row)

    def serves(self, row: int) -> bool:
        """Whether a pod is Ready and neither terminating nor about to go."""
        return self._flags[row] & (READY | TERMINATING | self._leaving) == READY

    def referrers(self, row: int) -> list[int]:
        """Return the webhooks, APIServices, definitions and routes that name a Service."""
        graph, links = self._graph, self._graph.links
        found = {
            other: None
            for link in links.ins(row)
            if graph.details[links.detail[link]].edge in REFERS
            for other in graph.holders(links.source[link])
        }
        return self._staying(found)

    def _classes_of(self, row: int) -> Iterator[int]:
        links, selects = self._graph.links, self._graph.details.selects
        link, following = links.out_head[row], links.out_next
        while link >= 0:
            if links.detail[link] == selects:
                yield links.target[link]
            link = following[link]

    def _sum(self, row: int, counts: Column) -> int:
        links, selects = self._graph.links, self._graph.details.selects
        numbers, found = self._graph.rows_of.extra, 0
        link, following, detail, target = (
            links.out_head[row],
            links.out_next,
            links.detail,
            links.target,
        )
        while link >= 0:
            if detail[link] == selects:
                found += counts[numbers[target[link]]]
            link = following[link]
        return found

    def slice_targets(self, row: int) -> set[str]:
        """Return the ready targets that a Service's EndpointSlices list, as somebody wrote them."""
        graph, links = self._graph, self._graph.links
        found: set[str] = set()
        for link in links.ins(row):
            if graph.details[links.detail[link]].edge is not Edge.SLICE_OF:
                continue
            facts = graph.facts(links.source[link])
            if (
                isinstance(facts, SliceFacts)
                and not self._flags[links.source[link]] & self._leaving
            ):
                found.update(facts.ready)
        return found

    # ---- who needs whom

    def needs(self, row: int) -> list[Link]:
        """Return what an object needs: what is there and what is not, the pods it selects too."""
        graph = self._graph
        holders = [row]
        if graph.resource(row) == PODS:
            holders.append(graph.rows_of.extra[row])
        found = []
        for holder in holders:
            ends = [(graph.owners, link) for link in graph.owners.outs(holder)]
            ends += [(graph.links, link) for link in graph.need_links(holder)]
            for links, link in ends:
                others = graph.holders(links.target[link])
                found += [self._link(links, link, other) for other in others]
        return found

    def needed_by(self, row: int) -> list[Link]:
        """Return the objects that need an object, those that select it if it is a pod too."""
        graph = self._graph
        # WHY another row: of objects that are served under two types, one alone has the uid.
        of_uid = graph.row_of_uid(graph.uid(row)) if graph.twins else None
        found = [
            self._link(links, link, other)
            for links, end in (
                (graph.owners, row if of_uid is None else of_uid),
                (graph.links, row),
            )
            for link in links.ins(end)
            for other in graph.holders(links.source[link])
        ]
        if graph.resource(row) == PODS:
            links = graph.links
            of_class = links.ins(graph.rows_of.extra[row])
            found += [self._link(links, link, links.source[link]) for link in of_class]
        return found

    def _link(self, links: Links, link: int, other: int) -> Link:
        graph = self._graph
        detail = graph.details[links.detail[link]]
        if detail.edge is None:
            raise AssertionError("a set of needs is read through its links")
        present = bool(self._flags[other] & ALIVE)
        key = graph.key(other)
        if detail.gvk is not None and not graph.rows_of.place[other]:
            # An owner that was never seen: its kind is as the reference says.
            kind = (detail.gvk.group, detail.gvk.kind)
            resource = graph.kinds.get(kind) or Resource(detail.gvk.group, detail.gvk.kind)
            key = ObjectKey(resource, "", key.name)
        return Link(detail.edge, other, key, present, detail.key, detail.optional)
