"""Questions about many objects at once, answered from columns: what a large cascade is made of.

Beside `view`, whose answers are about one object and cost microseconds each: a namespace takes
5,000 objects along, a definition 70,000. Pods are answered for by class wherever they can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from suture.model.edges import Edge
from suture.model.graph.answers import Lot
from suture.model.graph.naming import FEW, Naming
from suture.model.graph.reading import ADDRESSES, key_of
from suture.model.graph.rows import ALIVE, FINISHED, POD_CLASS, READY, TERMINATING
from suture.model.graph.selecting import Matcher
from suture.model.graph.written import read_facts, unpack_facts, unpack_traits
from suture.model.groups import is_kubernetes
from suture.model.habits import RELEASES
from suture.model.names import Resource
from suture.model.objects import Facts
from suture.model.selectors import Selector

T = TypeVar("T")

TRAITS: Final = 4096
"""LIMIT: sets of finalizers remembered as values, 300 bytes each; a cluster has some hundred."""

PAIRS: Final = 512
"""LIMIT: labels asked for by name that are kept ready: Suture's own, and releases by their names;
0.3 kB each."""

LABELLED: Final = 1024
"""LIMIT: namespaces of which it is kept what has a label; a row takes 8 bytes in it."""


class Bulk(Naming):
    """The part of the graph's face that speaks of many objects, and of pods by class."""

    def by_resource(self, rows: Sequence[int]) -> dict[Resource, list[int]]:
        """Return rows by their type, in the order in which each type comes first."""
        if len(rows) == 1:
            return {self._kind[self._place[rows[0]]].resource: list(rows)}
        found: dict[Resource, list[int]] = {}
        # WHY runs: what goes together comes by type, and a run is taken over in one call.
        for place, start, end in _runs(self._place.at(rows)):
            resource = self._kind[place].resource
            known = found.get(resource)
            if known is None:
                found[resource] = list(rows[start:end])
            else:
                known.extend(rows[start:end])
        return found

    def lots(self, pods: Sequence[int]) -> list[Lot]:
        """Return pods by what they have in common."""
        going = TERMINATING | self._leaving
        if len(pods) == 1:
            flag = self._flags[pods[0]]
            serves, runs = flag & (READY | going) == READY, not flag & (FINISHED | going)
            kind = self._graph.rows_of.extra[pods[0]]
            return [Lot(kind, list(pods), serves=serves, running=runs)]
        flags = self._flags.at(pods)
        alike: dict[tuple[int, int], list[int]] = {}
        for kind, first, last in _runs(self._graph.rows_of.extra.at(pods)):
            for flag, start, end in _runs(flags[first:last]):
                group = pods[first + start : first + end]
                known = alike.get((kind, flag))
                if known is None:
                    alike[kind, flag] = list(group)
                else:
                    known.extend(group)
        return [
            Lot(
                kind,
                found,
                serves=flag & (READY | going) == READY,
                running=not flag & (FINISHED | going),
            )
            for (kind, flag), found in alike.items()
        ]

    def pods_alike(self, kind: int) -> list[int]:
        """Return the pods of a class that are not gone."""
        pods = self._graph.pods_of_class(kind)
        if not (self._leaving and self._graph.anything_leaves):
            return pods
        return [pod for pod in pods if not self._flags[pod] & self._leaving]

    def running_alike(self, kind: int) -> tuple[int, int, int]:
        """Return how many pods of a class run, how many serve, and how many Ready ones leave."""
        classes, number = self._graph.classes, self._graph.rows_of.extra[kind]
        going, asked = FINISHED | TERMINATING | self._leaving, READY | TERMINATING | self._leaving
        running = serving = 0
        flags_of, following = self._flags, self._graph.chain.next
        # The chain's `rows`, written out: nearly always all of them are like the first.
        pod = self._graph.chain.heads[classes.head[number]]
        first, usual = flags_of[pod] if pod >= 0 else 0, 0
        alike: dict[int, int] = {}
        while pod >= 0:
            if flags_of[pod] == first:
                usual += 1
            else:
                alike[flags_of[pod]] = alike.get(flags_of[pod], 0) + 1
            pod = following[pod]
        alike[first] = usual
        for flags, count in alike.items():
            if not flags & going:
                running += count
            if flags & asked == READY:
                serving += count
        return running, serving, classes.leaving[number] if self._leaving else 0

    def serving_alike(self, kind: int) -> int:
        """Return how many pods of a class serve."""
        if not self._leaving:
            return self.running_alike(kind)[1]
        return self._graph.classes.serving[self._graph.rows_of.extra[kind]]

    def whole_classes(self, lots: Sequence[Lot]) -> frozenset[int]:
        """Return the classes of which every pod is in some lot."""
        counts: dict[int, int] = {}
        for lot in lots:
            counts[lot.kind] = counts.get(lot.kind, 0) + lot.count
        total, numbers = self._graph.classes.total, self._graph.rows_of.extra
        return frozenset(kind for kind, count in counts.items() if count >= total[numbers[kind]])

    def classes_owned(self, row: int) -> list[int]:
        """Return the classes of the pods that an object owns itself."""
        owners, flags = self._graph.owners, self._flags
        found = []
        link, source, following = owners.in_head[row], owners.source, owners.in_next
        while link >= 0:
            if flags[source[link]] & POD_CLASS:
                found.append(source[link])
            link = following[link]
        return found

    def controller(self, row: int) -> int:
        """Return the controller of an object, where it is there and stays; else -1."""
        owners = self._graph.owners
        holder = self._graph.rows_of.extra[row] if self._kind[self._place[row]].of_pods else row
        link = owners.out_head[holder]
        while link >= 0:
            target = owners.target[link]
            if self._flags[target] & (ALIVE | self._leaving) == ALIVE and self._controls(link):
                return target
            link = owners.out_next[link]
        return -1

    def _controls(self, link: int) -> bool:
        """Whether an ownerReference is to a controller, or the only one, to a custom resource.

        WHY: who writes one without a library seldom says `controller`, and a resource that alone
        owns its children asks for them all the same. Not for parts of a release: what only groups
        them owns them, too.
        """
        owners = self._graph.owners
        if self._graph.details.values[owners.detail[link]].controller:
            return True
        source, target = owners.source[link], owners.target[link]
        if owners.out_next[link] >= 0 or owners.out_head[source] != link:
            return False
        kinds, place = self._kind, self._place
        if is_kubernetes(kinds[place[target]].resource.group):
            return False
        # WHY no pods: they bear no marks of their own.
        return bool(self._flags[source] & POD_CLASS) or not any(
            kinds[place[mark]].resource == RELEASES
            for mark, _ in self.targets(source, Edge.MANAGED_BY)
        )

    def owner_rows(self, row: int) -> list[int]:
        """Return what an object names as its owners, there or not."""
        owners = self._graph.owners
        holder = self._graph.rows_of.extra[row] if self._kind[self._place[row]].of_pods else row
        if owners.out_head[holder] < 0:
            return []
        return [owners.target[link] for link in owners.outs(holder)]

    def has_owner(self, row: int) -> bool:
        """Whether an object names an owner."""
        holder = self._graph.rows_of.extra[row] if self._kind[self._place[row]].of_pods else row
        return self._graph.owners.out_head[holder] >= 0

    def owned_but_pods(self, row: int) -> list[int]:
        """Return the objects, no pods, that name an object as an owner, gone or not."""
        owners, flags = self._graph.owners, self._flags
        found: dict[int, None] = {}
        link, source, following = owners.in_head[row], owners.source, owners.in_next
        while link >= 0:
            if not flags[source[link]] & POD_CLASS:
                found[source[link]] = None
            link = following[link]
        return list(found)

    def namesakes(self, rows: Sequence[int], resource: Resource) -> list[int]:
        """Return the objects of a type that have the name and namespace of some others.

        None that is gone; each once, where the others are of one type.
        """
        kind = self._graph.places.kinds.get(resource)
        if kind is None or not kind.count:
            return []
        table, flags, stays = self._graph.rows_of, self._flags, ALIVE | self._leaving
        found = []
        for row in rows:
            place = kind.places.get(self._spaces[self._place[row]])
            if place is not None:
                one = table.namesake(row, place)
                if one >= 0 and flags[one] & stays == ALIVE:
                    found.append(one)
        return found

    def place(self, row: int) -> int:
        """Return what stands for the type and the namespace of an object together."""
        return self._place[row]

    def classes_selected(self, row: int) -> list[int]:
        """Return the classes of the pods that an object selects."""
        links, selects = self._graph.links, self._graph.details.selects
        return [links.target[link] for link in links.outs(row) if links.detail[link] == selects]

    def choosing(self, resource: Resource, labels: Mapping[str, str]) -> list[int]:
        """Return what may select an object of a type, no pods, that has these labels; each once.

        In whatever namespace: of each its facts say what it selects.
        """
        sure, others = self._graph.selecting.candidates(key_of(resource), labels)
        return [
            row for row in dict.fromkeys((*sure, *others)) if not self._flags[row] & self._leaving
        ]

    def having(self, rows: Iterable[int], selector: Selector) -> list[int]:
        """Return which of some objects, no pods, have labels that a selector matches."""
        graph = self._graph
        return Matcher(selector).among(rows, graph.rows_of.labels, graph.label_sets.texts)

    def given(self, address: str) -> list[int]:
        """Return the Services that a load balancer gave an address."""
        sure, others = self._graph.selecting.candidates(ADDRESSES, {address: ""})
        return [row for row in (*sure, *others) if not self._flags[row] & self._leaving]

    def choosers(self, resource: Resource) -> list[int]:
        """Return what selects objects of a type, no pods, by whatever labels; each once."""
        found = self._graph.selecting.rows(key_of(resource))
        return [row for row in found if not self._flags[row] & self._leaving]

    def selecting_class(self, kind: int, resource: Resource) -> list[int]:
        """Return the objects of a type that select the pods of a class, none that is gone."""
        links, selects = self._graph.links, self._graph.details.selects
        found = []
        for link in links.ins(kind):
            source = links.source[link]
            if (
                links.detail[link] == selects
                and not self._flags[source] & self._leaving
                and self._kind[self._place[source]].resource == resource
            ):
                found.append(source)
        return found

    def alive(self, row: int) -> bool:
        """Whether the cluster has the object in a row; else the row is a name that others use."""
        return bool(self._flags[row] & ALIVE)

    def by_facts(self, rows: Sequence[int]) -> list[tuple[Facts, list[int]]]:
        """Return objects, no pods, by their facts; those that have none are left out."""
        sets = self._graph.facts_sets
        if len(rows) == 1:
            number = self._graph.rows_of.extra[rows[0]]
            return [(read_facts(sets[number]), list(rows))] if number > 0 else []
        numbers = self._graph.rows_of.extra.at(rows)
        if max(numbers, default=0) <= 0:
            return []
        alike: dict[int, list[int]] = {}
        for row, number in zip(rows, numbers, strict=True):
            if number > 0:
                alike.setdefault(number, []).append(row)
        return [(unpack_facts(sets[number]), found) for number, found in alike.items()]

    def labelled(self, rows: Sequence[int], key: str, value: str) -> list[int]:
        """Return which of some rows, none of them a pod's, have a label of this value."""
        sets, wanted = self._graph.label_sets, _labelled(key, value)
        if len(rows) <= FEW:
            return wanted.among(rows, self._graph.rows_of.labels, sets.texts)
        numbers = self._graph.rows_of.labels.at(rows)
        found = {number for number in set(numbers) if wanted.matches(sets[number])}
        if not found:
            return []
        return [row for row, number in zip(rows, numbers, strict=True) if number in found]

    def labelled_in(self, resource: Resource, namespace: str, key: str, value: str) -> list[int]:
        """Return the objects of a type, no pods, in a namespace that have a label of this value.

        WHY kept until one of them changes: a release has many parts, of each of which it is asked.
        """
        graph, pair = self._graph, (key, value)
        kept, place = graph.labelled, graph.places.find(resource, namespace)
        known = kept.get(place)
        found = known.get(pair) if known is not None else None
        if found is None:
            found = self.labelled(graph.rows(resource, namespace), key, value)
            if len(kept) >= LABELLED and place not in kept:
                kept.clear()
            if place >= 0:
                kept.setdefault(place, {})[pair] = found
        going = self._leaving
        return [row for row in found if not self._flags[row] & going]

    # ---- finalizers

    def finalizers(self, row: int) -> tuple[str, ...]:
        """Return the finalizers of an object."""
        rows = self._graph.rows_of
        number = rows.traits[row]
        return _finalizers(self._graph.trait_sets[number]) if number else ()

    def held(self, rows: Sequence[int]) -> list[tuple[tuple[str, ...], int, int]]:
        """Return the sets of finalizers among some rows: one row of each, and how many have it."""
        if not rows:
            return []
        if len(rows) == 1:
            held = self.finalizers(rows[0])
            return [(held, rows[0], 1)] if held else []
        numbers, sets = self._graph.rows_of.traits.at(rows), self._graph.trait_sets
        found = {one: held for one in set(numbers) if one and (held := _finalizers(sets[one]))}
        if not found:
            return []
        # In the order in which each comes first.
        first = {numbers.index(one): one for one in found}
        return [
            (found[number], rows[place], numbers.count(number))
            for place, number in sorted(first.items())
        ]

    def going(self, rows: Sequence[int]) -> list[int]:
        """Return which of some rows are terminating or finished."""
        if not rows:
            return []
        flags = self._flags.at(rows)
        done = TERMINATING | FINISHED
        if not any(one & done for one in set(flags)):
            return []
        return [row for row, one in zip(rows, flags, strict=True) if one & done]

    def owned(self, rows: Sequence[int]) -> list[int]:
        """Return which of some objects, no pods, name an owner."""
        heads = self._graph.owners.out_head.at(rows)
        if max(heads, default=-1) < 0:
            return []
        return [row for row, head in zip(rows, heads, strict=True) if head >= 0]


@lru_cache(PAIRS)
def _labelled(key: str, value: str) -> Matcher:
    return Matcher(Selector.of({key: value}))


def _runs(values: Sequence[T]) -> Iterable[tuple[T, int, int]]:
    """Yield each run of equal values: the value, where the run starts, and where it ends.

    WHY by doubling: of 50,000 that go together nearly all are alike, and a slice of them is
    compared in one call.
    """
    start = 0
    while start < len(values):
        value, size, step = values[start], 1, 1
        while values[start + size : start + size + step].count(value) == step:
            size += step
            step *= 2
        while step > 1:
            step //= 2
            if values[start + size : start + size + step].count(value) == step:
                size += step
        yield value, start, start + size
        start += size


@lru_cache(TRAITS)
def _finalizers(raw: bytes) -> tuple[str, ...]:
    return unpack_traits(raw)[0] if raw else ()
