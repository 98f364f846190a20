"""Services that answer for one thing while it is asked, and go when the answer was heard."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.effects import ServiceEmptied
from suture.model.edges import Edge, Need
from suture.model.names import INGRESSES, PODS, SERVICES, Resource
from suture.model.objects import PodFacts, ServiceFacts
from suture.model.selectors import Selector

CHALLENGES = Resource("acme.example.com", "challenges")
BY = operator("system:serviceaccount:certificates:issuer")
LABELS = {"solves": "one"}


def explained(
    *, ago_s: float = 60.0, route_by: str = BY.user.username, other: bool = False,
    kind: Resource = CHALLENGES,
) -> bool:  # fmt: skip
    """Return whether a Service may lose its only pod, that was made with it for one resource."""
    asks, another = thing(kind, "one", "shop"), thing(kind, "two", "shop")
    facts = ServiceFacts(Selector.of(LABELS), type="NodePort")
    front = thing(SERVICES, "solver", "shop", owners=[owner(asks)], facts=facts)
    pod = thing(
        PODS, "solver", "shop", labels=LABELS, owners=[owner(another if other else asks)],
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip
    route = replace(
        thing(INGRESSES, "solver", "shop", owners=[owner(asks)]),
        needs=(Need(Edge.ROUTES_TO, front.key),),
    )
    view = view_of(asks, another, front, pod, route)
    made = START.plus_s(-ago_s)
    for one, identity in ((front, BY.user.username), (pod, BY.user.username), (route, route_by)):
        view.history.note_created(one.uid, identity, "", one.key, made)
    impact = impact_of(delete(pod, by=BY), view, by=BY, now=START)
    (found,) = effects(impact, ServiceEmptied)
    return found.explained


def test_what_answered_goes_pod_first() -> None:
    """Made within the hour, by who takes it away, for the same resource."""
    assert explained()


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(explained(ago_s=4000.0), id="it-stands-for-longer"),
        pytest.param(explained(route_by="jane@example.com"), id="another-leads-there"),
        pytest.param(explained(other=True), id="for-another-resource"),
        pytest.param(explained(kind=SERVICES), id="for-none-of-its-own"),
    ],
)
def test_what_is_more_than_an_errand(*, found: bool) -> None:
    assert not found
