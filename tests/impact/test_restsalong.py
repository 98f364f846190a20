"""What is at rest and goes along with the application that keeps it."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import BALANCERS, START, crd, delete, graph_of, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, CRDS, DEPLOYMENTS, INGRESSES, SERVICES, Resource
from suture.model.objects import ClusterObject, RouteFacts, ServiceFacts, ServiceRef, WorkloadFacts
from suture.model.selectors import Selector

APPLICATIONS = Resource("sync.example.com", "applications")
APP = msgspec.structs.replace(
    thing(APPLICATIONS, "shop", "sync"), finalizers=("sync.example.com/prune",)
)


def parts(number: int, replicas: int) -> list[ClusterObject]:
    """Return Deployments of the application, each with its Service and a route."""
    found: list[ClusterObject] = []
    for at in range(number):
        name, labels = f"part-{at}", {"app": f"part-{at}"}
        facts = WorkloadFacts(replicas, Selector.of(labels))
        found += [
            thing(DEPLOYMENTS, name, "shop", facts=facts),
            thing(SERVICES, name, "shop", facts=ServiceFacts(Selector.of(labels))),
            thing(INGRESSES, name, "shop", facts=RouteFacts((ServiceRef("shop", name),))),
        ]
    needs = (Need(Edge.MANAGED_BY, APP.key),)
    return [msgspec.structs.replace(one, needs=(*one.needs, *needs)) for one in found]


def counted(*things: ClusterObject) -> dict[str, int]:
    """Return what budgets count as going along with the application, by type."""
    view = GraphView(graph_of(APP, *things), History())
    found = effects(impact_of(delete(APP), view, now=START), ObjectsRemoved)
    return {one.resource: one.counted_cascaded for one in found if one.counted_cascaded}


def test_what_was_stopped_before() -> None:
    """Who gives up a stopped application takes nothing away that anybody uses."""
    assert counted(*parts(6, 0)) == {}


def test_what_runs_or_is_to_run() -> None:
    """It is no matter whether its pods are there at this moment."""
    kinds = (DEPLOYMENTS, SERVICES, INGRESSES)
    assert counted(*parts(6, 1)) == dict.fromkeys(map(str, kinds), 6)


@pytest.mark.parametrize("leads", [True, False])
def test_what_somebody_else_names(leads: bool) -> None:
    """A route that stays leads to one of its Services, and another is to be brought back."""
    to = "part-0" if leads else "elsewhere"
    front = thing(INGRESSES, "front", "shop", facts=RouteFacts((ServiceRef("shop", to),)))
    assert counted(*parts(6, 0), front) == ({str(SERVICES): 1} if leads else {})


OWN = (Need(Edge.MANAGED_BY, APP.key),)
MINE = msgspec.structs.replace(thing(BALANCERS, "mine", "shop"), needs=OWN)
HELD = msgspec.structs.replace(MINE, finalizers=("balancers.example.com/release",))
SOME_OF_IT = thing(CONFIG_MAPS, "made", "shop", owners=[owner(MINE)])


@pytest.mark.parametrize(
    ("made", "found"),
    [
        pytest.param((MINE,), {}, id="its-own-notes-alone"),
        pytest.param(
            (MINE, thing(BALANCERS, "theirs", "shop")), {str(CRDS): 1}, id="of-others-too"
        ),
        pytest.param((HELD,), {str(CRDS): 1}, id="its-end-is-that-of-something-outside"),
        pytest.param((MINE, SOME_OF_IT), {str(CRDS): 1}, id="something-was-made-of-it"),
    ],
)
def test_a_definition_that_goes_with_its_application(
    made: tuple[ClusterObject, ...], found: dict[str, int]
) -> None:
    """Nobody loses anything by it where the application had made all that there is of it."""
    definition = msgspec.structs.replace(crd(), needs=(*crd().needs, *OWN))
    assert counted(definition, *made) == found
