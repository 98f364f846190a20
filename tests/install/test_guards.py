"""What the in-process policies refuse and let pass, and that none of their expressions can err."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from support.celworld import WORLDS, asked, refusal, thing
from suture.install.guards import (
    QUARANTINED_KEPT,
    grants_policy,
    guards,
    namespace_policy,
    quarantine_policy,
    registration_policy,
    static_guard,
)
from suture.install.settings import Identities, Installation

OPERATOR = "system:serviceaccount:infra:operator"
ARGO = "system:serviceaccount:argocd:application-controller"
INSTALLATION = Installation(
    enrolled=Identities(("ci@example.com",), ("robots",)),
    installers=Identities((ARGO,)),
    break_glass=("oncall",),
)
QUARANTINE, _ = quarantine_policy(INSTALLATION)
NAMESPACE, _ = namespace_policy(INSTALLATION)
REGISTRATION, _ = registration_policy(INSTALLATION)
GRANTS, _ = grants_policy(INSTALLATION)
STATIC, _ = static_guard(INSTALLATION)
LISTED = {"data": {"a": f"user {OPERATOR}\nbroke it\nby alice", "b": "group robots\nwild"}}


def own(operation: str, resource: str, **more: Any) -> dict[str, Any]:
    return asked(operation, resource, namespace="suture-system", **more)


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE", "CONNECT"])
@pytest.mark.parametrize("resource", ["services", "pods/exec", "deployments.apps/scale"])
def test_quarantine_refuses_every_write(operation: str, resource: str) -> None:
    """Whoever is listed, by name or by group, writes nothing; the reason is in the message."""
    by_name = {**asked(operation, resource, user=OPERATOR), "params": LISTED}
    by_group = {**asked(operation, resource, user="x", groups=("robots",)), "params": LISTED}
    message = refusal(QUARANTINE, by_name)
    assert OPERATOR in message
    assert "broke it" in message
    assert "suture release" in message
    assert "wild" in refusal(QUARANTINE, by_group)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(asked("UPDATE", "leases.coordination.k8s.io"), id="lease"),
        pytest.param(asked("CREATE", "events"), id="event"),
        pytest.param(asked("UPDATE", "services/status"), id="status"),
        pytest.param(asked("CREATE", "subjectaccessreviews.authorization.k8s.io"), id="review"),
        pytest.param(asked("DELETE", "pods", user=f"{OPERATOR}2"), id="a-longer-name"),
        pytest.param(asked("DELETE", "pods", user=OPERATOR[:-1]), id="a-shorter-name"),
        pytest.param(asked("DELETE", "pods", user="x", groups=("robot",)), id="another-group"),
    ],
)
def test_quarantine_lets_pass(world: dict[str, Any]) -> None:
    """Leases, events, status and reviews pass, and so does everybody who is not listed."""
    assert refusal(QUARANTINE, {**world, "params": LISTED}) == ""


@pytest.mark.parametrize(
    ("user", "groups"),
    [
        ("system:node:n1", ("system:nodes",)),
        ("system:apiserver", ()),
        ("system:serviceaccount:suture-system:suture", ()),
    ],
)
def test_quarantine_never_reaches_the_machinery(user: str, groups: tuple[str, ...]) -> None:
    """Even listed by mistake, what the cluster cannot do without goes on writing."""
    listed = {"data": {"a": f"user {user}\nmistake", "b": "group system:nodes\nmistake"}}
    world = {**asked("UPDATE", "pods", user=user, groups=groups), "params": listed}
    assert refusal(QUARANTINE, world) == ""


def test_a_list_out_of_bounds_is_none() -> None:
    """A list too long to compare refuses nothing, where an error would refuse everything."""
    world = asked("DELETE", "pods", user=OPERATOR)
    full = {f"k{number}": f"user u{number}\nr" for number in range(QUARANTINED_KEPT - 1)}
    listed = {**full, "z": f"user {OPERATOR}\nr"}
    assert refusal(QUARANTINE, {**world, "params": {"data": listed}})
    assert refusal(QUARANTINE, {**world, "params": {"data": {**listed, "zz": "more"}}}) == ""


def scaled(before: int, after: int) -> dict[str, Any]:
    return {"old": thing(spec={"replicas": before}), "new": thing(spec={"replicas": after})}


HARM_TO_ITSELF = [
    pytest.param(own("DELETE", "services", old=thing()), id="service"),
    pytest.param(own("DELETE", "pods", old=thing()), id="pod"),
    pytest.param(own("DELETE", "services", name="", old=thing()), id="collection"),
    pytest.param(own("DELETE", "namespaces", name="suture-system", old=thing()), id="namespace"),
    pytest.param(own("UPDATE", "deployments.apps/scale", **scaled(3, 0)), id="scaled-down"),
    pytest.param(
        own("UPDATE", "services", old=thing(spec={"ports": [1]}), new=thing(spec={"ports": []})),
        id="ports",
    ),
    pytest.param(
        own(
            "UPDATE", "deployments.apps",
            old=thing(spec={"selector": {"a": "b"}}), new=thing(spec={"selector": {"a": "c"}}),
        ),
        id="selector",
    ),
    pytest.param(own("UPDATE", "pods", old=thing(labels={"a": "b"}), new=thing()), id="labels"),
    pytest.param(
        own("UPDATE", "deployments.apps", old=thing(), new=thing(ownerReferences=[{"uid": "u"}])),
        id="owner-that-is-not-there",
    ),
    pytest.param(own("CREATE", "endpointslices.discovery.k8s.io", new=thing()), id="endpoints"),
    pytest.param(own("UPDATE", "endpoints", old=thing(), new=thing()), id="old-endpoints"),
    pytest.param(
        own("UPDATE", "configmaps", name="suture-quarantine", old=thing(), new=thing()),
        id="the-quarantine-list",
    ),
]  # fmt: skip


@pytest.mark.parametrize("world", HARM_TO_ITSELF)
def test_its_own_namespace_is_guarded(world: dict[str, Any]) -> None:
    """A machine cannot take the guard down; people, the cluster's own and installers can."""

    def by(user: str, *groups: str) -> str:
        who = {"username": user, "groups": list(groups)}
        return refusal(NAMESPACE, {**world, "request": {**world["request"], "userInfo": who}})

    for user, group in ((OPERATOR, "x"), ("ci@example.com", "x"), ("someone", "robots")):
        assert user in by(user, group)
    assert by("system:serviceaccount:kube-system:aws-load-balancer-controller")
    assert by("alice@example.com", "staff") == ""
    assert by("system:node:n1", "system:nodes") == ""
    assert by("system:serviceaccount:suture-system:suture") == ""
    assert by("system:serviceaccount:kube-system:generic-garbage-collector") == ""
    assert by(ARGO) == ""


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(own("CREATE", "pods/eviction", new=thing()), id="eviction"),
        pytest.param(own("UPDATE", "deployments.apps/scale", **scaled(2, 3)), id="scaled-up"),
        pytest.param(own("UPDATE", "secrets", old=thing(), new=thing()), id="certificate"),
        pytest.param(own("UPDATE", "services", old=thing(spec={}), new=thing(spec={})), id="same"),
        pytest.param(asked("DELETE", "services", old=thing()), id="elsewhere"),
        pytest.param(asked("DELETE", "nodes", namespace="", old=thing()), id="cluster-scoped"),
    ],
)
def test_its_own_namespace_lets_pass(world: dict[str, Any]) -> None:
    """Evictions, growth and what does no harm pass, and so does every other namespace."""
    assert refusal(NAMESPACE, world) == ""


