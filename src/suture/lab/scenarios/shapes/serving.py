"""Populations that serve: Services with and without pods behind them, routes to them, DNS.

Lives beside the other shapes as the family about endpoints. Pure.
"""

from __future__ import annotations

from typing import Annotated, Literal, assert_never

import msgspec
from msgspec import Meta

from suture.errors import InputError
from suture.lab import nodes
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.parts import Count, NodeLabels, Object, Shape, Spread

IdleKind = Literal["headless", "no-selector", "external-name", "no-pods"]


class ServicesWithDeployments(Spread, frozen=True, kw_only=True):
    """Deployments PREFIX-i, each with pods of its own and a Service of the same name over them."""

    replicas: Count = 1
    ports: tuple[int, ...] = (80,)
    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    headless: bool = False
    services: Annotated[
        int,
        Meta(ge=1, le=100, description="Services per Deployment; further ones are NAME-alias-k."),
    ] = 1
    ready: Annotated[bool, Meta(description="Whether the pods become Ready.")] = True
    image: str = parts.IMAGE
    disruption_budget: Annotated[
        str | int | None, Meta(description="minAvailable of a PodDisruptionBudget for each.")
    ] = None
    node_selector: NodeLabels = msgspec.field(default_factory=dict)

    def objects(self) -> list[Object]:
        """Return namespaces, Deployments, Services, and disruption budgets when asked for."""
        found = parts.spaces(self.places())
        annotations = None if self.ready else {"lab.suture.dev/never-ready": "true"}
        for _, space, name in self.each():
            labels = self.common(name)
            pods = parts.template(
                labels,
                image=self.image,
                annotations=annotations,
                node_selector=self.node_selector,
            )
            found.append(
                parts.workload("Deployment", space, name, labels, pods, replicas=self.replicas)
            )
            more: Object = {"clusterIP": "None"} if self.headless else {"type": self.type}
            for number in range(self.services):
                found.append(
                    parts.service(
                        space,
                        f"{name}-alias-{number}" if number else name,
                        labels,
                        selector={"app": name},
                        ports=self.ports,
                        more=more,
                    )
                )
            if self.disruption_budget is not None:
                found.append(_disruption_budget(space, name, self.disruption_budget))
        return found


def _disruption_budget(space: str, name: str, floor: str | int) -> Object:
    return parts.thing(
        "policy/v1",
        "PodDisruptionBudget",
        name,
        space,
        spec={"minAvailable": floor, "selector": {"matchLabels": {"app": name}}},
    )


class IdleServices(Spread, frozen=True, kw_only=True):
    """Services PREFIX-i that serve nothing now: headless, without selector, by name, without pods.

    The kinds take turns. They are what a cluster keeps for failover and for names outside it.
    """

    prefix: str = "idle"
    kinds: tuple[IdleKind, ...] = ("headless", "no-selector", "external-name", "no-pods")

    def objects(self) -> list[Object]:
        """Return namespaces and Services."""
        if not self.kinds:
            raise InputError("`kinds` of idle-services is empty")
        found = parts.spaces(self.places())
        for number, space, name in self.each():
            found.append(self._service(self.kinds[number % len(self.kinds)], space, name))
        return found

    def _service(self, kind: IdleKind, space: str, name: str) -> Object:
        labels = self.common(name)
        match kind:
            case "headless":
                nothing = {"app": f"{name}-not-there"}
                return parts.service(
                    space, name, labels, selector=nothing, more={"clusterIP": "None"}
                )
            case "no-selector":
                return parts.service(space, name, labels)
            case "external-name":
                outside: Object = {"type": "ExternalName", "externalName": f"{name}.example.com"}
                return parts.thing("v1", "Service", name, space, labels, spec=outside)
            case "no-pods":
                return parts.service(space, name, labels, selector={"app": f"{name}-not-there"})
            case _:
                assert_never(kind)


class SlowServices(Spread, frozen=True, kw_only=True):
    """Services PREFIX-i over pods that are Ready, and whose replacements are not for a long time.

    Behind each is a ReplicaSet that took over pods which were there before it; pods of its own
    become Ready after `ready_after`. So a moment without pods is long enough to be counted.
    """

    prefix: str = "slow"
    replicas: Count = 3
    ready_after: str = "30m"

    def objects(self) -> list[Object]:
        """Return namespaces, Pods, ReplicaSets and Services."""
        found = parts.spaces(self.places())
        for _, space, name in self.each():
            labels = self.common(name)
            found += [
                parts.pod(space, f"{name}-warm-{number}", parts.template(labels))
                for number in range(self.replicas)
            ]
            late = parts.template(labels, annotations={nodes.READY_AFTER: self.ready_after})
            found.append(
                parts.workload("ReplicaSet", space, name, labels, late, replicas=self.replicas)
            )
            found.append(parts.service(space, name, labels, selector={"app": name}))
        return found


class Ingresses(Spread, frozen=True, kw_only=True):
    """Ingresses PREFIX-i, each routing to the Service SERVICE-i of its namespace."""

    prefix: str = "route"
    service: Annotated[str, Meta(description="Prefix of the Services routed to.")] = "app"

    def objects(self) -> list[Object]:
        """Return namespaces and Ingresses."""
        found = parts.spaces(self.places())
        for number, space, name in self.each():
            target = f"{self.service}-{number}"
            found.append(parts.ingress(space, name, self.common(name), service=target))
        return found


class ClusterDns(Shape, frozen=True, kw_only=True):
    """Cluster DNS as most clusters have it: Deployment coredns and Service kube-dns."""

    replicas: Count = 2

    def objects(self) -> list[Object]:
        """Return both, in kube-system."""
        labels = {"app": "coredns", "k8s-app": "kube-dns"}
        pods = parts.template(labels, image="registry.example/coredns:1")
        return [
            parts.workload(
                "Deployment", "kube-system", "coredns", labels, pods, replicas=self.replicas
            ),
            parts.service(
                "kube-system",
                "kube-dns",
                {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"},
                selector={"k8s-app": "kube-dns"},
                ports=[53],
            ),
        ]
