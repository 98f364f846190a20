"""Old ReplicaSets that a Deployment no longer keeps, once a new template has rolled out.

Beside `rollout`, which tells of pods: these go as objects, with no pods in them by then.
Source: deployment controller `cleanupDeployment`: when a rollout is complete, the oldest of the old
ReplicaSets go, as many as are beyond the history that the Deployment keeps.
"""

from __future__ import annotations

from suture.impact.ground.cascade import closure
from suture.impact.rollout import pods_under, sets_of
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, PODS
from suture.model.objects import ClusterObject, WorkloadFacts
from suture.model.podtemplate import rollout_of


def outdated(view: GraphView, row: int, after: ClusterObject, body: bytes) -> tuple[int, ...]:
    """Return the ReplicaSets that a new template of a Deployment puts beyond its history.

    And what goes for want of them as an owner, the ones first; pods that are rolled out go as such.
    None where fewer pods than it wants are Ready now: its next rollout may not come to an end
    either. Where it is held up they go when it goes on.
    """
    before = view.facts(row)
    if (
        after.key.resource != DEPLOYMENTS
        or not isinstance(before, WorkloadFacts)
        or not isinstance(after.facts, WorkloadFacts)
        or before.template_hash == after.facts.template_hash
    ):
        return ()
    sets = sets_of(view, row)
    rollout = rollout_of(body)
    surplus = len(sets) - rollout.history
    if surplus <= 0 or rollout.paused or not _may_end(view, sets, before.replicas or 0):
        return ()
    sets.sort(key=lambda one: (view.created(one), view.name(one)))
    gone = [one for one in sets[:surplus] if not view.terminating(one)]
    if not gone:
        return ()
    along = closure(view, gone)
    if row in along:
        # WHY all: the Deployment hangs on its own history, and nobody makes its pods anew then.
        return (*gone, *along)
    return (*gone, *(one for one in along if view.resource(one) != PODS))


def _may_end(view: GraphView, sets: list[int], wanted: int) -> bool:
    """Whether a rollout of these ReplicaSets may come to an end: it does so when all is Ready."""
    pods = [pod for one in sets for pod in pods_under(view, one)]
    return len(pods) >= wanted and all(map(view.serves, pods))
