"""Work that is over: what a run, a job or a workflow of its own kind leaves behind when it ends.

Beside `parents`, which tells how many children one wants: of a parent whose work is over nothing is
wanted any more, and to clear it away is what its controller is there for. Data is not among it.
Source: the status of the parent, see `wire.endings`; batch/v1 Job, whose pods are nobody's either.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.explained import CLIMBED
from suture.impact.causes.parents import in_work
from suture.impact.ground.cascade import closure
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    DAEMON_SETS,
    DEPLOYMENTS,
    PODS,
    SNAPSHOT_CONTENTS,
    STATEFUL_SETS,
)
from suture.model.objects import CustomFacts, Ended, WorkloadFacts

SNAPSHOTS: Final = "snapshot.storage.k8s.io"
LEFT: Final = 256
"""LIMIT: objects below a parent that are asked whether they still run, 1 us each; what has more and
does not say when it ended is not believed."""


def is_over(view: GraphView, parent: int) -> bool:
    """Whether an object, or one above it that controls it, is custom work that has ended.

    What does not say when it ended is believed where nothing below it speaks against that: a
    workload that is there to run for ever, or, where it failed, any pod that is Ready.
    """
    return any(_is_over(view, one) for one in (parent, *view.controllers(parent, CLIMBED)))


def _is_over(view: GraphView, parent: int) -> bool:
    facts = view.facts(parent)
    if not isinstance(facts, CustomFacts) or facts.ended is Ended.NO or view.gone(parent):
        return False
    if facts.ended is Ended.SURE:
        return True
    below = closure(view, (parent,))
    return len(below) <= LEFT and not any(_runs(view, one, facts.ended) for one in below)


def _runs(view: GraphView, row: int, ended: Ended) -> bool:
    """Whether an object belies a parent that says that it has ended."""
    if view.resource(row) == PODS:
        return ended is Ended.FAILED and view.serves(row)
    facts = view.facts(row)
    return (
        isinstance(facts, WorkloadFacts)
        and view.resource(row) in {DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS}
        and facts.replicas != 0
    )


def outlived(view: GraphView, row: int) -> bool:
    """Whether an object is of no use once the work is over: no snapshot, no claim that is used.

    Nor what stands for a thing outside the cluster, which may be what the work was for.
    """
    resource = view.resource(row)
    if resource == CLAIMS:
        return not in_work(view, row)
    if resource == SNAPSHOT_CONTENTS or resource.group == SNAPSHOTS:
        return False
    facts = view.facts(row)
    return not (isinstance(facts, CustomFacts) and facts.outside)
