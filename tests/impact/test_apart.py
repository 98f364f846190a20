"""Nodes that a taint sets apart for some workloads, and nodes that it closes to all."""

from __future__ import annotations

import msgspec
import pytest

from support.cluster import START, graph_of, workload
from suture.model.history import History
from suture.model.objects import ClusterObject
from suture.model.placement import NO_EXECUTE, Placement, Taint, Toleration

from .test_capacity import ROOMY, closed_in_use, lost, node, on, rewritten, with_room

SEARCH = Taint("dedicated", "search")
BORNE = Toleration("dedicated", "search")
ANY = Toleration(any_value=True)
FAILING = Taint("node.kubernetes.io/disk-pressure")


def running(name: str, *borne: Toleration, there: str = "node-0") -> list[ClusterObject]:
    return with_room(on(there, workload(name)), Placement(100, 128, tolerations=borne))


@pytest.mark.parametrize(
    ("taint", "borne", "apart"),
    [
        pytest.param(SEARCH, (BORNE,), True, id="all-there-bear-it"),
        pytest.param(SEARCH, (ANY,), True, id="all-there-bear-any"),
        pytest.param(SEARCH, (), False, id="nobody-bears-it"),
        pytest.param(Taint("dedicated", "batch"), (BORNE,), False, id="of-another-value"),
        pytest.param(Taint("dedicated", "search", NO_EXECUTE), (BORNE,), False, id="drives-away"),
        pytest.param(FAILING, (Toleration(FAILING.key),), False, id="node-fails"),
    ],
)
def test_a_node_is_set_apart_for_all_that_runs_there(
    taint: Taint, borne: tuple[Toleration, ...], apart: bool
) -> None:
    """However many nodes closed lately: nothing of it has to go, and others never were there."""
    nodes = [node(f"node-{number}") for number in range(5)]
    history = History()
    for one in nodes[1:]:
        history.writes.note_closed(one.key.name, START.plus_s(-30))

    request = rewritten(nodes[0], taints=(taint,))
    (found,) = lost(request, graph_of(nodes, running("web", *borne)), history)

    assert (found.how, found.running, found.explained) == ("tainted", 1, apart)


@pytest.mark.parametrize(
    ("borne", "replicas", "tainted", "room", "apart"),
    [
        pytest.param((BORNE,), 1, 1, 9_000, True, id="a-fifth"),
        pytest.param((BORNE,), 1, 2, 9_000, False, id="more-than-a-fifth"),
        pytest.param((BORNE,), 1, 1, 50, False, id="no-room-for-the-others"),
        pytest.param((BORNE,), 0, 1, 9_000, False, id="for-whom-nothing-runs"),
        pytest.param((ANY,), 1, 1, 9_000, False, id="for-nobody-by-its-key"),
        pytest.param((), 1, 1, 9_000, False, id="for-nobody"),
    ],
)
def test_a_node_is_set_apart_for_who_bears_its_taint_by_key(
    borne: tuple[Toleration, ...], replicas: int, tainted: int, room: int, apart: bool
) -> None:
    """Others run there yet: a few nodes at a time, and only while these have room elsewhere."""
    shut = msgspec.structs.replace(ROOMY, taints=(SEARCH,))
    full = msgspec.structs.replace(ROOMY, cpu_m=room)
    nodes = [node("node-0")]
    nodes += [node(f"node-{number}", shut) for number in range(1, tainted + 1)]
    nodes += [node(f"node-{number}", full) for number in range(tainted + 1, 10)]
    meant = with_room(workload("search", replicas=replicas), Placement(tolerations=borne))
    history = History()
    for number in range(1, tainted + 1):
        closed_in_use(history, f"node-{number}", ago_s=30)

    request = rewritten(nodes[0], taints=(SEARCH,))
    others = [running("web"), running("shop", there="node-1")]
    (found,) = lost(request, graph_of(nodes, meant[:1], *others), history)

    assert found.explained is apart
