"""Services that the own node alone would answer: which nodes are left without, and whose it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import owner, thing, view_of
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.graph import GraphView
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, NODES, PODS, SERVICES, Gvk, Resource
from suture.model.objects import ClusterObject, NodeFacts, PodFacts, WorkloadFacts
from suture.model.placement import Placement

NODES_THERE = tuple(f"node-{n}" for n in range(4))


def front(policy: str = "Cluster", *, namespace: str = "kube-system", **spec: object) -> Body:
    """Make the Service of the name service, or one like it."""
    spec = {"selector": {"app": "dns"}, "internalTrafficPolicy": policy, **spec}
    return body("Service", "kube-dns", namespace, spec=spec)


def ran_by(
    maker: Resource, app: str, *nodes: str, namespace: str = "kube-system", host: bool = False
) -> list[ClusterObject]:
    """Make a workload with a Ready pod on each of some nodes."""
    labels, facts = {"app": app}, WorkloadFacts(placement=Placement(host_network=host))
    top = thing(maker, app, namespace, facts=facts)
    pods = [
        thing(
            PODS,
            f"{app}-{node}",
            namespace,
            labels=labels,
            owners=[owner(top)],
            facts=PodFacts(ready=True, node=node),
        )
        for node in nodes
    ]
    return [top, *pods]


def world(*more: list[ClusterObject], namespace: str = "kube-system") -> GraphView:
    """Make four nodes with a web pod on each, and what else is given."""
    nodes = [thing(NODES, name, facts=NodeFacts(ready=True)) for name in NODES_THERE]
    web = ran_by(DEPLOYMENTS, "web", *NODES_THERE, namespace="shop")
    return view_of(nodes, web, trimmed(SERVICES, front(namespace=namespace)), *more)


def told(view: GraphView, old: Body, new: Body) -> list[EntriesDropped]:
    return effects(impact_of(write(SERVICES, old, new), view), EntriesDropped)


def test_nodes_without_a_pod_of_the_name_service_are_left() -> None:
    """Two of four nodes have one, and pods of the others would find no name."""
    view = world(ran_by(DEPLOYMENTS, "dns", "node-0", "node-3"))

    (found,) = told(view, front(), front("Local"))

    assert (found.before, found.dropped, found.entries) == (4, 2, ("node-1", "node-2"))
    assert found.critical
    assert "internalTrafficPolicy" in found.field


def test_a_policy_that_was_not_said_was_of_the_cluster() -> None:
    old = front()
    old["spec"].pop("internalTrafficPolicy")

    assert len(told(world(ran_by(DEPLOYMENTS, "dns", "node-0")), old, front("Local"))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(front("Local"), front("Local", ports=[{"port": 53}]), id="was so before"),
        pytest.param(front("Local"), front("Cluster"), id="opened"),
        pytest.param(front(), front(externalTrafficPolicy="Local"), id="from outside"),
        pytest.param(front(), front("Local", clusterIP="None"), id="headless"),
        pytest.param(front(), changed(front(), spec={"selector": None}), id="no selector"),
    ],
)
def test_what_leads_inside_as_before(old: Body, new: Body) -> None:
    assert told(world(ran_by(DEPLOYMENTS, "dns", "node-0")), old, new) == []


def test_an_agent_with_a_pod_on_each_node() -> None:
    """The name service as a DaemonSet: every node answers itself."""
    view = world(ran_by(DAEMON_SETS, "dns", *NODES_THERE))

    assert told(view, front(), front("Local")) == []


def test_an_agent_of_some_nodes() -> None:
    """In a namespace of its own it is there for these; the name service is asked from all."""
    agents = ran_by(DAEMON_SETS, "dns", "node-0", namespace="agents")
    old, new = (front(one, namespace="agents") for one in ("Cluster", "Local"))

    assert told(world(agents, namespace="agents"), old, new) == []
    assert len(told(world(ran_by(DAEMON_SETS, "dns", "node-0")), front(), front("Local"))) == 1


def test_a_service_of_somebody_is_not_critical() -> None:
    """Told of, and refused by nobody: who asks it from the other nodes is not known."""
    old, new = (front(one, namespace="shop") for one in ("Cluster", "Local"))
    view = world(ran_by(DEPLOYMENTS, "dns", "node-0", namespace="shop"), namespace="shop")

    (found,) = told(view, old, new)

    assert (found.dropped, found.critical) == (3, False)


def test_nodes_whose_pods_do_not_ask() -> None:
    """Control planes: what runs there is on the network of the node, or shown by its kubelet."""
    dns = ran_by(DEPLOYMENTS, "dns", "node-0")
    proxy = ran_by(DAEMON_SETS, "proxy", "node-0", "node-1", host=True)
    plain = thing(NODES, "node-1", facts=NodeFacts(ready=True))
    node = replace(plain, gvk=Gvk("", "v1", "Node"))
    shown = thing(
        PODS, "api", "kube-system", owners=[owner(node)], facts=PodFacts(ready=True, node="node-1")
    )
    done = thing(PODS, "done", "shop", facts=PodFacts(finished=True, node="node-1"))
    first = thing(NODES, "node-0", facts=NodeFacts(ready=True))
    view = view_of(node, first, trimmed(SERVICES, front()), dns, proxy, shown, done)

    assert told(view, front(), front("Local")) == []


def test_a_service_that_nobody_answers_loses_nothing() -> None:
    assert told(world(), front(), front("Local")) == []
