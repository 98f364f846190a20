"""What was put to rest: workloads that are to have no pods and have none, and what led to them.

Beside `hands`, which asks by whose hand such a thing goes. A Service that selects no pod says by
itself nothing: it may have lost them a moment ago, to the same sweep. So what it led to has to be
seen at rest, or was when it went within the hour. Pure.
LIMIT: of a workload that went before Suture was there, or longer ago, nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.counters import cleared, ran_in
from suture.impact.ground.readers import services_reaching
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, REPLICA_SETS, SERVICES, STATEFUL_SETS
from suture.model.objects import ServiceFacts, WorkloadFacts
from suture.model.selectors import Operator
from suture.model.writes import HOUR_S

WORKLOADS_ASKED: Final = 512
"""LIMIT: workloads of one namespace that are asked whether a Service leads to them, 1 us each; one
in a namespace of more is not taken to be at rest."""

RESTABLE: Final = (DEPLOYMENTS, STATEFUL_SETS)


def rests(view: GraphView, row: int, now: Now | None) -> bool:
    """Whether a workload, a Service or a route is at rest, and was put there."""
    facts = view.facts(row)
    if isinstance(facts, WorkloadFacts):
        return _has_none(view, row, facts)
    if isinstance(facts, ServiceFacts):
        reaches = view.serving_count(row) or view.classes_selected(row)
        return not reaches and _led_to_rest(view, row, facts, now)
    led = view.targets(row, Edge.ROUTES_TO)
    return bool(led) and all(not present or rests(view, one, now) for one, present in led)


def keeper_rests(view: GraphView, pod: int, now: Now | None) -> bool:
    """Whether a pod without controller hangs on Services alone that lead to what was put to rest.

    So the pods of a cluster within the cluster hang on the Service of its API: put to sleep, it
    lets go of them, and brings them back when it wakes.
    """
    # WHY first: nearly every pod has a controller, and to read all owners costs more.
    if view.controller(pod) >= 0 or not view.has_owner(pod):
        return False
    return all(
        one.present
        and not one.controller
        and view.resource(one.row) == SERVICES
        and rests(view, one.row, now)
        for one in view.owners(pod)
    )


def remember_rest(view: GraphView, rows: Iterable[int], identity: str, now: Now) -> None:
    """Remember of workloads that go at rest who takes them, and which Services led to them.

    Of the others, that their namespace had something that ran.
    """
    for row in rows:
        facts = view.facts(row) if view.resource(row) in RESTABLE else None
        if not isinstance(facts, WorkloadFacts):
            continue
        if not _has_none(view, row, facts):
            view.history.writes.count(ran_in(view.namespace(row)), now)
            continue
        view.history.writes.count(cleared(identity), now)
        for one in services_behind(view, row):
            view.history.writes.count(_at_rest(view.uid(one)), now)


def serves_last(view: GraphView, row: int) -> bool:
    """Whether no other pods of a namespace serve behind a Service than those of a workload."""
    mine = frozenset(view.classes_controlled(row, REPLICA_SETS))
    return not any(
        kind not in mine
        and view.serving_alike(kind)
        and bool(view.services_of(view.one_alike(kind)))
        for kind in view.classes_in(view.namespace(row))
    )


def _has_none(view: GraphView, row: int, facts: WorkloadFacts) -> bool:
    """Whether a workload is to have no pods, and has none, its ReplicaSets neither."""
    return (
        facts.replicas == 0
        and not any(
            view.one_alike(kind) >= 0 for kind in view.classes_controlled(row, REPLICA_SETS)
        )
        and not any(_may_wake(view, scaler) for scaler in view.sources(row, Edge.SCALES))
    )


def _may_wake(view: GraphView, scaler: int) -> bool:
    """Whether an autoscaler brings a workload back from nothing, when there is something to do.

    WHY not one with a lower bound: it leaves alone what somebody scaled to nothing.
    """
    facts = view.facts(scaler)
    if not isinstance(facts, AutoscalerFacts) or view.terminating(scaler):
        return False
    return facts.least == 0 < facts.most


def _led_to_rest(view: GraphView, service: int, facts: ServiceFacts, now: Now | None) -> bool:
    """Whether a Service leads to a workload at rest, or led to one that has gone."""
    selector, namespace = facts.selector, view.namespace(service)
    if selector is None or selector.everything:
        return False
    uid = view.uid(service)
    if now is not None and view.history.writes.counted(_at_rest(uid), now, HOUR_S):
        return True
    rows = [row for kind in RESTABLE for row in view.rows(kind, namespace)]
    if len(rows) > WORKLOADS_ASKED:
        return False
    return any(
        isinstance(made := view.facts(row), WorkloadFacts)
        and selector.matches(_labels_asked(made))
        and _has_none(view, row, made)
        for row in rows
    )


def services_behind(view: GraphView, row: int) -> list[int]:
    """Return the Services that reach pods of a workload; of one of no size, those that would.

    WHY those: who turns to another first puts the old one to rest, and then takes it away.
    """
    kinds = view.classes_controlled(row, REPLICA_SETS)
    if any(view.one_alike(kind) >= 0 for kind in kinds):
        return services_reaching(view, kinds)
    facts = view.facts(row)
    if not isinstance(facts, WorkloadFacts) or facts.replicas != 0:
        return []
    return services_led(view, row)


def services_led(view: GraphView, row: int) -> list[int]:
    """Return the Services that reach every pod of a workload, those that it has not too."""
    facts = view.facts(row)
    if not isinstance(facts, WorkloadFacts):
        return []
    chosen = view.selecting(view.namespace(row), _labels_asked(facts))
    return [one for one in chosen if view.resource(one) == SERVICES]


def _labels_asked(facts: WorkloadFacts) -> dict[str, str]:
    """Return the labels that every pod of a workload bears, as its selector has them."""
    asked = facts.selector.requirements if facts.selector is not None else ()
    return {
        one.key: one.values[0]
        for one in asked
        if one.operator is Operator.IN and len(one.values) == 1
    }


def _at_rest(uid: str) -> str:
    """Name the counter of the workloads at rest that went from behind a Service."""
    return f"rested/{uid}"
