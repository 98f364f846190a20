"""Suture's lanes and guards on a real API server, with nothing of Suture running."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest
import yaml

from support.recorder import Recorder, Seen, until
from support.scene import Scene, bundle, grant, refused
from suture.adapters.certificates import make_certificates
from suture.adapters.kube import KubeClient
from suture.app.apply import apply_documents, compare
from suture.install.guards import guards, static_guard
from suture.install.manifests import Workload, all_manifests, base_manifests
from suture.install.paths import path_of
from suture.install.reach import system_policy
from suture.install.registration import registration
from suture.install.settings import (
    QUARANTINE,
    Identities,
    Installation,
    Read,
    UrlTarget,
    enrol,
)
from suture.lab.identities import Person, ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Object, Rest, StatusError
from suture.model.actor import Profile, Stage

pytestmark = pytest.mark.lab

NAMESPACE = "suture-system"
INSTALLER = "system:serviceaccount:guards-argo:argo"
HELD = "system:serviceaccount:guards-held:database"
INSTALLATION = Installation(
    installers=Identities((INSTALLER,)),
    enrolled=Identities(("robot@example.com",), ("robots",)),
    held=Identities((HELD,)),
    reads=(Read("UPDATE", "", "services"),),
)
ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def apply(plane: Plane, documents: list[Object]) -> None:
    """Apply documents as `suture install` does."""

    async def run() -> None:
        async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
            await apply_documents(client, documents)

    asyncio.run(run())


@pytest.fixture(scope="module")
def guarded(plane: Plane) -> Iterator[Plane]:
    """Install everything but the workload and the registration."""
    base = [one for one in base_manifests(INSTALLATION, Workload()) if one["kind"] != "Deployment"]
    apply(plane, [*base, *guards(INSTALLATION)])
    rest = plane.admin
    rest.request("POST", "/api/v1/namespaces", body={"metadata": {"name": "guards-op"}})
    until("the namespace", lambda: rest.exists("/api/v1/namespaces/guards-op"))
    rest.create("/api/v1/namespaces/guards-op/serviceaccounts", {"metadata": {"name": "op"}})
    grant(plane, "guards-op", ServiceAccount("guards-op", "op"))
    operator = plane.client(ServiceAccount("guards-op", "op"))
    # WHY each: an API server takes new policies up once a second, so that a later one may come into
    # force a second after the one applied before it.
    for policy, path in (
        ("suture-namespace", in_own("configmaps")),
        ("suture-registration", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
    ):
        until(f"{policy} to be in force", partial(refuses, operator, policy, path))
    yield plane
    # WHY not all: an API server follows no ConfigMap any more once the last policy with one as
    # its parameter is gone; it refuses nobody while the list is empty.
    for document in reversed(guards(INSTALLATION)):
        if document["metadata"]["name"] != QUARANTINE:
            with suppress(StatusError):
                rest.delete(path_of(document))


@pytest.fixture
def operator(guarded: Plane) -> Rest:
    """Return a cluster-admin that is a machine."""
    return guarded.client(ServiceAccount("guards-op", "op"))


def refuses(client: Rest, policy: str, path: str) -> bool:
    """Whether a policy refuses to create an object of Suture's name; it is a dry run."""
    probe = {"metadata": {"name": "suture-probe"}}
    return policy in client.request("POST", path, body=probe, params={"dryRun": "All"}).text


def in_own(resource: str, name: str = "", *, group: str = "") -> str:
    base = f"/apis/{group}" if group else "/api/v1"
    return f"{base}/namespaces/{NAMESPACE}/{resource}" + (f"/{name}" if name else "")


def test_policies_have_no_type_warnings(guarded: Plane) -> None:
    """The API server finds nothing to say about the types of our expressions."""

    def checked() -> list[Object]:
        found = [
            one
            for one in guarded.admin.list(f"{ADMISSION}/validatingadmissionpolicies")
            if one["metadata"]["name"].startswith("suture-")
        ]
        return found if all("typeChecking" in one.get("status", {}) for one in found) else []

    for policy in until("the types to be checked", checked):
        assert policy["status"]["typeChecking"].get("expressionWarnings", []) == []


