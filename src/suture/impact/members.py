"""Which workload a custom resource sizes, and by which of its numbers: members that it asks for.

Beside `updates`, which reads sizes of workloads. A controller makes what is asked for true a moment
later, and then rightly: who lowers the number is who takes the members away.
Source: custom resources' `spec.replicas` and scale, as their definitions say; the counts that have
other names are believed where they were just as many as there are members.
"""

from __future__ import annotations

import re
from typing import Final

from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.model.difference import counts_changed
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import DEPLOYMENTS, STATEFUL_SETS
from suture.model.objects import WorkloadFacts
from suture.model.request import Request

_COUNTS: Final = re.compile(
    r"(?i)(number_?of_?)?(size|count|replicas?|members?|instances?|nodes?|servers?|brokers?|peers?)"
    r"|(cluster|replica|instance|node|member|server|broker|peer)s?_?(count|number|size)"
)
"""How the top of a spec calls the number of its members."""

ASKED: Final = 256
"""LIMIT: children of a custom resource that are asked for their size, 1 us each."""


def sized_below(view: GraphView, parent: int, before: int, after: int) -> Resized:
    """Return what a number that a custom resource asks for sizes: its own pods, or its one set.

    That is the only workload below it that is of this size.
    """
    if not view.classes_owned(parent):
        sets = _sets(view, parent, before)
        if len(sets) == 1:
            return Resized(sets[0], before, after, asked=True)
    return Resized(parent, before, after)


def counted_otherwise(request: Request, view: GraphView, parent: int) -> Resized | None:
    """Return what a lower number of another name takes members from, where they were as many."""
    if not is_custom(view.resource(parent)):
        return None
    if not (view.classes_owned(parent) or view.children_of(parent)):
        return None
    for name, before, after in counts_changed(request.old_body, request.new_body):
        if not after < before or not _COUNTS.fullmatch(name):
            continue
        found = sized_below(view, parent, before, after)
        if found.asked or _members(view, parent) == before:
            return found
    return None


def _members(view: GraphView, parent: int) -> int:
    """Return how many running pods a custom resource keeps itself."""
    return sum(view.running_alike(kind)[0] for kind in view.classes_controlled(parent))


def _sets(view: GraphView, parent: int, size: int) -> list[int]:
    children = dict.fromkeys([*view.children_of(parent), *view.sources(parent, Edge.PARENT)])
    return [
        row
        for row in view.staying(list(children)[:ASKED])
        if view.resource(row) in {DEPLOYMENTS, STATEFUL_SETS}
        and not view.terminating(row)
        and isinstance(facts := view.facts(row), WorkloadFacts)
        and facts.replicas == size
    ]
