"""The safety pack on effects of every kind: what each rule stops, and its benign look-alike."""

from __future__ import annotations

import pytest

from support.cases import actor, case, emptied, removed, request, victim
from suture.adapters.files import load_policies
from suture.impact.effects import (
    AdmissionPathBroken,
    CapacityLost,
    Churn,
    DataLost,
    DisruptionExceeded,
    Effect,
    EntriesDropped,
    ExternalDeleted,
    FinalizerRemoved,
    ForeignWrite,
    Growth,
    Hollowed,
    LoopClosed,
    OwnerInvalid,
    PlacementLost,
    PodsLost,
    PodsRestarted,
    PrivilegeLost,
    QuorumLost,
    ReferenceBroken,
    RouteBroken,
    ScopeWidened,
    SelectionChanged,
    Victim,
)
from suture.model.clock import Window
from suture.model.names import Operation
from suture.policy.compile import PolicySet
from suture.policy.evaluate import MESSAGE_CHARS, evaluate
from suture.policy.rules import POLICY_ERROR, Case, EnforcementAction, Point
from suture.verdict import claims_of

CLAIMS = "persistentvolumeclaims"
CRD = "customresourcedefinitions.apiextensions.k8s.io"
DAEMONS = "system:serviceaccount:kube-system:daemon-set-controller"


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


def said(pack: PolicySet, weighed: Case) -> dict[str, EnforcementAction]:
    """Return how far each finding goes, by code; every message is fit to be sent."""
    findings = evaluate(pack, weighed).violations
    for one in findings:
        assert 0 < len(one.message) <= MESSAGE_CHARS
        assert not one.message.endswith(".")
    codes = {one.code: one.enforcement for one in findings}
    assert POLICY_ERROR not in codes, findings
    return codes


def refused(pack: PolicySet, weighed: Case) -> set[str]:
    return {code for code, action in said(pack, weighed).items() if action == "deny"}


def warned(pack: PolicySet, weighed: Case) -> set[str]:
    return {code for code, action in said(pack, weighed).items() if action == "warn"}


def data(**fields: object) -> DataLost:
    known = {
        "holder": victim("data-0", resource=CLAIMS), "volume": "pv", "reclaim": "Delete",
        "bound": True, "mounted": 1, "copies": 0, "last_copy": True,
    }  # fmt: skip
    return DataLost(**{**known, **fields})  # type: ignore[arg-type]


def nodes(how: str = "deleted", **fields: object) -> CapacityLost:
    known = {
        "nodes": 1, "healthy": 1, "planned": 0, "open_before": 10, "open_after": 9, "leaving": 0,
        "pods": 5 if how == "deleted" else 0, "running": 5, "unplaced": 0,
    }  # fmt: skip
    return CapacityLost(how=how, **{**known, **fields})  # type: ignore[arg-type]


def pods(**fields: object) -> PodsLost:
    known = {
        "maker": Victim("apps", "deployments", "shop", "web", "u"), "count": 1, "ready": 1,
        "before": 3, "declared": 3, "self_healing": 1, "population": 400,
    }  # fmt: skip
    return PodsLost(**{**known, **fields})  # type: ignore[arg-type]


def widened(what: str, *newly: str, **fields: object) -> ScopeWidened:
    known = {
        "source": victim("x"), "part": "hook", "fail_closed": True, "backend_ready": 2,
        "matched_before": 1, "matched_after": 3,
    }  # fmt: skip
    return ScopeWidened(what=what, newly=newly, **{**known, **fields})  # type: ignore[arg-type]


def broken(**fields: object) -> ReferenceBroken:
    known = {
        "target": victim("tls", resource="secrets"), "key": "", "edge": "secret",
        "current": 1, "past": 0, "pods": 2,
    }  # fmt: skip
    return ReferenceBroken(**{**known, **fields})  # type: ignore[arg-type]


def foreign(what: str, **fields: object) -> ForeignWrite:
    known = {
        "target": victim(), "manager": "m", "by": "gitops", "manager_lives": True, "in_use": True,
    }  # fmt: skip
    return ForeignWrite(what=what, **{**known, **fields})  # type: ignore[arg-type]


