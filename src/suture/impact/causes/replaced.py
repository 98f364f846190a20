"""What has taken the place of an object that goes: as good, there already, and no older.

Beside `explained`, whose causes lie with what is above an object: these stand next to it. What a
replacement is believed to justify, and how often, is in `docs/decisions`, 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from suture.impact.causes.explained import answering
from suture.impact.causes.parents import SIBLINGS, maker_of, rolled_out, wants_none
from suture.impact.causes.resting import services_behind
from suture.impact.ground.kinds import is_route
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import (
    DAEMON_SETS,
    DEPLOYMENTS,
    GATEWAYS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, RouteFacts, ServiceFacts, ServiceRef

ANY_HOST: Final = ""
TOGETHER_S: Final = 60
"""Services of one controller that came within this time are parts of it, and none replaces another:
those of a primary and of its replicas may well reach the same pods."""

_REPLACED_WORKLOADS: Final = frozenset({DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS})

Replace = Callable[[GraphView, int, Collection[int]], tuple[int, ...]]


def replacements(view: GraphView, row: int, removed: Collection[int]) -> tuple[int, ...]:
    """Return what has taken the place of an object, so that it can go; nothing if nothing has.

    All of it stands outside `removed`.
    """
    replace = replacing(view.resource(row))
    return () if replace is None else replace(view, row, removed)


def replacing(resource: Resource) -> Replace | None:
    """Return how the replacements of objects of a type are found; None where none are known."""
    if resource == SERVICES:
        return _services
    if resource in _REPLACED_WORKLOADS:
        return _workloads
    if is_route(resource):
        return _routes
    return None


def _services(view: GraphView, row: int, removed: Collection[int]) -> tuple[int, ...]:
    """Return the Services that have taken the place of one, so that its name can go.

    Each reaches every pod of it, in the same manner and on the same ports at least, is not older,
    and stands outside `removed`; and nothing refers to the old name any more. A Service and its
    headless twin are two manners of reaching the same pods: neither replaces the other.
    """
    kinds = view.classes_selected(row)
    # WHY first: where a namespace goes every Service in it is asked, and has no other beside it.
    if not kinds or all(
        other == row or other in removed for other in view.selecting_class(kinds[0], SERVICES)
    ):
        return ()
    facts = view.facts(row)
    if not isinstance(facts, ServiceFacts) or facts.selector is None:
        return ()
    pods = {view.alike(pod): pod for pod in view.pods_of(row)}
    if not pods or any(referrer not in removed for referrer in view.referrers(row)):
        return ()
    reached = [set(view.services_of(pod)) for pod in pods.values()]
    service = view.at(row)
    return tuple(
        other
        for other in sorted(set.intersection(*reached))
        if other != row
        and other not in removed
        and _stands_in(view.at(other), service)
        and not _beside(view, other, row)
    )


def _beside(view: GraphView, other: int, row: int) -> bool:
    """Whether one that stays made two Services together, and answers for both."""
    if view.created(other) > view.created(row) + TOGETHER_S:
        return False
    shared = set(answering(view, row)).intersection(answering(view, other))
    return any(not view.terminating(one) for one in shared)


def _stands_in(new: ClusterObject, old: ClusterObject) -> bool:
    new_facts, old_facts = new.facts, old.facts
    return (
        isinstance(new_facts, ServiceFacts)
        and isinstance(old_facts, ServiceFacts)
        and not new.terminating
        and new.created >= old.created
        and new_facts.type == old_facts.type
        and new_facts.headless == old_facts.headless
        and set(old_facts.ports) <= set(new_facts.ports)
    )


def of_past_set(view: GraphView, row: int, removed: Collection[int]) -> bool:
    """Whether a Service led to a ReplicaSet that is history, and its maker made the next of both.

    One custom resource controls the Service and the set of its name, which is gone or wants and has
    no pods; it reaches nothing, nobody refers to it, and beside it is another of the resource that
    selects the same but for one value, and serves.
    """
    parent = view.controller(row)
    if parent < 0 or parent in removed or view.terminating(parent):
        return False
    facts = view.facts(row)
    if not isinstance(facts, ServiceFacts) or facts.selector is None or view.classes_selected(row):
        return False
    if any(referrer not in removed for referrer in view.referrers(row)):
        return False
    key = ObjectKey(REPLICA_SETS, view.namespace(row), view.name(row))
    left = view.find(key)
    if left is not None:
        past = view.controller(left) == parent and rolled_out(view, left)
    else:
        gone = view.history.removed_at(key)
        past = gone is not None and any(one.uid == view.uid(parent) for one in gone.owners)
    return past and any(
        other != row
        and other not in removed
        and isinstance(its := view.facts(other), ServiceFacts)
        and its.selector is not None
        and facts.selector.one_value_apart(its.selector)
        and view.serving_count(other) > 0
        for other in view.children_of(parent)[:SIBLINGS]
    )


def _workloads(view: GraphView, row: int, removed: Collection[int]) -> tuple[int, ...]:
    """Return the workloads that have taken the place of one behind every Service that it is in.

    Together they have as many pods Ready there as it has, they are no older, and no autoscaler
    goes by its name any more. Of a workload behind no Service nothing tells what replaces it.
    """
    services = services_behind(view, row) or _once_behind(view, row)
    mine = frozenset(view.classes_controlled(row, REPLICA_SETS) if services else ())
    found: dict[int, None] = {}
    for service in services:
        ready, others = 0, 0
        beside = view.classes_selected(service)
        # WHY first: most workloads are alone behind their Services.
        if all(kind in mine for kind in beside):
            return ()
        for kind in beside:
            if kind in mine:
                ready += view.serving_alike(kind)
                continue
            pod = view.one_alike(kind)
            maker = maker_of(view, pod) if pod >= 0 else row
            if (
                maker != row
                and maker not in removed
                and _no_older(view, maker, row)
                and not _parts(view, maker, row)
            ):
                others += view.serving_alike(kind)
                found[maker] = None
        if others < max(ready, 1):
            return ()
    scaled = any(one not in removed for one in view.sources(row, Edge.SCALES))
    return () if scaled else tuple(found)


def _once_behind(view: GraphView, row: int) -> list[int]:
    """Return the Services that would reach a workload of no size, if its pods bore its own labels.

    WHY a guess will do: its selector need not say all that its pods bear, nothing of it runs, and
    it is only told of what others serve.
    """
    if not wants_none(view, row) or any(
        view.one_alike(kind) >= 0 for kind in view.classes_controlled(row, REPLICA_SETS)
    ):
        return []
    chosen = view.selecting(view.namespace(row), view.labels(row))
    return [one for one in chosen if view.resource(one) == SERVICES]


def _parts(view: GraphView, other: int, row: int) -> bool:
    """Whether two workloads are parts of what made them together, and neither replaces the other.

    As of Services, save that of two of which one was seen to be made that one is the next.
    """
    if not _beside(view, other, row):
        return False
    made = (view.history.creation(view.uid(one)) is not None for one in (other, row))
    return len(set(made)) == 1


def _no_older(view: GraphView, new: int, old: int) -> bool:
    return not view.terminating(new) and view.created(new) >= view.created(old)


def _routes(view: GraphView, row: int, removed: Collection[int]) -> tuple[int, ...]:
    """Return the routes that lead to every Service of one, for every host of it.

    They are no older; one of the Gateway API is attached to something that is there.
    """
    facts = view.facts(row)
    if not isinstance(facts, RouteFacts):
        return ()
    found: dict[int, None] = {}
    for ref in facts.services:
        service = view.service(ref)
        if service is None:
            continue
        others = [
            one
            for one in view.sources(service, Edge.ROUTES_TO)
            if one != row
            and one not in removed
            and _no_older(view, one, row)
            and _leads_to(view, one, ref)
        ]
        if not others:
            return ()
        found.update(dict.fromkeys(others))
    hosts = {host for one in found for host in hosts_of(view, one)}
    return tuple(found) if all(answered(host, hosts) for host in hosts_of(view, row)) else ()


def _leads_to(view: GraphView, route: int, service: ServiceRef) -> bool:
    """Whether a route sends a Service traffic, and, of the Gateway API, gets any itself."""
    facts = view.facts(route)
    if not isinstance(facts, RouteFacts) or service not in facts.services:
        return False
    if view.resource(route).group != GATEWAYS.group:
        return True
    return any(not view.terminating(one) for one in view.there(route, Edge.ATTACHED_TO))


def hosts_of(view: GraphView, route: int) -> tuple[str, ...]:
    """Return the hosts that a route answers for; where it names none, any."""
    facts = view.facts(route)
    hosts = facts.hosts if isinstance(facts, RouteFacts) else ()
    return hosts or (ANY_HOST,)


def answered(host: str, hosts: Collection[str]) -> bool:
    """Whether routes for some hosts answer for one: by its name, for its domain, or for any."""
    return host in hosts or ANY_HOST in hosts or f"*.{host.partition('.')[2]}" in hosts
