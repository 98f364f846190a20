"""What is at work though it neither runs, serves nor holds data: routes, schedules, budgets.

Beside `explained`, which tells of pods, Services and claims whether they are in use. Each is asked
only of what a request names itself: what goes along goes for another reason than its own.
Source: batch/v1 CronJobSpec; policy/v1 PodDisruptionBudget; ingress and gateway controllers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from suture.impact.causes.bound import names_in_labels
from suture.impact.causes.counters import annotated
from suture.impact.causes.explained import in_use
from suture.impact.causes.marked import others_marked
from suture.impact.causes.turned import route_left
from suture.impact.ground.bodies import read_body
from suture.impact.ground.fit import Asked, is_open, movable
from suture.impact.ground.kinds import is_custom, is_route
from suture.impact.ground.machines import node_behind
from suture.impact.ground.readers import ready_of
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import AUTOSCALERS, CRON_JOBS, DISRUPTION_BUDGETS, Resource
from suture.model.objects import NodeFacts, RouteFacts

DRAINED_ASKED: Final = 256
"""LIMIT: pods of a budget that are asked on which node they are, 1 us each; no node has more."""

ROUTES_ASKED: Final = 64
"""LIMIT: routes to one Service of which it is asked whether labels name them, 2 us each."""


def works(scene: Scene, row: int) -> bool:
    """Whether an object that the request deletes leads, runs by schedule, or sizes what runs."""
    view = scene.view
    if view.resource(row) == AUTOSCALERS:
        return _sizes(scene, row)
    if view.resource(row) == CRON_JOBS:
        spec = read_body(scene.request.old_body).spec if scene.request.old_body else None
        return spec is not None and not spec.suspend
    return leads(view, row, scene.removed)


def may_work(resource: Resource) -> bool:
    """Whether objects of a type may be at work in such a way; of each its own facts tell."""
    return resource in (AUTOSCALERS, CRON_JOBS) or is_route(resource)


def _sizes(scene: Scene, autoscaler: int) -> bool:
    """Whether an autoscaler sizes a workload that runs, which no other one does.

    Not where the custom resource that has it made was rewritten within the hour: it may size
    another workload by now, or none.
    """
    view, parent = scene.view, scene.view.controller(autoscaler)
    if parent < 0 or scene.written(parent) or scene.counted(annotated(view.uid(parent))):
        return False
    return any(
        target not in scene.removed
        and not any(
            other != autoscaler
            and not view.terminating(other)
            and view.resource(other) == AUTOSCALERS
            for other in view.sources(target, Edge.SCALES)
        )
        and ready_of(view, target)
        for target in view.there(autoscaler, Edge.SCALES)
    )


def leads(view: GraphView, route: int, removed: Collection[int]) -> bool:
    """Whether a route leads to a Service that stays and has somebody behind it."""
    facts = view.facts(route)
    if not isinstance(facts, RouteFacts):
        return False
    services = (view.service(ref) for ref in facts.services)
    return any(
        one is not None and one not in removed and view.serving_count(one) > 0 for one in services
    )


def leads_by_name(scene: Scene, row: int) -> bool:
    """Whether a custom resource sends traffic to a Service that stays and has somebody behind it.

    Nothing else leads there, of whatever kind, and it owns nothing: it is a route and no product.
    Not where a route was turned to another Service within the hour: what was bound to it follows.
    """
    view = scene.view
    led = view.there(row, Edge.LEADS_TO)
    if not led or view.children_of(row):
        return False
    return any(
        service not in scene.removed
        and view.serving_count(service) > 0
        and not route_left(view, service, scene.now)
        and not any(
            other != row and scene.stays(other)
            for edge in (Edge.LEADS_TO, Edge.ROUTES_TO)
            for other in view.sources(service, edge)
        )
        for service in led
    )


def guards(view: GraphView, budget: int, removed: Collection[int]) -> bool:
    """Whether a disruption budget holds several running pods for which no other one stands in.

    WHY several: a size of one that is declared has no floor, and its budget only bars drains.
    """
    return in_use(view, budget) and not _few_alone(view, budget, removed)


def stood_in_for(view: GraphView, budget: int, removed: Collection[int]) -> bool:
    """Whether other budgets that stay hold the running pods of one that goes, or all but a few."""
    serving = sum(map(view.serving_alike, view.classes_selected(budget)))
    return serving > 1 and _few_alone(view, budget, removed)


def _few_alone(view: GraphView, budget: int, removed: Collection[int]) -> bool:
    """Whether no other budget holds at most one of the pods, or those of one node that is closed.

    WHY: around a drain the pods that may go are let out of the budget of all, and others hold the
    rest. Where there is no rest, the node is what has all of them.
    """
    alone = list(_alone(view, budget, removed))
    count = sum(map(view.serving_alike, alone))
    if count <= 1:
        return True
    if count == sum(map(view.serving_alike, view.classes_selected(budget))):
        return False
    pods = (pod for kind in alone for pod in view.pods_alike(kind) if view.serves(pod))
    nodes = [view.node_of(pod) for pod in islice(pods, DRAINED_ASKED + 1)]
    node = nodes[0] if len(nodes) <= DRAINED_ASKED and len(set(nodes)) == 1 else None
    facts = view.facts(node) if node is not None else None
    return isinstance(facts, NodeFacts) and facts.unschedulable


def _alone(view: GraphView, budget: int, removed: Collection[int]) -> Iterator[int]:
    """Yield the classes of running pods that no other budget holds."""
    for kind in view.classes_selected(budget):
        if view.serving_alike(kind) and not _held(view, kind, budget, removed):
            yield kind


def _held(view: GraphView, kind: int, budget: int, removed: Collection[int]) -> bool:
    """Whether another budget that stays holds the pods of a class."""
    return any(
        other != budget and other not in removed and not view.terminating(other)
        for other in view.selecting_class(kind, DISRUPTION_BUDGETS)
    )


def kept_of_route(scene: Scene, row: int) -> bool:
    """Whether a custom resource is kept of a route that leads, as a record of its name is.

    It is the only one of its type that the route has.
    """
    view, resource = scene.view, scene.view.resource(row)
    return any(
        not any(
            other != row and view.resource(other) == resource and not view.terminating(other)
            for other in view.staying(view.children_of(route))
        )
        for route in _routes_above(scene, row)
    )


def stands_for_route(scene: Scene, row: int) -> bool:
    """Whether a custom resource is what a route that leads is known by, or leads by.

    It is of the route and called as that is; or its labels name the route.
    """
    name = scene.view.name(row)
    owned = any(scene.view.name(route) == name for route in _routes_above(scene, row))
    return owned or _binds_for_route(scene, row)


def _binds_for_route(scene: Scene, row: int) -> bool:
    """Whether a custom resource leads to a Service for a route that leads there, named by labels.

    So a balancer is bound to what a route wants. One beside it, of its type, would be the next.
    """
    view, resource = scene.view, scene.view.resource(row)
    return any(
        service not in scene.removed
        and view.serving_count(service) > 0
        and any(_named_and_stays(scene, row, one) for one in _routes_to(view, service))
        and not any(
            other != row and scene.stays(other)
            for other in view.sources(service, Edge.LEADS_TO)
            if view.resource(other) == resource
        )
        for service in view.there(row, Edge.LEADS_TO)
    )


def _routes_to(view: GraphView, service: int) -> list[int]:
    return view.sources(service, Edge.ROUTES_TO)[:ROUTES_ASKED]


def _named_and_stays(scene: Scene, row: int, route: int) -> bool:
    """Whether a pair of an object's labels names a route that stays.

    One that was rewritten within the hour may be the cause for which the object goes.
    """
    view = scene.view
    if not scene.stays(route) or scene.written(route):
        return False
    return names_in_labels(view.labels(row), view.name(route), view.namespace(route))


def _routes_above(scene: Scene, row: int) -> Iterator[int]:
    """Yield the routes that own a custom resource, lead, and stay as they are.

    One that was rewritten within the hour may be the cause for which the object goes.
    """
    view = scene.view
    if not is_custom(view.resource(row)):
        return
    for owner in view.owners(row):
        if (
            owner.present
            and is_route(view.resource(owner.row))
            and scene.stays(owner.row)
            and leads(view, owner.row, scene.removed)
            and not scene.written(owner.row)
        ):
            yield owner.row


def spared(scene: Scene, row: int) -> bool:
    """Whether the machine of a node that is open and in use goes, and others were marked to go."""
    view = scene.view
    if not others_marked(view, row, scene.now):
        return False
    node = node_behind(scene.request, view, row)
    return node is not None and is_open(view.facts(node)) and bool(movable(view, node, Asked(view)))
