"""Records of a network: addresses of pods that run, and the last block of a node that is up."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import operator, thing, view_of
from support.writes import body, trimmed, write
from suture.impact.effects import EntriesDropped, ObjectsRemoved
from suture.impact.losses.reserved import NAMED
from suture.model.names import CRDS, NODES, PODS, Resource
from suture.model.objects import CrdFacts, NodeFacts, PodFacts

BLOCKS = Resource("crd.net.example.com", "ipamblocks")
AFFINITIES = Resource("crd.net.example.com", "blockaffinities")
COLLECTOR = operator("system:serviceaccount:net:controllers")
RUNNING = thing(PODS, "web-0", "prod", facts=PodFacts(ready=True, node="node-1"))
NODE = thing(NODES, "node-1", facts=NodeFacts(ready=True))


def block(**parts: Any) -> Any:
    return body("IPAMBlock", "10-1-0-0-26", "", apiVersion="crd.net.example.com/v1", spec=parts)


def affinity(name: str = "node-1-10-1-0-0-26", node: str = "node-1") -> Any:
    spec = {"cidr": "10.1.0.0/26", "node": node}
    return body("BlockAffinity", name, "", apiVersion="crd.net.example.com/v1", spec=spec)


def wanted(of: Resource, shown: Any, *others: Any) -> int:
    going = trimmed(of, shown)
    request = write(of, shown, None, by=COLLECTOR)
    view = view_of(going, *others)
    found = effects(impact_of(request, view, by=COLLECTOR), ObjectsRemoved)
    return sum(one.wanted for one in found)


HELD = {"attributes": [{"secondary": {"namespace": "prod", "pod": "web-0"}}]}


@pytest.mark.parametrize(
    ("spec", "pod", "kept"),
    [
        pytest.param(HELD, RUNNING, 1, id="beside its namespace"),
        pytest.param({"podref": "prod/web-0"}, RUNNING, 1, id="in one text"),
        pytest.param(HELD, thing(PODS, "web-1", "prod"), 0, id="it is gone"),
        pytest.param(
            HELD, replace(RUNNING, facts=PodFacts(finished=True, node="node-1")), 0, id="it ended"
        ),
        pytest.param(HELD, replace(RUNNING, deleted=1.0), 0, id="it goes"),
        pytest.param({"pod": "web-0"}, RUNNING, 0, id="of whatever namespace"),
        pytest.param(
            {"results": [{"kind": "Pod", "namespace": "prod", "name": "web-0"}]}, RUNNING, 0,
            id="a report about it",
        ),
    ],
)  # fmt: skip
def test_addresses_of_pods(spec: Any, pod: Any, kept: int) -> None:
    assert wanted(BLOCKS, block(**spec), pod) == kept


def test_what_is_a_pods_own() -> None:
    """With an owner it goes as that does, and who takes it first is asked elsewhere."""
    shown = block(**HELD)
    shown["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": RUNNING.uid}
    ]
    assert wanted(BLOCKS, shown, RUNNING) == 0


OF_NODE = {"cidr": "10.1.0.0/26", "attributes": [{"secondary": {"node": "node-1"}}]}


@pytest.mark.parametrize(
    ("spec", "others", "kept"),
    [
        pytest.param(OF_NODE, (NODE,), 1, id="its end of a tunnel"),
        pytest.param({**OF_NODE, "cidr": "fd00:1::/122"}, (NODE,), 1, id="of the other kind"),
        pytest.param(OF_NODE, (), 0, id="the node is gone"),
        pytest.param({**OF_NODE, "cidr": "any"}, (NODE,), 0, id="no addresses"),
        pytest.param({"cidr": "10.1.0.0/26", "node": "node-1"}, (NODE,), 0, id="an empty one"),
        pytest.param(
            {
                "cidr": "10.1.0.0/26",
                "attributes": [{"secondary": {"node": "node-1", "namespace": "a", "pod": "b"}}],
            },
            (NODE,), 0, id="of a pod that is gone",
        ),
    ],
)  # fmt: skip
def test_an_address_of_a_node_itself(spec: Any, others: tuple[Any, ...], kept: int) -> None:
    assert wanted(BLOCKS, block(**spec), *others) == kept


SECOND = trimmed(AFFINITIES, affinity("node-1-10-1-0-64-26"))


@pytest.mark.parametrize(
    ("shown", "others", "kept"),
    [
        pytest.param(affinity(), (NODE,), 1, id="its last"),
        pytest.param(affinity(), (NODE, SECOND), 0, id="it has another"),
        pytest.param(affinity(), (), 0, id="the node is gone"),
        pytest.param(
            affinity(), (replace(NODE, facts=NodeFacts(ready=False)),), 0, id="it is not Ready"
        ),
        pytest.param(
            affinity(), (replace(NODE, facts=NodeFacts(ready=True, unschedulable=True)),), 0,
            id="it is closed",
        ),
        pytest.param(affinity("spare"), (NODE,), 0, id="called otherwise"),
    ],
)  # fmt: skip
def test_the_last_block_of_a_node(shown: Any, others: tuple[Any, ...], kept: int) -> None:
    assert wanted(AFFINITIES, shown, *others) == kept


POOLS = Resource("lb.example.com", "ipaddresspools")


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ({"assignedIPv4": 10, "availableIPv4": 41}, 1),
        ({"assignedIPv4": 0, "assignedIPv6": 2}, 1),
        ({"v4usingIPs": 3, "v4availableIPs": 200}, 1),
        ({"ipAddresses": {"free": 1, "total": 3, "used": 2}}, 1),
        ({"assignedIPv4": 0, "availableIPv4": 51}, 0),
        ({"availableIPv4": 51}, 0),
        ({}, 0),
    ],
)
def test_a_pool_counts_what_it_gave(status: Any, kept: int) -> None:
    """Services keep such addresses until who gave them looks again, and finds them nowhere."""
    spec = {"addresses": ["203.0.113.10-203.0.113.60"], "used": 7}
    form = {"apiVersion": "lb.example.com/v1", "spec": spec, "status": status}
    assert wanted(POOLS, body("IPAddressPool", "production", "lb", **form)) == kept


def test_what_is_no_pool_may_count_what_it_likes() -> None:
    quotas = Resource("lb.example.com", "quotas")
    form = {"apiVersion": "lb.example.com/v1", "status": {"used": 3}}
    assert wanted(quotas, body("Quota", "production", "lb", **form)) == 0


ADDRESS_POOLS = Resource("ipam.example.com", "ippools")
RUNNING_MORE = [
    replace(RUNNING, key=replace(RUNNING.key, name=f"web-{at}"), uid=f"web-{at}") for at in range(4)
]


def allotted(*pods: int, namespace: str = "prod") -> Any:
    given = {f"{at + 10}": {"podref": f"{namespace}/web-{at}", "ifname": "net1"} for at in pods}
    spec = {"range": "10.3.8.0/24", "allocations": given}
    return body("IPPool", "signalling", "net", apiVersion="ipam.example.com/v1", spec=spec)


def struck(old: Any, new: Any, *pods: Any) -> list[tuple[int, int, tuple[str, ...]]]:
    facts = CrdFacts(ADDRESS_POOLS, "IPPool", namespaced=True)
    definition = thing(CRDS, str(ADDRESS_POOLS), facts=facts)
    view = view_of(definition, trimmed(ADDRESS_POOLS, old), *pods)
    found = impact_of(write(ADDRESS_POOLS, old, new, by=COLLECTOR), view, by=COLLECTOR)
    told = effects(found, EntriesDropped)
    assert all(one.critical and not one.readers for one in told)
    return [(one.before, one.dropped, one.entries) for one in told]


def test_pods_that_run_are_struck_from_a_pool() -> None:
    """Of those that ended nothing is told, nor of one alone, whose network may be down already."""
    all_four = allotted(0, 1, 2, 3)
    names = ("prod/web-1", "prod/web-2", "prod/web-3")
    assert struck(all_four, allotted(0), *RUNNING_MORE) == [(4, 3, names)]
    assert struck(all_four, allotted(0), *RUNNING_MORE[:3]) == [(3, 2, names[:2])]
    assert struck(all_four, allotted(0, 1, 2), *RUNNING_MORE) == []
    assert struck(all_four, allotted(0), *RUNNING_MORE[:2]) == []
    assert struck(allotted(0), all_four, *RUNNING_MORE) == []
    assert struck(all_four, allotted(0, namespace="other"), *RUNNING_MORE[:1]) == []


def test_a_large_pool_that_gets_others_before_its_own_loses_nobody() -> None:
    """Of a large one as many are asked for as are looked up, and all that it names now are seen."""
    many, running = range(NAMED + 50, 3 * NAMED), RUNNING_MORE[0]
    pods = [
        replace(running, key=replace(running.key, name=f"web-{at}"), uid=f"web-{at}") for at in many
    ]
    assert struck(allotted(*many), allotted(*range(NAMED), *many), *pods) == []
    assert struck(allotted(*many), allotted(*many[2:]), *pods) == [
        (NAMED, 2, (f"prod/web-{many[0]}", f"prod/web-{many[1]}"))
    ]
