"""Pod templates of a made cluster: what its pods run, and all that they read and run with.

Apart from `bodies` because this is where most edges of a cluster come from: ConfigMaps, Secrets
and their keys, accounts, classes, claims, and the other Services that a client knows by name.
"""

from __future__ import annotations

from random import Random

from suture.lab.clusters.apps import App
from suture.lab.clusters.bodies import Object
from suture.lab.clusters.chance import dice, suffix
from suture.lab.clusters.ground import DRIVER
from suture.lab.clusters.plan import Plan
from suture.model.names import DAEMON_SETS, STATEFUL_SETS

PULL_SECRET = "registry-pull"  # noqa: S105 a name
"""The Secret of each namespace by which images are pulled."""

CONFIG_KEYS = ("app.yaml", "log-level", "feature-flags")
SECRET_KEYS = ("password", "token")
"""Entries of every app's ConfigMap and Secret."""

TOKEN_VOLUME = "kube-api-access-@@token@@"  # noqa: S105 a name
"""The volume that admission adds to each pod, under a name of its own."""

ROOT_CERTIFICATES = "kube-root-ca.crt"
"""The ConfigMap that every namespace has, and every pod reads."""

REFERENCES = (
    "serviceAccountName",
    "priorityClassName",
    "runtimeClassName",
    "imagePullSecrets",
    "volumes",
)
"""What of a pod's spec names other objects, its containers apart."""

DRIVER_AGENT = "csi-node"
"""The DaemonSet by which nodes have the volumes of the cluster."""

CLIENTS = 0.4
"""The part of apps that knows another Service of its namespace by name."""


def template(plan: Plan, app: App) -> Object:
    """Return what a workload stamps its pods out of."""
    rng = dice(plan.seed, "template", app.namespace, app.name)
    sidecars = ("mesh-proxy", "log-shipper")[: rng.choices((0, 1, 2), (55, 35, 10))[0]]
    noise = suffix(rng, 40)
    containers = [
        _container(app, name, rng.randint(6, 18), noise, main=name == app.name)
        for name in (app.name, *sidecars)
    ]
    # WHY other dice: what an app runs stays as it was when more is said of what it reads.
    more = dice(plan.seed, "reads", app.namespace, app.name)
    volumes = _read(plan, app, containers[0], more)
    spec: Object = {
        "containers": containers,
        "volumes": volumes,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app.account,
        "serviceAccount": app.account,
        "securityContext": {},
        "imagePullSecrets": [{"name": PULL_SECRET}],
        "schedulerName": "default-scheduler",
        **_classes(app, more),
    }
    return {
        "metadata": {
            "labels": dict(app.labels),
            "annotations": {"prometheus.io/scrape": "true", "checksum/config": noise},
        },
        "spec": spec,
    }


def job_template(plan: Plan, namespace: str, cron: str) -> Object:
    """Return what a Job stamps its pod out of."""
    rng = dice(plan.seed, "template", namespace, cron)
    return {
        "spec": {
            "containers": [
                {
                    "name": "run",
                    "image": f"registry.example/{namespace}/{cron}:v{rng.randrange(1, 30)}",
                    "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                    "imagePullPolicy": "IfNotPresent",
                }
            ],
            "restartPolicy": "OnFailure",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "serviceAccount": "default",
            "imagePullSecrets": [{"name": PULL_SECRET}],
            "schedulerName": "default-scheduler",
            "priorityClassName": "batch-low",
        }
    }


