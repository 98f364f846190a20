"""Who would be allowed more, and who would miss what it was allowed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import effects, impact_of, update
from support.cluster import delete, graph_of, namespace, operator, thing, workload
from support.writes import body, trimmed
from suture.impact.effects import PrivilegeGained, PrivilegeLost
from suture.model.edges import Edge, Need
from suture.model.graph import Graph, GraphView
from suture.model.names import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, Facts, PodFacts, WorkloadFacts
from suture.model.request import Request
from suture.model.rights import Right, RightsRule, escalates, rights_of

API = "rbac.authorization.k8s.io"
KINDS = {
    ROLES: "Role",
    CLUSTER_ROLES: "ClusterRole",
    ROLE_BINDINGS: "RoleBinding",
    CLUSTER_ROLE_BINDINGS: "ClusterRoleBinding",
}


def read(resource: Resource, name: str, space: str, **parts: Any) -> ClusterObject:
    return trimmed(resource, body(KINDS[resource], name, space, apiVersion=f"{API}/v1", **parts))


def rule(verbs: Sequence[str], resources: Sequence[str], group: str = "") -> dict[str, Any]:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}


def role(name: str, *rules: dict[str, Any], **parts: Any) -> ClusterObject:
    return read(CLUSTER_ROLES, name, "", rules=list(rules), **parts)


def account(name: str = "web", space: str = "shop") -> dict[str, str]:
    return {"kind": "ServiceAccount", "namespace": space, "name": name}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "name": name}


def binding(
    name: str, of: str, *subjects: dict[str, str], space: str = "", kind: str = "ClusterRole"
) -> ClusterObject:
    resource = ROLE_BINDINGS if space else CLUSTER_ROLE_BINDINGS
    ref = {"apiGroup": API, "kind": kind, "name": of}
    return read(resource, name, space, roleRef=ref, subjects=list(subjects))


def pods(count: int = 2, name: str = "web", space: str = "shop") -> list[ClusterObject]:
    need = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, space, name))
    return [
        msgspec.structs.replace(one, needs=(need,))
        for one in workload("web", "shop", replicas=count)
    ]


READER = role("reader", rule(["get"], ["pods"]))
ADMIN = role("admin", {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})


def gained(request: Request, graph: Graph) -> list[PrivilegeGained]:
    return effects(impact_of(request, GraphView(graph)), PrivilegeGained)


def lost(request: Request, graph: Graph) -> list[PrivilegeLost]:
    return effects(impact_of(request, GraphView(graph)), PrivilegeLost)


def test_a_binding_gives_the_rights_of_its_role() -> None:
    """To each subject, in the whole cluster or in one namespace."""
    graph = graph_of(READER, ADMIN)

    (found,) = gained(update(None, binding("b", "reader", account(), space="shop")), graph)
    assert found.subject == "account system:serviceaccount:shop:web"
    assert (found.rights, found.escalates, found.cluster_wide) == (("get pods",), (), False)

    two = binding("b", "admin", account(), group("team"))
    all_of_it = gained(update(None, two), graph)
    assert {one.subject.split()[0] for one in all_of_it} == {"account", "group"}
    assert {one.escalates for one in all_of_it} == {("wildcard",)}
    assert {one.cluster_wide for one in all_of_it} == {True}


def test_what_it_has_already_is_not_gained() -> None:
    """By another binding, in the namespace or in the whole cluster."""
    everywhere = binding("all", "reader", account(), group("team"))
    graph = graph_of(READER, everywhere)
    again = binding("b", "reader", account(), group("team"), space="shop")
    assert gained(update(None, again), graph) == []

    here = graph_of(READER, binding("b", "reader", account(), space="shop"))
    assert gained(update(None, everywhere), here) != []
    admin = graph_of(READER, ADMIN, binding("all", "admin", account()))
    assert gained(update(None, binding("b", "reader", account())), admin) == []


def test_only_new_subjects_gain() -> None:
    """A binding that is written again gives nobody anything; one more subject gets all of it."""
    before = binding("b", "reader", account())
    after = binding("b", "reader", account(), account("db"))
    graph = graph_of(READER, before)
    assert gained(update(before, before), graph) == []
    assert [one.subject for one in gained(update(before, after), graph)] == [
        "account system:serviceaccount:shop:db"
    ]


def test_a_role_that_grows_gives_to_all_that_are_bound() -> None:
    """Only what is new; a role that nobody is bound to gives nobody anything."""
    wider = role("reader", rule(["get"], ["pods"]), rule(["list"], ["secrets"]))
    bound = graph_of(READER, binding("b", "reader", account()))

    (found,) = gained(update(READER, wider), bound)

    assert (found.rights, found.escalates) == (("list secrets",), ("secrets",))
    assert gained(update(READER, wider), graph_of(READER)) == []


def test_a_role_that_a_binding_waited_for() -> None:
    """Its creation gives at once what the binding promised."""
    graph = graph_of(binding("b", "reader", account()))
    assert len(gained(update(None, READER), graph)) == 1


def test_rules_are_aggregated() -> None:
    """A ClusterRole that another is filled from widens that one's subjects too."""
    total = read(
        CLUSTER_ROLES, "edit", "", rules=[],
        aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"to-edit": "true"}}]},
    )  # fmt: skip
    part = role("more", rule(["delete"], ["services"]), metadata={"labels": {"to-edit": "true"}})
    graph = graph_of(total, binding("b", "edit", account()))
    (found,) = gained(update(None, part), graph)
    assert found.rights == ("delete services",)


