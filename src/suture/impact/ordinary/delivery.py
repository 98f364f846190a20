"""Delivery in steps: Services that are turned from one set of pods to the next, each in its role.

Beside `serving` and `selection`, which tell what a Service loses. A controller that delivers has a
Service for what runs and one for what comes; it turns the one that nobody reads first, before the
pods behind it are Ready, and sends the old set away when the other one serves. Told by what is
there, never by product: the same selector but for one value, another Service that still reaches the
same pods, a set that is there for the new value.
Source: selectors of Services and workloads; meta/v1 owner references.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.parents import selects_apart
from suture.impact.ground.change import Resized, Rewritten
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.readers import ready_of, services_reaching
from suture.impact.ordinary.keepers import keeps
from suture.impact.ordinary.roles import keeps_pod
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import AUTOSCALERS, DEPLOYMENTS, REPLICA_SETS, SERVICES, ObjectKey, Resource
from suture.model.objects import CustomFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector
from suture.model.writes import TEN_MINUTES_S

SETS: Final[tuple[Resource, ...]] = (REPLICA_SETS, DEPLOYMENTS)
"""What stands behind a role."""

ASKED: Final = 64
"""LIMIT: sets and Services of a namespace that are asked whether they are the next, 2 us each."""


def turns_to_next(scene: Scene, made: Rewritten, lost: Collection[int]) -> bool:
    """Whether a Service is turned to the next set of pods, and gives up what another one reaches.

    By who keeps these pods. `lost` are the pods that it selected and does not any more.
    """
    if made.row is None or made.before is None or not lost:
        return False
    old, new = made.before.facts, made.after.facts
    if not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return False
    if (
        old.selector is None
        or new.selector is None
        or not old.selector.one_value_apart(new.selector)
    ):
        return False
    view = scene.view
    first = next(iter(lost))
    above = frozenset(view.controllers(first, CLIMBED))
    return (
        (
            _is_there(view, made.after.key.namespace, new.selector)
            or _comes(scene, first, old.selector, new.selector)
        )
        and any(
            other != made.row
            and _alike(view, other, old.selector)
            and _read(view, made.row, other, above)
            for other in view.services_of(first)
        )
        and all(keeps_pod(scene, pod) for pod in lost)
    )


def taken_over(scene: Scene, service: int, resized: Resized, before: int) -> bool:
    """Whether a workload is sent away behind a Service of whoever delivers it, for another set.

    Both that Service and the other set are of one custom resource that the actor keeps; the set
    selects as the workload does, but for one value, and as many of its pods are Ready as served.
    The workload itself is somebody's: of a custom resource's own members none stands for another.
    """
    view, row = scene.view, resized.row
    owner = view.controller(service)
    if owner < 0 or resized.after or view.controller(row) >= 0:
        return False
    return bool(keeps(scene, view.resource(owner))) and any(
        selects_apart(view, row, other) and ready_of(view, other) >= before
        for other in view.children_of(owner)
    )


def handed_over(scene: Scene, resized: Resized) -> bool:
    """Whether a workload is sent away behind Services of whoever delivers it, or of both alike."""
    view = scene.view
    services = _reaching(view, resized.row)
    return bool(services) and (
        all(taken_over(scene, one, resized, view.serving_count(one)) for one in services)
        or _relieved(scene, resized, services)
    )


def _relieved(scene: Scene, resized: Resized, services: Collection[int]) -> bool:
    """Whether a set of a custom resource that the actor keeps has the place of a workload already.

    The resource bears the workload's name, and its set selects pods that the workload's selector
    takes too. As many of these are Ready, and every Service that reaches the ones reaches the
    others: so a delivery in steps takes over from a Deployment.
    """
    view, row = scene.view, resized.row
    facts = view.facts(row)
    if resized.after or _is_member(view, row) or not isinstance(facts, WorkloadFacts):
        return False
    return facts.selector is not None and any(
        _is_relief(scene, row, facts.selector, other)
        and ready_of(view, other) >= ready_of(view, row)
        and _reaching(view, other).issuperset(services)
        for other in view.rows(REPLICA_SETS, view.namespace(row))[:ASKED]
    )


def _is_relief(scene: Scene, row: int, selector: Selector, other: int) -> bool:
    """Whether a set is of a custom resource of a workload's name, and selects within its pods."""
    view, owner = scene.view, scene.view.controller(other)
    facts = view.facts(other)
    return (
        owner >= 0
        and is_custom(view.resource(owner))
        and view.name(owner) == view.name(row)
        and isinstance(facts, WorkloadFacts)
        and facts.selector is not None
        and all(each in facts.selector.requirements for each in selector.requirements)
        and bool(keeps(scene, view.resource(owner)))
        and scene.stays(other)
    )