def lifted(**fields: object) -> FinalizerRemoved:
    known = {
        "target": victim("v", resource="volumes"), "finalizer": "storage.example.org/keep",
        "owner": "storage", "by_owner": False, "terminating": True, "remaining": 0, "data": True,
    }  # fmt: skip
    return FinalizerRemoved(**{**known, **fields})  # type: ignore[arg-type]


def owned(why: str, **fields: object) -> OwnerInvalid:
    known = {
        "target": victim("a"), "owner": victim("b"), "collected": True, "in_use": False,
    }  # fmt: skip
    return OwnerInvalid(why=why, **{**known, **fields})  # type: ignore[arg-type]


def dropped(**fields: object) -> EntriesDropped:
    known = {
        "holder": victim("roles", "kube-system", "configmaps"), "field": "data.mapRoles",
        "before": 4, "dropped": 3, "entries": ("a", "b", "c"), "readers": 0, "critical": True,
    }  # fmt: skip
    return EntriesDropped(**{**known, **fields})  # type: ignore[arg-type]


def selected(cause: str, before: int, after: int, **fields: object) -> SelectionChanged:
    known = {"source": victim(), "kept": 0, "empty": False}
    return SelectionChanged(
        before=before, after=after, cause=cause, **{**known, **fields}  # type: ignore[arg-type]
    )  # fmt: skip


def quorum(before: int, after: int, **fields: object) -> QuorumLost:
    known = {
        "owner": victim("db", resource="statefulsets"), "members": 3, "majority": 2,
        "self_healing": True,
    }  # fmt: skip
    return QuorumLost(before=before, after=after, **{**known, **fields})  # type: ignore[arg-type]


def rights(**fields: object) -> PrivilegeLost:
    known = {
        "subject": "account a", "source": victim("b", ""), "rights": 4, "system": False,
        "running": 2,
    }  # fmt: skip
    return PrivilegeLost(**{**known, **fields})  # type: ignore[arg-type]


def outside(**fields: object) -> ExternalDeleted:
    known = {
        "resource": "buckets.cloud.example.org", "why": "deletion-policy", "policy": "Delete",
        "count": 1, "direct": 1, "population": 40,
    }  # fmt: skip
    return ExternalDeleted(**{**known, **fields})  # type: ignore[arg-type]


def route(**fields: object) -> RouteBroken:
    known = {
        "route": victim("front", resource="ingresses"), "service": victim(), "before": 2,
        "service_removed": True,
    }  # fmt: skip
    return RouteBroken(**{**known, **fields})  # type: ignore[arg-type]


def disrupted(allowed: int, asked: int, **fields: object) -> DisruptionExceeded:
    known = {
        "budget": victim("pdb"), "healthy": 5, "desired": 4, "evicted": False,
        "self_healing": True,
    }  # fmt: skip
    return DisruptionExceeded(
        allowed=allowed, asked=asked, **{**known, **fields}  # type: ignore[arg-type]
    )  # fmt: skip


def grown(per: str, after: int, **fields: object) -> Growth:
    known = {"resource": "pods", "holder": victim("job", resource="jobs"), "lately": 10}
    return Growth(
        per=per, before=after - 1, after=after, **{**known, **fields}  # type: ignore[arg-type]
    )  # fmt: skip


def again(
    what: str,
    times: int,
    resource: str = "statefulsets",
    window_s: int = 600,
    *,
    rounds: bool = False,
) -> Churn:
    return Churn(
        target=victim("p", resource=resource), what=what, times=times, window_s=window_s, actors=1,
        rounds=rounds,
    )  # fmt: skip


def update(resource: str = "services", *effects: Effect) -> Case:
    return case(*effects, asked=request(resource, operation=Operation.UPDATE))


def create(resource: str, *effects: Effect) -> Case:
    return case(*effects, asked=request(resource, operation=Operation.CREATE))


def delete(resource: str, *effects: Effect) -> Case:
    return case(*effects, asked=request(resource))


