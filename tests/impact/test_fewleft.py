"""Custom resources of which another one wants a number: whoever takes most of them at once."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.graph import GraphView
from suture.model.names import NODES, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended, NodeFacts

PLANES = Resource("machines.example.com", "controlplanes")
MACHINES = Resource("machines.example.com", "machines")


def plane(wants: int | None = 3) -> ClusterObject:
    return thing(PLANES, "prod", "fleet", facts=CustomFacts(wanted=wants))


def machine(number: int, of: ClusterObject, *, deleted: float = 0.0) -> ClusterObject:
    made = thing(
        MACHINES, f"prod-{number}", "fleet", owners=[owner(of)], facts=CustomFacts(),
        deleted=deleted,
    )  # fmt: skip
    return msgspec.structs.replace(made, finalizers=("machines.example.com/off",))


def kept(view: GraphView, gone: ClusterObject) -> int:
    found = effects(impact_of(delete(gone), view, now=START), ObjectsRemoved)
    return sum(one.in_use for one in found if one.resource == str(MACHINES))


def fleet(wants: int | None = 3, there: int = 3, going: int = 0) -> tuple[GraphView, ClusterObject]:
    """Make a control plane with its machines, the first of which are going; the last goes next."""
    of = plane(wants)
    machines = [machine(at, of, deleted=float(at < going)) for at in range(there)]
    return view_of(of, machines), machines[-1]


@pytest.mark.parametrize(
    ("wants", "there", "going", "found"),
    [
        pytest.param(3, 3, 0, 0, id="the-first-of-three"),
        pytest.param(3, 3, 1, 1, id="the-second-of-three"),
        pytest.param(2, 2, 1, 1, id="the-last-of-two"),
        pytest.param(5, 5, 1, 0, id="the-second-of-five"),
        pytest.param(5, 5, 2, 1, id="the-third-of-five"),
        pytest.param(3, 5, 2, 0, id="others-were-brought-first"),
        pytest.param(1, 1, 0, 0, id="the-only-one"),
        pytest.param(None, 3, 2, 0, id="of-no-number"),
        pytest.param(7, 1, 0, 0, id="not-what-is-counted"),
    ],
)
def test_fewer_than_half_are_left(wants: int | None, there: int, going: int, found: int) -> None:
    assert kept(*fleet(wants, there, going)) == found


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        pytest.param([{"type": "NodeHealthy", "status": "False"}], 0, id="its-node-is-not-well"),
        pytest.param([{"type": "Ready", "status": "False"}], 0, id="not-ready"),
        pytest.param([{"type": "Ready", "status": "Unknown"}], 1, id="nobody-knows"),
        pytest.param([{"type": "Ready", "status": "True"}], 1, id="well"),
        pytest.param([{"type": "Paused", "status": "False"}], 1, id="something-else"),
    ],
)
def test_what_says_that_it_is_not_well_is_replaced(
    conditions: list[dict[str, str]], found: int
) -> None:
    view, last = fleet(3, 3, 1)
    body = msgspec.json.encode({"status": {"conditions": conditions}})
    request = msgspec.structs.replace(delete(last), old_body=body)
    told = effects(impact_of(request, view, now=START), ObjectsRemoved)
    assert sum(one.in_use for one in told if one.resource == str(MACHINES)) == found


@pytest.mark.parametrize(("ready", "found"), [(False, 0), (True, 1)])
def test_a_machine_of_a_dead_node_is_replaced(*, ready: bool, found: int) -> None:
    """Its cloud took it back; its node has had no heartbeat since."""
    node = thing(NODES, "worker-9", facts=NodeFacts(ready=ready))
    of = plane()
    known = CustomFacts(outside="cloud:///zone/i-0abc")
    machines = [
        msgspec.structs.replace(machine(at, of, deleted=float(at < 1)), facts=known)
        for at in range(3)
    ]
    view, last = view_of(of, machines, node), machines[-1]
    body = msgspec.json.encode({"status": {"node": "worker-9"}})
    request = msgspec.structs.replace(delete(last), old_body=body)
    told = effects(impact_of(request, view, now=START), ObjectsRemoved)
    assert sum(one.in_use for one in told if one.resource == str(MACHINES)) == found


def test_those_that_have_gone_within_the_hour_count_as_well() -> None:
    """They had nothing to wait for."""
    of = plane()
    left = [machine(at, of) for at in range(2)]
    view = view_of(of, left)
    assert kept(view, left[0]) == 0
    view.history.writes.count(taken_from(of.uid, MACHINES), START)
    assert kept(view, left[0]) == 1


def test_what_was_taken_is_remembered() -> None:
    view, last = fleet()
    request = delete(last, by=operator())
    remember(request, project(request, view), view, START)
    assert view.history.writes.counted(taken_from(plane().uid, MACHINES), START, 3600) == 1


def test_a_machine_whose_work_is_over() -> None:
    of = plane()
    over = msgspec.structs.replace(machine(2, of), facts=CustomFacts(ended=Ended.SURE))
    view = view_of(of, machine(0, of, deleted=1.0), machine(1, of), over)
    assert kept(view, over) == 0


def test_records_that_nothing_holds_are_moved_elsewhere() -> None:
    """Whoever moves them to another cluster takes their finalizers off first."""
    view, last = fleet(3, 3, 1)
    assert kept(view, last) == 1
    of = plane()
    moved = msgspec.structs.replace(machine(2, of), finalizers=())
    assert kept(view_of(of, machine(0, of, deleted=1.0), machine(1, of), moved), moved) == 0
