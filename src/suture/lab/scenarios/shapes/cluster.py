"""Populations of the cluster itself: nodes, namespaces, webhooks, and one large mixed release.

Lives beside the other shapes as the family that is about no single application. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from suture.lab import nodes
from suture.lab.scenarios.choosing import listed
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.parts import AnnotationMap, Count, LabelMap, Object, Shape


class Namespaces(Shape, frozen=True, kw_only=True):
    """Namespaces PREFIX-i, or those that `names` lists, empty."""

    count: Count = 1
    prefix: str = "space"
    names: tuple[str, ...] | str = ()
    labels: LabelMap = msgspec.field(default_factory=dict)
    annotations: AnnotationMap = msgspec.field(default_factory=dict)

    def ground(self) -> frozenset[str]:
        """Return none: here the namespaces are the population."""
        return frozenset()

    def objects(self) -> list[Object]:
        """Return the Namespaces."""
        names = listed(self.names) or [f"{self.prefix}-{number}" for number in range(self.count)]
        found = [parts.namespace(name, parts.numbered(self.labels, name)) for name in names]
        if self.annotations:
            for name, space in zip(names, found, strict=True):
                space["metadata"]["annotations"] = parts.numbered(self.annotations, name)
        return found


_SILENT = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "NodeStatusUnknown",
    "message": "Kubelet stopped posting node status.",
    "lastHeartbeatTime": "2026-01-01T00:00:00Z",
    "lastTransitionTime": "2026-01-01T00:01:00Z",
}


class Nodes(Shape, frozen=True, kw_only=True):
    """Nodes PREFIX-i besides three of the lab's own, kept Ready, over three zones."""

    count: Count = 10
    prefix: str = "worker"
    zones: Annotated[int, Meta(ge=1, le=10)] = 3
    cpu: str = "64"
    memory: str = "256Gi"
    pods: Annotated[int, Meta(ge=1, le=2000)] = 500
    labels: LabelMap = msgspec.field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()
    unschedulable: bool = False
    dead: Annotated[
        bool, Meta(description="Their machines are gone: not Ready, no heartbeat any more.")
    ] = False

    def objects(self) -> list[Object]:
        """Return the Nodes."""
        found = []
        for number in range(self.count):
            name = f"{self.prefix}-{number}"
            node = nodes.node(
                name,
                labels=parts.numbered(self.labels, name),
                zone=f"zone-{'abcdefghij'[number % self.zones]}",
                cpu=self.cpu,
                memory=self.memory,
                pods=self.pods,
            )
            spec: Object = {}
            if self.taints:
                spec["taints"] = list(self.taints)
            if self.unschedulable:
                spec["unschedulable"] = True
            if spec:
                node["spec"] = spec
            if self.dead:
                node["metadata"]["annotations"] = {nodes.NEVER_READY: "true"}
                node["status"]["conditions"] = [_SILENT]
            found.append(node)
        return found


class Webhook(Shape, frozen=True, kw_only=True):
    """An admission webhook with a Deployment and a Service, and on the lab a backend that answers.

    Fail-closed on the creation of pods unless said otherwise. It really blocks when its Service
    goes, or when the last ready pod behind the Service does.
    """

    name: str = "gate"
    namespace: Annotated[str, Meta(description="Default: NAME-system.")] = ""
    kind: Literal["validating", "mutating"] = "validating"
    replicas: Count = 2
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    operations: tuple[str, ...] = ("CREATE",)
    groups: tuple[str, ...] = ("",)
    resources: tuple[str, ...] = ("pods",)
    timeout_s: Annotated[int, Meta(ge=1, le=30)] = 5
    exclude: Annotated[
        tuple[str, ...] | str,
        Meta(description="Namespaces that it does not look at, besides its own."),
    ] = ("kube-system",)
    self_excluded: Annotated[
        bool, Meta(description="Whether its own namespace is left out, so that it can come back.")
    ] = True
    namespace_labels: Annotated[
        LabelMap, Meta(description="Only namespaces with these labels; none: all.")
    ] = msgspec.field(default_factory=dict)

    def objects(self) -> list[Object]:
        """Return namespace, Deployment, Service and webhook configuration."""
        space = self.namespace or f"{self.name}-system"
        labels = {"app": self.name, "app.kubernetes.io/component": "webhook"}
        return [
            *parts.spaces([space]),
            parts.workload(
                "Deployment",
                space,
                self.name,
                labels,
                parts.template(labels),
                replicas=self.replicas,
            ),
            parts.service(space, self.name, labels, selector={"app": self.name}, ports=[443]),
            self._configuration(space, labels),
        ]

    def _configuration(self, space: str, labels: Mapping[str, str]) -> Object:
        excluded = [*listed(self.exclude), *([space] if self.self_excluded else [])]
        selector: Object = {}
        if excluded:
            selector["matchExpressions"] = [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": excluded}
            ]
        if self.namespace_labels:
            selector["matchLabels"] = dict(self.namespace_labels)
        rule = {
            "apiGroups": list(self.groups),
            "apiVersions": ["*"],
            "operations": list(self.operations),
            "resources": list(self.resources),
        }
        webhook = {
            "name": f"{self.name}.webhooks.example.com",
            "clientConfig": {
                "service": {
                    "namespace": space,
                    "name": self.name,
                    "port": 443,
                    "path": f"/{self.kind}",
                }
            },
            "rules": [rule],
            "failurePolicy": self.failure_policy,
            "namespaceSelector": selector,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": self.timeout_s,
        }
        return parts.thing(
            "admissionregistration.k8s.io/v1",
            f"{self.kind.capitalize()}WebhookConfiguration",
            self.name,
            labels=labels,
            webhooks=[webhook],
        )


