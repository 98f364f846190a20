"""What would reach further: webhooks that match more, policies that shut pods off, open bindings."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import (
    delete,
    graph_of,
    namespace,
    service,
    thing,
    webhook,
    workload,
)
from support.writes import Body, body, trimmed
from suture.impact.effects import ScopeWidened
from suture.model.edges import Edge, Need
from suture.model.facts import RoleBindingFacts
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CILIUM_CLUSTER_POLICIES,
    CILIUM_POLICIES,
    CLUSTER_ROLE_BINDINGS,
    NETWORK_POLICIES,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, ServiceRef, WebhookFacts, WebhookRule
from suture.model.request import Request
from suture.model.selectors import Operator, Requirement, Selector

BACKEND = ServiceRef("hooks", "injector")
OPTED_IN = Selector.of({"inject": "yes"})
SPARING = Selector(
    (Requirement("kubernetes.io/metadata.name", Operator.NOT_IN, ("hooks", "kube-system")),)
)


def widened(request: Request, graph: Graph) -> list[ScopeWidened]:
    return effects(impact_of(request, GraphView(graph)), ScopeWidened)


def hooked(configuration: ClusterObject, **parts: Any) -> ClusterObject:
    """Change every webhook of a configuration."""
    facts = configuration.facts
    assert isinstance(facts, WebhookFacts)
    hooks = tuple(msgspec.structs.replace(one, **parts) for one in facts.webhooks)
    return msgspec.structs.replace(configuration, facts=WebhookFacts(hooks))


CLUSTER = (
    [namespace(name) for name in ("hooks", "kube-system", "shop", "blog")],
    service("injector", "hooks"),
    workload("injector", "hooks", replicas=2),
)


def test_a_selector_that_is_removed_reaches_everybody() -> None:
    """From namespaces that opted in to all: its own backend and the cluster's components too."""
    before = webhook("injector", BACKEND, namespaces=OPTED_IN)
    after = webhook("injector", BACKEND)

    (found,) = widened(update(before, after), graph_of(*CLUSTER, before))

    assert found.newly == ("own-backend", "kube-system", "pods")
    assert (found.what, found.fail_closed, found.backend_ready) == ("webhook", True, 2)
    assert (found.created, found.part) == (False, "injector.example.com")


def test_ignore_to_fail_stands_in_the_way_of_all_it_matches() -> None:
    """What was harmless while nobody answered is not any more."""
    after = webhook("injector", BACKEND)
    before = hooked(after, fail_closed=False)

    (found,) = widened(update(before, after), graph_of(*CLUSTER, before))

    assert "own-backend" in found.newly
    assert found.matched_before == 0


def test_a_certificate_that_is_renewed_widens_nothing() -> None:
    """Nor does a selector that becomes narrower."""
    before = webhook("injector", BACKEND)
    graph = graph_of(*CLUSTER, before)
    same = msgspec.structs.replace(before, resource_version="2")
    assert widened(update(before, same), graph) == []
    assert widened(update(before, hooked(before, namespace_selector=OPTED_IN)), graph) == []


def test_a_webhook_that_spares_its_own_is_installed() -> None:
    """Before its pods are there it has nobody behind it; that it spares itself is seen already."""
    made = webhook("injector", BACKEND, namespaces=SPARING)
    (found,) = widened(update(None, made), graph_of(namespace("shop"), namespace("kube-system")))
    assert (found.created, found.backend_ready, found.newly) == (True, 0, ("pods",))
    (wide,) = widened(update(None, webhook("injector", BACKEND)), graph_of(namespace("shop")))
    assert "own-backend" in wide.newly


@pytest.mark.parametrize(
    ("rule", "newly"),
    [
        (WebhookRule(("*",), ("*",), ("*",), ("*/*",)), {"nodes", "leases", "everything"}),
        (WebhookRule(("UPDATE",), ("",), ("v1",), ("nodes/status",)), {"nodes"}),
        (WebhookRule(("*",), ("coordination.k8s.io",), ("*",), ("leases",)), {"leases"}),
        (WebhookRule(("*",), ("example.com",), ("*",), ("*",)), set[str]()),
        (WebhookRule(("CREATE",), ("apps",), ("v1",), ("deployments",)), {"kube-system"}),
        (
            WebhookRule(("CREATE",), ("",), ("v1",), ("pods/binding",)),
            {"own-backend", "kube-system"},
        ),
        (
            WebhookRule(("UPDATE",), ("",), ("v1",), ("pods/status",)),
            {"own-backend", "kube-system"},
        ),
        (WebhookRule(("CREATE",), ("",), ("v1",), ("serviceaccounts/*",)), {"own-backend"}),
    ],
)
def test_what_a_rule_reaches(rule: WebhookRule, newly: set[str]) -> None:
    """Nodes and heartbeats are told by their names; another's own kinds are nothing of ours."""
    before = hooked(webhook("injector", BACKEND), rules=())
    after = hooked(before, rules=(rule,))
    graph = graph_of(*CLUSTER, before)
    graph.declare("example.com", "Gadget", Resource("example.com", "gadgets"))

    (found,) = widened(update(before, after), graph)

    assert newly <= set(found.newly)
    assert found.matched_after > found.matched_before or newly
    if not newly:
        assert (found.newly, found.matched_after) == ((), 1)


