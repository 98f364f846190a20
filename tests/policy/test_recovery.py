"""Writes that mend: they look like disasters, and the pack lets them through at its defaults."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from support.cluster import (
    START,
    delete,
    graph_of,
    namespace,
    operator,
    service,
    webhook,
    workload,
)
from suture.adapters.files import load_policies
from suture.impact.causes.counters import creator
from suture.judge import World, judge
from suture.model.actor import Actor
from suture.model.names import SERVICES, Operation
from suture.model.objects import ClusterObject, ServiceRef, WorkloadFacts
from suture.model.request import Request
from suture.policy.compile import PolicySet
from suture.verdict import Answer, Verdict

BACKEND = ServiceRef("ops", "broken")
FAST = 1_200
"""More in a minute than one actor may make, at the defaults of the pack."""


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def world_of(pack: PolicySet, *things: ClusterObject | Iterable[ClusterObject]) -> World:
    return World(pack, graph=graph_of(*things))


def asked(world: World, request: Request, by: Actor | None = None) -> Verdict:
    return judge(request, by or operator(), world, START.plus_s(60)).verdict


def made(one: ClusterObject) -> Request:
    """Ask for the creation of an object."""
    request = delete(one)
    return msgspec.structs.replace(request, operation=Operation.CREATE, old=None, new=one)


def scaled_to_zero(deployment: ClusterObject) -> Request:
    facts = deployment.facts
    assert isinstance(facts, WorkloadFacts)
    none = msgspec.structs.replace(facts, replicas=0)
    after = msgspec.structs.replace(deployment, facts=none)
    request = delete(deployment)
    return msgspec.structs.replace(
        request, operation=Operation.UPDATE, new=after, scale_from=facts.replicas, scale_to=0
    )


def pace(world: World) -> None:
    """Let the operator have made much within the minute."""
    spot = creator(operator().user.username, SERVICES)
    world.history.writes.count(spot, START.plus_s(59), FAST)


def test_what_another_actor_took_away_is_made_again_at_any_pace(pack: PolicySet) -> None:
    """And what nobody was seen to take away is growth."""
    world = world_of(pack, namespace("prod"))
    pace(world)
    gone = service("gone")
    world.history.note_removed(gone.uid, gone.key, START, by="system:serviceaccount:x:sweeper")

    assert asked(world, made(gone)).answer is Answer.ALLOW
    assert asked(world, made(service("new"))).denies


def test_what_the_actor_took_away_itself_is_no_recovery(pack: PolicySet) -> None:
    """An operator that deletes and makes anew without end is a loop."""
    world = world_of(pack, namespace("prod"))
    pace(world)
    gone = service("gone")
    world.history.note_removed(gone.uid, gone.key, START, by=operator().user.username)

    assert asked(world, made(gone)).denies


def test_a_broken_operator_is_scaled_to_zero(pack: PolicySet) -> None:
    """None of its pods is Ready, its webhook fails already: nothing is lost by stopping it."""
    broken = workload("broken", "ops", replicas=2, ready=0)
    world = world_of(
        pack, namespace("ops"), broken, service("broken", "ops"), webhook("hook", BACKEND)
    )
    assert not asked(world, scaled_to_zero(broken[0])).denies


def test_a_wild_operator_is_scaled_to_zero(pack: PolicySet) -> None:
    """It runs and serves nobody: stopping it is how its harm ends."""
    wild = workload("wild", "ops", replicas=1)
    assert not asked(world_of(pack, namespace("ops"), wild), scaled_to_zero(wild[0])).denies


def test_one_that_admission_needs_is_not(pack: PolicySet) -> None:
    """The look-alike: its webhook works, and fails closed without it."""
    needed = workload("broken", "ops", replicas=2)
    world = world_of(
        pack, namespace("ops"), needed, service("broken", "ops"), webhook("hook", BACKEND)
    )
    assert asked(world, scaled_to_zero(needed[0])).denies


@pytest.mark.parametrize("backend", ["absent", "no-endpoints"])
def test_a_dead_fail_closed_webhook_is_removed(pack: PolicySet, backend: str) -> None:
    """By whoever comes to help: it protects nothing, and everything waits for it."""
    hook = webhook("hook", BACKEND)
    there = [] if backend == "absent" else [service("broken", "ops")]
    world = world_of(pack, namespace("ops"), there, hook)
    for number in range(8):
        world.graph.put(webhook(f"hook-{number}", BACKEND))
    assert not asked(world, delete(hook)).denies
    for number in range(8):
        assert not asked(world, delete(webhook(f"hook-{number}", BACKEND))).denies


def test_its_pods_are_removed_too(pack: PolicySet) -> None:
    """One after the other: none of them is Ready."""
    broken = workload("broken", "ops", replicas=2, ready=0)
    world = world_of(pack, namespace("ops"), service("broken", "ops"), broken)
    for pod in broken[2:]:
        assert not asked(world, delete(pod)).denies
