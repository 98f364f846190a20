"""Annotations of a node that go all at once."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import view_of
from support.writes import body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.names import NODES

KUBELET = "volumes.kubernetes.io/controller-managed-attach-detach"
KUBEADM = "kubeadm.alpha.kubernetes.io/cri-socket"
SCALER = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
MINE, MORE = "ovn.example.com/address", "ovn.example.com/gateway"


@pytest.mark.parametrize(
    ("had", "has", "gone"),
    [
        pytest.param([KUBELET, KUBEADM, SCALER], [MINE], 3, id="the whole is another's"),
        pytest.param([KUBELET, KUBEADM, MINE], [MINE, MORE], 2, id="and its own stays"),
        pytest.param([KUBELET, KUBEADM], [], 2, id="nothing is left"),
        pytest.param([KUBELET, KUBEADM, MINE, MORE], [KUBELET, KUBEADM], 0, id="its own goes"),
        pytest.param([KUBELET, KUBEADM, SCALER], [KUBELET, KUBEADM], 0, id="of one"),
        pytest.param([MINE, "other.example.com/x"], [], 0, id="nothing of the cluster's own"),
        pytest.param([KUBELET], [MINE], 0, id="there was but one"),
        pytest.param([], [MINE], 0, id="there was none"),
    ],
)
def test_what_others_noted_of_a_node(had: list[str], has: list[str], gone: int) -> None:
    old, new = (
        body("Node", "one", "", metadata={"annotations": dict.fromkeys(names, "x")})
        for names in (had, has)
    )
    view = view_of(trimmed(NODES, old))

    told = effects(impact_of(write(NODES, old, new), view), EntriesDropped)

    assert [(one.before, one.dropped, one.critical) for one in told] == (
        [(len(had), gone, True)] if gone else []
    )
