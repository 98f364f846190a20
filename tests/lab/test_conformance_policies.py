"""What in-process policies and static manifests can guard, with Suture dead or alive."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.recorder import Answer, Seen, until
from support.scene import CONFIGURATIONS, Scene, by_url, refused, registered, webhook
from suture.lab.configuration import Document
from suture.lab.plane import Plane
from suture.lab.rest import Object, Rest

pytestmark = pytest.mark.lab

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{ADMISSION}/validatingadmissionpolicies"
BINDINGS = f"{ADMISSION}/validatingadmissionpolicybindings"


@contextmanager
def policy(
    plane: Plane, name: str, spec: Document, binding: Document | None = None
) -> Iterator[None]:
    """Keep a policy and its binding for the length of a block."""
    plane.admin.create(POLICIES, {"metadata": {"name": name}, "spec": spec})
    bound = {"policyName": name, "validationActions": ["Deny"], **(binding or {})}
    plane.admin.create(BINDINGS, {"metadata": {"name": name}, "spec": bound})
    try:
        yield
    finally:
        plane.admin.delete(f"{BINDINGS}/{name}")
        plane.admin.delete(f"{POLICIES}/{name}")


def rules(group: str, resource: str) -> list[dict[str, list[str]]]:
    """Return rules for every write of a resource."""
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "resources": [resource],
        }
    ]


def is_refused(client: Rest, path: str, text: str) -> bool:
    """Whether a dry-run create is refused with this text."""
    body = {"metadata": {"name": "probe"}}
    return text in client.request("POST", path, body=body, params={"dryRun": "All"}).text


@contextmanager
def quarantine(scene: Scene) -> Iterator[str]:
    """Refuse the writes of those whom a ConfigMap lists; yield the path of the list."""
    name = f"{scene.namespace}-list"
    scene.config_map(name)
    path = scene.path("configmaps", name)
    scene.admin.patch(path, {"data": {"a": None, "users": "-"}})
    spec = {
        "failurePolicy": "Ignore",
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": rules("", "configmaps")},
        "matchConditions": [
            {"name": "mine", "expression": f"request.namespace == '{scene.namespace}'"}
        ],
        "validations": [
            {
                "expression": "!(request.userInfo.username in params.data.users.split(','))",
                "message": "quarantined by the list",
            }
        ],
    }
    parameter = {
        "name": name,
        "namespace": scene.namespace,
        "parameterNotFoundAction": "Allow",
    }
    with policy(scene.plane, name, spec, {"paramRef": parameter}):
        yield path


def test_a_list_as_parameter_bites_without_a_webhook(scene: Scene) -> None:
    """P1 and P2: soon after the edit; once a dry-run probe is refused, every write is."""
    account = scene.account("operator")
    client = scene.plane.client(account)
    path = scene.path("configmaps")
    with quarantine(scene) as listed:
        # WHY: the policy itself takes a moment to be in force; the measurement starts after it.
        def edit(users: str) -> None:
            scene.admin.patch(listed, {"data": {"users": users}})

        edit(account.user)
        until("the policy", lambda: is_refused(client, path, "quarantined by the list"))
        edit("-")
        until("the release", lambda: not is_refused(client, path, "quarantined by the list"))
        for number in range(3):
            began = time.monotonic()
            edit(account.user)
            until("the list to bite", lambda: is_refused(client, path, "quarantined by the list"))
            assert time.monotonic() - began < 2
            for attempt in range(10):
                body = {"metadata": {"name": f"late-{number}-{attempt}"}}
                answer = client.request("POST", path, body=body)
                # WHY: 422 is a policy's default; 403 takes `reason: Forbidden` in its validation.
                assert answer.status_code == 422
            edit("-")
            until("the release", lambda: not is_refused(client, path, "quarantined by the list"))


def test_a_policy_guards_webhook_configurations_but_not_itself(scene: Scene) -> None:
    """P4: it refuses creates, updates and deletes for masters too; its own end it never sees."""
    name = f"{scene.namespace}-guard"
    body = webhook(f"{name}-victim", by_url(scene.plane, scene.recorder.port))
    body["webhooks"][0]["matchConditions"] = [{"name": "never", "expression": "false"}]
    victim = f"{CONFIGURATIONS}/{name}-victim"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": rules("admissionregistration.k8s.io", "*"),
        },
        "matchConditions": [
            {
                "name": "mine",
                "expression": f"(object != null ? object : oldObject).metadata.name == '{name}-victim'"
                " && (object == null || !has(object.metadata.labels)"
                " || !('free' in object.metadata.labels))",
            }
        ],
        "validations": [{"expression": "false", "message": "guarded"}],
    }
    admin = scene.admin
    with policy(scene.plane, name, spec):
        until(
            "the policy to be in force",
            lambda: (
                "guarded"
                in admin.request("POST", CONFIGURATIONS, body=body, params={"dryRun": "All"}).text
            ),
        )
        free = {"metadata": {**body["metadata"], "labels": {"free": "yes"}}}
        admin.create(CONFIGURATIONS, {**body, **free})
        change: dict[str, Any] = {"metadata": {"labels": {"free": None}}}
        assert "guarded" in refused(lambda: admin.patch(victim, change)).message
        assert "guarded" in refused(lambda: admin.delete(victim)).message
        collection = {"labelSelector": "free=yes"}
        assert "guarded" in refused(lambda: admin.delete(CONFIGURATIONS, **collection)).message
    # Leaving the block deleted binding and policy: nothing refused that.
    assert not admin.exists(f"{POLICIES}/{name}")
    until("the guard to be off", lambda: admin.request("DELETE", victim).is_success)


def test_static_manifests_guard_admission_itself(scene: Scene) -> None:
    """P3: a webhook from disk sees and refuses edits of admission configuration, masters' too."""
    plane, name = scene.plane, f"{scene.namespace}-static.static.k8s.io"
    body = webhook(name, by_url(plane, scene.recorder.port, "/static"))
    mine = "(object != null ? object : oldObject).metadata.name == " + f"'{scene.namespace}-kept'"
    hook = body["webhooks"][0]
    hook |= {
        "name": f"guard.{scene.namespace}.static.k8s.io",
        "failurePolicy": "Fail",
        "matchConditions": [{"name": "mine", "expression": mine}],
        "rules": [{**rules("admissionregistration.k8s.io", "*")[0], "scope": "*"}],
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        **body,
    }
    manifest = plane.static_manifests / "ValidatingAdmissionWebhook" / f"{scene.namespace}.yaml"
    kept = webhook(f"{scene.namespace}-kept", by_url(plane, scene.recorder.port, "/kept"))
    kept["webhooks"][0]["matchConditions"] = [{"name": "never", "expression": "false"}]
    manifest.write_text(json.dumps(document))
    try:
        until(
            "the manifest to be read",
            lambda: (
                scene.admin.create(CONFIGURATIONS, kept, dryRun="All")
                and scene.recorder.found("/static")
            ),
        )
        assert scene.recorder.found("/static")[-1].object_name == f"{scene.namespace}-kept"
        assert scene.recorder.found("/static")[-1].client == "kube-apiserver-webhook-client"
        with registered(plane, kept):
            scene.decisions["/static"] = _refuse
            error = refused(lambda: scene.admin.delete(f"{CONFIGURATIONS}/{scene.namespace}-kept"))
            assert "held from disk" in error.message
            scene.decisions.pop("/static")
    finally:
        scene.decisions.pop("/static", None)
        manifest.unlink()
    until(
        "the manifest to be forgotten",
        lambda: _unseen(scene, kept),
    )


