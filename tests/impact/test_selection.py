"""Whom selectors would select after a write, whether they change or the labels that they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from support.cluster import START, operator, owner, service, thing, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import Growth, SelectionChanged
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.edges import Selection
from suture.model.facts import DisruptionBudgetFacts
from suture.model.fieldpath import FieldPath
from suture.model.graph import GraphView
from suture.model.names import (
    CRDS,
    DAEMON_SETS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    NAMESPACES,
    NETWORK_POLICIES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    Resource,
)
from suture.model.objects import (
    ClusterObject,
    CrdFacts,
    CustomFacts,
    NodeFacts,
    PodFacts,
    WorkloadFacts,
)
from suture.model.request import Request
from suture.model.rules import Place, ReferenceRule, Selects, TypeName
from suture.model.selectors import Selector

PEERS = Resource("net.example.com", "peers")


def told(view: GraphView, request: Request, by: Actor | None = None) -> list[SelectionChanged]:
    change = project(request, view)
    impact = estimate(request, change, view, by or operator(), {"selection_changed"})
    return [one for one in impact.effects if isinstance(one, SelectionChanged)]


def served(name: str, selector: dict[str, str] | None) -> Body:
    return body("Service", name, spec={"selector": selector} if selector is not None else {})


def pods_with(things: Iterable[ClusterObject]) -> list[ClusterObject]:
    return [one for one in things if one.key.resource == PODS]


def pod_body(one: ClusterObject, labels: Mapping[str, str]) -> Body:
    owners = [
        {
            "apiVersion": f"{ref.gvk.group}/{ref.gvk.version}",
            "kind": ref.gvk.kind,
            "name": ref.name,
            "uid": ref.uid,
            "controller": ref.controller,
        }
        for ref in one.owners
    ]
    metadata = {"uid": one.uid, "labels": dict(labels), "ownerReferences": owners}
    return body("Pod", one.key.name, one.key.namespace, metadata=metadata)


def test_a_selector_that_matches_nothing_any_more() -> None:
    """A Service whose new selector matches no pod: all are lost, none kept, and not by intent."""
    view = view_of(trimmed(SERVICES, served("web", {"app": "web"})), workload("web", replicas=3))
    request = write(SERVICES, served("web", {"app": "web"}), served("web", {"app": "wbe"}))

    (found,) = told(view, request)

    assert (found.before, found.after, found.kept, found.empty) == (3, 0, 0, False)


def test_an_emptied_selector_is_told_apart() -> None:
    """A selector that is taken away selects nothing by intent."""
    view = view_of(trimmed(SERVICES, served("web", {"app": "web"})), workload("web", replicas=3))

    (found,) = told(view, write(SERVICES, served("web", {"app": "web"}), served("web", None)))

    assert (found.after, found.empty) == (0, True)


def test_a_service_that_is_a_name_for_what_is_elsewhere() -> None:
    """It says where its readers are to go, and selects nobody by intent."""
    things = workload("web")
    old = served("web", {"app": "web"})
    view = view_of(*things, trimmed(SERVICES, old))
    new = changed(old, spec={"type": "ExternalName", "externalName": "web.example.com"})

    assert told(view, write(SERVICES, old, new)) == []


def test_blue_to_green_keeps_none_and_grows_to_none_beside() -> None:
    """A switch is all foreign and nothing kept; a selector that grows keeps what it had."""
    shared = {"tier": "front"}
    ready = PodFacts(ready=True, node="n")
    pods = [
        thing(
            PODS,
            one.key.name,
            "prod",
            labels={"app": name, **shared},
            owners=one.owners,
            facts=ready,
        )
        for name in ("blue", "green")
        for one in pods_with(workload(name, replicas=2))
    ]
    roots = [one for name in ("blue", "green") for one in workload(name)[:2]]
    old = served("front", {"app": "blue"})
    view = view_of(trimmed(SERVICES, old), roots, pods)

    (switched,) = told(view, write(SERVICES, old, served("front", {"app": "green"})))
    (grown,) = told(view, write(SERVICES, old, served("front", shared)))

    assert (switched.after, switched.kept, switched.foreign) == (2, 0, 2)
    assert (grown.after, grown.kept, grown.foreign) == (4, 2, 2)


def test_a_budget_and_a_policy_select_too() -> None:
    """The selector of a disruption budget or a network policy is followed like a Service's."""
    old = body(
        "PodDisruptionBudget",
        "web",
        apiVersion="policy/v1",
        spec={"selector": {"matchLabels": {"app": "web"}}},
    )
    everything = changed(old, spec={"selector": {}})
    limits = body(
        "NetworkPolicy",
        "web",
        apiVersion="networking.k8s.io/v1",
        spec={"podSelector": {"matchLabels": {"app": "web"}}},
    )
    view = view_of(
        workload("web", replicas=2),
        workload("api", replicas=3),
        trimmed(DISRUPTION_BUDGETS, old),
        trimmed(NETWORK_POLICIES, limits),
    )

    (budget,) = told(view, write(DISRUPTION_BUDGETS, old, everything))
    (policy,) = told(
        view, write(NETWORK_POLICIES, limits, changed(limits, spec={"podSelector": {}}))
    )

    assert (budget.before, budget.after, budget.foreign) == (2, 5, 3)
    assert (policy.before, policy.after, policy.kept) == (2, 5, 2)