@pytest.mark.parametrize("part", ["binding", "status"])
def test_pods_are_placed_where_a_webhook_does_not_look(part: str) -> None:
    """A scheduler of its own asks about its own namespaces; what starts no pod stands in no way."""
    rules = (WebhookRule(("CREATE", "UPDATE"), ("",), ("v1",), (f"pods/{part}",)),)
    before = hooked(webhook("scheduler", BACKEND, namespaces=OPTED_IN), rules=())
    (found,) = widened(update(before, hooked(before, rules=rules)), graph_of(*CLUSTER, before))
    assert found.newly == ()

    evicted = (WebhookRule(("CREATE",), ("",), ("v1",), ("pods/eviction",)),)
    wide = hooked(webhook("scheduler", BACKEND), rules=())
    (found,) = widened(update(wide, hooked(wide, rules=evicted)), graph_of(*CLUSTER, wide))
    assert not {"own-backend", "kube-system"} & set(found.newly)


def test_rules_of_one_kind_that_become_rules_of_all() -> None:
    """In namespaces alone: its own backend, kube-system and the leases there come with it."""
    ingresses = (WebhookRule(("*",), ("networking.k8s.io",), ("*",), ("ingresses",), "Namespaced"),)
    before = hooked(webhook("opa", BACKEND), rules=ingresses)
    all_kinds = (WebhookRule(("CREATE", "UPDATE"), ("*",), ("*",), ("*",), "Namespaced"),)

    (found,) = widened(update(before, hooked(before, rules=all_kinds)), graph_of(*CLUSTER, before))

    assert found.newly == ("own-backend", "kube-system", "leases", "everything", "pods")


OF_ALL = (WebhookRule(("CREATE", "UPDATE"), ("*",), ("*",), ("*",)),)


def slow(seconds: int, **parts: Any) -> ClusterObject:
    """Make a webhook that fails open and looks at everything, and waits for so long."""
    return hooked(
        webhook("audit", BACKEND, fail_closed=False), rules=OF_ALL, waits_s=seconds, **parts
    )


def holding(before: ClusterObject | None, after: ClusterObject) -> list[tuple[str, ...]]:
    """Return what would be held up, of all that a webhook comes to match."""
    graph = graph_of(*CLUSTER, *([before] if before else []))
    return [one.newly for one in widened(update(before, after), graph) if one.fail_closed]


def test_what_fails_open_may_still_keep_leases_waiting_for_too_long() -> None:
    """Who renews a lease has given up by then; told when it comes to be so, and not again."""
    assert holding(None, slow(10)) == [("leases",)]
    assert holding(slow(3), slow(30)) == [("leases",)]
    assert holding(hooked(slow(10), rules=()), slow(10)) == [("leases",)]
    assert holding(slow(10), slow(30)) == []
    assert holding(hooked(slow(10), fail_closed=True), slow(10)) == []


def test_why_what_fails_open_is_told_is_said_with_its_name() -> None:
    """Whoever reads that it fails closed knows that it says otherwise, and what to change."""
    found = widened(update(None, slow(10)), graph_of(*CLUSTER))
    (told,) = [one for one in found if one.newly == ("leases",)]
    assert told.part.startswith("audit")
    assert "waited for 10 s where a Lease has 5 s" in told.part


def test_what_fails_open_soon_or_spares_leases_is_installed() -> None:
    """It answers in time, leaves the system's namespaces out, or asks about other kinds."""
    spared = Selector(
        (
            Requirement(
                "kubernetes.io/metadata.name", Operator.NOT_IN, ("kube-node-lease", "kube-system")
            ),
        )
    )
    assert holding(None, slow(3)) == []
    assert holding(None, slow(10, namespace_selector=spared)) == []
    assert holding(None, webhook("audit", BACKEND, fail_closed=False)) == []


