"""The kinds that a soak writes, and a body of each as dice fall.

Few names, which are used again and again, so that objects find, lose and replace each other. No
body needs another to be there: what it names may come later, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import msgspec

from suture.lab.clusters.chance import dice as chance

Body = dict[str, Any]

NAMES = 4
"""How many names a kind has in a namespace: enough to grow, few enough to collide."""


class Kind(msgspec.Struct, frozen=True):
    """A kind that is written: where, as what, how often, and how."""

    group: str
    version: str
    plural: str
    kind: str
    body: Callable[[Random, str], Body]
    namespaced: bool = True
    weight: int = 2

    @property
    def api_version(self) -> str:
        """How objects write group and version."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of an object or of a collection; without a namespace that of all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        space = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{space}/{self.plural}" + (f"/{name}" if name else "")


def a_name(dice: Random) -> str:
    """Return one of the names that everything has."""
    return f"it-{dice.randrange(NAMES)}"


def some_labels(dice: Random) -> dict[str, str]:
    """Return labels that selectors look for, or none."""
    found = {"app": a_name(dice)} if dice.random() < 0.8 else {}
    if dice.random() < 0.3:
        found["tier"] = dice.choice(["front", "back"])
    return found


def selector(dice: Random) -> dict[str, Any]:
    """Return a LabelSelector: by labels, by expressions, of everything."""
    match dice.randrange(4):
        case 0:
            return {}
        case 1:
            values = sorted({a_name(dice), a_name(dice)})
            return {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}
        case 2:
            return {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}
        case _:
            return {"matchLabels": {"app": a_name(dice)}}


def pod_spec(dice: Random) -> dict[str, Any]:
    """Return what a pod is to run, and what it needs: by name, there or not."""
    container: dict[str, Any] = {"name": "c", "image": "none"}
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 1}
    if dice.random() < 0.4:
        reference = {"name": a_name(dice), "key": "k", "optional": True}
        container["env"] = [{"name": "E", "valueFrom": {"configMapKeyRef": reference}}]
    if dice.random() < 0.3:
        container["envFrom"] = [{"secretRef": {"name": a_name(dice)}}]
    if dice.random() < 0.2:
        spec["volumes"] = [
            {"name": "v", "persistentVolumeClaim": {"claimName": a_name(dice)}},
            {"name": "m", "configMap": {"name": a_name(dice)}},
        ]
    if dice.random() < 0.2:
        spec["imagePullSecrets"] = [{"name": a_name(dice)}]
    if dice.random() < 0.2:
        spec["serviceAccountName"] = a_name(dice)
    return spec


def _data(dice: Random, _name: str) -> Body:
    return {"data": {dice.choice("klm"): f"{dice.randrange(1000):04}"}}


def _secret(dice: Random, _name: str) -> Body:
    return {"stringData": {"k": f"{dice.randrange(1000)}"}, "type": "Opaque"}


def _account(dice: Random, _name: str) -> Body:
    return {"imagePullSecrets": [{"name": a_name(dice)}]} if dice.random() < 0.5 else {}


def _pod(_dice: Random, name: str) -> Body:
    # WHY dice of its own: a pod's spec is for good, and a name's pods would refuse every change.
    return {"spec": pod_spec(Random(name))}  # noqa: S311 made chance


def _service(dice: Random, _name: str) -> Body:
    spec: dict[str, Any] = {"ports": [{"port": 80 + dice.randrange(2), "protocol": "TCP"}]}
    if dice.random() < 0.8:
        spec["selector"] = {"app": a_name(dice)}
    return {"spec": spec}


def _slice(dice: Random, _name: str) -> Body:
    addresses = [f"192.0.2.{1 + dice.randrange(200)}"]
    ready = dice.choice([True, False, None])
    conditions = {} if ready is None else {"ready": ready}
    return {
        "addressType": "IPv4",
        "endpoints": [{"addresses": addresses, "conditions": conditions}],
        "ports": [{"name": "", "port": 80, "protocol": "TCP"}],
    }


def _template(dice: Random, name: str) -> Body:
    return {"metadata": {"labels": {"app": name}}, "spec": pod_spec(dice)}


def _replicated(dice: Random, name: str) -> Body:
    return {
        "spec": {
            "replicas": dice.choice([0, 0, 1, 1, 2]),
            "selector": {"matchLabels": {"app": name}},
            "template": _template(chance(dice.randrange(2), name), name),
        }
    }


def _stateful(dice: Random, name: str) -> Body:
    body = _replicated(dice, name)
    body["spec"]["serviceName"] = name
    return body