def clusterwide(operation: str, resource: str, name: str, **more: Any) -> dict[str, Any]:
    return asked(operation, resource, namespace="", name=name, **more)


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        ("validatingwebhookconfigurations.admissionregistration.k8s.io", "suture"),
        ("mutatingwebhookconfigurations.admissionregistration.k8s.io", "suture-x"),
        ("clusterroles.rbac.authorization.k8s.io", "suture"),
        ("clusterrolebindings.rbac.authorization.k8s.io", "suture-reader"),
        ("customresourcedefinitions.apiextensions.k8s.io", "operatorprofiles.suture.dev"),
        ("apiservices.apiregistration.k8s.io", "v1alpha1.suture.dev"),
        ("operatorprofiles.suture.dev", "balancer"),
        ("sharebudgets.policies.suture.dev", "default"),
    ],
)
def test_its_registration_is_guarded(resource: str, name: str) -> None:
    """A machine changes nothing that makes the API server ask Suture; people and installers do."""
    for operation in ("CREATE", "UPDATE", "DELETE"):
        assert refusal(REGISTRATION, clusterwide(operation, resource, name, user=OPERATOR))
        assert not refusal(REGISTRATION, clusterwide(operation, resource, name, user="alice"))
        assert not refusal(REGISTRATION, clusterwide(operation, resource, name, user=ARGO))
    collection = clusterwide("DELETE", resource, "", old={"metadata": {"name": name}})
    assert refusal(REGISTRATION, collection)


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        ("validatingwebhookconfigurations.admissionregistration.k8s.io", "cert-manager"),
        ("clusterroles.rbac.authorization.k8s.io", "sutures"),
        ("customresourcedefinitions.apiextensions.k8s.io", "things.example.com"),
    ],
)
def test_others_are_left_alone(resource: str, name: str) -> None:
    assert not refusal(REGISTRATION, clusterwide("DELETE", resource, name, user=OPERATOR))