def test_static_policies_guard_the_policies(scene: Scene) -> None:
    """A policy from disk refuses the end of a policy in the API, which nothing else in it can."""
    name = f"{scene.namespace}-kept"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": rules("admissionregistration.k8s.io", "validatingadmissionpolicies")
        },
        "matchConditions": [
            {
                "name": "mine",
                "expression": f"request.operation == 'DELETE' && oldObject.metadata.name == '{name}'",
            }
        ],
        "validations": [{"expression": "false", "message": "held from disk"}],
    }
    base = {"apiVersion": "admissionregistration.k8s.io/v1"}
    static = f"{scene.namespace}.static.k8s.io"
    documents: list[dict[str, Any]] = [
        {
            **base,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": static},
            "spec": spec,
        },
        {
            **base,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": static},
            "spec": {"policyName": static, "validationActions": ["Deny"]},
        },
    ]
    folder = scene.plane.static_manifests / "ValidatingAdmissionPolicy"
    manifest = folder / f"{scene.namespace}.yaml"
    harmless = {
        "matchConstraints": {"resourceRules": rules("none.example.com", "nothing")},
        "validations": [{"expression": "true"}],
    }
    scene.admin.create(POLICIES, {"metadata": {"name": name}, "spec": harmless})
    manifest.write_text("---\n".join(f"{json.dumps(document)}\n" for document in documents))
    try:
        until("the policy to be read", lambda: not _deletable(scene.admin, name))
        error = refused(lambda: scene.admin.delete(f"{POLICIES}/{name}"))
        assert "held from disk" in error.message
    finally:
        manifest.unlink()
    until("the policy to be forgotten", lambda: _deletable(scene.admin, name))
    scene.admin.delete(f"{POLICIES}/{name}")


def _deletable(client: Rest, name: str) -> bool:
    path = f"{POLICIES}/{name}"
    return client.request("DELETE", path, params={"dryRun": "All"}).is_success


def _refuse(_seen: Seen) -> Answer:
    return Answer(allowed=False, message="held from disk")


def _unseen(scene: Scene, body: Object) -> bool:
    before = len(scene.recorder.found("/static"))
    scene.admin.create(CONFIGURATIONS, body, dryRun="All")
    return len(scene.recorder.found("/static")) == before