def member(things: Iterable[ClusterObject]) -> tuple[list[ClusterObject], ClusterObject]:
    """Give the first pod a label of its own, that no template has: the role of a member."""
    pods = pods_with(things)
    roles = {"app": "db", "role": "primary"}
    first = thing(
        PODS, pods[0].key.name, "prod", labels=roles, owners=pods[0].owners, facts=pods[0].facts
    )
    return [*(one for one in things if one.key != first.key), first], first


def test_a_pod_that_loses_a_label_leaves_its_service() -> None:
    """A label that its controller does not set, taken by a stranger: nobody is left."""
    things, pod = member(workload("db", replicas=2))
    view = view_of(trimmed(SERVICES, served("primary", {"role": "primary"})), things)
    request = write(PODS, pod_body(pod, pod.labels), pod_body(pod, {"app": "db"}))

    (found,) = told(view, request)

    assert (found.source.resource, found.before, found.after) == ("services", 1, 0)
    assert (found.cause, found.own) == ("labels", False)


def test_a_member_beside_it_takes_over() -> None:
    """Who runs in a pod of the same maker, or made it, moves a role: that is a failover."""
    things, pod = member(workload("db", replicas=2))
    view = view_of(trimmed(SERVICES, served("primary", {"role": "primary"})), things)
    request = write(PODS, pod_body(pod, pod.labels), pod_body(pod, {"app": "db"}))
    beside = pods_with(things)[0]
    account = operator("system:serviceaccount:prod:db")
    itself = Actor(
        account.user, account.operator, account.kind, account.stage, pod="db", pod_uid=beside.uid
    )

    (found,) = told(view, request, itself)

    assert beside.uid != pod.uid
    assert found.cause == "role"


def test_a_pod_that_its_controller_lets_go_of_is_made_again() -> None:
    """A label of the template itself: the controller makes another pod with it."""
    things = workload("web", replicas=3)
    pod = pods_with(things)[0]
    view = view_of(service("web"), things)
    request = write(PODS, pod_body(pod, {"app": "web"}), pod_body(pod, {"app": "debug"}))

    assert told(view, request) == []


def test_a_template_that_loses_a_label_that_a_service_reads() -> None:
    """The Service stays as it is, and has nobody once the rollout is over."""
    _, replica_set, *pods = workload("web", replicas=3)

    def deployment(**labels: str) -> Body:
        template = {"metadata": {"labels": labels}, "spec": {}}
        spec = {"selector": {"matchLabels": {"run": "web"}}, "template": template}
        return body("Deployment", "web", apiVersion="apps/v1", spec=spec)

    old = deployment(run="web", app="web")
    root = trimmed(DEPLOYMENTS, old)
    between = thing(REPLICA_SETS, "web-1", "prod", owners=[owner(root)], facts=replica_set.facts)
    view = view_of(root, between, pods, service("web"), service("api"))

    (found,) = told(view, write(DEPLOYMENTS, old, deployment(run="web")))

    assert found.source.name == "web"
    assert (found.before, found.after, found.cause) == (3, 0, "labels")
    assert told(view, write(DEPLOYMENTS, old, deployment(run="web", app="web", x="y"))) == []


