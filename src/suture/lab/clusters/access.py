"""Who may do what in a made cluster: accounts, roles, bindings; and who leads, by Lease.

One of the families of kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from suture.lab.clusters.apps import App
from suture.lab.clusters.bodies import Object
from suture.lab.clusters.plan import Plan, spread
from suture.lab.clusters.scribe import Scribe, Writer
from suture.lab.clusters.templates import PULL_SECRET
from suture.model.names import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    DEPLOYMENTS,
    LEASES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    Resource,
)

READ = ("get", "list", "watch")
RBAC_GROUP = "rbac.authorization.k8s.io"


def _accounts(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    default = {(space.name, "default") for space in plan.spaces}
    own = {(app.namespace, app.account) for app in plan.apps}
    for namespace, name in sorted(default | own):
        kept = (namespace, name) not in default
        meta = scribe.meta(SERVICE_ACCOUNTS, namespace, name, kept=kept)
        yield scribe.thing(SERVICE_ACCOUNTS, meta, imagePullSecrets=[{"name": PULL_SECRET}])


def _made(plan: Plan) -> list[tuple[App, str]]:
    """Return the apps that have a role of their own, and its name."""
    teams = [app for app in plan.apps if not app.platform]
    found = [(app, name) for app, name, _ in spread(plan.size.roles, teams)]
    return sorted(found, key=lambda one: (one[0].namespace, one[1]))


def _roles(scribe: Scribe) -> Iterator[bytes]:
    for app, name in _made(scribe.plan):
        rules: list[Object] = [
            {"apiGroups": [""], "resources": ["configmaps", "endpoints"], "verbs": READ},
            {
                "apiGroups": [""],
                "resources": ["secrets"],
                "resourceNames": [f"{app.name}-secret"],
                "verbs": ["get"],
            },
        ]
        meta = scribe.meta(ROLES, app.namespace, name, kept=True)
        yield scribe.thing(ROLES, meta, rules=rules)


def _bindings(scribe: Scribe) -> Iterator[bytes]:
    for app, name in _made(scribe.plan):
        meta = scribe.meta(ROLE_BINDINGS, app.namespace, name, kept=True)
        role = {"apiGroup": RBAC_GROUP, "kind": "Role", "name": name}
        yield scribe.thing(ROLE_BINDINGS, meta, subjects=[_account(app)], roleRef=role)


def _operators(plan: Plan) -> list[App]:
    """Return the platform's Deployments: each has rights of its own over the whole cluster."""
    apps = plan.apps
    found = [app for app in apps if app.platform and app.controller == DEPLOYMENTS]
    return sorted(found, key=_cluster_role)


def _cluster_role(app: App) -> str:
    return f"{app.namespace}:{app.name}"


def _cluster_roles(scribe: Scribe) -> Iterator[bytes]:
    for app in _operators(scribe.plan):
        rules = [{"apiGroups": ["", "apps"], "resources": ["*"], "verbs": READ}]
        meta = scribe.meta(CLUSTER_ROLES, "", _cluster_role(app))
        yield scribe.thing(CLUSTER_ROLES, meta, rules=rules)


def _cluster_bindings(scribe: Scribe) -> Iterator[bytes]:
    for app in _operators(scribe.plan):
        meta = scribe.meta(CLUSTER_ROLE_BINDINGS, "", _cluster_role(app))
        role = {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": _cluster_role(app)}
        yield scribe.thing(CLUSTER_ROLE_BINDINGS, meta, subjects=[_account(app)], roleRef=role)


def _account(app: App) -> Object:
    return {"kind": "ServiceAccount", "namespace": app.namespace, "name": app.account}


def _leases(scribe: Scribe) -> Iterator[bytes]:
    plan = scribe.plan
    for app in sorted(_operators(plan), key=lambda one: (one.namespace, one.name)):
        leader = min(pod.name for pod in plan.pods_of(app))
        holder = f"{leader}_{plan.uid(PODS, app.namespace, leader)}"
        meta = scribe.meta(LEASES, app.namespace, app.name)
        spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3}
        yield scribe.thing(LEASES, meta, spec=spec)


WRITERS: Mapping[Resource, Writer] = {
    SERVICE_ACCOUNTS: _accounts,
    ROLES: _roles,
    ROLE_BINDINGS: _bindings,
    CLUSTER_ROLES: _cluster_roles,
    CLUSTER_ROLE_BINDINGS: _cluster_bindings,
    LEASES: _leases,
}