LOOP = LoopClosed(ring=(victim("a"), victim("b")), cut="a needs b", fail_closed=True)
TAKEN = selected(
    "created", 1, 2, foreign=1, source=victim("agent", resource="daemonsets")
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "weighed"),
    [
        ("data_in_use", delete(CLAIMS, data(), removed(CLAIMS))),
        ("data_in_use", delete(CLAIMS, data(reclaim="Retain", last_copy=False), removed(CLAIMS))),
        ("last_copy", delete(CLAIMS, data(mounted=0), removed(CLAIMS))),
        ("last_copy", delete("databases.example.org", data(direct=False), removed(CLAIMS))),
        ("external_along", delete(CRD, outside(count=9, direct=0))),
        ("quorum_lost", delete("pods", quorum(2, 1))),
        ("route_broken", delete("services", route())),
        ("disruption_exceeded", delete("pods", disrupted(1, 2))),
        ("too_many_nodes", update("nodes", nodes("cordoned", leaving=2))),
        ("too_many_nodes", update("nodes", nodes("tainted", leaving=3, gone=1))),
        ("unplanned_removal", delete("nodes", nodes())),
        ("no_room", delete("nodes", nodes(unplaced=3, planned=1))),
        ("node_label_in_use", update("nodes", nodes("relabelled", pods=3))),
        ("churn", delete("statefulsets.apps", again("deleted", 3))),
        ("churn", update("bindings.example.org", again("flipped", 13))),
        ("growth", create("pods", grown("owner", 1001))),
        ("growth", create("secrets", grown("actor", 5000, lately=1001))),
        ("foreign_delete", delete("services", foreign("delete"))),
        (
            "foreign_delete",
            delete(
                "clusterrolebindings.rbac.authorization.k8s.io",
                foreign("delete", by="helm", target=victim("b", "", "clusterrolebindings")),
            ),
        ),
        ("foreign_takeover", update("secrets", foreign("owners", by="field-manager"))),
        ("critical_entries", update("configmaps", dropped())),
        (
            "critical_removed",
            case(
                removed("configmaps", counted=0),
                asked=request("configmaps", "aws-auth", namespace="kube-system"),
            ),
        ),
        ("rights_lost", delete("clusterrolebindings.rbac.authorization.k8s.io", rights())),
        ("rights_lost", update("clusterroles.rbac.authorization.k8s.io", rights(system=True))),
        ("reference_in_use", delete("secrets", broken())),
        ("reference_in_use", update("configmaps", broken(key="app.conf"))),
        (
            "keys_wiped",
            update("secrets", dropped(holder=victim("s", resource="secrets"), readers=2)),
        ),
        (
            "keys_wiped",
            update("configmaps", dropped(holder=victim("c", resource="configmaps"), readers=2,
                                         critical=False)),
        ),
        ("rights_wiped", update("clusterroles.rbac.authorization.k8s.io", rights(wiped=True))),
        (
            "still_referenced",
            delete("ingressclasses.networking.k8s.io",
                   broken(target=Victim("networking.k8s.io", "ingressclasses", "", "nginx"))),
        ),
        (
            "still_referenced",
            delete("gateways.gateway.networking.k8s.io",
                   broken(target=Victim("gateway.networking.k8s.io", "gateways", "e", "edge"))),
        ),
        ("objects_remain", update("namespaces", lifted(remaining=7, data=False))),
        ("finalizer_of_another", update("volumes.example.org", lifted())),
        ("webhook_reaches_too_far", update("w", widened("webhook", "pods", "kube-system"))),
        ("essential_cut_off", create("n", widened("network-policy", "dns", owners=3))),
        ("selects_nothing", update("services", selected("selector", 3, 0))),
        ("label_in_use", update("pods", selected("labels", 1, 0))),
        ("adopted_by_another", create("pods", TAKEN)),
        ("owner_out_of_reach", create("p", owned("other-namespace"))),
        ("owner_out_of_reach", create("p", owned("namespaced-owner", collected=False))),
        ("owner_unknown", update("p", owned("unknown-uid", in_use=True))),
        (
            "fewer_than_wanted",
            update("statefulsets.apps", pods(lasting=1, self_healing=0, wanted=3)),
        ),
        (
            "still_referenced",
            delete(
                "identities.net.example.org",
                broken(target=Victim("net.example.org", "identities", "", "i")),
            ),
        ),
        ("still_wanted", delete("deployments.apps", removed("deployments.apps", wanted=1),
                                pods(lasting=1, self_healing=0))),
        (
            "crd_along",
            delete("providers.example.org", removed("providers.example.org", counted=0),
                   removed(CRD, 3, direct=0, counted=3)),
        ),
        (
            "version_in_use",
            update(CRD, broken(target=Victim("apiextensions.k8s.io",
                                             "customresourcedefinitions", "", "c"), key="v1")),
        ),
        (
            "namespace_runs",
            case(removed("deployments.apps"), pods(foreign=1, lasting=1, self_healing=0),
                 asked=request("namespaces", "shop")),
        ),
    ],
)  # fmt: skip
def test_refuses(pack: PolicySet, code: str, weighed: Case) -> None:
    """The rule speaks, and its constraint denies."""
    assert code in refused(pack, weighed)


