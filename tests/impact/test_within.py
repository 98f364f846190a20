"""Namespaces that end with their application, and what in them is of others."""

from __future__ import annotations

import msgspec
import pytest

from support.cluster import START, delete, graph_of, namespace, operator, service, thing
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import Resource
from suture.model.objects import ClusterObject

APPLICATIONS = Resource("sync.example.com", "applications")
SYNC = "system:serviceaccount:sync:controller"
ENDING = msgspec.structs.replace(thing(APPLICATIONS, "api", "sync"), deleted=1.0)
OTHER = thing(APPLICATIONS, "worker", "sync")


def kept(one: ClusterObject, by: ClusterObject) -> ClusterObject:
    return msgspec.structs.replace(one, needs=(*one.needs, Need(Edge.MANAGED_BY, by.key)))


HOME = kept(namespace("billing"), ENDING)
API = kept(service("api", "billing"), ENDING)
WORKER = kept(service("worker", "billing"), OTHER)
UNMARKED = service("debug", "billing")


def explained(
    *things: ClusterObject, by: str = SYNC, home: ClusterObject = HOME
) -> tuple[int, int]:
    """Return how many Services go with the namespace, and for how many of them there is a cause."""
    view, actor = GraphView(graph_of(home, *things), History()), operator(by)
    request = delete(home, by=actor)
    impact = estimate(request, project(request, view), view, actor, now=START)
    (told,) = (
        one for one in impact.effects
        if isinstance(one, ObjectsRemoved) and one.resource == "services"
    )  # fmt: skip
    return told.count, told.explained


def test_a_namespace_goes_with_its_application() -> None:
    """And all in it, where nobody else is known to keep any of it."""
    assert explained(ENDING, API) == (1, 1)
    assert explained(ENDING, API, UNMARKED) == (2, 2)


def test_what_another_application_keeps_there_does_not() -> None:
    """Two applications bring the same namespace, and one of them was deleted."""
    assert explained(ENDING, OTHER, API, WORKER) == (2, 1)


def test_another_application_that_ends_as_well() -> None:
    """By itself, or with what keeps it: so does an application of applications."""
    ends = msgspec.structs.replace(OTHER, deleted=1.0)
    assert explained(ENDING, ends, API, WORKER) == (2, 2)
    assert explained(ENDING, kept(OTHER, ENDING), API, WORKER) == (2, 2)


def test_another_application_that_is_not_there() -> None:
    """What it kept was left behind, and nobody stays who wants it."""
    assert explained(ENDING, API, WORKER) == (2, 2)


@pytest.mark.parametrize(("account", "left"), [("sync", 2), ("billing", 1)])
def test_who_asks_lives_there(account: str, left: int) -> None:
    """A controller at work does not end with what it keeps: only that does."""
    by = f"system:serviceaccount:{account}:controller"
    assert explained(ENDING, API, UNMARKED, by=by) == (2, left)


def test_a_namespace_that_is_going() -> None:
    """What is in it goes, whoever keeps it."""
    going = msgspec.structs.replace(HOME, deleted=1.0)
    view = GraphView(graph_of(going, ENDING, OTHER, WORKER), History())
    request = delete(WORKER, by=operator(SYNC))
    impact = estimate(request, project(request, view), view, operator(SYNC), now=START)
    (told,) = (one for one in impact.effects if isinstance(one, ObjectsRemoved))
    assert told.explained == 1