def test_its_own_namespace_against_a_cluster_admin(guarded: Plane, operator: Rest) -> None:
    """A sweeping operator takes nothing of Suture's along; what does no harm passes."""
    admin = guarded.admin
    admin.create(
        in_own("pods"),
        {
            "metadata": {"name": "sutured", "labels": {"app": "x"}},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "none",
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "runAsNonRoot": True,
                            "capabilities": {"drop": ["ALL"]},
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                    }
                ]
            },
        },
    )
    attempts = {
        "delete the Service": lambda: operator.delete(in_own("services", "suture")),
        "sweep all Services": lambda: operator.delete(in_own("services")),
        "sweep all pods": lambda: operator.delete(in_own("pods")),
        "delete the namespace": lambda: operator.delete(f"/api/v1/namespaces/{NAMESPACE}"),
        "move the ports": lambda: operator.patch(
            in_own("services", "suture"), {"spec": {"ports": [{"name": "webhook", "port": 444}]}}
        ),
        "empty the selector": lambda: operator.patch(
            in_own("services", "suture"), {"spec": {"selector": {"a": "b"}}}
        ),
        "relabel the pod": lambda: operator.patch(
            in_own("pods", "sutured"), {"metadata": {"labels": {"app": None}}}
        ),
        "give it an owner that is not there": lambda: operator.patch(
            in_own("services", "suture"),
            {
                "metadata": {
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}
                    ]
                }
            },
        ),
        "forge endpoints": lambda: operator.create(
            in_own("endpointslices", group="discovery.k8s.io/v1"),
            {
                "metadata": {"name": "f", "labels": {"kubernetes.io/service-name": "suture"}},
                "addressType": "IPv4",
                "endpoints": [{"addresses": ["10.1.2.3"]}],
            },
        ),
        "edit the quarantine list": lambda: operator.patch(
            in_own("configmaps", "suture-quarantine"), {"data": {"a": "b"}}
        ),
        "drop its disruption budget": lambda: operator.delete(
            in_own("poddisruptionbudgets", "suture", group="policy/v1")
        ),
    }
    for what, attempt in attempts.items():
        error = refused(attempt)
        assert "suture-namespace" in str(error), what
        assert "guards-op:op" in str(error), what
    operator.create(in_own("configmaps"), {"metadata": {"name": "harmless"}})
    operator.create(
        in_own("pods", "sutured/eviction"),
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "sutured", "namespace": NAMESPACE},
        },
    )
    admin.delete(in_own("configmaps", "harmless"))


def test_its_registration_against_a_cluster_admin(guarded: Plane, operator: Rest) -> None:
    """A machine does not unregister Suture, nor set its own stage; an installer and people may."""
    admin = guarded.admin
    hooks = f"{ADMISSION}/validatingwebhookconfigurations"
    far = registration(Installation(target=UrlTarget("https://127.0.0.1:9")))
    # never in force for anyone: the test is about who may touch it
    for hook in far["webhooks"]:
        hook["matchConditions"] = [{"name": "never", "expression": "false"}]
        hook["failurePolicy"] = "Ignore"
    admin.create(hooks, far)
    profiles = "/apis/suture.dev/v1alpha1/operatorprofiles"
    admin.create(
        profiles,
        {
            "apiVersion": "suture.dev/v1alpha1",
            "kind": "OperatorProfile",
            "metadata": {"name": "guards-op"},
            "spec": {"users": ["system:serviceaccount:guards-op:op"], "stage": "enforce"},
        },
    )
    try:
        attempts = {
            "delete it": lambda: operator.delete(f"{hooks}/suture"),
            # WHY a label: a collection goes on until the refusal, and others' hooks are here too.
            "sweep it": lambda: operator.delete(
                hooks, labelSelector="app.kubernetes.io/name=suture"
            ),
            "empty it": lambda: operator.patch(f"{hooks}/suture", {"webhooks": []}),
            "drop the right to read": lambda: operator.delete(
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/suture"
            ),
            "drop the definition": lambda: operator.delete(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatorprofiles.suture.dev"
            ),
            "set its own stage": lambda: operator.patch(
                f"{profiles}/guards-op", {"spec": {"stage": "observe"}}
            ),
            "make itself a profile": lambda: operator.create(
                profiles,
                {
                    "apiVersion": "suture.dev/v1alpha1",
                    "kind": "OperatorProfile",
                    "metadata": {"name": "mine"},
                    "spec": {"users": ["system:serviceaccount:guards-op:op"]},
                },
            ),
        }
        for what, attempt in attempts.items():
            assert "suture-registration" in str(refused(attempt)), what
        installer = guarded.client(Person(INSTALLER, ("system:masters",)))
        installer.patch(f"{profiles}/guards-op", {"spec": {"stage": "warn"}})
        person = guarded.client(Person("guards-alice", ("system:masters",)))
        person.patch(f"{profiles}/guards-op", {"spec": {"stage": "observe"}})
    finally:
        admin.delete(f"{profiles}/guards-op")
        admin.delete(f"{hooks}/suture")