# What a large chart is made of, in parts of 200.
_RELEASE = {
    "ConfigMap": 60,
    "Secret": 30,
    "Deployment": 20,
    "Service": 20,
    "ServiceAccount": 20,
    "Role": 15,
    "RoleBinding": 15,
    "Ingress": 10,
    "PodDisruptionBudget": 5,
    "HorizontalPodAutoscaler": 5,
}


class Release(Shape, frozen=True, kw_only=True):
    """A Helm release: `objects_total` objects of ten kinds, with Helm's labels and annotations.

    Of 200: 60 ConfigMaps, 30 Secrets, 20 each of Deployments, Services and ServiceAccounts, 15
    each of Roles and RoleBindings, 10 Ingresses, 5 each of PodDisruptionBudgets and
    HorizontalPodAutoscalers; each kind named NAME-0, NAME-1, … Deployment i mounts ConfigMap i,
    and the first `hashed` of them also NAME-env-i-1; Secret sh.helm.release.v1.NAME.v1 is Helm's.
    """

    name: str = "shop"
    namespace: Annotated[str, Meta(description="Default: the release's name.")] = ""
    objects_total: Annotated[int, Meta(ge=10, le=2000)] = 200
    replicas: Count = 2
    hashed: Count = 6
    version: int = 1

    def objects(self) -> list[Object]:
        """Return the namespace and the release."""
        space = self.namespace or self.name
        found = parts.spaces([space])
        for kind, share in _RELEASE.items():
            for number in range(share * self.objects_total // 200):
                found.append(self._managed(self._one(kind, space, number), space))
        deployments = _RELEASE["Deployment"] * self.objects_total // 200
        for number in range(min(self.hashed, deployments)):
            hashed = parts.config(
                "ConfigMap", space, f"{self.name}-env-{number}-1", {}, {"LEVEL": "info"}
            )
            found.append(self._managed(hashed, space))
        record = parts.thing(
            "v1",
            "Secret",
            f"sh.helm.release.v1.{self.name}.v{self.version}",
            space,
            {"owner": "helm", "name": self.name, "status": "deployed", "version": "1"},
            type="helm.sh/release.v1",
            stringData={"release": "manifest"},
        )
        found.append(record)
        return found

    def _managed(self, given: Object, space: str) -> Object:
        metadata = given["metadata"]
        metadata["labels"] = {
            **metadata.get("labels", {}),
            "app.kubernetes.io/managed-by": "Helm",
            "app.kubernetes.io/instance": self.name,
        }
        metadata["annotations"] = {
            "meta.helm.sh/release-name": self.name,
            "meta.helm.sh/release-namespace": space,
        }
        return given

    def _one(self, kind: str, space: str, number: int) -> Object:
        name = f"{self.name}-{number}"
        labels = {"app": name}
        spec: Object
        rbac = "rbac.authorization.k8s.io"
        match kind:
            case "ConfigMap" | "Secret":
                return parts.config(kind, space, name, labels, {"key": "1"})
            case "Deployment":
                return self._deployment(space, name, number, labels)
            case "Service":
                return parts.service(space, name, labels, selector=labels)
            case "ServiceAccount":
                return parts.thing("v1", kind, name, space, labels)
            case "Role":
                rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
                return parts.thing(f"{rbac}/v1", kind, name, space, labels, rules=rules)
            case "RoleBinding":
                subject: Object = {"kind": "ServiceAccount", "name": name, "namespace": space}
                return parts.thing(
                    f"{rbac}/v1",
                    kind,
                    name,
                    space,
                    labels,
                    roleRef={"apiGroup": rbac, "kind": "Role", "name": name},
                    subjects=[subject],
                )
            case "Ingress":
                return parts.ingress(space, name, labels, service=name)
            case "PodDisruptionBudget":
                spec = {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
                return parts.thing("policy/v1", kind, name, space, labels, spec=spec)
            case _:
                target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
                spec = {
                    "scaleTargetRef": target,
                    "minReplicas": self.replicas,
                    "maxReplicas": self.replicas + 1,
                }
                return parts.thing("autoscaling/v2", kind, name, space, labels, spec=spec)

    def _deployment(self, space: str, name: str, number: int, labels: dict[str, str]) -> Object:
        volumes: list[Object] = [{"name": "config", "configMap": {"name": name}}]
        if number < self.hashed:
            hashed = f"{self.name}-env-{number}-1"
            volumes.append({"name": "env", "configMap": {"name": hashed}})
        pods = parts.template(labels, volumes=volumes)
        return parts.workload("Deployment", space, name, labels, pods, replicas=self.replicas)