@pytest.mark.parametrize(
    "weighed",
    [
        pytest.param(
            delete(CLAIMS, data(mounted=0, last_copy=False, copies=2), removed(CLAIMS)),
            id="a-claim-left-over-from-a-scale-down",
        ),
        pytest.param(
            delete(CLAIMS, data(mounted=0, reclaim="Retain"), removed(CLAIMS)), id="kept-volume"
        ),
        pytest.param(
            delete("namespaces", data(direct=False), removed(CLAIMS, foreign=0)), id="own-claims"
        ),
        pytest.param(
            delete("pods", data(direct=False, holder=victim("scratch", resource=CLAIMS)),
                   removed(CLAIMS)),
            id="scratch-space-of-a-pod",
        ),
        pytest.param(delete(CLAIMS, data(explained=True), removed(CLAIMS)), id="explained-claim"),
        pytest.param(delete("pods", quorum(1, 0)), id="no-majority-any-more"),
        pytest.param(delete("pods", quorum(2, 1, explained=True)), id="declared-scale-down"),
        pytest.param(delete("services", route(explained=True)), id="renamed-behind-its-route"),
        pytest.param(delete("services", route(before=0)), id="route-to-nothing"),
        pytest.param(delete("pods", disrupted(0, 1)), id="a-budget-that-never-allows-any"),
        pytest.param(update("nodes", nodes("cordoned", leaving=1)), id="second-node-of-an-upgrade"),
        pytest.param(
            update("nodes", nodes("cordoned", leaving=6, gone=5)), id="others-were-replaced"
        ),
        pytest.param(
            update("nodes", nodes("tainted", running=0, leaving=9, open_before=20)),
            id="empty-nodes-in-any-number",
        ),
        pytest.param(
            delete("nodes", nodes(planned=1, pods=0, leaving=5)), id="closed-and-drained"
        ),
        pytest.param(delete("nodes", nodes(planned=1)), id="closed-ready-and-fits-elsewhere"),
        pytest.param(delete("nodes", nodes(healthy=0, leaving=15, unplaced=4)), id="dead-nodes"),
        pytest.param(delete("nodes", nodes(open_before=100)), id="one-of-a-hundred"),
        pytest.param(delete("jobs.batch", again("deleted", 6, "jobs")), id="a-job-run-again"),
        pytest.param(delete("statefulsets.apps", again("deleted", 2)), id="made-anew-once"),
        pytest.param(
            update("x.example.org", again("flipped", 40, window_s=3600)), id="flaps-now-and-then"
        ),
        pytest.param(
            create("pods", grown("owner", 5001, wanted=5000)), id="declares-as-many"
        ),
        pytest.param(
            create("services", grown("actor", 2000, lately=1500, recovery=True)), id="a-restore"
        ),
        pytest.param(delete("services", foreign("delete", by="helm")), id="an-uninstall"),
        pytest.param(delete("services", foreign("delete", in_use=False)), id="not-in-use"),
        pytest.param(
            delete("services", foreign("delete", manager_lives=False)), id="its-manager-is-gone"
        ),
        pytest.param(update("deployments.apps", foreign("scale")), id="contested-replicas"),
        pytest.param(update("deployments.apps", foreign("template")), id="contested-template"),
        pytest.param(update("configmaps", dropped(dropped=1)), id="one-of-four-entries"),
        pytest.param(update("configmaps", dropped(critical=False)), id="somebodys-own-settings"),
        pytest.param(
            update("secrets", dropped(holder=victim("s", resource="secrets"), critical=False)),
            id="read-by-nobody",
        ),
        pytest.param(
            update("configmaps", dropped(holder=victim("c", resource="configmaps"), readers=2,
                                         critical=False, dropped=2)),
            id="half-of-the-keys",
        ),
        pytest.param(update("roles.rbac.authorization.k8s.io", rights()), id="a-role-narrowed"),
        pytest.param(
            update("roles.rbac.authorization.k8s.io", rights(wiped=True, explained=True)),
            id="a-role-emptied-with-its-cause",
        ),
        pytest.param(
            delete("ingressclasses.networking.k8s.io",
                   broken(current=0, target=Victim("networking.k8s.io", "ingressclasses", "", "o"))),
            id="a-class-that-nobody-names",
        ),
        pytest.param(delete("secrets", broken(explained=True)), id="goes-with-its-cause"),
        pytest.param(update("applications.example.org", lifted(data=False, terminating=False)),
                     id="finalizer-off-before-a-delete-without-cascade"),
        pytest.param(update("volumes.example.org", lifted(by_owner=True)), id="its-own-finalizer"),
        pytest.param(
            create("w", widened("webhook", "nodes", fail_closed=False)), id="fails-open"
        ),
        pytest.param(create("w", widened("webhook", "pods", created=True)), id="fresh-install"),
        pytest.param(update("services", selected("selector", 3, 3)), id="blue-to-green"),
        pytest.param(update("pods", selected("role", 1, 0)), id="a-failover-by-label"),
        pytest.param(
            create("statefulsets.apps", selected("created", 0, 3, foreign=3)),
            id="made-anew-over-its-pods",
        ),
        pytest.param(create("p", owned("unknown-kind")), id="a-kind-not-served-yet"),
        pytest.param(
            update("deployments.apps", pods(lasting=2, self_healing=0, before=10, declared=10)),
            id="ten-to-eight",
        ),
        pytest.param(
            update("statefulsets.apps",
                   pods(lasting=1, self_healing=0, before=2, declared=2, wanted=3)),
            id="another-part-of-a-product",
        ),
        pytest.param(
            delete("pods", removed("pods", wanted=1, counted=0, foreign=0, in_use=1),
                   pods(lasting=1, self_healing=0)),
            id="a-rolling-restart-by-an-operator",
        ),
    ],
)  # fmt: skip
def test_lets_pass(pack: PolicySet, weighed: Case) -> None:
    """Ordinary life finds nothing that refuses, and nothing that warns."""
    assert {
        code: action for code, action in said(pack, weighed).items() if action != "dryrun"
    } == {}