def next_answers(scene: Scene, resized: Resized) -> bool:
    """Whether a workload that an autoscaler sizes is scaled to nothing, the next serving for it.

    The next is of its type, selects as it does but for one value, has as many pods Ready, and every
    Service that reaches the one reaches the other; both are nobody's members. An autoscaler with a
    lower bound leaves alone what has no size.
    Source: HorizontalPodAutoscaler, implicit maintenance mode.
    """
    view, row = scene.view, resized.row
    scalers = view.sources(row, Edge.SCALES)
    if resized.after or not scalers or any(view.resource(one) != AUTOSCALERS for one in scalers):
        return False
    if _is_member(view, row):
        return False
    reached, ready = _reaching(view, row), ready_of(view, row)
    return any(
        selects_apart(view, row, other)
        and ready_of(view, other) >= max(ready, 1)
        and not (_is_member(view, other) or view.terminating(other))
        and bool(answering := _reaching(view, other))
        and reached <= answering
        for other in view.rows(view.resource(row), view.namespace(row))[:ASKED]
    )


def _is_member(view: GraphView, row: int) -> bool:
    """Whether a custom resource keeps a workload, by owner, label or name."""
    return view.controller(row) >= 0 or bool(view.targets(row, Edge.PARENT))


def _reaching(view: GraphView, workload: int) -> set[int]:
    """Return the Services that reach pods of a workload."""
    return set(services_reaching(view, view.classes_controlled(workload, REPLICA_SETS)))


def answered_meanwhile(scene: Scene, resized: Resized) -> bool:
    """Whether somebody else answers for a workload that is sent to sleep, until it is woken.

    That is so where each Service that reaches it belongs to a custom resource that nobody but the
    actor is known to keep, and which has another Service as well: one whose endpoints are written
    by hand, and are not those of the workload.
    """
    if resized.after:
        return False
    view = scene.view
    services = _reaching(view, resized.row)
    return bool(services) and all(_answers(scene, service) for service in services)


def _answers(scene: Scene, service: int) -> bool:
    view, owner = scene.view, scene.view.controller(service)
    if owner < 0 or keeps(scene, view.resource(owner)) is False:
        return False
    mine = set(view.ready_endpoints(service))
    for other in view.children_of(owner):
        facts = view.facts(other)
        if other != service and isinstance(facts, ServiceFacts) and facts.selector is None:
            its = set(view.ready_endpoints(other))
            if its and mine.isdisjoint(its):
                return True
    return False


def _is_there(view: GraphView, namespace: str, selector: Selector) -> bool:
    """Whether a set that wants pods is there for a selector."""
    for kind in SETS:
        for row in view.rows(kind, namespace)[:ASKED]:
            facts = view.facts(row)
            if (
                isinstance(facts, WorkloadFacts)
                and facts.replicas
                and facts.selector is not None
                and all(each in facts.selector.requirements for each in selector.requirements)
            ):
                return True
    return False


def _comes(scene: Scene, pod: int, old: Selector, new: Selector) -> bool:
    """Whether the custom resource behind a pod is about to fill the set for a new selector.

    It wants pods, and made the set within minutes, though of no size yet and maybe not seen yet, or
    was itself written in that time: who goes back to a set of the past made that long ago. The
    preview is turned as soon as the set is there, and its pods come next.
    """
    view, now = scene.view, scene.now
    above = view.controllers(pod, CLIMBED)
    if now is None or len(above) < 2 or view.resource(above[0]) != REPLICA_SETS:
        return False
    parent = above[1]
    facts = view.facts(parent)
    if not isinstance(facts, CustomFacts) or not facts.wanted or view.terminating(parent):
        return False
    turned = view.history.writes.changed(view.key(parent), What.WROTE, now, TEN_MINUTES_S)
    for row in view.children_of(parent)[:ASKED]:
        its = view.facts(row)
        if (
            view.resource(row) == REPLICA_SETS
            and isinstance(its, WorkloadFacts)
            and its.selector is not None
            and all(each in its.selector.requirements for each in new.requirements)
            and not view.terminating(row)
        ):
            return turned or scene.made(row, TEN_MINUTES_S)
    return _made_unseen(scene, above[0], parent, old, new)


def _made_unseen(scene: Scene, old_set: int, parent: int, old: Selector, new: Selector) -> bool:
    """Whether the actor made a set a moment ago that the model has not seen, called after a value.

    It has the name of the custom resource and the new value, as the set of today has the old one.
    """
    view, now = scene.view, scene.now
    if now is None:
        return False
    (was,) = (one for one in old.requirements if one not in new.requirements)
    (will,) = (one for one in new.requirements if one not in old.requirements)
    stem = view.name(parent)
    if was.values != (view.name(old_set).removeprefix(f"{stem}-"),) or len(will.values) != 1:
        return False
    key = ObjectKey(REPLICA_SETS, view.namespace(old_set), f"{stem}-{will.values[0]}")
    made = view.history.created_at(key)
    return (
        made is not None
        and made.identity == scene.actor.user.username
        and key in view.history.created_lately(key.namespace, now)
    )


def _alike(view: GraphView, service: int, selector: Selector) -> bool:
    facts = view.facts(service)
    return (
        view.resource(service) == SERVICES
        and isinstance(facts, ServiceFacts)
        and facts.selector == selector
    )


def _read(view: GraphView, service: int, other: int, above: Collection[int]) -> bool:
    """Whether every route to a Service is one to the other as well, or of what keeps the pods.

    Who delivers makes routes of its own, to what comes, and says in them how much goes there.
    """
    alone = set(view.sources(service, Edge.ROUTES_TO)) - set(view.sources(other, Edge.ROUTES_TO))
    return all(view.controller(route) in above for route in alone)