def test_the_actor_gives_to_itself() -> None:
    """As a user of that name, or as one of its group."""
    me = operator()
    space, name = me.user.username.split(":")[2:]
    own = update(None, binding("b", "reader", account(name, space)), by=me)
    assert [one.own for one in gained(own, graph_of(READER))] == [True]
    other = update(None, binding("b", "reader", account()), by=me)
    assert [one.own for one in gained(other, graph_of(READER))] == [False]


def test_a_binding_of_those_at_work_goes() -> None:
    """Its running pods miss it; an account that nobody runs as misses nothing."""
    used = binding("b", "reader", account())
    idle = binding("idle", "reader", account("idle"))
    graph = graph_of(READER, used, idle, pods(3))

    (found,) = lost(delete(used), graph)

    assert (found.running, found.rights, found.system) == (3, 1, False)
    assert lost(delete(idle), graph) == []


def test_who_keeps_the_right_otherwise_loses_nothing() -> None:
    """A binding that is made anew under another name may go under the first."""
    old, new = binding("old", "reader", account()), binding("new", "reader", account())
    assert lost(delete(old), graph_of(READER, old, new, pods())) == []


def test_a_role_is_emptied() -> None:
    """All that are bound to it lose what it said."""
    graph = graph_of(READER, binding("b", "reader", account()), pods())
    (found,) = lost(update(READER, role("reader")), graph)
    assert (found.rights, found.source.resource) == (1, "clusterroles")
    (found,) = lost(delete(READER), graph)
    assert found.running == 2


@pytest.mark.parametrize(
    ("subject", "system"),
    [
        (group("system:nodes"), True),
        ({"kind": "User", "name": "system:kube-scheduler"}, True),
        (account("job-controller", "kube-system"), True),
        (group("team-a"), None),
        (group("system:serviceaccounts:shop"), None),
        (group("system:authenticated"), True),
        (group("system:authenticated:oauth"), None),
        (group("system:unauthenticated"), None),
        ({"kind": "User", "name": "system:anonymous"}, None),
    ],
)
def test_the_control_plane_is_always_at_work(subject: dict[str, str], system: bool | None) -> None:
    """What it would miss is told though no pod runs as it; of others, nothing."""
    one = binding("b", "reader", subject)
    found = lost(delete(one), graph_of(READER, one))
    assert [one.system for one in found] == ([] if system is None else [system])


def test_whoever_asks_by_a_binding_of_the_api_servers_own() -> None:
    """So balancers ask it whether it is well, without a name."""
    made = binding("b", "reader", group("system:unauthenticated"))
    own = msgspec.structs.replace(made, labels={"kubernetes.io/bootstrapping": "rbac-defaults"})
    (found,) = lost(delete(own), graph_of(READER, own))
    assert found.system


@pytest.mark.parametrize(
    ("space", "there", "missed"),
    [
        pytest.param("kube-system", False, False, id="it is not there"),
        pytest.param("kube-system", True, True, id="it is there"),
        pytest.param("", False, True, id="in any namespace"),
    ],
)
def test_a_right_on_what_is_not_there(space: str, *, there: bool, missed: bool) -> None:
    """The settings of a version that is over go, and then the right of nodes to read them."""
    named = {**rule(["get"], ["configmaps"]), "resourceNames": ["kubelet-config-1"]}
    one = binding("b", "settings", group("system:nodes"), space=space)
    maps = [thing(CONFIG_MAPS, "kubelet-config-1" if there else "other", "kube-system")]
    graph = graph_of(role("settings", named), one, maps)
    assert bool(lost(delete(one), graph)) is missed


