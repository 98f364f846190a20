"""Members that were marked to go, and those that a controller takes in their place."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing, workload
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NODES, PODS, Resource
from suture.model.objects import ClusterObject, CustomFacts, NodeFacts, PodFacts
from suture.model.request import Request

ROOMY = NodeFacts(ready=True, cpu_m=4000, memory_mi=8192, pods=110)
POOL = thing(Resource("fleet.example.com", "pools"), "main", "fleet", facts=CustomFacts(4))
SETS = [
    thing(
        Resource("fleet.example.com", "machinesets"), name, "fleet", owners=[owner(POOL)],
        facts=CustomFacts(size),
    )
    for name, size in (("old", 1), ("new", 2))
]  # fmt: skip
MACHINES = Resource("fleet.example.com", "machines")
MARK = "fleet.example.com/delete-machine"


def machine(name: str, of: ClusterObject) -> ClusterObject:
    said = CustomFacts(outside=f"cloud:///{name}")
    made = thing(MACHINES, name, "fleet", owners=[owner(of)], facts=said)
    return msgspec.structs.replace(made, finalizers=("fleet.example.com/drain",))


OLD = [machine(f"old-{at}", SETS[0]) for at in range(2)]
NEW = [machine(f"new-{at}", SETS[1]) for at in range(2)]


class Fleet:
    """A pool of two sets: two machines at work where one is wanted, and two that never joined."""

    def __init__(self, *, open_node: bool = True) -> None:
        node = msgspec.structs.replace(ROOMY, unschedulable=not open_node)
        web = [
            msgspec.structs.replace(one, facts=PodFacts(ready=True, node="node-0"))
            if one.key.resource == PODS
            else one
            for one in workload("web")
        ]
        nodes = thing(NODES, "node-0", facts=node), thing(NODES, "node-1", facts=ROOMY)
        self.view = GraphView(graph_of(POOL, SETS, OLD, NEW, nodes, web), History())

    def write(self, request: Request) -> None:
        remember(request, project(request, self.view), self.view, START)

    def mark(self, one: ClusterObject, *, on: bool = True, name: str = MARK) -> None:
        bodies = [{"metadata": {"annotations": {name: "now"}}}, {"metadata": {"annotations": {}}}]
        old, new = map(msgspec.json.encode, reversed(bodies) if on else bodies)
        self.write(update(one, one, bodies=(old, new)))

    def lower(self, subresource: str = "") -> None:
        bodies = (b'{"spec":{"replicas":5}}', b'{"spec":{"replicas":4}}')
        self.write(update(POOL, POOL, subresource=subresource, bodies=bodies))

    def wanted(self, one: ClusterObject, now: Now = START) -> tuple[int, int]:
        """Return whether the delete of a machine of node-0 is of one that is wanted and in use."""
        request = msgspec.structs.replace(delete(one), old_body=b'{"status":{"nodeName":"node-0"}}')
        told = effects(impact_of(request, self.view, now=now), ObjectsRemoved)
        (found,) = [each for each in told if each.resource == str(MACHINES)]
        return found.wanted, found.in_use


@pytest.mark.parametrize("subresource", ["", "scale"])
def test_another_than_the_marked_one_is_wanted(subresource: str) -> None:
    """Its set has one too many, and yet the number was lowered for another."""
    fleet = Fleet()
    assert fleet.wanted(OLD[0]) == (0, 0)
    fleet.mark(NEW[0])
    fleet.lower(subresource)
    assert fleet.wanted(OLD[0]) == (1, 1)


def test_what_was_marked_may_go() -> None:
    """And then the others of the parent go as they did before."""
    fleet = Fleet()
    fleet.mark(OLD[0])
    fleet.lower()
    assert fleet.wanted(OLD[0]) == (0, 0)
    fleet.write(delete(OLD[0]))
    assert fleet.wanted(OLD[1]) == (0, 0)


def test_a_mark_that_is_reviewed_twice_is_one() -> None:
    """A write that came too late is asked for again; and what was marked goes once."""
    fleet = Fleet()
    fleet.mark(NEW[0])
    fleet.mark(NEW[0])
    fleet.lower()
    fleet.write(delete(NEW[0]))
    assert fleet.wanted(OLD[0]) == (0, 0)


def test_a_mark_that_nothing_was_lowered_for() -> None:
    """It is for another day, and a rollout goes on."""
    fleet = Fleet()
    fleet.mark(NEW[0])
    assert fleet.wanted(OLD[0]) == (0, 0)


def test_a_mark_that_was_taken_off_again() -> None:
    """Nobody means any of them then."""
    fleet = Fleet()
    fleet.mark(NEW[0])
    fleet.lower()
    fleet.mark(NEW[0], on=False)
    assert fleet.wanted(OLD[0]) == (0, 0)


def test_a_mark_of_long_ago_is_forgotten() -> None:
    """After an hour a controller chooses as it did."""
    fleet = Fleet()
    fleet.mark(NEW[0])
    fleet.lower()
    later = Now(START.mono_ns + 2 * 3600 * 10**9, START.utc_s + 2 * 3600)
    assert fleet.wanted(OLD[0], later) == (0, 0)


def test_a_machine_whose_node_is_closed_may_go() -> None:
    """Somebody has chosen it, in another way."""
    fleet = Fleet(open_node=False)
    fleet.mark(NEW[0])
    fleet.lower()
    assert fleet.wanted(OLD[0])[1] == 0


@pytest.mark.parametrize("name", ["fleet.example.com/delete-protection", "fleet.example.com/seen"])
def test_other_annotations_mark_nothing(name: str) -> None:
    """Only what says that this kind of object is to be deleted."""
    fleet = Fleet()
    fleet.mark(NEW[0], name=name)
    fleet.lower()
    assert fleet.wanted(OLD[0]) == (0, 0)
