"""Every query of the graph beside the slow one's answer: what differs, as lines for people.

Apart from `slowgraph` because that says what is true, and this only asks both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from suture.lab.soak.slowgraph import NamedNeed, SlowGraph
from suture.model.edges import Edge, Link
from suture.model.graph import Graph, GraphView
from suture.model.names import PODS, SERVICES, ObjectKey
from suture.model.objects import ClusterObject, CrdFacts, ServiceFacts
from suture.model.selectors import Selector

Asked = tuple[str, object, object]
"""A question, the graph's answer, and the true one."""

DRAWN = frozenset({Edge.OWNER, Edge.SELECTS})
"""Edges by uid and by label, not by name: asked about apart."""

SHOWN = 600
"""LIMIT: characters of one answer in a line for people."""


def differences(
    graph: Graph,
    view: GraphView,
    slow: SlowGraph,
    *,
    about: Iterable[ClusterObject] | None = None,
    selectors: Iterable[Selector] = (),
) -> list[str]:
    """Return where the graph answers otherwise than a walk over all objects would.

    `about`: ask in depth of these only, by default of everything. `selectors`: ask of these too
    which pods of each namespace they match, beside those that Services have.
    """
    asked = [*_of_all(graph, view, slow), *_of_spaces(view, slow, tuple(selectors))]
    for thing in slow if about is None else about:
        row = graph.row(thing.key)
        if row is None:
            continue
        asked += _of_one(graph, view, slow, thing, row)
        if thing.key.resource == PODS:
            asked += _of_pod(view, slow, thing, row)
        if thing.key.resource == SERVICES:
            asked += _of_service(view, slow, thing, row)
    return [
        f"{question}: {_shown(found)}, but a walk finds {_shown(true)}"
        for question, found, true in asked
        if found != true
    ]


def check_indexes(graph: Graph) -> None:
    """Have the graph compare each of its indexes with what it would build anew.

    Errors: AssertionError where one is not what it should be.
    """
    check = getattr(graph, "check", None)
    if check is not None:
        check()


def _of_all(graph: Graph, view: GraphView, slow: SlowGraph) -> Iterator[Asked]:
    yield "how many objects", len(graph), len(slow)
    known = {thing.key: thing for thing in graph}
    yield "what is there and should not be", sorted(known.keys() - slow.things.keys()), []
    yield "what is not there and should be", sorted(slow.things.keys() - known.keys()), []
    for key, thing in slow.things.items():
        if key in known and known[key] != thing:
            yield f"the state of {key}", known[key], thing
    for resource in {key.resource for key in slow.things} | {key.resource for key in known}:
        yield f"count of {resource}", view.count(resource), slow.count(resource)
        yield f"count of {resource} in the graph", graph.count(resource), slow.count(resource)
        yield f"objects of {resource}", _keys(view, view.rows(resource)), slow.rows(resource)


def _of_spaces(
    view: GraphView, slow: SlowGraph, selectors: tuple[Selector, ...]
) -> Iterator[Asked]:
    for space in sorted({key.namespace for key in slow.things if key.namespace}):
        yield f"members of {space}", _keys(view, view.members(space)), slow.members(space)
        labels = dict(view.namespace_labels(space))
        yield f"labels of namespace {space}", labels, slow.namespace_labels(space)
        for selector in selectors:
            found = _keys(view, view.pods_selected(space, selector))
            yield (
                f"pods of {space} that {selector} selects",
                found,
                slow.pods_selected(space, selector),
            )