@pytest.mark.parametrize(
    ("uses", "system"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([(DAEMON_SETS, WorkloadFacts())], None, id="an agent on no node"),
        pytest.param([(DAEMON_SETS, WorkloadFacts(status_replicas=2))], True, id="an agent"),
        pytest.param([(DEPLOYMENTS, WorkloadFacts(replicas=0))], None, id="a workload of none"),
        pytest.param([(DEPLOYMENTS, WorkloadFacts(replicas=1))], True, id="a workload"),
        pytest.param([(JOBS, WorkloadFacts(replicas=1, finished=True))], None, id="finished work"),
        pytest.param([(CRON_JOBS, WorkloadFacts())], True, id="work that comes and goes"),
        pytest.param([(PODS, PodFacts(finished=True))], None, id="a finished pod"),
    ],
)
def test_an_account_of_the_cluster_that_nothing_runs_as_is_left_behind(
    uses: list[tuple[Resource, Facts]], system: bool | None
) -> None:
    """Where the add-on has gone, its rights may go; built-in controllers run outside of pods."""
    need = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "kube-system", "addon"))
    users = [
        msgspec.structs.replace(thing(resource, "addon", "kube-system", facts=facts), needs=(need,))
        for resource, facts in uses
    ]
    one = binding("b", "reader", account("addon", "kube-system"))
    found = lost(delete(one), graph_of(READER, one, users))
    assert [each.system for each in found] == ([] if system is None else [system])


@pytest.mark.parametrize(
    ("before", "after", "wiped"),
    [
        (binding("b", "reader", account()), binding("b", "reader"), True),
        (binding("b", "reader", account()), binding("b", "reader", account("other")), False),
        (role("reader", rule(["get"], ["pods"])), role("reader"), True),
        (role("reader", rule(["get"], ["pods"])), role("reader", rule(["get"], ["nodes"])), False),
    ],
    ids=["no subjects", "another subject", "no rules", "other rules"],
)
def test_what_is_left_without_anything_is_wiped(
    before: ClusterObject, after: ClusterObject, wiped: bool
) -> None:
    """Whoever writes rights of another kind in their place meant something by it."""
    rest = [one for one in (READER, binding("b", "reader", account())) if one.key != before.key]
    (found,) = lost(update(before, after), graph_of(before, rest, pods()))
    assert found.wiped == wiped


MANY = ("get", "list", "watch", "update")


@pytest.mark.parametrize(
    ("after", "wiped"),
    [
        pytest.param(
            [rule(["get"], ["nodes"])], [True], id="a-list-replaced-by-what-it-was-to-get"
        ),
        pytest.param([rule(MANY, ["pods"], "next")], [False], id="another-version-of-as-much"),
        pytest.param([rule(["get"], ["pods"])], [False], id="less-of-the-same"),
        pytest.param([rule(MANY, ["pods"]), rule(["get"], ["nodes"])], [], id="added-to-it"),
        pytest.param([rule(["*"], ["pods"])], [], id="the-same-in-other-words"),
    ],
)
def test_rights_that_are_others_altogether_are_wiped(
    after: list[dict[str, Any]], wiped: list[bool]
) -> None:
    """The incident: a patch that was to add a rule replaces all rules of those at work."""
    before = role("reader", rule(MANY, ["pods"]))
    rest = [binding("b", "reader", account())]
    found = lost(update(before, role("reader", *after)), graph_of(before, rest, pods()))
    assert [one.wiped for one in found] == wiped


@pytest.mark.parametrize(
    ("heirs", "wiped"),
    [
        pytest.param(["other"], True, id="another workload"),
        pytest.param(["web-2"], False, id="the same workload under a new account"),
        pytest.param(["idle"], False, id="an account as which nothing runs yet"),
        pytest.param(["other", "idle"], False, id="one of two"),
        pytest.param(["other", "web"], None, id="beside it"),
    ],
)
def test_rights_are_not_taken_for_others_at_work(heirs: list[str], wiped: bool | None) -> None:
    """Who is renamed takes its rights along; a second instance takes them away."""
    web = pods()
    other = [
        msgspec.structs.replace(one, needs=(_runs_as("other"),))
        for one in workload("other", "shop", replicas=2)
    ]
    renamed = msgspec.structs.replace(web[-1], needs=(_runs_as("web-2"),))
    before = binding("b", "reader", account())
    graph = graph_of(READER, before, [*web[:-1], renamed], other)
    after = binding("b", "reader", *(account(name) for name in heirs))
    found = lost(update(before, after), graph)
    assert [one.wiped for one in found] == ([] if wiped is None else [wiped])


@pytest.mark.parametrize(
    ("stay", "wiped"),
    [
        pytest.param([0], [True] * 3, id="one of four"),
        pytest.param([0, 1], [False] * 2, id="half"),
        pytest.param([0, 9], [False] * 3, id="with another in their place"),
    ],
)
def test_a_list_of_subjects_is_not_replaced_by_a_part_of_it(
    stay: list[int], wiped: list[bool]
) -> None:
    """An apply that knows its own account alone takes the others' rights; tenants go by the way."""
    parts = [
        msgspec.structs.replace(one, needs=(_runs_as(f"a-{at}"),))
        for at in range(4)
        for one in workload(f"a-{at}", "shop", replicas=1)
    ]
    before = binding("b", "reader", *(account(f"a-{at}") for at in range(4)))
    after = binding("b", "reader", *(account(f"a-{at}") for at in stay))
    found = lost(update(before, after), graph_of(READER, before, parts))
    assert [one.wiped for one in found] == wiped


