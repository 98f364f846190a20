"""Pods of custom resources that a person takes one by one, as those before come back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.effects import ObjectsRemoved, PodsLost
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.names import PODS, SERVICES, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, ServiceFacts
from suture.model.selectors import Selector

SHARDS = Resource("shards.example.com", "shards")
OPERATOR = operator("system:serviceaccount:shards:shards-operator")
BY = Actor(UserInfo("sre@example.com"), "sre", IdentityKind.PERSON, Stage.ENFORCE)
NOW = START.plus_s(300)


def shard(name: str, *, back: int = 0, ready: int = 3) -> list[ClusterObject]:
    """Make a custom resource, its pods and their Service; the last of its pods are new."""
    parent = thing(SHARDS, name, "prod", facts=CustomFacts())
    facing = thing(SERVICES, name, "prod", facts=ServiceFacts(Selector.of({"shard": name})))
    pods = [
        thing(
            PODS,
            f"{name}-{number}",
            "prod",
            labels={"shard": name},
            owners=[owner(parent)],
            facts=PodFacts(ready=number < ready, node="node-1"),
        )
        for number in range(3)
    ]
    new = [replace(one, created=START.utc_s) for one in pods[3 - back :]] if back else []
    return [parent, facing, *pods[: 3 - back], *new]


def is_dip(
    *shards: list[ClusterObject], taken: tuple[int, ...], by: Actor = BY, maker: Actor = OPERATOR
) -> bool:
    """Whether the first pod of the first counts as one that comes back."""
    view = view_of(*shards)
    for (parent, *rest), count in zip(shards, taken, strict=True):
        if count:
            view.history.writes.count(taken_from(parent.uid, PODS), START, count)
        for one in rest:
            if one.key.resource == PODS and one.created == START.utc_s:
                view.history.note_created(one.uid, maker.user.username, "", one.key, START)
    impact = impact_of(delete(shards[0][2], by=by), view, by=by, now=NOW)
    (removed,), (lost,) = effects(impact, ObjectsRemoved), effects(impact, PodsLost)
    assert (removed.counted, lost.lasting) == ((0, 0) if removed.self_healing else (1, 1))
    assert lost.self_healing == removed.self_healing
    return removed.self_healing == 1


def test_the_next_is_a_dip_where_those_before_are_back() -> None:
    """The first counts as lost: what an operator does is a hope until it was seen."""
    assert not is_dip(shard("a"), taken=(0,))
    assert is_dip(shard("a", back=1), taken=(1,))
    assert is_dip(shard("a"), shard("b", back=2), taken=(0, 2))


@pytest.mark.parametrize(
    "lasts",
    [
        pytest.param(lambda: is_dip(shard("a"), taken=(1,)), id="not-back"),
        pytest.param(lambda: is_dip(shard("a", back=1), taken=(2,)), id="one-of-two-back"),
        pytest.param(lambda: is_dip(shard("a"), shard("b"), taken=(0, 1)), id="another-lacks"),
        pytest.param(lambda: is_dip(shard("a", back=1, ready=2), taken=(1,)), id="not-ready"),
        pytest.param(
            lambda: is_dip(shard("a", back=1), taken=(1,), by=operator()), id="by-a-machine"
        ),
        pytest.param(
            lambda: is_dip(shard("a", back=1), taken=(1,), maker=BY), id="made-by-themselves"
        ),
    ],
)
def test_what_was_not_seen_to_come_back_is_lost(lasts: Callable[[], bool]) -> None:
    """Whatever was taken from a resource of the type has to be there again, by somebody else."""
    assert not lasts()