def _daemon(dice: Random, name: str) -> Body:
    template = _template(dice, name)
    template["spec"]["nodeSelector"] = {"kubernetes.io/os": dice.choice(["linux", "plan9"])}
    return {"spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


def _job(_dice: Random, name: str) -> Body:
    spec = pod_spec(chance(0, name))
    spec["restartPolicy"] = "Never"
    return {"spec": {"parallelism": 1, "template": {"spec": spec}}}


def _cron(dice: Random, name: str) -> Body:
    job = _job(dice, name)
    return {"spec": {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": job}}


def _claim(_dice: Random, name: str) -> Body:
    return {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": name,
        }
    }


def _ingress(dice: Random, _name: str) -> Body:
    backend = {"service": {"name": a_name(dice), "port": {"number": 80}}}
    spec: dict[str, Any] = {"defaultBackend": backend}
    if dice.random() < 0.3:
        spec["tls"] = [{"hosts": ["a.test"], "secretName": a_name(dice)}]
    return {"spec": spec}


def _network_policy(dice: Random, _name: str) -> Body:
    return {"spec": {"podSelector": selector(dice), "policyTypes": ["Ingress"]}}


def _budget(dice: Random, _name: str) -> Body:
    return {"spec": {"selector": selector(dice), "minAvailable": dice.randrange(3)}}


def _autoscaler(dice: Random, _name: str) -> Body:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": a_name(dice)}
    return {"spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 2}}


def _role(dice: Random, _name: str) -> Body:
    verbs = dice.choice([["get"], ["get", "list"]])
    return {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]}


def _binding(dice: Random, name: str) -> Body:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    return {"roleRef": role, "subjects": [{"kind": "ServiceAccount", "name": a_name(dice)}]}


def _storage_class(_dice: Random, name: str) -> Body:
    return {"provisioner": f"{name}.soak.test", "reclaimPolicy": "Retain"}


def _priority_class(_dice: Random, name: str) -> Body:
    return {"value": len(name)}


def _webhooks(dice: Random, name: str) -> Body:
    """Return webhooks that are never called: nothing is in their group."""
    rule = {
        "apiGroups": ["never.soak.test"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["*"],
    }
    hook = {
        "name": f"{name}.soak.test",
        "clientConfig": {"service": {"namespace": "default", "name": a_name(dice)}},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": selector(dice),
        "failurePolicy": dice.choice(["Fail", "Ignore"]),
    }
    return {"webhooks": [hook]}


def _custom(dice: Random, _name: str) -> Body:
    return {"spec": {"size": dice.randrange(5), "secretRef": {"name": a_name(dice)}}}


def definition(group: str, plural: str, kind: str, *, namespaced: bool) -> Body:
    """Return the definition of a custom kind."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [version],
        },
    }


BUILT_IN = (
    Kind("", "v1", "configmaps", "ConfigMap", _data, weight=5),
    Kind("", "v1", "secrets", "Secret", _secret, weight=3),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", _account),
    Kind("", "v1", "pods", "Pod", _pod, weight=6),
    Kind("", "v1", "services", "Service", _service, weight=6),
    Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", _claim),
    Kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", _slice, weight=3),
    Kind("apps", "v1", "deployments", "Deployment", _replicated, weight=4),
    Kind("apps", "v1", "replicasets", "ReplicaSet", _replicated),
    Kind("apps", "v1", "statefulsets", "StatefulSet", _stateful),
    Kind("apps", "v1", "daemonsets", "DaemonSet", _daemon, weight=1),
    Kind("batch", "v1", "jobs", "Job", _job, weight=1),
    Kind("batch", "v1", "cronjobs", "CronJob", _cron, weight=1),
    Kind("networking.k8s.io", "v1", "ingresses", "Ingress", _ingress, weight=3),
    Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", _network_policy),
    Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", _budget),
    Kind("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", _autoscaler),
    Kind("rbac.authorization.k8s.io", "v1", "roles", "Role", _role, weight=1),
    Kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", _binding),
    Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", _storage_class, False, 1),
    Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", _priority_class, False, 1),
    Kind(
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        _webhooks,
        namespaced=False,
    ),
)

DEFINITIONS = Kind(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    lambda _dice, _name: {},
    namespaced=False,
)


def custom_kinds(seed: int) -> tuple[Kind, ...]:
    """Return the custom kinds of a soak: each seed has a group of its own."""
    group = f"s{seed}.soak.test"
    return (
        Kind(group, "v1", "widgets", "Widget", _custom, weight=4),
        Kind(group, "v1", "gadgets", "Gadget", _custom, weight=3),
        Kind(group, "v1", "planets", "Planet", _custom, namespaced=False, weight=2),
    )


def kinds_of(seed: int) -> Mapping[str, Kind]:
    """Return all kinds that a soak writes, by the kind's name."""
    return {kind.kind: kind for kind in (*BUILT_IN, *custom_kinds(seed))}