def _of_one(
    graph: Graph, view: GraphView, slow: SlowGraph, thing: ClusterObject, row: int
) -> Iterator[Asked]:
    key, uid, gone = thing.key, thing.uid, thing.uid in slow.gone
    yield f"the object of {key}", view.at(row), thing
    yield f"the uid of {key}", graph.uid(row), uid
    yield f"the version of {key}", graph.version(row), thing.resource_version
    yield f"whether {key} is gone", view.gone(row), gone
    yield f"the row of {key}", view.find(key), None if gone else row
    # One life may be found at two names, as a type is that is served in two groups.
    places, found = slow.of_uid(uid), view.find_uid(uid)
    if found is None or view.at(found).key not in places:
        yield f"where {uid} is", None if found is None else view.at(found).key, places or None
    yield f"children of {key}", _keys(view, view.children(uid)), slow.children(uid)
    needs, needed = view.needs(row), view.needed_by(row)
    yield f"needs of {key}", _named(needs), slow.needs(thing)
    yield f"what needs {key}", _named(needed), slow.needed_by(thing)
    yield f"links of {key} with wrong rows", _misplaced(graph, [*needs, *needed]), []
    yield f"owners of {key}", _owners(view, needs), slow.owners(thing)
    yield f"dependents of {key}", _drawn(needed, Edge.OWNER), slow.children(uid)
    yield f"pods selected by {key}", _drawn(needs, Edge.SELECTS), slow.selected_by(thing)
    if key.resource == PODS:
        yield f"who selects {key}", _drawn(needed, Edge.SELECTS), slow.selecting(thing)
    if isinstance(thing.facts, CrdFacts):
        served = thing.facts.resource
        defined = view.crd(served)
        if defined is None or view.at(defined).key not in slow.definitions(served):
            yield f"the definition of {served}", defined, slow.definitions(served)


def _of_pod(view: GraphView, slow: SlowGraph, pod: ClusterObject, row: int) -> Iterator[Asked]:
    found = _keys(view, view.services_selecting(view.at(row)))
    yield f"Services of {pod.key}", found, slow.services_selecting(pod)
    yield f"whether {pod.key} serves", view.serves(row), slow.serves(pod)


def _of_service(
    view: GraphView, slow: SlowGraph, service: ClusterObject, row: int
) -> Iterator[Asked]:
    key, facts = service.key, service.facts
    yield f"who refers to {key}", _keys(view, view.referrers(row)), slow.referrers(service)
    yield f"endpoints of {key}", set(view.ready_endpoints(row)), slow.ready_endpoints(service)
    leaving = slow.leaving_endpoints(service)
    yield f"leaving endpoints of {key}", view.leaving_endpoints(row), leaving
    if isinstance(facts, ServiceFacts) and facts.selector is not None:
        found = _keys(view, view.pods_selected(key.namespace, facts.selector))
        yield f"pods of {key}", found, slow.pods_selected(key.namespace, facts.selector)


def _keys(view: GraphView, rows: Iterable[int]) -> list[ObjectKey]:
    """Return the names of rows, sorted; one that comes twice is seen to."""
    return sorted(view.at(row).key for row in rows)


def _named(links: Iterable[Link]) -> list[NamedNeed]:
    return sorted(
        (link.edge, link.other, link.present, link.key, link.optional)
        for link in links
        if link.edge not in DRAWN
    )


def _drawn(links: Iterable[Link], edge: Edge) -> list[ObjectKey]:
    # WHY once each: an owner may be named twice, and an object select a pod twice.
    return sorted({link.other for link in links if link.edge is edge})


def _owners(view: GraphView, needs: Iterable[Link]) -> tuple[set[str], bool]:
    """Return the uids of the owners that are there, and whether some are not."""
    owners = [link for link in needs if link.edge is Edge.OWNER]
    there = {view.at(link.row).uid for link in owners if link.present}
    return there, not all(link.present for link in owners)


def _misplaced(graph: Graph, links: Iterable[Link]) -> list[Link]:
    """Return the links whose row is not that of the object that they name."""
    return [link for link in links if link.present and graph.row(link.other) != link.row]


def _shown(answer: object) -> str:
    text = repr(answer) if not isinstance(answer, list) else f"[{', '.join(map(str, answer))}]"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
