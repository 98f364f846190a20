"""Who names whom, of many objects at once: releases, parents, users, read from the links.

Beneath `bulk`: what a cascade asks of 50,000 instances is read a level of links at a time, what it
asks of a few is walked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Final

from suture.model.edges import Edge
from suture.model.graph.answers import Use
from suture.model.graph.column import Column, Flags
from suture.model.graph.columns import NONE
from suture.model.graph.known import Known
from suture.model.graph.places import Kind
from suture.model.graph.rows import ALIVE, NEED_SET, POD_CLASS

_KEPT_BY: Final = Edge.MANAGED_BY

FEW: Final = 8
"""LIMIT: objects that are asked one by one, about where reading columns begins to cost less."""


class Naming(Known):
    """The part of the graph's face that speaks of what objects name, and of who names them."""

    _flags: Flags
    _place: Column
    _kind: list[Kind]
    _spaces: list[str]
    _leaving: int

    def marked(self, rows: Sequence[int]) -> dict[int, int]:
        """Return the releases and applications that keep some objects, each with its first one."""
        if not self.names_by(_KEPT_BY):
            return {}
        if len(rows) <= FEW:
            return self._marked_few(rows)
        first: dict[int, int] = {}
        asked = {*self._graph.details.edges[_KEPT_BY], self._graph.details.shared}
        for places, details, targets in self._levels(rows, _KEPT_BY):
            kinds = set(details)
            for detail in kinds & asked:
                ends, at = targets, places
                if len(kinds) > 1:
                    alike = [one == detail for one in details]
                    ends, at = list(compress(targets, alike)), list(compress(places, alike))
                # The last one that is written stays, which is the first one of each.
                earliest = dict(zip(reversed(ends), reversed(at), strict=True))
                for target, place in earliest.items():
                    for one in self._pointed(detail, target, _KEPT_BY):
                        known = first.get(one)
                        if known is None or place < known:
                            first[one] = place
        ranked = sorted((place, target) for target, place in first.items())
        return {target: rows[place] for place, target in ranked}

    def _marked_few(self, rows: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for row in rows:
            marks = {mark for mark, _ in self.targets(row, _KEPT_BY)}
            found.update((mark, row) for mark in sorted(marks) if mark not in found)
        return found

    def pointing(self, rows: Sequence[int], edge: Edge) -> dict[int, list[int]]:
        """Return which of some objects, no pods, name others for a reason, and the rows of these.

        Whether or not those are there.
        """
        if len(rows) <= FEW:
            few = {row: [one for one, _ in self.targets(row, edge)] for row in rows}
            return {row: named for row, named in few.items() if named}
        found: dict[int, list[int]] = {}
        for places, details, targets in self._levels(rows, edge):
            for place, detail, target in zip(places, details, targets, strict=True):
                more = self._pointed(detail, target, edge)
                if more:
                    found.setdefault(rows[place], []).extend(more)
        return found

    def _levels(
        self, rows: Sequence[int], edge: Edge
    ) -> Iterable[tuple[Sequence[int], Sequence[int], Sequence[int]]]:
        """Yield places in `rows`, and of one link each its detail and target.

        WHY a level of links at a time: of 50,000 instances a column is read in one call.
        """
        links, numbers = self._graph.links, self._graph.details.edges.get(edge)
        if not numbers or not rows:
            return
        asked = {*numbers, self._graph.details.shared}
        places: Sequence[int] = range(len(rows))
        level: Sequence[int] = links.out_head.at(rows)
        while True:
            if min(level) < 0:
                there = [link >= 0 for link in level]
                places, level = list(compress(places, there)), list(compress(level, there))
            if not level:
                return
            details = links.detail.at(level)
            if not asked.isdisjoint(details):
                yield places, details, links.target.at(level)
            level = links.out_next.at(level)

    def _pointed(self, detail: int, target: int, edge: Edge) -> Sequence[int]:
        """Return what a link, or the set of needs that it leads to, names for a reason."""
        links, numbers = self._graph.links, self._graph.details.edges[edge]
        if detail in numbers:
            return (target,)
        if detail != self._graph.details.shared:
            return ()
        return [links.target[link] for link in links.outs(target) if links.detail[link] in numbers]

    def named(self, rows: Sequence[int]) -> list[int]:
        """Return which of some objects others name, or select from."""
        heads = self._graph.links.in_head.at(rows)
        if max(heads, default=-1) < 0:
            return []
        return [row for row, head in zip(rows, heads, strict=True) if head >= 0]

    def uses(
        self, row: int, edges: Collection[Edge], but: Collection[int] = frozenset()
    ) -> list[Use]:
        """Return who needs an object for some reasons, the pods among them by class.

        Left out is what is gone, and the objects and pod classes in `but`.
        """
        graph, links, flags = self._graph, self._graph.links, self._flags
        values = graph.details.values
        found: list[Use] = []
        link, following = links.in_head[row], links.in_next
        while link >= 0:
            source = links.source[link]
            detail = values[links.detail[link]]
            link = following[link]
            if source in but or detail.edge is None or detail.edge not in edges:
                continue
            holders: Iterable[int] = (source,)
            if flags[source] & NEED_SET:
                holders = (links.source[one] for one in links.ins(source))
            for holder in holders:
                if holder not in but and not flags[holder] & self._leaving:
                    of_pods = bool(flags[holder] & POD_CLASS)
                    found.append(Use(detail.edge, holder, detail.key, detail.optional, of_pods))
        return found

    def names_by(self, edge: Edge) -> bool:
        """Whether anything names another object for this reason."""
        return edge in self._graph.details.edges

    def targets(self, row: int, edge: Edge) -> list[tuple[int, bool]]:
        """Return what an object names for one reason, and whether it is there and stays."""
        graph, links, flags = self._graph, self._graph.links, self._flags
        numbers = graph.details.edges.get(edge)
        if numbers is None:
            return []
        holder = graph.rows_of.extra[row] if self._kind[self._place[row]].of_pods else row
        shared, stays = graph.details.shared, ALIVE | self._leaving
        found = []
        link, following = links.out_head[holder], links.out_next
        while link >= 0:
            detail = links.detail[link]
            if detail in numbers:
                target = links.target[link]
                found.append((target, flags[target] & stays == ALIVE))
            elif detail == shared:
                for one in links.outs(links.target[link]):
                    if links.detail[one] in numbers:
                        target = links.target[one]
                        found.append((target, flags[target] & stays == ALIVE))
            link = following[link]
        return found

    def named_elsewhere(self, row: int) -> Iterator[tuple[int, bool]]:
        """Yield the rows of an object's name in other namespaces, and whether it is there.

        Where it is not, somebody names it there.
        """
        rows, place, flags = self._graph.rows_of, self._place[row], self._flags
        stays = ALIVE | self._leaving
        for other in self._kind[place].places.values():
            found = rows.namesake(row, other) if other != place else NONE
            if found != NONE:
                yield found, flags[found] & stays == ALIVE

    def there(self, row: int, edge: Edge) -> list[int]:
        """Return of what an object names for one reason what is there and stays."""
        return [one for one, present in self.targets(row, edge) if present]

    def sources(self, row: int, edge: Edge) -> list[int]:
        """Return the objects that name an object for one reason, pods one by one; none gone."""
        graph, links, flags = self._graph, self._graph.links, self._flags
        numbers = graph.details.edges.get(edge)
        if numbers is None:
            return []
        return [
            one
            for link in links.ins(row)
            if links.detail[link] in numbers
            for one in graph.holders(links.source[link])
            if not flags[one] & self._leaving
        ]
