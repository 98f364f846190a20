"""Is the graph what it says it is: every index, chain and count computed anew, slowly.

For tests and `make soak`; nothing calls it while reviews are answered.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from suture.model.graph.links import Links
from suture.model.graph.places import POD_CLASSES
from suture.model.graph.reading import chosen
from suture.model.graph.rows import ALIVE, NEED_SET, NO_UID, POD_CLASS
from suture.model.names import CRDS, PODS
from suture.model.objects import CrdFacts
from suture.model.references import selections

if TYPE_CHECKING:  # the graph calls us
    from suture.model.graph.graph import Graph


def check(graph: Graph) -> None:
    """Hold everything that is kept against what a walk over all rows says.

    Errors: AssertionError, with what differs.
    """
    _rows(graph)
    _links(graph, graph.owners)
    _links(graph, graph.links)
    _chains(graph)
    _labelled(graph)
    _classes(graph)
    _interned(graph)


def _same(what: str, kept: object, found: object) -> None:
    if kept != found:
        raise AssertionError(f"{what}: kept {kept!r}, found {found!r}")


def _used(graph: Graph) -> list[int]:
    rows = graph.rows_of
    return [row for row in range(len(rows)) if rows.place[row] >= 0]


def _rows(graph: Graph) -> None:
    rows = graph.rows_of
    alive = Counter(graph.resource(row) for row in _used(graph) if rows.flags[row] & ALIVE)
    _same("objects", len(graph), sum(alive.values()))
    counts = {kind.resource: kind.count for kind in graph.places.kinds.values() if kind.count}
    _same("objects by type", counts, dict(alive))
    uses = Counter(rows.place[row] for row in _used(graph) if rows.place[row])
    kept = {place: n for place, n in enumerate(graph.places.uses.all()) if n and place}
    _same("rows by place", kept, dict(uses))
    named = with_uid = 0
    for row in _used(graph):
        if rows.place[row]:
            named += 1
            _same("row by name", rows.find(rows.place[row], rows.names.get(row)), row)
        uid = rows.uid_bytes(row)
        known = row in rows.by_uid.candidates(rows.hash_uid(uid)) if uid != NO_UID else False
        with_uid += known
        if uid != NO_UID and not known:
            twin = rows.find_uid(uid)
            _same("a row without its uid has a twin", twin >= 0 and twin != row, True)
        if not rows.flags[row] & ~NEED_SET:
            referred = graph.links.in_head[row] >= 0 or graph.owners.in_head[row] >= 0
            _same(f"row {row} is referred to", referred, True)
    _same("names in the table", len(rows.by_name), named)
    _same("uids in the table", len(rows.by_uid), with_uid)
    _same("beside the columns: deleted", sorted(rows.deleted), sorted(
        row for row in _used(graph) if rows.flags[row] & ALIVE and graph.at(row).deleted > 0
    ))  # fmt: skip


def _links(graph: Graph, links: Links) -> None:
    ins, outs = Counter[int](), Counter[int]()
    for row in _used(graph):
        for link in links.ins(row):
            _same("target of a link", links.target[link], row)
            ins[link] += 1
        for link in links.outs(row):
            _same("source of a link", links.source[link], row)
            outs[link] += 1
    _same("links by both ends", ins, outs)
    _same("links", links.count, len(ins))
    _same("a link stands in one chain", set(ins.values()) <= {1}, True)


def _chains(graph: Graph) -> None:
    rows, flags = graph.rows_of, graph.rows_of.flags
    for resource, kind in graph.places.kinds.items():
        for namespace, place in kind.places.items():
            classes = resource == POD_CLASSES
            rows_of = graph.classes_in(namespace) if classes else graph.rows(resource, namespace)
            found = set(rows_of)
            wanted = {
                row
                for row in _used(graph)
                if rows.place[row] == place and flags[row] & (ALIVE | POD_CLASS)
            }
            _same(f"rows of {resource} in {namespace}", found, wanted)


def _labelled(graph: Graph) -> None:
    for place, known in graph.labelled.items():
        rows = graph.rows(graph.places.resource(place), graph.places.namespace[place])
        for (key, value), kept in known.items():
            found = [row for row in rows if _label(graph, row, key) == value]
            _same(f"rows of place {place} with {key}={value}", kept, found)


def _label(graph: Graph, row: int, key: str) -> str | None:
    labels = graph.labels(row)
    return None if labels is None else labels.get(key)


def _classes(graph: Graph) -> None:
    rows, classes = graph.rows_of, graph.classes
    counted: dict[int, list[int]] = {}
    for row in graph.rows(PODS):
        number = rows.extra[rows.extra[row]]
        _same("row of a class", classes.row[number], rows.extra[row])
        one = counted.setdefault(number, [0, 0, 0])
        flags = rows.flags[row]
        one[0] += 1
        one[1] += flags & 26 == 2  # Ready, neither terminating nor leaving
        one[2] += flags & 18 == 18  # Ready and leaving
    kept = {
        number: [classes.total[number], classes.serving[number], classes.leaving[number]]
        for number in range(len(classes.row))
        if classes.row[number] >= 0
    }
    _same("counts of pod classes", kept, counted)
    drawn, wanted = set(), set()
    for row in _used(graph):
        for link in graph.links.outs(row):
            if graph.links.detail[link] == graph.details.selects:
                drawn.add((row, graph.links.target[link]))
        if rows.flags[row] & ALIVE and graph.resource(row) != PODS:
            thing = graph.at(row)
            for selection in selections(thing):
                space = thing.key.namespace
                if selection.resource == PODS and selection.namespace == space:
                    wanted |= {
                        (row, rows.extra[pod])
                        for pod in graph.rows(PODS, space)
                        if selection.selector.matches(graph.labels(pod) or {})
                    }
    _same("who selects which class", drawn, wanted)
    noted = {
        (key, row)
        for key in graph.selecting.index
        if key.startswith("@")
        for row in graph.selecting.rows(key)
    }
    choosing = {
        (key, row)
        for row in _used(graph)
        if rows.flags[row] & ALIVE and graph.resource(row) != PODS
        for key in chosen(graph.facts(row))
    }
    _same("who selects what is no pod", noted, choosing)
    definitions = {
        facts.resource
        for row in graph.rows(CRDS)
        if isinstance(facts := graph.facts(row), CrdFacts)
    }
    _same("definitions", set(graph.crd_of), definitions)


def _interned(graph: Graph) -> None:
    rows = graph.rows_of
    labels, facts, traits = Counter[int](), Counter[int](), Counter[int]()
    for row in _used(graph):
        labels[rows.labels[row]] += 1
        traits[rows.traits[row]] += 1
        if rows.flags[row] & ALIVE and graph.resource(row) != PODS:
            facts[rows.extra[row]] += 1
    for what, sets, uses in (
        ("label sets", graph.label_sets, labels),
        ("facts", graph.facts_sets, facts),
        ("traits", graph.trait_sets, traits),
    ):
        del uses[0]
        _same(f"{what} in use", len(sets), len(uses))
        _same(f"uses of {what}", {n: sets.uses_of(n) for n in uses}, dict(uses))
