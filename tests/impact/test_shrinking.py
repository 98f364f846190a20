"""Smaller sizes behind Services that reach a part of the members: a role, or one of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import owner, thing, view_of
from suture.impact.effects import Confidence, EndpointsLost, QuorumLost, ServiceEmptied
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


def away(pods: list[ClusterObject], *numbers: int) -> list[ClusterObject]:
    """Return pods of which some are not Ready."""
    return [
        replace(one, facts=PodFacts(node="node-1")) if at in numbers else one
        for at, one in enumerate(pods)
    ]


ALL = thing(SERVICES, "orders", "prod", facts=ServiceFacts(Selector.of({"app": "orders"})))


@pytest.mark.parametrize(
    ("missing", "size", "lost"),
    [
        pytest.param((0,), 1, True, id="the one that stays is away"),
        pytest.param((1, 2), 1, False, id="those that go are away"),
        pytest.param((0,), 2, False, id="another one stays"),
        pytest.param((0,), 0, False, id="none is to stay"),
    ],
)
def test_who_asks_for_fewer_members_asks_for_ready_ones(
    missing: tuple[int, ...], size: int, *, lost: bool
) -> None:
    """That the parent wants fewer is no cause where none of those that stay is Ready."""
    parent = replace(DATABASE, facts=CustomFacts(wanted=size))
    owned = replace(SET, owners=(owner(parent),))
    fewer = replace(owned, facts=WorkloadFacts(size, Selector.of({"app": "orders"})))
    pods = away(members(owned, 0), *missing)
    impact = impact_of(update(owned, fewer), view_of(parent, owned, ALL, pods))
    told = [one.service.name for one in effects(impact, ServiceEmptied) if not one.explained]
    assert told == (["orders"] if lost else [])


@pytest.mark.parametrize(
    ("missing", "lost"),
    [
        pytest.param((0, 1), (3, 2, 1), id="two of three that stay are away"),
        pytest.param((0,), None, id="two of three are Ready"),
        pytest.param((3, 4), None, id="those that go are away"),
    ],
)
def test_a_set_that_is_made_smaller_keeps_a_majority(
    missing: tuple[int, ...], lost: tuple[int, int, int] | None
) -> None:
    """Of the members that stay by their numbers, whoever wants five to be three."""
    parent = replace(DATABASE, facts=CustomFacts(wanted=3))
    owned = replace(SET, owners=(owner(parent),), facts=WorkloadFacts(5))
    pods = [
        thing(
            PODS, f"orders-{number}", "prod", owners=[owner(owned)], labels={"app": "orders"},
            facts=PodFacts(ready=number not in missing, node="node-1"),
        )
        for number in range(5)
    ]  # fmt: skip
    request = update(owned, replace(owned, facts=WorkloadFacts(3)))
    told = effects(impact_of(request, view_of(parent, owned, pods)), QuorumLost)
    found = [(one.members, one.majority, one.after) for one in told if not one.explained]
    assert found == ([] if lost is None else [lost])