def _runs_as(name: str) -> Need:
    return Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "shop", name))


@pytest.mark.parametrize(
    ("after", "wiped"),
    [
        ([account("gone")], True),
        ([account("web", "default")], True),
        ([account("other")], False),
        ([account("gone"), group("team-a")], False),
        ([account("gone"), account("other")], False),
    ],
    ids=["no such account", "no such namespace", "another", "a group beside", "one of two"],
)
def test_a_binding_to_accounts_that_are_not_there_binds_nobody(
    after: Sequence[dict[str, str]], wiped: bool
) -> None:
    """As an upgrade does that takes the release's namespace for another; one that is there will do."""
    accounts = [thing(SERVICE_ACCOUNTS, name, "shop") for name in ("web", "other")]
    before = binding("b", "reader", account())
    graph = graph_of(READER, before, accounts, pods())
    (found,) = lost(update(before, binding("b", "reader", *after)), graph)
    assert found.wiped == wiped


@pytest.mark.parametrize(
    ("managers", "wiped"),
    [
        pytest.param(("init", "sync"), True, id="who never wrote it"),
        pytest.param(("init",), False, id="who wrote it before"),
    ],
)
def test_a_binding_written_back_without_an_account_at_work(
    managers: tuple[str, ...], *, wiped: bool
) -> None:
    """One tenant goes by who keeps the list; who writes it as delivered does not know of any."""
    before = binding("b", "reader", group("admins"), account())
    before = msgspec.structs.replace(before, managers=("init",))
    after = binding("b", "reader", group("admins"))
    after = msgspec.structs.replace(after, managers=managers)
    (found,) = lost(update(before, after), graph_of(READER, before, pods()))
    assert found.wiped == wiped


def test_an_account_that_pods_run_as() -> None:
    """Goes, and the pods stay; with its namespace the pods go too, and nobody is told."""
    one = thing(SERVICE_ACCOUNTS, "web", "shop")
    graph = graph_of(READER, one, binding("b", "reader", account()), pods(), namespace("shop"))
    (found,) = lost(delete(one), graph)
    assert (found.running, found.rights) == (2, 1)
    assert lost(delete(namespace("shop")), graph) == []


@pytest.mark.parametrize(
    ("verb", "group", "resource", "words"),
    [
        ("*", "*", "*", ("wildcard",)),
        ("escalate", API, "clusterroles", ("escalate",)),
        ("bind", "*", "roles", ("bind",)),
        ("impersonate", "", "users", ("impersonate",)),
        ("watch", "", "secrets", ("secrets",)),
        ("create", "", "pods/exec", ("exec",)),
        ("create", "", "*/exec", ("exec",)),
        ("create", "", "serviceaccounts/token", ("tokens",)),
        ("get", "", "nodes/proxy", ("nodes-proxy",)),
        ("patch", "admissionregistration.k8s.io", "*", ("webhooks",)),
        ("get", "", "pods", ()),
        ("delete", "", "secrets", ()),
        ("create", API, "roles", ()),
    ],
)
def test_ways_to_all_rights(verb: str, group: str, resource: str, words: tuple[str, ...]) -> None:
    """As Kubernetes' own documentation lists them; a Secret read by its name is none."""
    assert escalates(Right(verb, group, resource)) == words
    assert "secrets" not in escalates(Right(verb, group, resource, "tls"))


TEXTS = st.lists(st.sampled_from("*ab"), min_size=1, max_size=2, unique=True).map(tuple)
RULES = st.builds(RightsRule, TEXTS, TEXTS, TEXTS, st.sampled_from([(), ("n",)]))


@given(one=RULES, other=RULES)
def test_a_right_covers_what_its_holder_may_do(one: RightsRule, other: RightsRule) -> None:
    """Held against asking the rules about each single request, as the authorizer does."""

    def allows(rule: RightsRule, verb: str, group: str, resource: str, name: str) -> bool:
        parts = ((rule.verbs, verb), (rule.groups, group), (rule.resources, resource))
        listed = all("*" in some or given in some for some, given in parts)
        return listed and (not rule.names or name in rule.names)

    requests = list(product("abc", "abc", "abc", ("n", "m")))
    for mine, theirs in product(rights_of([one]), rights_of([other])):
        rules = [
            RightsRule((it.verb,), (it.group,), (it.resource,), (it.name,) if it.name else ())
            for it in (mine, theirs)
        ]
        contains = all(
            allows(rules[0], *request) for request in requests if allows(rules[1], *request)
        )
        assert mine.covers(theirs) == contains
