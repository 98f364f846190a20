"""Claims and volumes of nodes that are gone: lost already, whoever waits for them."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import DataLost, ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, NODES, PODS, VOLUMES, ObjectKey
from suture.model.objects import ClaimFacts, ClusterObject, NodeFacts, PodFacts
from suture.model.placement import HOSTNAME

HOST = ObjectKey(NODES, "", "disk-1")
CLAIM = thing(CLAIMS, "data-db-0", "prod", facts=ClaimFacts(bound=True, volume="pv-1"))
OTHER = thing(NODES, "disk-2", facts=NodeFacts(ready=True))
BACK = thing(NODES, "disk-1", facts=NodeFacts(ready=False))
RENAMED = thing(NODES, "i-0abc", labels={HOSTNAME: "disk-1"}, facts=NodeFacts(ready=True))


def needing(one: ClusterObject, *needs: Need) -> ClusterObject:
    return msgspec.structs.replace(one, needs=needs)


def volume(*hosts: str) -> ClusterObject:
    made = thing(VOLUMES, "pv-1", facts=VolumeFacts("Delete", "Bound", hosts))
    return needing(made, Need(Edge.BOUND_CLAIM, CLAIM.key))


def pod(node: str = "") -> ClusterObject:
    """Make a pod that names the claim; without a node it waits for one."""
    made = thing(PODS, "db-0", "prod", facts=PodFacts(node=node))
    needs = [Need(Edge.CLAIM, CLAIM.key)]
    if node:
        needs.append(Need(Edge.NODE, ObjectKey(NODES, "", node)))
    return needing(made, *needs)


def explained(
    target: ClusterObject, *things: ClusterObject, seen: Now | None = None, now: Now = START
) -> bool:
    """Whether the end of a claim or volume is; `seen`: when its node was seen to go."""
    history = History()
    if seen is not None:
        history.note_removed("uid-of-disk-1", HOST, seen)
    view = GraphView(graph_of(CLAIM, OTHER, *things), history)
    impact = impact_of(delete(target), view, now=now)
    (lost,) = effects(impact, DataLost)
    (gone,) = (one for one in effects(impact, ObjectsRemoved) if one.victims[0].uid == target.uid)
    assert lost.explained == bool(gone.explained)
    return lost.explained


def test_what_was_on_a_node_that_is_gone() -> None:
    """The pods that wait for it wait in vain."""
    assert explained(CLAIM, volume("disk-1"), pod())
    assert explained(volume("disk-1"), volume("disk-1"), pod())


@pytest.mark.parametrize(
    ("things", "seen_s"),
    [
        pytest.param([volume("disk-1"), BACK], None, id="the node is there, ready or not"),
        pytest.param([volume("disk-1"), RENAMED], None, id="it has another name"),
        pytest.param([volume("disk-1", "disk-2")], None, id="another node has it too"),
        pytest.param([volume()], None, id="it is bound to no node"),
        pytest.param([volume("disk-1"), pod("disk-1")], None, id="a pod runs with it yet"),
        pytest.param([volume("disk-1")], -60, id="the node went a minute ago"),
        pytest.param([], None, id="the volume is not known"),
    ],
)
def test_what_may_be_of_use_again(things: list[ClusterObject], seen_s: float | None) -> None:
    """A pod that waits for room comes back to its data."""
    waiting = [] if any(one.key.resource == PODS for one in things) else [pod()]
    seen = None if seen_s is None else START.plus_s(seen_s)

    assert not explained(CLAIM, *things, *waiting, seen=seen)


@pytest.mark.parametrize(
    ("ready", "others", "ago_s", "gone"),
    [
        pytest.param(False, 0, 90.0, True, id="dead"),
        pytest.param(False, 0, 30.0, False, id="just-now"),
        pytest.param(False, 1, 90.0, False, id="one-of-several"),
        pytest.param(True, 0, 90.0, False, id="well"),
    ],
)
def test_a_node_that_was_dead_when_it_went(
    others: int, ago_s: float, *, ready: bool, gone: bool
) -> None:
    """Its machine is no more; where several die, power is away, and their disks come back."""
    nodes = [
        thing(NODES, name, facts=NodeFacts(ready=ready))
        for name in ("disk-1", "disk-3")[: 1 + others]
    ]
    history, then = History(), START.plus_s(-ago_s)
    before = GraphView(graph_of(nodes), history)
    for one in nodes:
        request = delete(one)
        remember(request, project(request, before), before, then)
        history.note_removed(one.uid, one.key, then)
    view = GraphView(graph_of(CLAIM, OTHER, volume("disk-1"), pod()), history)
    (lost,) = effects(impact_of(delete(CLAIM), view, now=START), DataLost)
    assert lost.explained is gone


def test_a_node_that_went_long_ago_does_not_come_back() -> None:
    """After ten minutes it is believed."""
    assert explained(CLAIM, volume("disk-1"), pod(), seen=START, now=START.plus_s(700))


@pytest.mark.parametrize(
    ("reclaim", "names", "mounted", "handed"),
    [
        pytest.param("Retain", True, False, True, id="another asks for the volume"),
        pytest.param("Delete", True, False, False, id="the volume goes"),
        pytest.param("Retain", False, False, False, id="nobody asks for it"),
        pytest.param("Retain", True, True, False, id="a pod runs with it"),
    ],
)
def test_a_claim_leaves_its_volume_to_the_next(
    reclaim: str, *, names: bool, mounted: bool, handed: bool
) -> None:
    """So a claim is given another name: the volume is kept meanwhile."""
    held = msgspec.structs.replace(volume(), facts=VolumeFacts(reclaim, "Bound"))
    to = Need(Edge.VOLUME, held.key)
    mine = needing(CLAIM, to)
    other = thing(CLAIMS, "renamed", "prod", facts=ClaimFacts(volume="pv-1" if names else ""))
    things = [held, needing(other, *([to] if names else [])), *([pod("disk-2")] if mounted else [])]

    assert explained(mine, *things) is handed


DRIVERS = "topology.disks.example/node"
KNOWN = thing(NODES, "i-0abc", labels={DRIVERS: "disk-1"}, facts=NodeFacts(ready=True))


def test_a_node_is_named_by_a_label_of_the_driver_too() -> None:
    """No node has the label or the name: the disk is gone with its machine."""
    assert explained(CLAIM, volume(f"{DRIVERS}=disk-1"), pod())


@pytest.mark.parametrize("node", [BACK, KNOWN])
def test_a_node_that_a_driver_knows_is_there(node: ClusterObject) -> None:
    """By its name, or by the label that its kubelet put on it."""
    assert not explained(CLAIM, volume(f"{DRIVERS}=disk-1"), pod(), node)