def test_webhooks_that_would_match_too_much(guarded: Plane, operator: Rest) -> None:
    """An enforced machine does not let a fail-closed webhook reach kube-system; a warned one may.

    No webhook is shown this write: it is the policy's alone, and follows the profile at once.
    """
    admin = guarded.admin
    profile = "/apis/suture.dev/v1alpha1/operatorprofiles"
    hooks = f"{ADMISSION}/mutatingwebhookconfigurations"
    narrow = {
        "apiGroups": ["guards.example.com"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["*"],
    }
    wide = {**narrow, "apiGroups": [""], "resources": ["pods"]}
    admin.create(
        hooks,
        {
            "metadata": {"name": "guards-injector"},
            "webhooks": [
                {
                    "name": "inject.guards.example.com",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {"url": "https://127.0.0.1:9/inject"},
                    "rules": [narrow],
                }
            ],
        },
    )
    admin.create(
        profile,
        {
            "apiVersion": "suture.dev/v1alpha1",
            "kind": "OperatorProfile",
            "metadata": {"name": "guards-reach"},
            "spec": {"users": ["system:serviceaccount:guards-op:op"], "stage": "enforce"},
        },
    )

    def change(path: str, value: object) -> str:
        """Return with which words a dry run is refused; nothing of it is ever in force."""
        operations = [{"op": "replace", "path": f"/webhooks/0/{path}", "value": value}]
        try:
            operator.patch(f"{hooks}/guards-injector", operations, kind="json", dryRun="All")
        except StatusError as error:
            return str(error)
        return ""

    try:
        message = until("the profile to be followed", lambda: change("rules", [wide]))
        assert "suture-webhook-safety" in message
        assert "would match kube-system, which" in message
        assert change("rules", [{**wide, "resources": ["nodes/status"]}])
        apart = {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system"],
                }
            ]
        }
        assert change("timeoutSeconds", 5) == ""
        assert change("rules", [{**wide, "operations": ["CONNECT"]}]) == ""
        admin.patch(
            f"{hooks}/guards-injector",
            [{"op": "replace", "path": "/webhooks/0/namespaceSelector", "value": apart}],
            kind="json",
        )
        assert change("rules", [wide]) == ""
        assert change("namespaceSelector", {}) == "", "its rules are its own kind's"
        led = {"service": {"namespace": "guards", "name": "injector"}}
        authority = b64encode(guarded.webhook_server_ca.read_bytes()).decode()
        admin.patch(
            f"{hooks}/guards-injector",
            [
                {
                    "op": "replace",
                    "path": "/webhooks/0/clientConfig",
                    "value": {**led, "caBundle": authority},
                }
            ],
            kind="json",
        )
        assert "would lose its caBundle: every call to inject." in change("clientConfig", led)
        filled_in = {"metadata": {"annotations": {"cert-manager.io/inject-ca-from": "guards/a"}}}
        admin.patch(f"{hooks}/guards-injector", filled_in)
        assert change("clientConfig", led) == ""
        admin.patch(f"{profile}/guards-reach", {"spec": {"stage": "warn"}})
        admin.patch(
            f"{hooks}/guards-injector",
            [{"op": "replace", "path": "/webhooks/0/namespaceSelector", "value": {}}],
            kind="json",
        )
        until("the stage to be followed", lambda: change("rules", [wide]) == "")
    finally:
        admin.delete(f"{profile}/guards-reach")
        admin.delete(f"{hooks}/guards-injector")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"stage": "enforce"}, "name users or groups"),
        ({"default": True, "users": ["a"]}, "name users or groups"),
        ({"default": True, "whenDead": "hold"}, "operator by operator"),
        ({"users": ["a"], "stage": "sometimes"}, "Unsupported value"),
    ],
)
def test_profiles_that_make_no_sense(guarded: Plane, spec: Object, words: str) -> None:
    """The definition refuses a profile that means nobody, or everybody twice."""
    body = {
        "apiVersion": "suture.dev/v1alpha1",
        "kind": "OperatorProfile",
        "metadata": {"name": "odd"},
        "spec": spec,
    }
    error = refused(
        lambda: guarded.admin.create("/apis/suture.dev/v1alpha1/operatorprofiles", body)
    )
    assert words in str(error)