def grant(operation: str, user: str, *, approver: str | None = None, **more: Any) -> str:
    spec = {} if approver is None else {"approver": approver}
    new = None if operation == "DELETE" else thing(spec=spec)
    resource = more.pop("resource", "grants.suture.dev")
    return refusal(GRANTS, clusterwide(operation, resource, "g", user=user, new=new, **more))


@pytest.mark.parametrize("user", [OPERATOR, ARGO, "ci@example.com"])
@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
def test_no_machine_grants(user: str, operation: str) -> None:
    """Nor takes back, nor edits; not even one that may change Suture itself."""
    assert user in grant(operation, user, approver=user)
    assert "robot" in grant(operation, "robot", groups=("robots",), approver="robot")
    assert grant(operation, user, approver=user, resource="grants.suture.dev/status")


def test_people_grant_in_their_own_name() -> None:
    """What stands as approver is who it was."""
    assert not grant("CREATE", "alice", approver="alice")
    assert grant("CREATE", "alice", approver="bob")
    assert grant("CREATE", "alice")
    assert not grant("DELETE", "alice")
    assert not grant("CREATE", OPERATOR, approver=OPERATOR, groups=("oncall",))


def test_suture_itself_only_marks_what_was_used() -> None:
    """The status, and nothing else."""
    own = "system:serviceaccount:suture-system:suture"
    assert not grant("UPDATE", own, resource="grants.suture.dev/status")
    for operation in ("CREATE", "UPDATE", "DELETE"):
        assert grant(operation, own, approver=own)


def test_break_glass_passes_every_guard() -> None:
    """Whatever account it is, and though it be on the quarantine list."""
    listed = {"params": LISTED}
    assert not refusal(
        QUARANTINE, {**asked("DELETE", "pods", user=OPERATOR, groups=("oncall",)), **listed}
    )
    world = own("DELETE", "services", old=thing(), user=OPERATOR, groups=("oncall",))
    assert not refusal(NAMESPACE, world)


def test_the_static_guard_guards_the_policies() -> None:
    """The file on the control plane refuses machines what no other guard sees."""
    policies = "validatingadmissionpolicies.admissionregistration.k8s.io"
    assert refusal(STATIC, clusterwide("DELETE", policies, "suture-quarantine"))
    assert not refusal(STATIC, clusterwide("DELETE", policies, "suture-quarantine", user="alice"))
    assert not refusal(STATIC, clusterwide("DELETE", policies, "other"))


@settings(max_examples=300)
@given(WORLDS)
def test_no_policy_errs(world: dict[str, Any]) -> None:
    """Whatever is asked, every policy has an answer, with any parameter object."""
    lists: list[dict[str, Any]] = [
        {},
        {"data": {}},
        LISTED,
        {"data": {"a": "", "b": "user ", "c": "user"}},
    ]
    for params in lists:
        refusal(QUARANTINE, {**world, "params": params})
    for policy in (NAMESPACE, REGISTRATION, GRANTS, STATIC):
        refusal(policy, world)


def test_every_guard_is_bound_and_denies() -> None:
    """Each policy has a binding that refuses; the list stands before the policy that reads it."""
    documents = guards(INSTALLATION)
    kinds = [document["kind"] for document in documents]
    assert kinds[0] == "ConfigMap"
    policies = {
        d["metadata"]["name"] for d in documents if d["kind"] == "ValidatingAdmissionPolicy"
    }
    bound = {
        d["spec"]["policyName"]
        for d in documents
        if d["kind"] == "ValidatingAdmissionPolicyBinding"
        and "Deny" in d["spec"]["validationActions"]
    }
    assert policies == bound