def test_a_bare_pod_that_a_controller_takes_for_its_own() -> None:
    """A pod without a controller, with the labels of a DaemonSet: it is adopted, and counted."""
    selector = Selector.of({"app": "agent"})
    agents = thing(DAEMON_SETS, "agent", "prod", facts=WorkloadFacts(None, selector))
    view = view_of(agents)
    created = body("Pod", "mine", metadata={"labels": {"app": "agent"}})

    (found,) = told(view, write(PODS, None, created))

    assert (found.source.resource, found.cause, found.foreign) == ("daemonsets", "created", 1)


def test_members_that_a_plain_reference_ties_to_one_resource() -> None:
    """Pods that one custom resource alone owns are of one maker; a bare pod among them is not."""
    cluster = thing(PEERS, "search", "prod")
    members = [
        thing(
            PODS, name, "prod", labels={"app": "search"}, owners=[owner(cluster, controller=False)]
        )
        for name in "ab"
    ]
    view = view_of(cluster, members, service("search"))
    stray = body("Pod", "mine", metadata={"labels": {"app": "search"}})
    third = pod_body(members[0], {"app": "search"})

    (found,) = told(view, write(PODS, None, stray))

    assert (found.source.name, found.cause, found.foreign) == ("search", "created", 1)
    assert told(view, write(PODS, None, third)) == []


def test_a_pod_that_another_takes_is_growth_of_what_takes_it() -> None:
    """Told of the controller too, unless the actor made that controller itself."""
    selector = Selector.of({"app": "agent"})
    agents = thing(DAEMON_SETS, "agent", "prod", facts=WorkloadFacts(None, selector))
    view = view_of(agents)
    request = write(PODS, None, body("Pod", "mine", metadata={"labels": {"app": "agent"}}))

    def grown() -> list[Growth]:
        impact = estimate(request, project(request, view), view, operator(), {"growth"})
        return [one for one in impact.effects if isinstance(one, Growth) and one.per == "selector"]

    (found,) = grown()
    assert (found.holder.name, found.before, found.after) == ("agent", 0, 1)
    view.history.note_created(agents.uid, operator().user.username, "lb", agents.key, START)
    assert grown() == []


def test_a_controller_that_is_made_over_bare_pods_takes_them() -> None:
    """The other way round: the pods are there first."""
    pods = [thing(PODS, name, "prod", labels={"app": "agent"}) for name in "ab"]
    created = body(
        "DaemonSet",
        "agent",
        apiVersion="apps/v1",
        spec={"selector": {"matchLabels": {"app": "agent"}}},
    )

    (found,) = told(view_of(pods), write(DAEMON_SETS, None, created))

    assert (found.after, found.foreign, found.own) == (2, 2, False)


def test_ordinary_creations_select_nobody_new() -> None:
    """A pod of a controller, a bare pod of its own, a Service before or after its pods: nothing."""
    things = workload("web", replicas=2)
    view = view_of(things, service("web"))
    controlled = pod_body(pods_with(things)[0], {"app": "web"})

    assert told(view, write(PODS, None, controlled)) == []
    assert told(view, write(PODS, None, body("Pod", "job", metadata={"labels": {"x": "y"}}))) == []
    assert told(view, write(SERVICES, None, served("web2", {"app": "web"}))) == []


def test_a_node_label_that_a_custom_resource_selects_by() -> None:
    """A selector hidden in a custom resource: the node that loses the label is lost to it."""
    rule = ReferenceRule(
        "peers-select",
        TypeName("net.example.com", plural="peers"),
        Selects(
            FieldPath.parse("spec.nodeSelector"), TypeName("", plural="nodes"), place=Place.CLUSTER
        ),
    )
    definition = thing(
        CRDS, str(PEERS), facts=CrdFacts(PEERS, "Peer", namespaced=False, rules=(rule,))
    )
    selection = Selection(NODES, "", Selector.of({"role": "control"}))
    peer = thing(PEERS, "route-reflectors", facts=CustomFacts(None, (selection,)))

    def node(name: str, **labels: str) -> Body:
        return body("Node", name, "", metadata={"labels": labels, "uid": f"uid:nodes:/{name}"})

    nodes = [
        thing(NODES, name, labels={"role": "control"}, facts=NodeFacts(ready=True)) for name in "ab"
    ]
    view = view_of(definition, peer, nodes)

    (found,) = told(view, write(NODES, node("a", role="control"), node("a", role="worker")))

    assert (found.source.resource, found.before, found.after) == ("peers", 2, 1)
    assert (
        told(view, write(NODES, node("a", role="control"), node("a", role="control", x="y"))) == []
    )