@pytest.mark.parametrize(
    ("code", "weighed"),
    [
        ("reference_of_the_past", delete("configmaps", broken(current=0, past=2))),
        ("finalizer_by_hand", update("x.example.org", lifted(data=False))),
        ("webhook_widened", update("w", widened("webhook", "pods"))),
        ("reach_lost", create("n", widened("network-policy", "service", owners=2))),
        ("reach_lost", create("n", widened("network-policy", "dns", owners=1))),
        ("loop_closed", create("w", LOOP)),
        ("owner_dangling", create("p", owned("unknown-uid"))),
        ("node_label_emptied", update("nodes", nodes("relabelled", pods=0, emptied=1))),
        ("selects_others", update("services", selected("selector", 2, 9, kept=2, foreign=7))),
        (
            "restarts_at_once",
            update("deployments.apps", PodsRestarted(
                workload=victim("w", resource="deployments"), count=3, before=3, unavailable=3,
                strategy="Recreate", healthy=True,
            )),
        ),
    ],
)  # fmt: skip
def test_warns(pack: PolicySet, code: str, weighed: Case) -> None:
    """What is right often and not always is said, and refuses nothing."""
    assert warned(pack, weighed) == {code}
    assert refused(pack, weighed) == set()


# ---- budgets


def asked(pack: PolicySet, weighed: Case) -> dict[str, int]:
    return {one.budget.name: one.amount for one in evaluate(pack, weighed).claims}


