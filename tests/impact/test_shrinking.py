"""Smaller sizes behind Services that reach a part of the members: a role, or one of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import owner, thing, view_of
from suture.impact.effects import Confidence, EndpointsLost, ServiceEmptied
from suture.model.names import PODS, SERVICES, STATEFUL_SETS, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, ServiceFacts, WorkloadFacts
from suture.model.selectors import Selector

DATABASES = Resource("db.example.com", "databases")
DATABASE = thing(DATABASES, "orders", "prod", facts=CustomFacts(wanted=3))
SET = thing(STATEFUL_SETS, "orders", "prod", facts=WorkloadFacts(3, Selector.of({"app": "orders"})))


def facing(role: str) -> ClusterObject:
    selects = ServiceFacts(Selector.of({"app": "orders", "role": role}))
    return thing(SERVICES, f"orders-{role}", "prod", facts=selects)


SERVED = [facing("primary"), facing("replica")]


def members(of: ClusterObject, primary: int, *, first: int = 0) -> list[ClusterObject]:
    """Return three members, one of which is the primary."""
    return [
        thing(
            PODS, f"orders-{number}", "prod", owners=[owner(of)],
            labels={"app": "orders", "role": "primary" if number == primary else "replica"},
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in range(first, first + 3)
    ]  # fmt: skip


def emptied(of: ClusterObject, size: int, pods: list[ClusterObject]) -> list[str]:
    """Return the Services that are left with none where three members become `size`."""
    facts = of.facts
    assert isinstance(facts, WorkloadFacts | CustomFacts)
    fewer = (
        replace(facts, replicas=size)
        if isinstance(facts, WorkloadFacts)
        else replace(facts, wanted=size)
    )
    view = view_of(of, SERVED, pods)
    impact = impact_of(update(of, replace(of, facts=fewer)), view)
    return [one.service.name for one in effects(impact, ServiceEmptied) if not one.explained]


@pytest.mark.parametrize(
    ("primary", "size", "lost"),
    [
        pytest.param(0, 2, [], id="a replica goes"),
        pytest.param(2, 2, ["orders-primary"], id="the primary goes"),
        pytest.param(0, 1, ["orders-replica"], id="both replicas go"),
    ],
)
def test_a_stateful_set_lets_go_of_its_last_members(
    primary: int, size: int, lost: list[str]
) -> None:
    """By their numbers, whatever role they have."""
    assert emptied(SET, size, members(SET, primary)) == lost


def test_what_goes_is_known_exactly() -> None:
    """A loss of one of two replicas, and nothing of the primary's."""
    fewer = replace(SET, facts=WorkloadFacts(2, Selector.of({"app": "orders"})))
    impact = impact_of(update(SET, fewer), view_of(SET, SERVED, members(SET, 0)))
    (lost,) = effects(impact, EndpointsLost)
    assert (lost.service.name, lost.after, lost.confidence) == (
        "orders-replica", 1, Confidence.EXACT,
    )  # fmt: skip


def test_members_that_are_counted_from_another_number() -> None:
    """Then it is not told which go, and a Service may lose any."""
    assert emptied(SET, 2, members(SET, 1, first=1)) == ["orders-primary"]


@pytest.mark.parametrize(
    ("size", "lost"),
    [
        pytest.param(2, [], id="one fewer"),
        pytest.param(1, ["orders-replica"], id="one is left, and it is the primary"),
        pytest.param(0, ["orders-primary", "orders-replica"], id="none"),
    ],
)
def test_an_operator_keeps_the_member_with_a_role(size: int, lost: list[str]) -> None:
    """Who asks a custom resource for fewer does not say which: the rarest role stays longest."""
    assert emptied(DATABASE, size, members(DATABASE, 2)) == lost