def choosing(of: Resource, *, namespaced: bool) -> ClusterObject:
    """Make a type whose objects choose those of another by label."""
    named = TypeName(of.group, plural=of.plural)
    says = Selects(FieldPath.parse("spec.targets"), named, place=Place.CLUSTER)
    rule = ReferenceRule("targets", TypeName("net.example.com", plural="peers"), says)
    facts = CrdFacts(PEERS, "Peer", namespaced=namespaced, rules=(rule,))
    return thing(CRDS, str(PEERS), facts=facts)


def chooser(name: str, of: Resource, namespace: str = "", **labels: str) -> ClusterObject:
    """Make a custom resource that chooses objects by label."""
    chosen = Selection(of, namespace, Selector.of(labels))
    return thing(PEERS, name, namespace, facts=CustomFacts(None, (chosen,)))


def test_a_namespace_is_missed_for_what_runs_in_it() -> None:
    """A label by which things come to namespaces: where nothing runs nobody waits for them."""

    def space(**labels: str) -> Body:
        return body(
            "Namespace", "prod", "", metadata={"labels": labels, "uid": "uid:namespaces:/prod"}
        )

    home = thing(NAMESPACES, "prod", labels={"secrets": "yes"})
    known = [choosing(NAMESPACES, namespaced=False), chooser("all", NAMESPACES, secrets="yes")]
    unlabelled = write(NAMESPACES, space(secrets="yes"), space())

    (found,) = told(view_of(known, home, workload("web")), unlabelled)
    assert (found.source.resource, found.before, found.after) == ("peers", 1, 0)
    assert told(view_of(known, home, workload("web", replicas=0)), unlabelled) == []


@pytest.mark.parametrize(
    ("next_one", "after", "told_of"),
    [
        pytest.param(("ops", "v2"), "v2", 0, id="handed-on"),
        pytest.param(("ops", "v2"), "v3", 1, id="to-nobody"),
        pytest.param(("dev", "v2"), "v2", 1, id="in-another-namespace"),
        pytest.param(("ops", "v1"), "v2", 1, id="that-chose-it-before"),
    ],
)
def test_what_the_next_of_a_kind_chooses_is_handed_on(
    next_one: tuple[str, str], after: str, told_of: int
) -> None:
    """A label that is turned from one version to the next takes from one what another gets."""
    clusters = Resource("fleet.example.com", "clusters")

    def cluster(version: str) -> Body:
        metadata = {"labels": {"engine": version}, "uid": f"uid:{clusters}:ops/c"}
        return body("Cluster", "c", "ops", apiVersion="fleet.example.com/v1", metadata=metadata)

    known = thing(clusters, "c", "ops", labels={"engine": "v1"}, facts=CustomFacts())
    place, version = next_one
    view = view_of(
        choosing(clusters, namespaced=True),
        known,
        chooser("first", clusters, "ops", engine="v1"),
        chooser("next", clusters, place, engine=version),
    )

    found = told(view, write(clusters, cluster("v1"), cluster(after)))

    assert len([one for one in found if one.source.name == "first"]) == told_of


def test_a_node_that_is_given_to_others_is_lost_to_those_that_had_it() -> None:
    """Each node does its own work: that another kind of them gains one helps nobody."""

    def node(role: str) -> Body:
        return body("Node", "a", "", metadata={"labels": {"role": role}, "uid": "uid:nodes:/a"})

    view = view_of(
        choosing(NODES, namespaced=False),
        chooser("control", NODES, role="control"),
        chooser("workers", NODES, role="worker"),
        thing(NODES, "a", labels={"role": "control"}, facts=NodeFacts(ready=True)),
    )

    (found,) = told(view, write(NODES, node("control"), node("worker")))

    assert (found.source.name, found.after) == ("control", 0)


def test_a_budget_without_a_selector_selects_nobody() -> None:
    """Absent is nothing, empty is everything: both ways of writing one are told apart."""
    view = view_of(workload("web", replicas=2))
    absent = body("PodDisruptionBudget", "web", apiVersion="policy/v1", spec={})
    empty = changed(absent, spec={"selector": {}})

    (found,) = told(view, write(DISRUPTION_BUDGETS, absent, empty))

    assert isinstance(trimmed(DISRUPTION_BUDGETS, absent).facts, DisruptionBudgetFacts)
    assert (found.before, found.after, found.empty) == (0, 2, False)
