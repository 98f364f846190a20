"""What templates ask of nodes and nodes have: read as the scheduler reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from suture.model.placement import ANYWHERE, Placement, Taint, Toleration
from suture.model.quantities import cpu_m, memory_mi
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.placementshapes import placement


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("100m", 100),
        ("0.5", 500),
        ("2", 2000),
        (2, 2000),
        (0.25, 250),
        ("1e3", 1_000_000),
        ("100u", 1),
        ("1.5k", 1_500_000),
        ("", 0),
        ("nonsense", 0),
        ("1Qi", 0),
        ("-1", 0),
        ("9" * 30, 0),
    ],
)
def test_cpu_is_read_in_thousandths(text: str | int, amount: int) -> None:
    """Every form of a quantity, rounded up where it is asked; nothing for what is none."""
    assert cpu_m(text, up=True) == amount


@pytest.mark.parametrize(
    ("text", "asked", "there"),
    [
        ("512Mi", 512, 512),
        ("1Gi", 1024, 1024),
        ("7807852Ki", 7625, 7624),
        ("1M", 1, 0),
        (134217728, 128, 128),
    ],
)
def test_memory_is_read_in_mebibytes(text: str | int, asked: int, there: int) -> None:
    """Rounded up for what is asked and down for what is there."""
    assert (memory_mi(text, up=True), memory_mi(text, up=False)) == (asked, there)


def read(**spec: Any) -> Placement:
    return placement(msgspec.Raw(msgspec.json.encode({"spec": spec})))


def asks(cpu: str, memory: str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def test_containers_add_up() -> None:
    """Beside each other, sidecars too; an init container counts where it alone asks for more."""
    found = read(
        containers=[asks("100m", "64Mi"), {"resources": {"limits": {"cpu": "1"}}}, {}],
        initContainers=[asks("50m", "10Mi", restartPolicy="Always"), asks("10m", "1Gi")],
    )
    assert (found.cpu_m, found.memory_mi) == (1150, 1034)


def test_the_most_of_one_container() -> None:
    """Its limit, or what it asks for without one; init containers among them."""
    found = read(
        containers=[
            {"resources": {"requests": {"cpu": "2"}, "limits": {"memory": "1Gi"}}},
            {"resources": {"requests": {"memory": "64Mi"}, "limits": {"cpu": "500m"}}},
            {},
        ],
        initContainers=[asks("10m", "2Gi")],
    )
    assert (found.most_cpu_m, found.most_memory_mi) == (2000, 2048)
    assert read(containers=[{}], hostNetwork=True) == Placement(host_network=True, unconfined=True)


def test_a_node_selector_holds_in_every_term() -> None:
    """Terms of the affinity are alternatives; comparisons of numbers are left out."""
    found = read(
        nodeSelector={"disk": "ssd"},
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
                        {"matchExpressions": [{"key": "cpu", "operator": "Gt", "values": ["3"]}]},
                    ]
                }
            }
        },
    )
    disk = Requirement("disk", Operator.IN, ("ssd",))
    assert found.terms == (
        Selector((disk, Requirement("zone", Operator.IN, ("a",)))),
        Selector((disk,)),
    )
    assert found.accepts({"disk": "ssd", "zone": "b"})
    assert not found.accepts({"zone": "a"})
    assert found.reads(["disk"])
    assert not found.reads(["arch"])


def test_tolerations_are_read() -> None:
    """By key and value, by key alone, or anything at all."""
    gpu, down = Taint("gpu", "yes"), Taint("down", effect="NoExecute")
    soft = Taint("soft", effect="PreferNoSchedule")
    some = read(tolerations=[{"key": "gpu", "operator": "Equal", "value": "yes"}])
    assert some.tolerations == (Toleration("gpu", "yes"),)
    assert some.tolerates([gpu, soft])
    assert not some.tolerates([gpu, down])
    assert not some.tolerates([Taint("gpu", "no")])
    assert read(tolerations=[{"operator": "Exists"}]).tolerates([gpu, down])
    assert read(tolerations=[{"key": "down", "operator": "Exists"}]).tolerates([down])
    assert not read(
        tolerations=[{"key": "down", "operator": "Exists", "effect": "NoSchedule"}]
    ).tolerates([down])


def test_the_network_of_the_host_is_read() -> None:
    """Said or not, and where nothing else is."""
    assert read(hostNetwork=True).host_network
    assert not read(hostNetwork=False).host_network
    assert not read().host_network


@pytest.mark.parametrize("template", [b"null", b"{}", b'{"spec":{"nodeSelector":7}}'])
def test_an_odd_template_asks_nothing(template: bytes) -> None:
    """What cannot be read of a template never makes a workload unreadable."""
    assert placement(msgspec.Raw(template)) == ANYWHERE


@pytest.mark.parametrize(
    ("spec", "so"),
    [
        pytest.param({"hostNetwork": True}, True, id="network"),
        pytest.param({"hostPID": True}, True, id="processes"),
        pytest.param({"hostIPC": True}, True, id="memory"),
        pytest.param({"volumes": [{"name": "d", "hostPath": {"path": "/"}}]}, True, id="paths"),
        pytest.param({"volumes": [{"name": "d", "hostPath": None}]}, False, id="no-path"),
        pytest.param({"containers": [{"ports": [{"hostPort": 80}]}]}, True, id="a-port"),
        pytest.param({"containers": [{"ports": [{"hostPort": 0}]}]}, False, id="any-port"),
        pytest.param(
            {"initContainers": [{"securityContext": {"privileged": True}}]}, True, id="privileged"
        ),
        pytest.param(
            {"containers": [{"securityContext": {"privileged": False}}]}, False, id="plain"
        ),
        pytest.param(
            {"containers": [{"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}]},
            True,
            id="a-capability",
        ),
        pytest.param(
            {"containers": [{"securityContext": {"capabilities": {"add": ["CHOWN"]}}}]},
            False,
            id="an-allowed-one",
        ),
        pytest.param(
            {"containers": [{"securityContext": {"capabilities": {"drop": ["ALL"]}}}]},
            False,
            id="dropped",
        ),
    ],
)
def test_what_pod_security_keeps_from_pods(spec: dict[str, Any], *, so: bool) -> None:
    """What the level `baseline` forbids: to reach the node, by whatever way."""
    assert read(**spec).unconfined is so


MEETS: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
POD: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "Localhost"}}


def without(*names: str, **more: Any) -> dict[str, Any]:
    return {name: said for name, said in MEETS.items() if name not in names} | more


@pytest.mark.parametrize(
    ("spec", "so"),
    [
        pytest.param({"containers": [{"securityContext": MEETS}]}, True, id="each-by-itself"),
        pytest.param(
            {
                "securityContext": POD,
                "containers": [{"securityContext": without("runAsNonRoot", "seccompProfile")}],
            },
            True,
            id="by-its-pod",
        ),
        pytest.param(
            {"containers": [{"securityContext": MEETS}, {}]}, False, id="one-says-nothing"
        ),
        pytest.param(
            {"initContainers": [{}], "containers": [{"securityContext": MEETS}]},
            False,
            id="one-before-says-nothing",
        ),
        *(
            pytest.param({"containers": [{"securityContext": without(name)}]}, False, id=name)
            for name in MEETS
        ),
        pytest.param(
            {"containers": [{"securityContext": without(runAsUser=0)}]}, False, id="root-after-all"
        ),
        pytest.param(
            {
                "securityContext": POD,
                "containers": [{"securityContext": without(runAsNonRoot=False)}],
            },
            False,
            id="otherwise-than-its-pod",
        ),
        pytest.param(
            {
                "containers": [
                    {
                        "securityContext": without(
                            capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
                        )
                    }
                ]
            },
            True,
            id="a-port-below-1024",
        ),
        pytest.param(
            {"hostNetwork": True, "containers": [{"securityContext": MEETS}]}, False, id="on-a-node"
        ),
        pytest.param({"containers": [{}]}, False, id="nothing"),
    ],
)
def test_what_the_highest_level_asks_for(spec: dict[str, Any], *, so: bool) -> None:
    """All of what `restricted` has pods say, and `baseline` kept."""
    assert read(**spec).restricted is so
