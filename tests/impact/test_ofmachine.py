"""Nodes that a machine's hand deletes while the machine that they name lives."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, operator, view_of
from support.writes import Body, body, trimmed, write
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor, IdentityKind, UserInfo
from suture.model.names import NODES, Resource
from suture.model.objects import CustomFacts, Ended

MACHINES = Resource("fleet.example.com", "machines")
BY = operator("system:serviceaccount:fleet:machine-controller")
PERSON = Actor(UserInfo("ops@example.com"), "ops", IdentityKind.PERSON, BY.stage)
NAMED: Body = {"fleet.example.com/machine": "pool-a-1"}


def node(notes: Body = NAMED, *, ready: str = "True", **more: object) -> Body:
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return body("Node", "ip-10-0-0-1", "", metadata={"annotations": notes, **more}, status=status)


def wanted(
    one: Body, *, by: Actor = BY, name: str = "pool-a-1", space: str = "fleet",
    facts: CustomFacts = CustomFacts(), deleted: float = 0.0,  # noqa: B008 a value
) -> bool:  # fmt: skip
    """Whether somebody still wants a node that is deleted beside a machine."""
    machine = trimmed(MACHINES, body("Machine", name, space, apiVersion="fleet.example.com/v1"))
    view = view_of(trimmed(NODES, one), replace(machine, facts=facts, deleted=deleted))
    told = effects(
        impact_of(write(NODES, one, None, by=by), view, by=by, now=START), ObjectsRemoved
    )
    (found,) = told
    assert found.wanted == found.in_use
    return found.wanted > 0


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param(NAMED, id="by-name"),
        pytest.param({"fleet.example.com/machine": "fleet/pool-a-1"}, id="by-namespace-and-name"),
        pytest.param({**NAMED, "fleet.example.com/cluster-namespace": "fleet"}, id="in-two-notes"),
    ],
)
def test_a_ready_node_of_a_machine_that_lives_is_wanted(notes: Body) -> None:
    """Its name was another's before; the controller looks nodes up by name."""
    assert wanted(node(notes))


def test_whose_machine_goes_failed_or_is_not_there_may_go() -> None:
    """The twin: the end of a machine is the end of its node."""
    assert not wanted(node(), deleted=1.0)
    assert not wanted(node(), facts=CustomFacts(ended=Ended.FAILED))
    assert not wanted(node(), name="pool-a-2")
    assert not wanted(node({**NAMED, "fleet.example.com/cluster-namespace": "other"}))
    assert not wanted(node({"other.example.com/machine": "pool-a-1"}))
    assert not wanted(node({}))


def test_a_dead_node_one_that_is_kept_and_a_person_are_let_through() -> None:
    """Its machine is repaired; its keeper drains it; a person knows why."""
    assert not wanted(node(ready="False"))
    assert not wanted(node(finalizers=["fleet.example.com/drain"]))
    assert not wanted(node(), by=PERSON)
