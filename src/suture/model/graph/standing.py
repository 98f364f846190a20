"""Questions about where pods stand and which objects share their facts, answered from columns.

Beside `bulk`, for what a node, a namespace's policies or an owner is asked: 17,000 nodes have some
hundred different facts between them, and 84,000 pods of one Job are one class.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from typing import Final

from suture.model.edges import Edge
from suture.model.graph.bulk import Bulk
from suture.model.graph.naming import FEW
from suture.model.graph.rows import ALIVE, FINISHED, NEED_SET, POD_CLASS, READY, TERMINATING
from suture.model.graph.storage import name_bytes
from suture.model.graph.written import unpack_facts
from suture.model.names import CRDS, NAMESPACES, SERVICES, ObjectKey, Resource
from suture.model.objects import Facts
from suture.model.selectors import Selector

CHILDREN_COUNTED: Final = 10_000
"""LIMIT: children that are no pods, counted one by one at 0.1 µs: 1 ms; more are this many."""


UNREADY_WALKED: Final = 20_000
"""LIMIT: pods of classes that are not all Ready, looked at one by one at 0.1 µs: 2 ms; of more, no
more that wait for a node are told of."""

WITH_CONTENT: Final = frozenset({NAMESPACES, CRDS, SERVICES})
"""Types of which an object takes along what does not name it as an owner."""


class Standing(Bulk):
    """The part of the graph's face that speaks of nodes' pods, shared facts, and children."""

    def name(self, row: int) -> str:
        """Return the name of the object in a row."""
        return self._graph.rows_of.names.text(row)

    def takes_along(self, row: int) -> bool:
        """Whether anything goes with an object: it owns something, or is of a type with content.

        That of a Service are the Endpoints of its name.
        """
        if self._graph.owners.in_head[row] >= 0:
            return True
        return self._kind[self._place[row]].resource in WITH_CONTENT

    def controllers(self, row: int, most: int) -> list[int]:
        """Return the controller of an object, the controller of that, and so on, `most` of them."""
        owners, flags = self._graph.owners, self._flags
        heads, targets, further = owners.out_head, owners.target, owners.out_next
        there, extra = ALIVE | self._leaving, self._graph.rows_of.extra
        found: list[int] = []
        while len(found) < most:
            link = heads[extra[row] if self._kind[self._place[row]].of_pods else row]
            while link >= 0:
                row = targets[link]
                if flags[row] & there == ALIVE and self._controls(link):
                    found.append(row)
                    break
                link = further[link]
            else:
                break
        return found

    def classes_controlled(self, row: int, through: Resource | None = None) -> list[int]:
        """Return the classes of the pods that name an object as their controller.

        `through`: and those that name what it owns of this type, unless that is gone.
        """
        owners, flags = self._graph.owners, self._flags
        source, following = owners.source, owners.in_next
        found, between = [], []
        link = owners.in_head[row]
        while link >= 0:
            one = source[link]
            if flags[one] & POD_CLASS:
                if self._controls(link):
                    found.append(one)
            elif through is not None and not flags[one] & self._leaving:
                between.append(one)
            link = following[link]
        for one in dict.fromkeys(between):
            if self._kind[self._place[one]].resource == through:
                found += self.classes_controlled(one)
        return found

    def one_alike(self, kind: int) -> int:
        """Return some pod of a class that is not gone; -1 where there is none."""
        flags, following = self._flags, self._graph.chain.next
        pod = self._graph.chain.heads[self._graph.classes.head[self._graph.rows_of.extra[kind]]]
        while pod >= 0 and flags[pod] & self._leaving:
            pod = following[pod]
        return pod

    def owned_within(self, rows: Sequence[int], inside: Collection[int]) -> bool:
        """Whether every owner that some objects name is `inside`, and none of them is going."""
        if any(flags & TERMINATING for flags in set(self._flags.at(rows))):
            return False
        kinds, extra = self._kind, self._graph.rows_of.extra
        places = self._place.at(rows)
        of_pods = {place for place in set(places) if kinds[place].of_pods}
        holders: Sequence[int] = rows
        if of_pods:
            pods = [place in of_pods for place in places]
            classes = set(extra.at(list(compress(rows, pods))))
            holders = [*compress(rows, [not one for one in pods]), *classes]
        owners, known = self._graph.owners, frozenset(inside)
        links = [link for link in owners.out_head.at(holders) if link >= 0]
        while links:
            if not known.issuperset(owners.target.at(links)):
                return False
            links = [link for link in owners.out_next.at(links) if link >= 0]
        return True

    def used_from_outside(
        self, rows: Sequence[int], edges: Collection[Edge], inside: Collection[int]
    ) -> list[int]:
        """Return which of some objects others need for some reasons, that are not gone or `inside`.

        `inside` are objects and pod classes; of what shares its needs each is looked at once.
        """
        graph, flags, by_edge = self._graph, self._flags, self._graph.details.edges
        # WHY not of a few: what links mean is asked of each, and that is less than to list it.
        few, values = len(rows) <= FEW, graph.details.values
        numbers = set() if few else {one for edge in edges for one in by_edge.get(edge, ())}
        links, sources, details = graph.links, graph.links.source, graph.links.detail
        heads, following = links.in_head, links.in_next
        sets: dict[int, bool] = {}
        found = []
        for row in rows:
            link = heads[row]
            while link >= 0:
                source = sources[link]
                detail = details[link]
                asked = values[detail].edge in edges if few else detail in numbers
                if asked and source not in inside:
                    if not flags[source] & NEED_SET:
                        uses = not flags[source] & self._leaving
                    elif (known := sets.get(source)) is not None:
                        uses = known
                    else:
                        one = heads[source]
                        while one >= 0:
                            holder = sources[one]
                            if holder not in inside and not flags[holder] & self._leaving:
                                break
                            one = following[one]
                        uses = sets[source] = one >= 0
                    if uses:
                        found.append(row)
                        break
                link = following[link]
        return found

    def pods_on(self, row: int) -> list[int]:
        """Return the pods that are bound to a node, none that is gone."""
        links, flags, node = self._graph.links, self._flags, self._graph.details.node
        found: list[int] = []
        link, following = links.in_head[row], links.in_next
        while link >= 0:
            if links.detail[link] == node and not flags[links.source[link]] & self._leaving:
                found.append(links.source[link])
            link = following[link]
        return found

    def node_of(self, pod: int) -> int | None:
        """Return the row of the node that a pod is bound to, whether or not it is there."""
        links, node = self._graph.links, self._graph.details.node
        link, following = links.out_head[pod], links.out_next
        while link >= 0:
            if links.detail[link] == node:
                return links.target[link]
            link = following[link]
        return None

    def unscheduled(self) -> list[int]:
        """Return the pods that wait for a node: bound to none, neither finished nor going."""
        graph, flags, classes = self._graph, self._flags, self._graph.classes
        total, serving, leaving = classes.total, classes.serving, classes.leaving
        apart = ALIVE | READY | FINISHED | TERMINATING | self._leaving
        found: list[int] = []
        walked = 0
        for number in range(len(total)):
            kind = classes.row[number]
            if kind < 0 or total[number] <= serving[number] + leaving[number]:
                continue
            found += [
                pod
                for pod in graph.pods_of_class(kind)
                if flags[pod] & apart == ALIVE and self.node_of(pod) is None
            ]
            walked += total[number]
            if walked >= UNREADY_WALKED:
                break
        return found

    def shared_facts(
        self, rows: Sequence[int], naming: Sequence[str] = ()
    ) -> tuple[Sequence[int], dict[int, Facts | None]]:
        """Return a number for the facts of each of some objects of a type, no pods, and the facts.

        Equal facts have one number and are read once. With `naming`, only those are read in which
        one of these texts stands; the others are None.
        """
        if not rows:
            return (), {}
        numbers = self._graph.rows_of.extra.at(rows)
        sets, words = self._graph.facts_sets, [one.encode() for one in naming]
        found: dict[int, Facts | None] = {}
        for number in set(numbers):
            raw = sets[number]
            wanted = raw and (not words or any(word in raw for word in words))
            found[number] = unpack_facts(raw) if wanted else None
        return numbers, found

    def classes_matching(self, namespace: str, selectors: Iterable[Selector]) -> list[int]:
        """Return the classes of a namespace's pods that any selector matches."""
        return self._graph.classes_matching(namespace, selectors)

    def classes_in(self, namespace: str) -> list[int]:
        """Return the classes of a namespace's pods."""
        return list(self._graph.classes_in(namespace))

    def class_size(self, kind: int) -> int:
        """Return how many pods are of a class, those about to go included."""
        return self._graph.classes.total[self._graph.rows_of.extra[kind]]

    def children_count(self, row: int, resource: Resource) -> int:
        """Return how many objects of a type another owns, those about to go included."""
        owners, flags, graph = self._graph.owners, self._flags, self._graph
        found, walked = 0, 0
        link, following = owners.in_head[row], owners.in_next
        while link >= 0 and walked < CHILDREN_COUNTED:
            source = owners.source[link]
            kind = self._kind[self._place[source]]
            if flags[source] & POD_CLASS:
                if resource.plural == "pods" and not resource.group:
                    found += graph.classes.total[graph.rows_of.extra[source]]
            else:
                found += kind.resource == resource
            walked += 1
            link = following[link]
        return found

    def place_count(self, resource: Resource, namespace: str) -> int:
        """Return how many objects of a type a namespace has."""
        return len(self._graph.rows(resource, namespace))

    def named_by(self, key: ObjectKey, edge: Edge) -> list[int]:
        """Return what names an object for one reason, whether or not it is there; none gone."""
        graph = self._graph
        place = graph.places.find(key.resource, key.namespace)
        row = graph.rows_of.find(place, name_bytes(key.name)) if place >= 0 else -1
        return [] if row < 0 else self.sources(row, edge)