def test_dips_are_budgeted_and_told_when_to_come_again(pack: PolicySet) -> None:
    """Evictions of ready pods cost; their refusal passes, and says so."""
    weighed = case(pods(evicted=True), asked=request("pods", subresource="eviction"))
    [claim] = evaluate(pack, weighed).claims
    assert (claim.budget.name, claim.amount, claim.population) == ("dips", 1, 400)
    assert claim.budget.windows == (Window(600, 12, 5), Window(3_600, 75, 20))
    [made] = claims_of(weighed.actor, [claim])
    assert made.retry_after_s == 30


@pytest.mark.parametrize(
    "weighed",
    [
        pytest.param(delete("pods", pods(drained=1)), id="of-a-node-that-is-closed"),
        pytest.param(delete("pods", pods(ready=0)), id="not-ready"),
        pytest.param(delete("pods", pods(self_healing=0, explained=1)), id="explained"),
        pytest.param(delete("pods", pods(before=30, back=6)), id="of-a-workload-that-is-whole"),
        pytest.param(
            case(pods(), asked=request("pods"), by=actor(DAEMONS)), id="its-own-controller"
        ),
    ],
)
def test_dips_cost_nothing(pack: PolicySet, weighed: Case) -> None:
    assert "dips" not in asked(pack, weighed)


def test_scaling_to_nothing_is_budgeted_by_workload(pack: PolicySet) -> None:
    """By workload and not by pod; what stays above nothing costs nothing."""
    stopped = pods(count=3, lasting=3, self_healing=0)
    assert asked(pack, update("deployments.apps", stopped)) == {"stopped": 1}
    halved = pods(count=1, lasting=1, self_healing=0)
    assert asked(pack, update("deployments.apps", halved)) == {}


def test_a_namespace_in_which_nothing_runs_is_one_thing(pack: PolicySet) -> None:
    left = (removed("namespaces", counted=0, foreign=0), removed("deployments.apps", 10, in_use=0))
    weighed = case(*left, asked=request("namespaces", "left"))
    [claim] = evaluate(pack, weighed).claims
    assert (claim.key, claim.amount) == ("namespaces", 1)
    busy = case(*left, pods(), asked=request("namespaces", "left"))
    assert {one.key for one in evaluate(pack, busy).claims} == {"deployments.apps"} | {"pods"}


def test_things_outside_are_budgeted_by_kind(pack: PolicySet) -> None:
    assert asked(pack, delete("buckets.cloud.example.org", outside(explained=0)))["external"] == 1
    assert asked(pack, delete("buckets.cloud.example.org", outside(explained=1))) == {}
    assert asked(pack, delete("services", outside(why="load-balancer"))) == {}
    assert asked(pack, delete("machines.cloud.example.org", outside(replaced=1))) == {}
    some = outside(count=3, replaced=2)
    assert asked(pack, delete("machines.cloud.example.org", some))["external"] == 1


def test_what_the_operator_made_within_the_day_costs_nothing(pack: PolicySet) -> None:
    """Nor does it make room: what others made, or it itself long ago, costs as ever."""
    assert asked(pack, delete("services", removed("services", 5, made_lately=5))) == {}
    assert asked(pack, delete("services", removed("services", 5, made_lately=2)))["removals"] == 3


@pytest.mark.parametrize(
    ("size", "unavailable", "amount"),
    [
        (4, 1, {}), (4, 2, {"restarts": 1}), (4, 3, {"restarts": 1}),
        (3, 1, {}), (3, 2, {"restarts": 1}), (2, 1, {"restarts": 1}),
    ],
)  # fmt: skip
def test_rollouts_are_budgeted_by_workload(
    pack: PolicySet, size: int, unavailable: int, amount: dict[str, int]
) -> None:
    """One that keeps most of its pods costs nothing, whatever its size, nor one by one of three."""
    effect = PodsRestarted(
        workload=victim("w", resource="deployments"), count=size, before=size,
        unavailable=unavailable,
        strategy="RollingUpdate", healthy=True,
    )  # fmt: skip
    assert asked(pack, update("deployments.apps", effect)) == amount


