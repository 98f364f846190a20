"""What tests on the lab share: a namespace of one's own, and a webhook that sees everything in it.

One registration serves all of them, since registering takes longer than most facts take to show.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.recorder import Decide, Recorder, Seen, until
from suture.adapters.kube import KubeClient
from suture.lab.identities import ServiceAccount
from suture.lab.plane import Plane
from suture.lab.rest import Object, Rest, StatusError
from suture.lab.rights import give_all_rights, service_account

PREFIX = "conf-"
NODE_USER = "system:node:kwok"
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
NAMESPACE_CONTROLLER = "system:serviceaccount:kube-system:namespace-controller"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

_numbers = itertools.count(1)


@dataclass
class Scene:
    """One test's corner of the cluster."""

    plane: Plane
    recorder: Recorder
    namespace: str
    decisions: dict[str, Decide] = field(default_factory=dict)

    @property
    def admin(self) -> Rest:
        return self.plane.admin

    def path(self, resource: str, name: str = "", *, group: str = "") -> str:
        """Return the path of a collection in the namespace, or of an object or subresource."""
        base = f"/apis/{group}" if group else "/api/v1"
        return f"{base}/namespaces/{self.namespace}/{resource}" + (f"/{name}" if name else "")

    def config_map(self, name: str, **metadata: Any) -> Object:
        """Create a ConfigMap."""
        return self.admin.create(
            self.path("configmaps"), {"metadata": {"name": name, **metadata}, "data": {"a": "b"}}
        )

    def pod(self, name: str, **spec: Any) -> Object:
        """Create a pod; on a node and Ready unless the spec says otherwise."""
        metadata = spec.pop("metadata", {})
        containers = [{"name": "main", "image": "none"}]
        body = {"metadata": {"name": name, **metadata}, "spec": {"containers": containers, **spec}}
        return self.admin.create(self.path("pods"), body)

    def ready_pod(self, name: str, **spec: Any) -> Object:
        """Create a pod and wait until it is Ready."""
        self.pod(name, **spec)
        return until(f"pod {name} to be Ready", lambda: self.if_ready(name))

    def if_ready(self, name: str) -> Object | None:
        """Return the pod if it is Ready."""
        pod = self.admin.get(self.path("pods", name))
        return pod if condition(pod, "Ready") == "True" else None

    def gone(self, path: str) -> None:
        """Wait until there is nothing at a path."""
        until(f"{path} to be gone", lambda: not self.admin.exists(path))

    def seen(self, resource: str = "", **wanted: str) -> list[Seen]:
        """Return the AdmissionReviews of this namespace."""
        named = {"resource": resource} if resource else {}
        return self.recorder.admissions(self.namespace, **named, **wanted)

    def decide(self, decision: Decide) -> None:
        """Answer the reviews of this namespace this way."""
        self.decisions[self.namespace] = decision

    def account(self, name: str, *, admin: bool = True) -> ServiceAccount:
        """Create a service account, with all rights unless told otherwise."""
        made = ServiceAccount(self.namespace, name)
        self.admin.create(self.path("serviceaccounts"), {"metadata": {"name": name}})
        if admin:
            grant(self.plane, f"{self.namespace}-{name}", made)
        return made


def grant(plane: Plane, binding: str, *accounts: ServiceAccount) -> None:
    """Make service accounts cluster-admin, and wait until they are."""

    async def give() -> None:
        subjects = [service_account(one.namespace, one.name) for one in accounts]
        async with KubeClient.from_kubeconfig(plane.kubeconfig()) as client:
            await give_all_rights(client, binding, subjects)

    asyncio.run(give())


def operators(plane: Plane, namespace: str, *accounts: ServiceAccount) -> None:
    """Make a namespace, and service accounts in it that may do everything."""
    plane.admin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for one in accounts:
        path = f"/api/v1/namespaces/{one.namespace}/serviceaccounts"
        plane.admin.create(path, {"metadata": {"name": one.name}})
    grant(plane, namespace, *accounts)


def condition(thing: Object, kind: str) -> str:
    """Return the status of a condition, empty when it is not there."""
    for found in thing.get("status", {}).get("conditions", ()):
        if found["type"] == kind:
            return str(found["status"])
    return ""


def refused(action: Callable[[], object]) -> StatusError:
    """Return the failure with which an action is answered."""
    try:
        action()
    except StatusError as error:
        return error
    raise AssertionError("was not refused")


def webhook(name: str, client: dict[str, Any], **more: Any) -> Object:
    """Return a ValidatingWebhookConfiguration with one webhook that sees every write."""
    everything = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["*/*"],
        "scope": "*",
    }
    one = {
        "name": f"{name}.suture.dev",
        "clientConfig": client,
        "rules": [everything],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
        "timeoutSeconds": 5,
        **more,
    }
    return {"metadata": {"name": name}, "webhooks": [one]}


def bundle(path: Path) -> str:
    """Return a certificate as registrations want it."""
    return base64.b64encode(path.read_bytes()).decode()


def by_url(plane: Plane, port: int, path: str = "/admit") -> dict[str, Any]:
    """Return the client configuration of a webhook on loopback."""
    return {
        "url": f"https://127.0.0.1:{port}{path}",
        "caBundle": bundle(plane.webhook_server_ca),
    }


@contextmanager
def registered(plane: Plane, configuration: Object) -> Iterator[str]:
    """Register webhooks for the length of a block."""
    name = str(configuration["metadata"]["name"])
    plane.admin.create(CONFIGURATIONS, configuration)
    try:
        yield name
    finally:
        plane.admin.delete(f"{CONFIGURATIONS}/{name}")


@contextmanager
def recording(plane: Plane) -> Iterator[Recorder]:
    """Run a recorder that sees every write in namespaces with the prefix, and of like names."""
    recorder = Recorder(plane, plane.static_port)
    recorder.start()
    mine = (
        f"request.namespace.startsWith('{PREFIX}') || request.resource.resource == 'ipaddresses'"
        f" || (object != null ? object : oldObject).metadata.name.contains('{PREFIX}')"
    )
    noise = "!(request.resource.resource in ['events', 'leases'])"
    configuration = webhook(
        "conformance",
        by_url(plane, recorder.port),
        matchConditions=[
            {"name": "mine", "expression": mine},
            {"name": "no-noise", "expression": noise},
        ],
    )
    try:
        with registered(plane, configuration):
            probe = {"metadata": {"name": f"{PREFIX}probe"}}
            until(
                "the registration to be in force",
                lambda: (
                    plane.admin.create("/api/v1/namespaces", probe, dryRun="All")
                    and recorder.found("/admit", object_name=f"{PREFIX}probe")
                ),
            )
            yield recorder
    finally:
        recorder.stop()


@contextmanager
def staged(plane: Plane, recorder: Recorder, decisions: dict[str, Decide]) -> Iterator[Scene]:
    """Make a namespace that is ready for pods; leave it to the namespace controller afterwards."""
    namespace = f"{PREFIX}{next(_numbers)}"
    plane.admin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    here = Scene(plane, recorder, namespace, decisions)
    # WHY a minute: tests before this one restart API servers, and a controller that has found
    # none some times in a row looks again after up to 30 s (client-go's reflector backoff).
    until(
        "the default service account",
        lambda: plane.admin.exists(here.path("serviceaccounts", "default")),
        limit_s=60.0,
    )
    yield here
    decisions.pop(namespace, None)
