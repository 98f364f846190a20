"""A workload is kept from who would delete it, and so is the Service that leads to it."""

from __future__ import annotations

from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, service, workload
from suture.impact.effects import ObjectsRemoved
from suture.impact.ordinary.keptback import remember_kept
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.objects import ClusterObject

OTHER = operator("system:serviceaccount:ci:deployer")
WEB, API = workload("web", replicas=2), workload("api")
FRONT, BACK = service("web"), service("api")


def kept(*refused: ClusterObject, dry_run: bool = False) -> GraphView:
    """Return a cluster of two applications in which the operator was refused some deletes."""
    view = GraphView(graph_of(WEB, API, FRONT, BACK), History())
    for one in refused:
        remember_kept(delete(one, dry_run=dry_run), view, START)
    return view


def wanted(
    view: GraphView, going: ClusterObject, by: Actor | None = None, now: Now = START
) -> list[int]:
    """Return how many Services that a delete takes away are asked for."""
    found = effects(impact_of(delete(going, by=by), view, now=now, by=by), ObjectsRemoved)
    return [one.wanted for one in found if one.resource == "services"]


def test_the_service_of_a_workload_that_was_kept_is_asked_for() -> None:
    """That one only, and from who was refused: others may know more."""
    view = kept(WEB[0])

    assert wanted(view, FRONT) == [1]
    assert wanted(view, BACK) == [0]
    assert wanted(view, FRONT, OTHER) == [0]
    assert wanted(view, FRONT, now=START.plus_s(2 * 3600)) == [0]


def test_what_was_refused_otherwise_keeps_no_service() -> None:
    """Pods come back by themselves, and of a dry run nobody learns anything."""
    assert wanted(kept(WEB[2]), FRONT) == [0]
    assert wanted(kept(WEB[0], dry_run=True), FRONT) == [0]
    assert wanted(kept(), FRONT) == [0]


def test_a_workload_that_goes_after_all_keeps_no_service() -> None:
    """The twin: it was let go a moment later, and nobody is behind its Service any more."""
    view = kept(WEB[0])
    going = [replace(one, deleted=START.utc_s) for one in WEB]
    after = GraphView(graph_of(going, API, FRONT, BACK), view.history)

    assert wanted(after, FRONT) == [0]


def test_a_service_in_whose_place_another_serves_may_go() -> None:
    """The twin: it was renamed, and its workload stays."""
    view = kept(WEB[0])
    after = replace(FRONT, uid="next", key=replace(FRONT.key, name="www"), created=START.utc_s)

    assert wanted(GraphView(graph_of(WEB, FRONT, after), view.history), FRONT) == [0]