@pytest.mark.parametrize(
    ("resource", "what", "charged"),
    [
        ("services", "address", {"removals": 1}),
        ("ingresses.networking.k8s.io", "backends", {"removals": 1}),
        ("cronjobs.batch", "schedule", {"stopped": 1}),
        ("serviceaccounts", "pull-secrets", {"stopped": 1}),
        ("resourcequotas", "room", {"stopped": 1}),
        ("namespaces", "webhooks", {"stopped": 1}),
    ],
)
def test_what_is_as_good_as_gone_costs_as_much(
    pack: PolicySet, resource: str, what: str, charged: dict[str, int]
) -> None:
    """One is never refused by itself."""
    effect = Hollowed(target=victim(), what=what, before=1, after=0, population=100)
    weighed = update(resource, effect)

    assert asked(pack, weighed) == charged
    assert said(pack, weighed) == {}


def led(resource: str, before: int, *, fail_closed: bool = True) -> Case:
    effect = AdmissionPathBroken(
        source=victim("h", "", resource), path="h.example.com", service=victim("gone"),
        fail_closed=fail_closed, self_healing=False, service_removed=True, blocks_recovery=False,
        calls="CREATE of pods", before=before, led=True,
    )  # fmt: skip
    return update("x.example.org", effect)


def test_a_path_that_works_is_not_led_to_nowhere(pack: PolicySet) -> None:
    """Only a conversion comes before its backend; what fails open may be led anywhere."""
    crds = "customresourcedefinitions"
    assert refused(pack, led("validatingwebhookconfigurations", 2)) == {"led_to_no_backend"}
    assert refused(pack, led("apiservices", -1)) == {"led_to_no_backend"}
    assert refused(pack, led(crds, 2)) == {"led_to_no_backend"}
    assert refused(pack, led(crds, -1)) == set()
    assert warned(pack, led(crds, -1)) == {"conversion_unready"}
    assert said(pack, led("apiservices", 2, fail_closed=False)) == {}


def unplaced(**fields: object) -> Case:
    known = {
        "workload": victim("w", resource="daemonsets"), "running": 10, "gone": 10,
        "nodes_before": 10, "nodes_after": 0, "missing": "labels",
    }  # fmt: skip
    return update("daemonsets.apps", PlacementLost(**{**known, **fields}))  # type: ignore[arg-type]


def test_pods_are_not_taken_where_no_node_would_do(pack: PolicySet) -> None:
    """All or nearly all of several; a few, a single one, and a roll-out that waits may."""
    assert refused(pack, unplaced()) == {"placed_nowhere"}
    assert refused(pack, unplaced(gone=9, nodes_after=1)) == {"placed_nowhere"}
    assert asked(pack, unplaced()) == {"unplaced": 1}

    narrowed = unplaced(gone=7, nodes_after=3)
    assert said(pack, narrowed) == {}
    assert asked(pack, narrowed) == {}
    for waits in (unplaced(gone=2), unplaced(running=1, gone=1)):
        assert warned(pack, waits) == {"rollout_unplaced"}
        assert refused(pack, waits) == set()
        assert asked(pack, waits) == {"unplaced": 1}
    later = unplaced(on_delete=True)
    assert (refused(pack, later), asked(pack, later)) == (set(), {})


def test_the_pack_asks_all_of_its_rules_quickly(pack: PolicySet) -> None:
    """None of them needs the values of a case converted, until it finds something."""
    slow = [bound.name for bound in pack.constraints for one in bound.rules if not one.asking.quick]
    assert slow == []
    assert all(bound.enforcement[Point.ADMISSION] == "deny" for bound in pack.constraints)