def pod_spec(stamp: Object, *, claims: bool) -> Object:
    """Return a pod's spec as admission and its controller leave it, with gaps for its own names.

    `claims`: a StatefulSet's, each with a claim of its own.
    """
    spec: Object = {**stamp["spec"]}
    token = {
        "name": TOKEN_VOLUME,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {
                    "configMap": {
                        "name": ROOT_CERTIFICATES,
                        "items": [{"key": "ca.crt", "path": "ca.crt"}],
                    }
                },
            ],
            "defaultMode": 420,
        },
    }
    own = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-@@name@@"}}]
    spec["volumes"] = [*(own if claims else ()), *spec.get("volumes", ()), token]
    mount = {
        "name": TOKEN_VOLUME,
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    spec["containers"] = [
        {**one, "volumeMounts": [*one.get("volumeMounts", ()), mount]} for one in spec["containers"]
    ]
    return spec


def references_only(spec: Object) -> Object:
    """Return a pod's spec without what names no other object."""
    found: Object = {key: spec[key] for key in REFERENCES if key in spec}
    found["containers"] = [
        {
            "env": [entry for entry in one.get("env", ()) if "valueFrom" in entry],
            "envFrom": one.get("envFrom", ()),
        }
        for one in spec["containers"]
    ]
    return found


def _read(plan: Plan, app: App, main: Object, rng: Random) -> list[Object]:
    """Let the main container read its app's ConfigMap and Secret; return the volumes for it.

    Some by volume, some by variable, some whole, as teams do; each way is common in a cluster.
    """
    config, secret = f"{app.name}-config", f"{app.name}-secret"
    volumes: list[Object] = [
        {"name": "config", "configMap": {"name": config, "defaultMode": 420}},
        {"name": "tls", "secret": {"secretName": secret, "defaultMode": 420, "optional": True}},
    ]
    variables: list[Object] = main["env"]
    if rng.random() < 0.5:
        key = {"name": secret, "key": SECRET_KEYS[0]}
        variables.append({"name": "PASSWORD", "valueFrom": {"secretKeyRef": key}})
    if rng.random() < 0.3:
        key = {"name": config, "key": CONFIG_KEYS[1]}
        variables.append({"name": "LOG_LEVEL", "valueFrom": {"configMapKeyRef": key}})
    if rng.random() < 0.2:
        main["envFrom"] = [{"secretRef": {"name": secret}}]
    elif rng.random() < 0.2:
        main["envFrom"] = [{"configMapRef": {"name": config}}]
    others = plan.fronts_in(app.namespace)
    if others and rng.random() < CLIENTS:
        other = rng.choice(others)
        host = f"http://{other.name}.{other.namespace}.svc.cluster.local:{other.ports[0]}"
        variables.append({"name": "UPSTREAM_URL", "value": host})
    if app.controller == STATEFUL_SETS:
        main["volumeMounts"].append({"name": "data", "mountPath": "/var/lib/data"})
    if app.platform and app.name == DRIVER_AGENT:
        path = f"/var/lib/kubelet/plugins/{DRIVER}"
        volumes.append({"name": "plugin", "hostPath": {"path": path, "type": "DirectoryOrCreate"}})
        main["volumeMounts"].append({"name": "plugin", "mountPath": "/csi"})
    return volumes


def _classes(app: App, rng: Random) -> Object:
    """Return how urgent an app's pods are, and what runs them."""
    if app.platform:
        node = app.controller == DAEMON_SETS
        return {"priorityClassName": f"system-{'node' if node else 'cluster'}-critical"}
    found: Object = {}
    if rng.random() < 0.15:
        found["priorityClassName"] = "business-critical"
    if rng.random() < 0.02:
        found["runtimeClassName"] = "gvisor"
    return found


def _container(app: App, name: str, variables: int, noise: str, *, main: bool) -> Object:
    probe = {
        "httpGet": {"path": "/healthz", "port": app.port, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    return {
        "name": name,
        "image": app.image if main else f"registry.example/{name}:v1.9.4",
        "ports": [{"name": "main", "containerPort": app.port, "protocol": "TCP"}] if main else [],
        "env": [
            {"name": f"SETTING_{number}_{noise[number].upper()}", "value": noise[number:]}
            for number in range(variables)
        ],
        "resources": {
            "limits": {"cpu": "2", "memory": "4Gi"},
            "requests": {"cpu": "500m", "memory": "1Gi"},
        },
        "volumeMounts": _mounts(main=main),
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
    }


def _mounts(*, main: bool) -> list[Object]:
    found: list[Object] = [{"name": "config", "readOnly": True, "mountPath": "/etc/app"}]
    if main:
        found.append({"name": "tls", "readOnly": True, "mountPath": "/etc/tls"})
    return found
