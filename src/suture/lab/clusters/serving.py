"""What serves in a made cluster: Services and their endpoints, and the Balancers behind some.

One of the families of kinds; what leads to Services is `routing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.lab.clusters.bodies import Object
from suture.lab.clusters.chance import word
from suture.lab.clusters.fronts import BALANCER_LABEL, Front, Idle
from suture.lab.clusters.plan import BALANCERS, Plan, PodMade
from suture.lab.clusters.scribe import Scribe, Writer
from suture.model.names import ENDPOINT_SLICES, PODS, SERVICES, Resource

SLICE_ENDPOINTS = 100
"""LIMIT: endpoints of one slice, the endpointslice controller's default."""

FIRST_ADDRESS = 10 << 24 | 96 << 16
"""Of Services: 10.96.0.0/12, less than a million of them."""


def _services(scribe: Scribe) -> Iterator[bytes]:
    for number, front in enumerate(scribe.plan.fronts):
        owners = []
        if front.balancer:
            owners.append(scribe.owner(BALANCERS, front.namespace, front.balancer))
        meta = scribe.meta(
            SERVICES, front.namespace, front.name,
            labels=front.labels, owners=owners, kept=not owners,
        )  # fmt: skip
        spec: Object = {
            "type": front.type,
            "ports": [
                {"name": f"port-{port}", "port": port, "protocol": "TCP"} for port in front.ports
            ],
        }
        if front.idle is Idle.EXTERNAL_NAME:
            spec["externalName"] = f"{front.name}.partners.example.com"
        else:
            spec["clusterIP"] = "None" if front.headless else address(number)
        if front.selector is not None:
            spec["selector"] = dict(front.selector)
        yield scribe.thing(SERVICES, meta, spec=spec, status={"loadBalancer": {}})


def address(number: int) -> str:
    """Return the address of a Service."""
    bits = FIRST_ADDRESS + 16 + number
    return ".".join(str(bits >> shift & 255) for shift in (24, 16, 8, 0))


def _slices(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    made = sorted(
        (front.namespace, name, at, start)
        for at, front in enumerate(plan.fronts)
        for name, start in _slices_of(plan, front)
    )
    for namespace, name, at, start in made:
        front = plan.fronts[at]
        pods = plan.pods_of(front.app)[start : start + SLICE_ENDPOINTS] if front.app else ()
        labels = {
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
            "kubernetes.io/service-name": front.name,
        }
        maker = scribe.owner(SERVICES, namespace, front.name)
        meta = scribe.meta(ENDPOINT_SLICES, namespace, name, labels=labels, owners=[maker])
        yield scribe.thing(
            ENDPOINT_SLICES,
            meta,
            addressType="IPv4",
            endpoints=[_endpoint(plan, namespace, pod) for pod in pods],
            ports=[
                {"name": f"port-{port}", "port": port, "protocol": "TCP"} for port in front.ports
            ],
        )


def _slices_of(plan: Plan, front: Front) -> Iterator[tuple[str, int]]:
    """Yield name and first endpoint of each slice of a Service."""
    if front.app is not None:
        for start in range(0, front.app.replicas, SLICE_ENDPOINTS):
            end = word(plan.seed, "slice", front.namespace, front.name, start, length=5)
            yield f"{front.name}-{end}", start


def _endpoint(plan: Plan, namespace: str, pod: PodMade) -> Object:
    uid = plan.uid(PODS, namespace, pod.name)
    return {
        "addresses": [f"10.{int(uid[:2], 16)}.{int(uid[2:4], 16)}.{int(uid[4:6], 16)}"],
        "conditions": {"ready": pod.ready, "serving": pod.ready, "terminating": False},
        "nodeName": plan.machines[pod.node].name,
        "targetRef": {"kind": "Pod", "namespace": namespace, "name": pod.name, "uid": uid},
    }


def _balancers(scribe: Scribe) -> Iterator[bytes]:
    for balancer in scribe.plan.balancers:
        meta = scribe.meta(
            BALANCERS, balancer.namespace, balancer.name,
            finalizers=["lb.example.com/cleanup"], kept=True,
        )  # fmt: skip
        yield scribe.thing(BALANCERS, meta, spec={"class": "public", "label": BALANCER_LABEL})


WRITERS: Mapping[Resource, Writer] = {
    SERVICES: _services,
    ENDPOINT_SLICES: _slices,
    BALANCERS: _balancers,
}