def test_labels_that_nobody_has_reach_nobody() -> None:
    """An objectSelector that pods opt in by matches none of the cluster's components."""
    after = hooked(webhook("injector", BACKEND), object_selector=OPTED_IN)
    (found,) = widened(update(None, after), graph_of(*CLUSTER))
    assert found.newly == ()


# ---- labels of namespaces


EXEMPT = {"ignore": "yes"}
UNLESS_EXEMPT = Selector((Requirement("ignore", Operator.DOES_NOT_EXIST),))
EVERYTHING = (WebhookRule(("*",), ("*",), ("*",), ("*",)),)


def relabelled(name: str, old: Body, new: Body, hook: ClusterObject) -> list[ScopeWidened]:
    """Give one namespace of the cluster other labels, while a webhook is there."""
    one = namespace(name)
    before = msgspec.structs.replace(one, labels={**one.labels, **old})
    after = msgspec.structs.replace(one, labels={**one.labels, **new})
    others = [namespace(n) for n in ("hooks", "kube-system", "kube-node-lease", "shop")]
    rest = [other for other in others if other.key != before.key]
    return widened(update(before, after), graph_of(rest, before, *CLUSTER[1:], hook))


@pytest.mark.parametrize(
    ("space", "newly"),
    [
        ("hooks", ("own-backend", "pods")),
        ("kube-system", ("kube-system", "leases", "pods")),
        ("kube-node-lease", ("leases", "pods")),
        ("shop", ("pods",)),
    ],
)
def test_a_namespace_loses_the_label_that_kept_a_webhook_out(
    space: str, newly: tuple[str, ...]
) -> None:
    """What the webhook newly matches there is told as if the webhook had been widened."""
    hook = hooked(webhook("judge", BACKEND, namespaces=UNLESS_EXEMPT), rules=EVERYTHING)

    (found,) = relabelled(space, EXEMPT, {"owner": "platform"}, hook)

    assert found.newly == newly
    assert (found.source.name, found.part) == ("judge", "judge.example.com")
    assert (found.fail_closed, found.backend_ready, found.created) == (True, 2, False)
    assert found.matched_before == found.matched_after > 0


def test_a_namespace_that_opts_in_is_looked_into() -> None:
    """A label that comes says as much as one that goes; team namespaces opt in for their pods."""
    hook = webhook("injector", BACKEND, namespaces=OPTED_IN)
    assert [one.newly for one in relabelled("shop", {}, {"inject": "yes"}, hook)] == [("pods",)]
    (own,) = relabelled("hooks", {}, {"inject": "yes"}, hook)
    assert own.newly == ("own-backend", "pods")


@pytest.mark.parametrize(
    "hook",
    [
        webhook("judge", BACKEND),
        webhook("judge", BACKEND, namespaces=SPARING),
        webhook("judge", BACKEND, namespaces=UNLESS_EXEMPT, fail_closed=False),
        hooked(
            webhook("judge", BACKEND, namespaces=UNLESS_EXEMPT),
            rules=(WebhookRule(("*",), ("example.com",), ("*",), ("gadgets",)),),
        ),
    ],
    ids=["no-selector", "by-name", "fails-open", "another-kind"],
)
def test_a_label_that_no_webhook_on_the_namespace_reads(hook: ClusterObject) -> None:
    """Nor does one matter that fails open, or that is asked about nothing that is there."""
    assert relabelled("kube-system", EXEMPT, {}, hook) == []


def test_a_label_that_says_the_same_in_another_word_exempts_still() -> None:
    """Whether the label is there decides, not its value; a webhook that it lets in goes on."""
    hook = webhook("judge", BACKEND, namespaces=UNLESS_EXEMPT)
    assert relabelled("kube-system", EXEMPT, {"ignore": "always"}, hook) == []
    assert relabelled("kube-system", {}, {"owner": "platform"}, hook) == []
    assert relabelled("kube-system", {}, EXEMPT, hook) == []


# ---- network policies


def policy(name: str = "deny", **spec: Any) -> Body:
    parts = {"apiVersion": "networking.k8s.io/v1", "spec": {"podSelector": {}, **spec}}
    return body("NetworkPolicy", name, "shop", **parts)


def asked(new: Body | None, old: Body | None = None) -> Request:
    before = trimmed(NETWORK_POLICIES, old) if old is not None else None
    if new is None:
        assert before is not None
        return delete(before)
    return update(before, trimmed(NETWORK_POLICIES, new))