def test_what_was_applied_is_what_is_there(guarded: Plane) -> None:
    """After an apply there is no difference; a foreign edit is one, named by its field."""

    async def look() -> Any:
        async with KubeClient.from_kubeconfig(guarded.kubeconfig()) as client:
            return await compare(client, guards(INSTALLATION))

    assert asyncio.run(look()) == ()
    policy = f"{ADMISSION}/validatingadmissionpolicies/suture-quarantine"
    guarded.admin.patch(policy, {"spec": {"failurePolicy": "Ignore"}})
    try:
        (difference,) = asyncio.run(look())
        assert difference.fields == (("spec.failurePolicy", '"Ignore"', '"Fail"'),)
    finally:
        guarded.admin.patch(policy, {"spec": {"failurePolicy": "Fail"}})


def test_the_static_guard_guards_the_policies(guarded: Plane, operator: Rest) -> None:
    """Read from the control plane's disk, it refuses a machine what no policy of the API sees."""
    file = guarded.static_manifests / "ValidatingAdmissionPolicy" / "suture.yaml"
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}
    path = f"{ADMISSION}/validatingadmissionpolicies/suture-quarantine"
    file.write_text(yaml.safe_dump_all(static_guard(INSTALLATION)))
    try:
        until(
            "the manifest to be read",
            lambda: "static.k8s.io" in operator.request("DELETE", path, body=options).text,
        )
        assert "suture-guards.static.k8s.io" in str(refused(lambda: operator.delete(path, options)))
        guarded.admin.delete(path, options)
    finally:
        file.unlink()
    until(
        "the manifest to be gone",
        lambda: operator.request("DELETE", path, body=options).is_success,
    )


def test_the_workload_is_admitted(guarded: Plane) -> None:
    """The API server takes every manifest, and the pod under the restricted profile, unwarned."""
    certificates = make_certificates(["suture.suture-system.svc"], client=False)
    documents = all_manifests(INSTALLATION, Workload(image="none"), certificates)
    (deployment,) = (one for one in documents if one["kind"] == "Deployment")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "as-deployed", "namespace": NAMESPACE},
        "spec": deployment["spec"]["template"]["spec"],
    }
    heard: list[str] = []

    async def run() -> None:
        async with KubeClient.from_kubeconfig(guarded.kubeconfig()) as client:
            hearing = client.hearing(heard.append)
            for document in (*documents, pod):
                await hearing.patch(
                    path_of(document), document, type="apply", dry_run=True, force=True
                )

    asyncio.run(run())
    assert heard == []


# -- lanes


@contextmanager
def lanes(plane: Plane, port: int) -> Iterator[Recorder]:
    """Register the lanes at a recorder, all of them fail-closed: an expression that errs refuses."""
    recorder = Recorder(plane, port)
    recorder.start()
    here = Installation(
        target=UrlTarget(f"https://127.0.0.1:{port}"),
        ca_bundle=plane.webhook_server_ca.read_bytes(),
        enrolled=INSTALLATION.enrolled,
        held=INSTALLATION.held,
        reads=INSTALLATION.reads,
    )
    document = registration(here)
    assert document["webhooks"][0]["clientConfig"]["caBundle"] == bundle(plane.webhook_server_ca)
    for hook in document["webhooks"]:
        hook["failurePolicy"] = "Fail"
    path = f"{ADMISSION}/validatingwebhookconfigurations"
    plane.admin.create(path, document)
    try:
        probe = {"metadata": {"name": "lanes-probe"}}

        def asked() -> list[Seen]:
            """Ask for a dry run, and look whether it came; refused or not is all the same."""
            plane.admin.request("POST", "/api/v1/namespaces", body=probe, params={"dryRun": "All"})
            return recorder.found("/admit/people", object_name="lanes-probe")

        until("the lanes to be in force", asked)
        yield recorder
    finally:
        plane.admin.delete(f"{path}/suture")
        recorder.stop()


