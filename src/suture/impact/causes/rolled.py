"""Workloads whose pods one actor had replaced lately, the old before the new are there.

Restarts and deliveries alike: that of several none comes back says that the next would not either.
Source: apps/v1 DeploymentStrategy (`Recreate`) and StatefulSet (a pod goes before its next).
"""

from __future__ import annotations

from suture.impact.ground.change import Rewritten
from suture.impact.ground.readers import ready_of
from suture.impact.ground.stamps import rolls_out
from suture.impact.ground.unavailable import unavailable_of
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, STATEFUL_SETS, WORKLOADS, ObjectKey
from suture.model.objects import WorkloadFacts
from suture.model.podtemplate import rollout_of
from suture.model.request import Request
from suture.model.writes import DAY_S, number


def takes_down(request: Request, made: Rewritten) -> bool:
    """Whether a write has a workload replace its pods, and take each before its next is there.

    All at once, of a Deployment, whatever its strategy is called.
    """
    kind, facts = made.after.key.resource, made.after.facts
    if kind not in {STATEFUL_SETS, DEPLOYMENTS} or not rolls_out(request, made):
        return False
    rollout = rollout_of(request.new_body)
    if kind == STATEFUL_SETS:
        return not rollout.partition
    wanted = (facts.replicas if isinstance(facts, WorkloadFacts) else None) or 1
    return unavailable_of(rollout, kind, wanted) >= wanted


def remember_rolled(request: Request, made: Rewritten, view: GraphView, now: Now) -> None:
    """Remember a workload that a write takes down, all of whose pods were Ready until then.

    WHY by its row: it is asked for within the day, and what it holds by then is asked again.
    """
    if made.row is not None and is_whole(view, made.row):
        identity = request.user.username
        view.history.writes.note(_place(identity), Deed(What.ROLLED, identity, made.row), now)


def rolled(view: GraphView, identity: str, now: Now) -> dict[int, float]:
    """Return the workloads that an actor has so taken down within the day, and how many s ago.

    Of the last 32 writes of that sort.
    """
    writes = view.history.writes
    return {
        row: ago_s
        for ago_s, row in writes.deeds(_place(identity), What.ROLLED, now, DAY_S)
        if view.alive(row)
        and not view.gone(row)
        and view.resource(row) in WORKLOADS
        and writes.last(view.key(row), What.WROTE, now, DAY_S) == number(identity)
    }


def is_whole(view: GraphView, row: int) -> bool:
    """Whether a workload wants pods, and all of them are Ready."""
    facts = view.facts(row)
    return isinstance(facts, WorkloadFacts) and 0 < (facts.replicas or 0) <= ready_of(view, row)


def _place(identity: str) -> ObjectKey:
    """Return the name, which no object can have, under which it is remembered of an actor."""
    return ObjectKey(DEPLOYMENTS, "", f"/{identity}")
