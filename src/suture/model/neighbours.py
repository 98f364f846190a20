"""One step from an object along every edge: what it needs, and what needs it, each edge once.

Beside the graph's view, which knows membership (a namespace's, a definition's) apart from the
other edges: whoever walks the graph wants them as one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from suture.model.edges import Edge, Link
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, ObjectKey
from suture.model.objects import CrdFacts

NOWHERE = -1
"""The row of what the graph never held."""


class Side(StrEnum):
    """Which way to look from an object."""

    NEEDS = "needs"
    NEEDED_BY = "needed-by"


def neighbours(view: GraphView, row: int, side: Side) -> list[Link]:
    """Return the edges of an object on one side, those to missing objects included.

    Membership counts: an object needs its namespace, and an instance its definition.
    """
    found: dict[tuple[Edge, ObjectKey, str], Link] = {}
    links = _needs(view, row) if side is Side.NEEDS else _needed_by(view, row)
    for link in links:
        if not (link.present and view.gone(link.row)):
            found.setdefault((link.edge, link.other, link.key), link)
    return list(found.values())


def _needs(view: GraphView, row: int) -> Iterator[Link]:
    thing = view.at(row)
    yield from (link for link in view.needs(row) if not _elsewhere(view, link))
    if thing.key.namespace:
        space = ObjectKey(NAMESPACES, "", thing.key.namespace)
        found = view.find(space)
        there = NOWHERE if found is None else found
        yield Link(Edge.NAMESPACE, there, space, present=found is not None)
    definition = view.crd(thing.key.resource)
    if definition is not None:
        yield from _present(view, Edge.DEFINITION, (definition,))


def _elsewhere(view: GraphView, link: Link) -> bool:
    """Whether an edge is to where its type has no objects: in a namespace, or in none.

    WHY there is such an edge: a field that may name an object of either is read as naming both,
    and its definition, which tells, may come later.
    """
    if link.present or not link.optional:
        return False
    definition = view.crd(link.other.resource)
    facts = None if definition is None else view.facts(definition)
    return isinstance(facts, CrdFacts) and facts.namespaced is not bool(link.other.namespace)


def _needed_by(view: GraphView, row: int) -> Iterator[Link]:
    thing = view.at(row)
    yield from view.needed_by(row)
    if thing.key.resource == NAMESPACES:
        yield from _present(view, Edge.NAMESPACE, view.members(thing.key.name))
    elif isinstance(thing.facts, CrdFacts):
        yield from _present(view, Edge.DEFINITION, view.rows(thing.facts.resource))


def _present(view: GraphView, edge: Edge, rows: Iterable[int]) -> Iterator[Link]:
    for row in rows:
        yield Link(edge, row, view.at(row).key, present=True)
