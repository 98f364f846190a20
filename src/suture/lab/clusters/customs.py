"""Custom resources of a made cluster, and what is in them: names, selectors, children, numbers.

One of the families of kinds. Their definitions and how many there are stand in the lines; what
they refer to is true of the cluster that they are in, as operators' users see to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from suture.lab.clusters.apps import App
from suture.lab.clusters.bodies import Object
from suture.lab.clusters.plan import CACHES, DATABASES, listed, spread
from suture.lab.clusters.scribe import Scribe, Writer
from suture.model.names import DEPLOYMENTS, SCALED_OBJECTS, STATEFUL_SETS, Resource

SCALED = 20
"""One Deployment in so many is scaled by events."""

CERTIFICATES = Resource("cert-manager.io", "certificates")
REQUESTS = Resource("cert-manager.io", "certificaterequests")


class Instance(NamedTuple):
    """A custom resource: the app that it is about, its own name, and what it is called after."""

    app: App
    name: str

    @property
    def config(self) -> str:
        """The app's ConfigMap."""
        return f"{self.app.name}-config"

    @property
    def secret(self) -> str:
        """The app's Secret."""
        return f"{self.app.name}-secret"


def _selector(one: Instance) -> Object:
    return {"matchLabels": dict(one.app.labels)}


SPECS: Mapping[str, Callable[[Instance], Object]] = {
    "certificates": lambda one: {
        "secretName": one.secret,
        "dnsNames": [f"{one.app.name}.{one.app.namespace}.example.com"],
        "issuerRef": {"kind": "ClusterIssuer", "name": "public"},
    },
    "certificaterequests": lambda _one: {
        "issuerRef": {"kind": "ClusterIssuer", "name": "public"},
        "request": "LS0t",
    },
    "issuers": lambda one: {"acme": {"privateKeySecretRef": {"name": one.secret}}},
    "challenges": lambda one: {"dnsName": f"{one.app.name}.example.com", "type": "DNS-01"},
    "virtualservices": lambda one: {
        "hosts": [f"{one.app.name}.example.com"],
        "http": [{"route": [{"destination": {"host": one.app.name}, "weight": 100}]}],
    },
    "destinationrules": lambda one: {"host": one.app.name},
    "gateways": lambda one: {
        "selector": {"app": "mesh-gateway"},
        "servers": [{"tls": {"credentialName": one.secret}}],
    },
    "sidecars": lambda one: {"workloadSelector": {"labels": dict(one.app.labels)}},
    "servicemonitors": lambda one: {
        "selector": _selector(one),
        "endpoints": [{"port": f"port-{one.app.port}", "interval": "30s"}],
    },
    "alertrules": lambda one: {"groups": [{"name": one.name, "interval": "1m"}]},
    "scaledobjects": lambda one: {
        "scaleTargetRef": {"kind": one.app.controller.plural, "name": one.app.name},
        "minReplicas": 1,
        "maxReplicas": 10,
    },
    "policies": lambda one: {"match": {"podSelector": _selector(one)}, "action": "audit"},
    "exceptions": lambda one: {"policyRef": {"name": one.name}},
    "volumesnapshots": lambda one: {
        "source": {"persistentVolumeClaimName": f"data-{one.app.name}-0"}
        if one.app.controller == STATEFUL_SETS
        else {}
    },
    "backups": lambda one: {"labelSelector": _selector(one), "ttl": "720h"},
    "schedules": lambda one: {"schedule": "0 2 * * *", "backupName": one.name},
    "postgresclusters": lambda one: {
        "replicas": one.app.replicas,
        "superuserSecret": {"name": one.secret},
    },
    "rediscaches": lambda one: {"size": one.app.replicas, "configMapRef": {"name": one.config}},
    "topics": lambda _one: {"partitions": 12, "replicas": 3},
    "consumers": lambda one: {
        "topicRef": {"name": one.name},
        "serviceAccountName": one.app.account,
    },
    "runners": lambda one: {"replicas": 2, "tokenSecretRef": {"name": one.secret}},
    "externalsecrets": lambda one: {
        "target": {"name": one.secret},
        "storeRef": {"name": "vault"},
        "refreshInterval": "1h",
    },
    "records": lambda one: {"serviceRef": {"name": one.app.name}, "ttl": 60},
}
"""What is in a custom resource, by its plural; nothing where the plural is not here."""


def instances(scribe: Scribe, resource: Resource) -> Iterator[bytes]:
    """Yield the custom resources of a type that is counted in the lines."""
    plan = scribe.plan
    places = {
        DATABASES: plan.stateful,
        CACHES: plan.stateful[plan.instances.get(DATABASES, 0) :] or plan.stateful,
    }.get(resource, plan.apps)
    made = [Instance(app, name) for app, name, _ in spread(plan.instances.get(resource, 0), places)]
    spec_of = SPECS.get(resource.plural, _nothing)
    for one in sorted(made, key=lambda one: (one.app.namespace, one.name)):
        owners = []
        if resource == REQUESTS:
            owners.append(scribe.owner(CERTIFICATES, one.app.namespace, one.name))
        meta = scribe.meta(
            resource, one.app.namespace, one.name, owners=owners, kept=resource != REQUESTS
        )
        yield scribe.thing(resource, meta, spec=spec_of(one))


def _nothing(_one: Instance) -> Object:
    return {}


def _scaled(scribe: Scribe) -> Iterator[bytes]:
    apps = [one for one in scribe.plan.apps if one.controller == DEPLOYMENTS and not one.platform]
    for app in listed(apps[SCALED - 1 :: SCALED]):
        spec = {"scaleTargetRef": {"name": app.name}, "maxReplicaCount": 10}
        meta = scribe.meta(SCALED_OBJECTS, app.namespace, app.name, kept=True)
        yield scribe.thing(SCALED_OBJECTS, meta, spec=spec)


WRITERS: Mapping[Resource, Writer] = {SCALED_OBJECTS: _scaled}
