"""What leads to Services in a made cluster, and what may: Ingresses, Gateways, network policies.

One of the families of kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.lab.clusters.bodies import Object
from suture.lab.clusters.chance import dice
from suture.lab.clusters.fronts import Front
from suture.lab.clusters.plan import Plan, listed, spread
from suture.lab.clusters.scribe import Scribe, Writer
from suture.model.names import (
    GATEWAY_CLASSES,
    GATEWAYS,
    HTTP_ROUTES,
    INGRESSES,
    NETWORK_POLICIES,
    Resource,
)

GATEWAY = ("mesh-system", "public")
"""The Gateway that all routes are attached to, and the class that runs it."""

GATEWAY_CLASS = "mesh"
GATEWAY_SECRET = "mesh-gateway-secret"  # noqa: S105 a name

TLS = 0.6
"""The part of Ingresses that has a certificate."""

ALONE = 0.35
"""The part of team namespaces in which nothing may reach a pod unless it is said."""


def _ingresses(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    chosen = dice(plan.seed, "ingresses").sample(_routed(plan), plan.size.ingresses)
    rng = dice(plan.seed, "certificates")
    for front in listed(chosen):
        service = {"name": front.name, "port": {"number": front.ports[0]}}
        path = {"path": "/", "pathType": "Prefix", "backend": {"service": service}}
        host = f"{front.name}.example.com"
        rules = [{"host": host, "http": {"paths": [path]}}]
        spec: Object = {"ingressClassName": "nginx", "rules": rules}
        if rng.random() < TLS:
            spec["tls"] = [{"hosts": [host], "secretName": f"{_app_name(front)}-secret"}]
        meta = scribe.meta(INGRESSES, front.namespace, front.name, labels=front.labels, kept=True)
        yield scribe.thing(INGRESSES, meta, spec=spec)


def _routed(plan: Plan) -> list[Front]:
    return [front for front in plan.fronts if front.app and not front.headless]


def _app_name(front: Front) -> str:
    return front.app.name if front.app is not None else front.name


def _classes(scribe: Scribe) -> Iterator[bytes]:
    meta = scribe.meta(GATEWAY_CLASSES, "", GATEWAY_CLASS)
    yield scribe.thing(GATEWAY_CLASSES, meta, spec={"controllerName": "mesh.example.com/gateway"})


def _gateways(scribe: Scribe) -> Iterator[bytes]:
    listener = {
        "name": "https",
        "port": 443,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [{"name": GATEWAY_SECRET}]},
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    meta = scribe.meta(GATEWAYS, *GATEWAY, kept=True)
    spec = {"gatewayClassName": GATEWAY_CLASS, "listeners": [listener]}
    yield scribe.thing(GATEWAYS, meta, spec=spec)


def _routes(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    chosen = dice(plan.seed, "routes").sample(_routed(plan), plan.size.http_routes)
    namespace, name = GATEWAY
    for front in listed(chosen):
        backend = {"name": front.name, "port": front.ports[0], "weight": 1}
        match = {"path": {"type": "PathPrefix", "value": "/"}}
        spec = {
            "parentRefs": [{"namespace": namespace, "name": name}],
            "hostnames": [f"{front.name}.gateway.example.com"],
            "rules": [{"matches": [match], "backendRefs": [backend]}],
        }
        meta = scribe.meta(HTTP_ROUTES, front.namespace, front.name, kept=True)
        yield scribe.thing(HTTP_ROUTES, meta, spec=spec)


def _network_policies(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    rng = dice(plan.seed, "network-policies")
    teams = [space for space in plan.spaces if space.weight]
    alone = [space.name for space in teams if rng.random() < ALONE]
    alone = alone[: plan.size.network_policies]
    made: list[tuple[str, str, Object]] = [
        (name, "default-deny", {"podSelector": {}, "policyTypes": ["Ingress"]}) for name in alone
    ]
    apps = [app for app in plan.apps if not app.platform]
    for app, name, _ in spread(plan.size.network_policies - len(made), apps, "{}-callers"):
        callers = [
            {"podSelector": {"matchLabels": {"access": app.name}}},
            {"namespaceSelector": {"matchLabels": {"platform": "true"}}},
        ]
        spec = {
            "podSelector": {"matchLabels": dict(app.labels)},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": callers, "ports": [{"port": app.port, "protocol": "TCP"}]}],
        }
        made.append((app.namespace, name, spec))
    for namespace, name, spec in sorted(made, key=lambda one: one[:2]):
        meta = scribe.meta(NETWORK_POLICIES, namespace, name, kept=True)
        yield scribe.thing(NETWORK_POLICIES, meta, spec=spec)


WRITERS: Mapping[Resource, Writer] = {
    INGRESSES: _ingresses,
    GATEWAY_CLASSES: _classes,
    GATEWAYS: _gateways,
    HTTP_ROUTES: _routes,
    NETWORK_POLICIES: _network_policies,
}