ODD = "lanesodd.example.com"


def definition() -> Object:
    """Return a kind whose objects hold anything."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"odds.{ODD}"},
        "spec": {
            "group": ODD,
            "scope": "Namespaced",
            "names": {"plural": "odds", "kind": "Odd", "singular": "odd"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


def test_lanes_on_a_real_api_server(scene: Scene, guarded: Plane) -> None:
    """Every condition evaluates for odd requests, and each request is in the lane of the table."""
    plane, admin = guarded, guarded.admin
    account = scene.account("lanes")
    operator = plane.client(account)
    admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())
    odds = f"/apis/{ODD}/v1/namespaces/{scene.namespace}/odds"
    until("the odd kind", lambda: operator.request("GET", odds).status_code == 200)
    with lanes(plane, plane.ports["spare-3"]) as recorder:

        def lane_of(resource: str, verb: str, name: str, user: str = account.user) -> list[str]:
            found = recorder.found(
                "/admit", resource=resource, verb=verb, object_name=name, user=user,
                namespace=scene.namespace,
            )  # fmt: skip
            stored = [
                seen
                for seen, later in zip(found, [*found[1:], None], strict=True)
                if later is None or seen.wish != later.wish
            ]
            return [seen.path.removeprefix("/admit/") for seen in stored]

        # what custom resources may type freely
        wishes: list[Any] = [
            None, "text", 7, [1], {"replicas": None}, {"replicas": "three"}, {"replicas": 1.5},
            {"replicas": {"a": 1}}, {"replicas": 3}, {"replicas": 2}, {},
        ]  # fmt: skip
        body = {"apiVersion": f"{ODD}/v1", "kind": "Odd", "metadata": {"name": "odd"}}
        operator.create(odds, body)
        for wish in wishes:
            operator.replace(
                f"{odds}/odd",
                {**body, "spec": wish, "metadata": operator.get(f"{odds}/odd")["metadata"]},
            )
        assert lane_of("odds", "CREATE", "odd") == ["other"]
        ways = lane_of("odds", "UPDATE", "odd")
        assert ways[-2:] == ["destructive", "destructive"], "3 to 2, 2 to absent"
        assert set(ways[:-2]) == {"other"}
        operator.patch(f"{odds}/odd", {"metadata": {"finalizers": ["example.com/a"]}})
        operator.patch(f"{odds}/odd", {"metadata": {"finalizers": None}})
        assert lane_of("odds", "UPDATE", "odd")[-2:] == ["other", "destructive"]

        # collections have no name; namespaces no namespace
        operator.delete(odds)
        assert lane_of("odds", "DELETE", "odd") == ["destructive"]

        # workloads, by the scale subresource and by their spec
        deployments = scene.path("deployments", group="apps/v1")
        labels = {"app": "lanes"}
        operator.create(
            deployments,
            {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "main", "image": "none"}]},
                    },
                },
            },
        )
        scale = f"{deployments}/web/scale"
        for replicas in (3, 1, 0):
            operator.patch(scale, {"spec": {"replicas": replicas}})
        assert lane_of("deployments/scale", "UPDATE", "web") == [
            "other", "destructive", "destructive",
        ]  # fmt: skip
        operator.patch(f"{deployments}/web", {"spec": {"replicas": 2}})
        operator.patch(f"{deployments}/web", {"spec": {"replicas": 1}})
        assert lane_of("deployments", "UPDATE", "web") == ["other", "destructive"]

        # an update that a constraint reads
        services = scene.path("services")
        operator.create(
            services,
            {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}], "selector": labels}},
        )
        operator.patch(f"{services}/s", {"metadata": {"annotations": {"a": "b"}}})
        operator.patch(f"{services}/s", {"spec": {"selector": {"app": "other"}}})
        operator.patch(f"{services}/s/status", {"status": {"loadBalancer": {}}})
        assert lane_of("services", "UPDATE", "s") == ["other", "destructive"]

        # an owner that is not there, then the collector's own delete
        scene.config_map("orphan")
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "no", "uid": "nobody"}
        operator.patch(
            scene.path("configmaps", "orphan"), {"metadata": {"ownerReferences": [owner]}}
        )
        assert lane_of("configmaps", "UPDATE", "orphan") == ["destructive"]
        scene.gone(scene.path("configmaps", "orphan"))
        collector = "system:serviceaccount:kube-system:generic-garbage-collector"
        assert lane_of("configmaps", "DELETE", "orphan", collector) == ["consequences"]

        # evictions; people
        scene.ready_pod("victim")
        operator.create(
            scene.path("pods", "victim/eviction"),
            {"apiVersion": "policy/v1", "kind": "Eviction",
             "metadata": {"name": "victim", "namespace": scene.namespace}},
        )  # fmt: skip
        assert lane_of("pods/eviction", "CREATE", "victim") == ["destructive"]
        person = plane.client(Person("lanes-alice", ("system:masters",)))
        person.create(scene.path("configmaps"), {"metadata": {"name": "by-hand"}})
        assert lane_of("configmaps", "CREATE", "by-hand", "lanes-alice") == ["people"]

        # lane 0: written, and never asked about
        operator.create(
            scene.path("leases", group="coordination.k8s.io/v1"), {"metadata": {"name": "l"}}
        )
        operator.create(scene.path("events"), {
            "metadata": {"name": "e"},
            "involvedObject": {"namespace": scene.namespace}, "type": "Normal",
        })  # fmt: skip
        operator.create(scene.path("serviceaccounts", "lanes/token"), {"spec": {}})
        operator.create(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
        )
        time.sleep(0.2)
        zero = {"leases", "events", "serviceaccounts/token", "selfsubjectaccessreviews"}
        asked = recorder.found("/admit")
        assert not [seen for seen in asked if seen.resource in zero]
        assert not [seen for seen in asked if seen.user.startswith("system:node:")]
        assert not [
            seen for seen in asked if seen.user in {"system:apiserver", "system:kube-scheduler"}
        ]
        # a request is in one lane at most
        reviews = [(seen.request["uid"]) for seen in asked]
        assert len(reviews) == len(set(reviews))
    admin.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/odds.{ODD}")


def test_webhooks_that_would_match_kube_system_as_it_is_labelled(
    guarded: Plane, operator: Rest
) -> None:
    """The policy's parameter is that namespace: its labels of now decide, not those of then."""
    admin, hooks = guarded.admin, f"{ADMISSION}/mutatingwebhookconfigurations"
    user = "system:serviceaccount:guards-op:op"
    profile = Profile("guards-labels", users=(user,), stage=Stage.ENFORCE)
    system, label = "/api/v1/namespaces/kube-system", "guards.example.com/injection"
    hook = {
        "name": "inject.guards.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": "https://127.0.0.1:9/inject"},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["*"],
                "operations": ["CREATE"],
                "resources": ["pods"],
            }
        ],
        "namespaceSelector": {
            "matchExpressions": [{"key": label, "operator": "NotIn", "values": ["disabled"]}]
        },
    }

    def made() -> str:
        """Return with which words a dry run is refused; nothing of it is ever in force."""
        body = {"metadata": {"name": "guards-labels"}, "webhooks": [hook]}
        try:
            operator.create(hooks, body, dryRun="All")
        except StatusError as error:
            return str(error)
        return ""

    apply(guarded, [*system_policy(enrol(INSTALLATION, [profile]))])
    try:
        message = until("the policy to be in force", made)
        assert "suture-webhook-safety-kube-system" in message
        assert "as kube-system is labelled now" in message
        admin.patch(system, {"metadata": {"labels": {label: "disabled"}}})
        until("the label to be followed", lambda: made() == "")
        admin.patch(system, {"metadata": {"labels": {label: None}}})
        until("its end to be followed", made)
    finally:
        admin.patch(system, {"metadata": {"labels": {label: None}}})
        apply(guarded, [*system_policy(INSTALLATION)])
    until("the policy to refuse nobody again", lambda: made() == "")
