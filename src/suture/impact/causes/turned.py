"""What traffic left: Services that routes or webhooks left, workloads that their Services left.

Beside `replaced`, where the next Service reaches the same pods: here it has pods of its own. So the
next version of an application is made under a name of its own, routes are led to it, and then the
one before goes. Weights are not compared, nor paths.

What is lost where that was a mistake: what callers within the cluster asked by its name, which
nothing in the API tells.
LIMIT: either is remembered for an hour.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from suture.impact.causes.counters import turned
from suture.impact.causes.parents import maker_of
from suture.impact.causes.resting import services_behind
from suture.impact.ground.change import Rewritten
from suture.impact.ground.readers import one_of_each
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import RESERVED
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    RouteFacts,
    ServiceFacts,
    WebhookFacts,
    WorkloadFacts,
)
from suture.model.references import services_referred
from suture.model.writes import HOUR_S

TURNED: Final = 64
"""LIMIT: Services of one route that are looked at when it leaves them: more is no turn but
another route."""

LEADING: Final = (WebhookFacts, ApiServiceFacts)
"""Facts of what leads calls of the API server to a Service."""

NO_READERS: Final = frozenset({Edge.SLICE_OF, Edge.OWNER})
"""Edges to a Service of what is made for it, and asks nothing of it."""


def remember_turn(made: Rewritten, view: GraphView, now: Now) -> None:
    """Remember what a route or a Service leaves for what serves as well."""
    old, new = made.facts_before, made.after.facts
    if isinstance(old, ServiceFacts) and isinstance(new, ServiceFacts) and made.row is not None:
        _remember_selection(made.row, old, new, view, now)
    if not isinstance(old, RouteFacts) or not isinstance(new, RouteFacts):
        return
    if old.services == new.services:
        return
    left = [row for row in _backends(view, old, new) if view.serving_count(row)]
    came = [row for row in _backends(view, new, old) if view.serving_count(row)]
    left.sort(key=view.serving_count, reverse=True)
    came.sort(key=view.serving_count, reverse=True)
    # WHY as many: one that is only left out as another is turned would go for that one's reason.
    if len(left) > len(came) or any(
        view.serving_count(one) > view.serving_count(other)
        for one, other in zip(left, came, strict=False)
    ):
        return
    for row in left:
        view.history.writes.count(turned(view.uid(row)), now)


def _remember_selection(
    service: int, old: ServiceFacts, new: ServiceFacts, view: GraphView, now: Now
) -> None:
    """Remember which workloads a Service leaves for others with as many Ready pods."""
    selector, had = new.selector, view.serving_count(service)
    if old.selector is None or selector is None or selector == old.selector or not had:
        return
    if view.serving_selected(view.namespace(service), selector) < had:
        return
    for pod in one_of_each(view, view.classes_selected(service)[:TURNED]):
        if not selector.matches(view.labels(pod)):
            view.history.writes.count(turned(view.uid(maker_of(view, pod))), now)


def remember_unread(gone: ClusterObject, view: GraphView, now: Now) -> None:
    """Remember to which Services the API server made calls by what is gone, one of `LEADING`."""
    for row in map(view.service, services_referred(gone)):
        if row is not None:
            view.history.writes.count(turned(view.uid(row)), now)


def _backends(view: GraphView, of: RouteFacts, beside: RouteFacts) -> list[int]:
    """Return the Services to which one version of a route leads and the other does not."""
    refs = [one for one in dict.fromkeys(of.services) if one not in beside.services]
    rows = map(view.service, refs[:TURNED])
    return [row for row in rows if row is not None]


def traffic_left(view: GraphView, service: int, removed: Collection[int], now: Now | None) -> bool:
    """Whether routes or webhooks left a Service within the hour, and nothing names it any more.

    It is asked by its name alone: of type ClusterIP, and not of the cluster itself.
    """
    if not route_left(view, service, now):
        return False
    facts = view.facts(service)
    if not isinstance(facts, ServiceFacts) or facts.type != "ClusterIP":
        return False
    return not view.namespace(service).startswith(RESERVED) and not any(
        link.present and link.edge not in NO_READERS and link.row not in removed
        for link in view.needed_by(service)
    )


def route_left(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether within the hour a route or webhook left a Service, or a Service a workload."""
    writes = view.history.writes
    return now is not None and bool(writes.counted(turned(view.uid(row)), now, HOUR_S))


def left_behind(view: GraphView, row: int, removed: Collection[int], now: Now | None) -> bool:
    """Whether traffic has left every Service behind which a workload's pods are, or would be.

    Or its Services were turned to others within the hour, and none reaches it any more.
    """
    if now is None or not isinstance(view.facts(row), WorkloadFacts):
        return False
    services = services_behind(view, row)
    if not services:
        return route_left(view, row, now)
    return all(traffic_left(view, service, removed, now) for service in services)
