"""Nodes that a label hides from the load balancers, until none is left to send to.

Beside `capacity`: nothing moves for this label, and what runs stays. One node hidden is ordinary;
with the last one the traffic from outside ends everywhere, while each pod is well.
Source: the service controller of the cloud providers, and speakers that announce addresses
themselves: a node with the label is no backend of any balancer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from suture.impact.ground.change import Rewritten
from suture.model.graph import GraphView
from suture.model.names import NODES, SERVICES
from suture.model.objects import LOAD_BALANCER, NodeFacts, ServiceFacts

HIDES: Final = "node.kubernetes.io/exclude-from-external-load-balancers"
"""The label. SOURCE: Kubernetes, well-known labels; whatever its value, by its presence alone."""

NODES_LOOKED_AT: Final = 2_000
"""LIMIT: nodes that are looked through for one that fits: 2 ms."""


def unreached(view: GraphView, made: Rewritten) -> list[int]:
    """Return the Services with an address outside that no balancer could send a node for.

    Those of a cluster whose last ready node without the label gets it now.
    """
    before, after = made.before, made.after
    if before is None or HIDES not in after.labels or HIDES in before.labels:
        return []
    if not _is_ready(view, made.row) or _others_left(view, made.row):
        return []
    services = view.rows(SERVICES)
    numbers, shared = view.shared_facts(services)
    given = {
        number
        for number, facts in shared.items()
        if isinstance(facts, ServiceFacts) and facts.type == LOAD_BALANCER and facts.addresses
    }
    return [row for row, number in zip(services, numbers, strict=True) if number in given]


def _is_ready(view: GraphView, row: int | None) -> bool:
    facts = view.facts(row) if row is not None else None
    return isinstance(facts, NodeFacts) and facts.ready


def _others_left(view: GraphView, hidden: int | None) -> bool:
    """Whether another ready node is sent to."""
    return another_node(
        view, hidden, lambda row: HIDES not in view.labels(row) and _is_ready(view, row)
    )


def another_node(view: GraphView, one: int | None, fits: Callable[[int], bool]) -> bool:
    """Whether a node beside one fits; of more than are looked through, one is believed to."""
    nodes = view.rows(NODES)
    return len(nodes) > NODES_LOOKED_AT or any(row != one and fits(row) for row in nodes)