DNS = (
    namespace("kube-system"),
    service("kube-dns", "kube-system", app="coredns"),
    workload("coredns", "kube-system", replicas=2),
)
SHOP = (namespace("shop"), service("web", "shop"), workload("web", "shop"), workload("db", "shop"))
DENY = policy(policyTypes=["Ingress", "Egress"])
TO_DNS = {
    "to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "coredns"}}}],
    "ports": [{"port": 53, "protocol": "UDP"}],
}
ALLOW_DNS = policy("allow-dns", policyTypes=["Egress"], egress=[TO_DNS])


def told(request: Request, *more: Body) -> dict[str, tuple[set[str], int]]:
    graph = graph_of(*DNS, *SHOP, [trimmed(NETWORK_POLICIES, one) for one in more])
    return {one.part: (set(one.newly), one.owners) for one in widened(request, graph)}


def test_a_policy_without_a_rule_shuts_everything_off() -> None:
    """All pods lose DNS and everybody else; what serves is reached by nobody."""
    assert told(asked(DENY)) == {"egress": ({"dns", "service"}, 2), "ingress": ({"service"}, 1)}


def test_an_allow_rule_counts_wherever_it_stands() -> None:
    """In the same policy, or in one that is there already."""
    with_dns = policy(policyTypes=["Egress"], egress=[TO_DNS])
    assert told(asked(with_dns)) == {}
    assert told(asked(policy(policyTypes=["Egress"])), ALLOW_DNS) == {}


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        ({}, set[str]()),
        ({"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}, set[str]()),
        ({"to": [{"namespaceSelector": {}}]}, set[str]()),
        ({"to": [{"podSelector": {}}]}, {"dns"}),
        ({"ports": [{"port": 443}]}, {"dns"}),
        ({"ports": [{"port": 1, "endPort": 1024, "protocol": "UDP"}]}, set[str]()),
        ({"to": [{"podSelector": {"matchLabels": {"app": "nobody"}}}]}, {"dns", "service"}),
        (
            {"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "x"}}}]},
            {"dns", "service"},
        ),
    ],
)
def test_which_rules_let_dns_through(rule: Body, lost: set[str]) -> None:
    """By peer and port, as the pods of the cluster's DNS are labelled."""
    found = told(asked(policy(policyTypes=["Egress"], egress=[rule])))
    assert found == ({"egress": (lost, 2)} if lost else {})


def test_an_allow_rule_that_goes_takes_away_what_it_allowed() -> None:
    """While another policy still shuts the pods off; else its end opens everything."""
    deny = policy("default-deny", policyTypes=["Egress"])
    assert told(asked(None, ALLOW_DNS), deny, ALLOW_DNS) == {"egress": ({"dns", "service"}, 2)}
    assert told(asked(None, ALLOW_DNS), ALLOW_DNS) == {}
    narrowed = policy("allow-dns", policyTypes=["Egress"], egress=[{"ports": [{"port": 80}]}])
    assert told(asked(narrowed, ALLOW_DNS), ALLOW_DNS) == {"egress": ({"dns"}, 2)}


def test_only_who_has_rights_needs_the_api_server() -> None:
    """Pods whose account is granted nothing do not miss it."""
    account = ObjectKey(SERVICE_ACCOUNTS, "shop", "watcher")
    pods = [
        msgspec.structs.replace(one, needs=(Need(Edge.SERVICE_ACCOUNT, account),))
        for one in workload("watcher", "shop")
    ]
    binding = msgspec.structs.replace(
        thing(CLUSTER_ROLE_BINDINGS, "watcher", facts=RoleBindingFacts()),
        needs=(Need(Edge.SUBJECT, account),),
    )
    rule = {"ports": [{"port": 53, "protocol": "UDP"}]}
    request = asked(policy(policyTypes=["Egress"], egress=[rule]))

    (found,) = widened(request, graph_of(*DNS, *SHOP, pods, binding))
    assert (found.newly, found.owners) == (("apiserver",), 1)
    assert widened(request, graph_of(*DNS, *SHOP, pods)) == []


def test_nobody_runs_there_yet() -> None:
    """A default-deny in a new namespace takes nothing from anybody."""
    assert widened(asked(DENY), graph_of(*DNS, namespace("shop"))) == []


def test_dns_itself_is_shut_in() -> None:
    """A policy over the pods of DNS that lets in only some is everybody's loss."""
    own: Body = {"from": [{"podSelector": {}}]}
    everybody: Body = {"from": [{"namespaceSelector": {}}]}
    selector = {"matchLabels": {"app": "coredns"}}

    def shut(rule: Body) -> list[ScopeWidened]:
        parts = {"podSelector": selector, "ingress": [rule]}
        one = body(
            "NetworkPolicy", "dns", "kube-system", apiVersion="networking.k8s.io/v1", spec=parts
        )
        return widened(asked(one), graph_of(*DNS, *SHOP))

    (found,) = shut(own)
    assert (found.part, found.newly) == ("ingress", ("dns",))
    assert found.owners > 1
    assert shut(everybody) == []


def cilium(space: str = "", **spec: Any) -> ClusterObject:
    kind = "CiliumNetworkPolicy" if space else "CiliumClusterwideNetworkPolicy"
    resource = CILIUM_POLICIES if space else CILIUM_CLUSTER_POLICIES
    parts = {"apiVersion": "cilium.io/v2", "spec": {"endpointSelector": {}, **spec}}
    return trimmed(resource, body(kind, "deny", space, **parts))


NOT_SYSTEM = {
    "matchExpressions": [
        {"key": "k8s:io.kubernetes.pod.namespace", "operator": "NotIn", "values": ["kube-system"]}
    ]
}


def test_a_deny_rule_closes_what_no_rule_opens() -> None:
    """Of the whole cluster but one namespace, though it denies one address only."""
    one_address = [{"toCIDR": ["169.254.169.254/32"]}]
    made = cilium(endpointSelector=NOT_SYSTEM, egressDeny=one_address)
    blog = (namespace("blog"), workload("blog", "blog"))

    (found,) = widened(update(None, made), graph_of(*DNS, *SHOP, *blog))

    assert (found.part, found.newly, found.owners) == ("egress", ("dns", "service"), 3)
    assert found.matched_after == 3
    for harmless in (
        cilium(endpointSelector=NOT_SYSTEM, egressDeny=one_address, egress=[{"toEntities": ["all"]}]),
        cilium(
            endpointSelector=NOT_SYSTEM, egressDeny=one_address,
            enableDefaultDeny={"egress": False},
        ),
        cilium(endpointSelector={"matchLabels": {"app": "nobody"}}, egressDeny=one_address),
    ):  # fmt: skip
        assert widened(update(None, harmless), graph_of(*DNS, *SHOP, *blog)) == []


def test_a_deny_rule_in_a_list_of_specs() -> None:
    """One spec says the same in a list as alone; of several it is not told what they add up to."""
    spec = {"endpointSelector": NOT_SYSTEM, "egressDeny": [{"toCIDR": ["169.254.169.254/32"]}]}
    allow = {"endpointSelector": NOT_SYSTEM, "egress": [{"toEntities": ["all"]}]}

    def listed(*specs: dict[str, Any]) -> ClusterObject:
        parts = {"apiVersion": "cilium.io/v2", "specs": list(specs)}
        return trimmed(
            CILIUM_CLUSTER_POLICIES, body("CiliumClusterwideNetworkPolicy", "deny", "", **parts)
        )

    there = graph_of(*DNS, *SHOP, namespace("blog"), workload("blog", "blog"))
    (found,) = widened(update(None, listed(spec)), there)
    assert (found.part, found.newly) == ("egress", ("dns", "service"))
    assert widened(update(None, listed(spec, allow)), there) == []
    assert widened(update(None, listed()), there) == []


def test_policies_of_both_kinds_add_up() -> None:
    """What one kind allows, the other kind's default deny does not take away."""
    to_dns = [{"toEndpoints": [{"matchLabels": {"io.kubernetes.pod.namespace": "kube-system"}}]}]
    allow = cilium("shop", egress=to_dns)
    deny = asked(policy(policyTypes=["Egress"]))
    assert widened(deny, graph_of(*DNS, *SHOP, allow)) == []
    assert widened(delete(allow), graph_of(*DNS, *SHOP, allow)) == []
    denied = trimmed(NETWORK_POLICIES, policy(policyTypes=["Egress"]))
    (found,) = widened(delete(allow), graph_of(*DNS, *SHOP, allow, denied))
    assert found.newly == ("dns", "service")


def test_a_binding_to_everybody() -> None:
    """Granted to whoever is logged in: told once, when it becomes so."""
    narrow = thing(CLUSTER_ROLE_BINDINGS, "b", facts=RoleBindingFacts((), ("team-a",)))
    wide = msgspec.structs.replace(
        narrow, facts=RoleBindingFacts((), ("system:authenticated", "team-a"))
    )
    (found,) = widened(update(narrow, wide), graph_of(narrow))
    assert (found.what, found.part, found.newly) == (
        "binding", "system:authenticated", ("everything",)
    )  # fmt: skip
    assert widened(update(wide, wide), graph_of(wide)) == []
    assert widened(update(None, narrow), graph_of()) == []
