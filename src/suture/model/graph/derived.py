"""Services that an object's facts name: links even where its needs do not repeat them.

Needs are read from JSON; facts can also be written down by hand. Both say the same of a Service.
"""

from __future__ import annotations

from typing import Final

from suture.model.edges import Edge, Need
from suture.model.facts import PolicyBindingFacts
from suture.model.names import SERVICES, ObjectKey
from suture.model.objects import (
    ApiServiceFacts,
    ClusterObject,
    CrdFacts,
    RouteFacts,
    SliceFacts,
    WebhookFacts,
    WorkloadFacts,
)
from suture.model.references import services_referred

REFERS: Final = frozenset(
    {
        Edge.ROUTES_TO,
        Edge.WEBHOOK,
        Edge.API_SERVICE,
        Edge.CONVERSION,
        Edge.GOVERNING_SERVICE,
    }
)
"""The edges by which an object sends calls, traffic or names through a Service."""

_EDGE_OF: dict[type, Edge] = {
    RouteFacts: Edge.ROUTES_TO,
    WebhookFacts: Edge.WEBHOOK,
    ApiServiceFacts: Edge.API_SERVICE,
    CrdFacts: Edge.CONVERSION,
    WorkloadFacts: Edge.GOVERNING_SERVICE,
}


DERIVES: frozenset[type] = frozenset({*_EDGE_OF, SliceFacts, PolicyBindingFacts})
"""Facts that name Services, or the parameters of a policy."""


def derived_needs(thing: ClusterObject) -> tuple[Need, ...]:
    """Return the needs that only an object's facts tell of."""
    facts = thing.facts
    if type(facts) not in DERIVES:
        return ()
    named = set()
    if isinstance(facts, SliceFacts) and facts.service:
        named.add((Edge.SLICE_OF, thing.key.namespace, facts.service))
    edge = _EDGE_OF.get(type(facts))
    if edge is not None:
        named |= {(edge, ref.namespace, ref.name) for ref in services_referred(thing)}
    if not named:
        return ()
    told = {(need.edge, need.target) for need in thing.needs}
    wanted = (
        Need(one, ObjectKey(SERVICES, namespace, name)) for one, namespace, name in sorted(named)
    )
    return tuple(need for need in wanted if (need.edge, need.target) not in told)
