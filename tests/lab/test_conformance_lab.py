"""The lab's own pitfalls, each shown to be closed: Service addresses, routes, endpoints, ranges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.recorder import Answer, Recorder, until
from support.scene import Scene, bundle, refused, registered, webhook
from suture.lab.nodes import NEVER_READY
from suture.lab.plane import Plane
from suture.lab.proxy import LOOPBACK_PORT
from suture.lab.rest import Object, StatusError

pytestmark = pytest.mark.lab


@pytest.fixture
def backend(scene: Scene, plane: Plane) -> Iterator[Recorder]:
    """Return a recorder that stands behind a Service of the scene, and routes to it."""
    names = (f"hook.{scene.namespace}.svc",)
    recorder = Recorder(plane, plane.ports["spare-2"], names)
    recorder.start()
    yield recorder
    recorder.stop()


def service(scene: Scene, *, annotated: int | None = None, selector: bool = False) -> Object:
    """Create the Service `hook`."""
    spec: Object = {"ports": [{"port": 443, "targetPort": 8443}]}
    if selector:
        spec["selector"] = {"app": "hook"}
    annotations = {} if annotated is None else {LOOPBACK_PORT: str(annotated)}
    return scene.admin.create(
        scene.path("services"),
        {"metadata": {"name": "hook", "annotations": annotations}, "spec": spec},
    )


def hook(scene: Scene) -> Object:
    """Return a registration by Service, which fails closed for ConfigMaps named `victim`."""
    client = {
        "service": {"namespace": scene.namespace, "name": "hook", "path": "/hook"},
        "caBundle": bundle(scene.plane.webhook_server_ca),
    }
    mine = f"request.namespace == '{scene.namespace}' && request.name == 'victim'"
    return webhook(
        f"{scene.namespace}-hook",
        client,
        failurePolicy="Fail",
        timeoutSeconds=2,
        matchConditions=[{"name": "mine", "expression": mine}],
    )


def write(scene: Scene) -> str:
    """Try a write that the webhook sees; return why it was refused, or nothing."""
    try:
        scene.admin.create(scene.path("configmaps"), {"metadata": {"name": "victim"}}, dryRun="All")
    except StatusError as error:
        return error.message
    return ""


def test_a_webhook_behind_a_service_is_reached(scene: Scene, backend: Recorder) -> None:
    """L1 and L2: by its ClusterIP, with the client certificate; and lost with its Service."""
    service(scene)
    scene.plane.route(scene.namespace, "hook", backend.port)
    with registered(scene.plane, hook(scene)):
        until("the webhook to be called", lambda: not write(scene) and backend.seen)
        assert backend.seen[-1].client == "kube-apiserver-webhook-client"
        backend.decide = lambda _seen: Answer(allowed=False, message="from behind the Service")
        assert "from behind the Service" in write(scene)
        backend.decide = lambda _seen: None
        assert not write(scene)
        scene.admin.delete(scene.path("services", "hook"))
        assert "failed calling webhook" in until("the route to be cut", lambda: write(scene))
        service(scene)
        until("the new Service to be routed by its name", lambda: not write(scene))
        scene.plane.unroute(scene.namespace, "hook")
        assert "failed calling webhook" in until("the route to go", lambda: write(scene))


def test_an_annotated_service_needs_ready_endpoints(scene: Scene, backend: Recorder) -> None:
    """L3: KWOK's pods enter EndpointSlices; without a ready one the backend is dead."""
    service(scene, annotated=backend.port, selector=True)
    with registered(scene.plane, hook(scene)):
        assert "failed calling webhook" in until("the registration", lambda: write(scene))
        scene.ready_pod("backend", metadata={"labels": {"app": "hook"}})
        until("the route to open", lambda: not write(scene))
        scene.admin.delete(scene.path("pods", "backend"))
        assert "failed calling webhook" in until("the route to close", lambda: write(scene))
        scene.pod(
            "unready", metadata={"labels": {"app": "hook"}, "annotations": {NEVER_READY: "true"}}
        )
        slices = scene.path("endpointslices", group="discovery.k8s.io/v1")

        def listed() -> list[Object]:
            found = scene.admin.list(slices, labelSelector="kubernetes.io/service-name=hook")
            return [endpoint for one in found for endpoint in one.get("endpoints") or ()]

        until("the pod to be listed as not ready", listed)
        assert "failed calling webhook" in write(scene)


def test_an_annotated_service_without_selector_needs_none(scene: Scene, backend: Recorder) -> None:
    """A Service without a selector stands for something outside: the annotation is enough."""
    service(scene, annotated=backend.port)
    with registered(scene.plane, hook(scene)):
        until("the webhook to be called", lambda: not write(scene) and backend.seen)


def test_loopback_is_no_endpoint(scene: Scene) -> None:
    """L1: that is why the proxy is there."""
    body = {
        "metadata": {"name": "loop", "labels": {"kubernetes.io/service-name": "loop"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["127.0.0.1"]}],
        "ports": [{"port": 443}],
    }
    path = scene.path("endpointslices", group="discovery.k8s.io/v1")
    assert "loopback" in refused(lambda: scene.admin.create(path, body)).message


def test_the_service_range_is_wide(scene: Scene) -> None:
    """L4 and L5: far more than 254 addresses, each noted by the API server as an IPAddress."""
    spec = {"clusterIP": "10.111.255.250", "ports": [{"port": 80}]}
    scene.admin.create(scene.path("services"), {"metadata": {"name": "far"}, "spec": spec})
    found = scene.recorder.found("/admit", resource="ipaddresses", object_name="10.111.255.250")
    assert {(seen.user, seen.verb) for seen in found} == {("system:apiserver", "CREATE")}
    scene.admin.delete(scene.path("services", "far"))