def test_evicted_pods_of_a_custom_parent_cost_nothing_on_a_closed_node(pack: PolicySet) -> None:
    """They have to move; on an open node, deleted, or kept by nothing, each is a lasting loss."""
    ring = Victim("life.example.com", "rings", "shop", "ring", "u")
    one = removed("pods", counted=1)
    moving = {"self_healing": 0, "lasting": 1, "drained": 1, "evicted": True}

    def keys(lost: PodsLost) -> set[str]:
        return {claim.key for claim in evaluate(pack, case(one, lost)).claims}

    assert keys(pods(maker=ring, **moving)) == set()
    assert keys(pods(maker=ring, **{**moving, "drained": 0})) == {"pods"}
    assert keys(pods(maker=ring, **{**moving, "evicted": False})) == {"pods"}
    assert keys(pods(maker=victim("bare", resource="pods"), **moving)) == {"pods"}


def test_the_only_pod_of_a_custom_parent_may_move_from_a_closed_node(pack: PolicySet) -> None:
    """Of several it is asked to come again; on an open node the refusal is final."""
    ring = Victim("life.example.com", "rings", "shop", "ring", "u")
    last = emptied(1, declared=1)
    moving = {"maker": ring, "self_healing": 0, "lasting": 1, "drained": 1, "evicted": True}

    def later(**fields: object) -> list[int | None]:
        found = evaluate(pack, case(last, pods(**{**moving, **fields}))).violations
        return [one.retry_after_s for one in found if one.code == "service_emptied"]

    assert later(before=1, declared=1) == []
    assert later(before=3, declared=3) == [10]
    assert later(before=1, declared=1, drained=0) == [None]
    assert later(before=1, declared=1, maker=victim("bare", resource="pods")) == [None]


def test_a_status_that_counts_pods_goes_there_and_back_as_they_do(pack: PolicySet) -> None:
    """For the built-in controllers that tell it, and for their statuses alone."""
    budget = "poddisruptionbudgets.policy"
    controller = actor("system:serviceaccount:kube-system:disruption-controller")
    flips = again("flipped", 40)
    status = request(budget, operation=Operation.UPDATE, subresource="status")
    whole = request(budget, operation=Operation.UPDATE)

    assert "churn" not in refused(pack, case(flips, asked=status, by=controller))
    assert "churn" in refused(pack, case(flips, asked=whole, by=controller))
    assert "churn" in refused(pack, case(flips, asked=status))


@pytest.mark.parametrize("resource", ["pods", "jobs", "configmaps", "secrets"])
def test_what_is_made_to_come_and_go_may_do_so_more_often(pack: PolicySet, resource: str) -> None:
    """Somebody who keeps notes in a ConfigMap, or tries a Job out, is no loop; twenty times is."""
    assert "churn" not in refused(pack, delete(resource, again("deleted", 20, resource)))
    assert "churn" in refused(pack, delete(resource, again("deleted", 21, resource)))


def test_pods_of_an_owner_may_go_round_after_round(pack: PolicySet) -> None:
    """Deleted by hand, or restarted one by one, is no loop; twenty rounds in the window are."""
    few, many = (again("deleted", times, "replicasets", rounds=True) for times in (20, 21))
    assert "churn" not in refused(pack, delete("pods", few))
    assert "churn" in refused(pack, delete("pods", many))


def test_the_first_pods_of_a_restart_count(pack: PolicySet) -> None:
    """And all of them where one is still missing, or where they are of many workloads."""
    assert asked(pack, delete("pods", pods(before=30, back=5))) == {"dips": 1}
    assert asked(pack, delete("pods", pods(before=30, back=0))) == {"dips": 1}


def test_a_pool_may_close_for_as_many_new_nodes(pack: PolicySet) -> None:
    """Nine closed and the tenth, where as many joined before; where fewer did, or none, not."""
    closing = {"healthy": 1, "open_before": 11, "open_after": 10, "leaving": 9}
    for joined, holds in ((10, False), (8, False), (7, True), (0, True)):
        weighed = update("nodes", nodes("cordoned", **closing, joined=joined))
        assert ("too_many_nodes" in refused(pack, weighed)) is holds


def test_a_member_that_is_replaced_costs_nothing(pack: PolicySet) -> None:
    """Where another was made in its place; beside it, those of the day are not taken off twice."""
    assert asked(pack, delete("pods", removed("pods", replaced=1))) == {}
    some = removed("pods", 4, replaced=1, made_lately=1)
    assert asked(pack, delete("pods", some)) == {"removals": 2}
