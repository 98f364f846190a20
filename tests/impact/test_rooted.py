"""Pods whose data is on the disks of a node that is deleted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import delete, graph_of, owner, thing, workload
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS, VOLUMES, ObjectKey
from suture.model.objects import ClaimFacts, NodeFacts, PodFacts, WorkloadFacts
from suture.model.selectors import Operator, Requirement, Selector

from .test_capacity import ROOMY, lost, node, relabelled


def told(
    *hosts: str,
    where: str | None = None,
    ended: bool = False,
    claim_goes: bool = False,
    facts: NodeFacts = ROOMY,
    size: int = 1,
    claim: str = "data-db-0",
) -> tuple[int, int]:
    """Return how many pods would have to move, and how many of them nowhere, with `node-1`."""
    made_by = thing(STATEFUL_SETS, "db", "prod", facts=WorkloadFacts(replicas=size))
    data = replace(
        thing(CLAIMS, claim, "prod", facts=ClaimFacts(bound=True, volume="disk")),
        deleted=1.0 if claim_goes else 0.0,
    )
    volume = replace(
        thing(VOLUMES, "disk", facts=VolumeFacts(phase="Bound", hosts=hosts)),
        needs=(Need(Edge.BOUND_CLAIM, data.key),),
    )
    pod = replace(
        thing(
            PODS, "db-0", "prod", owners=[owner(made_by)],
            facts=PodFacts(ready=where is not None, node=where or "", finished=ended),
        ),
        needs=(Need(Edge.CLAIM, data.key),),
    )  # fmt: skip
    nodes = [node("node-1", facts, disks="a"), node("node-2")]
    (found,) = lost(delete(nodes[0]), graph_of(nodes, data, volume, made_by, pod))
    return found.pods, found.unplaced


@pytest.mark.parametrize(
    ("hosts", "waits"),
    [
        pytest.param(("node-1",), 1, id="there alone"),
        pytest.param(("disks=a",), 1, id="by a label of its driver"),
        pytest.param(("node-1", "node-2"), 0, id="elsewhere as well"),
        pytest.param(("node-2",), 0, id="elsewhere"),
        pytest.param((), 0, id="anywhere"),
    ],
)
def test_a_pod_that_was_evicted_waits_for_its_disk(hosts: tuple[str, ...], waits: int) -> None:
    """It runs nowhere, so that the node looks empty, and it can run nowhere else."""
    assert told(*hosts) == (waits, waits)


@pytest.mark.parametrize(("size", "waits"), [(1, 1), (0, 0)])
def test_the_next_pod_of_a_member_that_just_ended(size: int, waits: int) -> None:
    """Its set makes it in a moment; one that is stopped does not."""
    assert told("node-1", ended=True, size=size) == (waits, waits)


def test_what_nobody_waits_for() -> None:
    """The twins: it is no member and has ended, or its next pod gets another volume."""
    assert told("node-1", ended=True, claim="scratch") == (0, 0)
    assert told("node-1", claim_goes=True) == (0, 0)


def test_other_pods_fit_elsewhere() -> None:
    """Only what is rooted there is told so."""
    nodes = [node("node-1"), node("node-2")]
    (found,) = lost(delete(nodes[0]), graph_of(nodes, workload("web", replicas=2)))
    assert (found.pods, found.unplaced) == (2, 0)


@pytest.mark.parametrize(
    ("zones", "running", "lost_here"),
    [
        pytest.param(("a",), True, 1, id="of this zone"),
        pytest.param(("a", "b"), True, 0, id="of the next one too"),
        pytest.param(("c",), True, 0, id="of another, as it was"),
        pytest.param((), True, 0, id="of any"),
        pytest.param(("a",), False, 0, id="nothing runs here"),
    ],
)
def test_data_of_a_zone_that_a_node_says_no_more(
    zones: tuple[str, ...], lost_here: int, *, running: bool
) -> None:
    """What runs there goes on, and could not be made anew."""
    key = "topology.kubernetes.io/zone"
    terms = tuple(Selector((Requirement(key, Operator.IN, (zone,)),)) for zone in zones)
    data = thing(CLAIMS, "data", "prod", facts=ClaimFacts(bound=True, volume="disk"))
    data = replace(data, needs=(Need(Edge.VOLUME, ObjectKey(VOLUMES, "", "disk")),))
    disk = thing(VOLUMES, "disk", facts=VolumeFacts(phase="Bound", terms=terms))
    pod = thing(PODS, "db", "prod", facts=PodFacts(ready=True, node="node-1" if running else ""))
    pod = replace(pod, needs=(Need(Edge.CLAIM, data.key),))
    before = replace(node("node-1"), labels={key: "a"})

    found = lost(relabelled(before, {key: "b"}), graph_of(before, node("node-2"), data, disk, pod))

    assert [one.pods for one in found] == ([lost_here] if lost_here else [])
