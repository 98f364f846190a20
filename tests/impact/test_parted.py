"""Policies by which the members of a set do not let each other in any more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import namespace, owner, thing, view_of
from support.writes import Body, body, trimmed
from suture.impact.effects import QuorumLost
from suture.model.names import NETWORK_POLICIES, PODS, SERVICES, STATEFUL_SETS
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts
from suture.model.selectors import Selector

LABELS = {"app": "queue"}


def service(name: str = "peers", **spec: object) -> ClusterObject:
    shape = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": LABELS, **spec}
    return trimmed(SERVICES, body("Service", name, "prod", spec=shape))


def members(count: int = 3, governed_by: str = "peers") -> list[ClusterObject]:
    facts = WorkloadFacts(count, Selector.of(LABELS), service=governed_by)
    above = thing(STATEFUL_SETS, "queue", "prod", facts=facts)
    pods = [
        thing(
            PODS,
            f"queue-{number}",
            "prod",
            labels=LABELS,
            owners=[owner(above)],
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(count)
    ]
    return [above, *pods]


def policy(*peers: Body, name: str = "shut") -> ClusterObject:
    rules = [{"from": list(peers)}] if peers else []
    spec = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules}
    made = body("NetworkPolicy", name, "prod", spec=spec)
    return trimmed(NETWORK_POLICIES, {**made, "apiVersion": "networking.k8s.io/v1"})


CLIENTS: Body = {"podSelector": {"matchLabels": {"queue-client": "true"}}}


def told(made: ClusterObject, *there: ClusterObject | list[ClusterObject]) -> list[tuple[int, int]]:
    view = view_of(namespace("prod"), *there)
    return [(x.before, x.after) for x in effects(impact_of(update(None, made), view), QuorumLost)]


def test_members_that_are_let_in_by_nobody() -> None:
    """The clients may ask; those who keep the queue may not."""
    assert told(policy(CLIENTS), service(), members()) == [(3, 1)]
    assert told(policy(), service(), members()) == [(3, 1)]


def test_members_that_let_each_other_in() -> None:
    assert (
        told(policy(CLIENTS, {"podSelector": {"matchLabels": LABELS}}), service(), members()) == []
    )
    carrying = [replace(one, labels={**LABELS, "queue-client": "true"}) for one in members()]
    assert told(policy(CLIENTS), service(), carrying) == []
    beside = policy({"podSelector": {}}, name="beside")
    assert told(policy(CLIENTS), service(), members(), beside) == []


@pytest.mark.parametrize(
    "there",
    [
        [service(publishNotReadyAddresses=False), *members()],
        [service(clusterIP="10.0.0.7"), *members()],
        [service(), *members(governed_by="another")],
        [service(), *members(2)],
    ],
    ids=["found-once-ready", "not-headless", "of-another-service", "two-members"],
)
def test_sets_of_which_it_is_not_known_that_they_call_each_other(
    there: list[ClusterObject],
) -> None:
    assert told(policy(CLIENTS), there) == []
