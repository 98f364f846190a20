"""Populations of custom resources: a CRD with instances, and parents with children.

Lives beside the other shapes as the family about operators' own kinds. Pure.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from suture.lab.scenarios.expand import fill
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.parts import AnnotationMap, Count, Object, Spread

ChildKind = Literal["none", "services", "deployments", "configmaps", "secrets", "pods"]

PROTECTED = (".k8s.io", ".kubernetes.io")
APPROVED = "api-approved.kubernetes.io"
"""Without this annotation no definition in the project's own groups is taken.

SOURCE: apiextensions validation of CustomResourceDefinition, protected groups.
"""

DELETED = "lab.suture.dev/deleted"
"""Annotation of a manifest: delete it once it is there. A finalizer keeps it, terminating."""


class CrdWithInstances(Spread, frozen=True, kw_only=True):
    """A CustomResourceDefinition PLURAL.GROUP with instances PREFIX-i, and children if asked for.

    Children are named PREFIX-i-k. They refer to their instance by ownerReference and carry the
    label GROUP/owner with its name.
    """

    prefix: str = "instance"
    count: Count = 50
    kind: str = "Widget"
    plural: Annotated[str, Meta(description="Default: the kind in lower case with an s.")] = ""
    group: str = "widgets.example.com"
    version: str = "v1"
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    finalizers: tuple[str, ...] = ()
    spec: Annotated[dict[str, Any], Meta(description="Of each instance; `{i}` counts.")] = (
        msgspec.field(default_factory=dict)
    )
    annotations: AnnotationMap = msgspec.field(default_factory=dict)
    children: ChildKind = "none"
    children_each: Annotated[Count, Meta(description="Children of each instance.")] = 1
    owned: Annotated[bool, Meta(description="Whether children carry an ownerReference.")] = True
    defined_by: Annotated[
        dict[str, str],
        Meta(description="apiVersion, kind and name of an owner of the definition itself."),
    ] = msgspec.field(default_factory=dict)
    deleted: Annotated[
        bool, Meta(description="Instances are being deleted; needs a finalizer to be seen so.")
    ] = False
    status_apart: Annotated[
        bool,
        Meta(description="Whether a status is a subresource, written apart, or a field as others."),
    ] = True

    def objects(self) -> list[Object]:
        """Return the CRD, namespaces, instances and their children."""
        plural = self.plural or f"{self.kind.lower()}s"
        found = [definition(self.group, self.version, self.kind, plural, self.scope)]
        if not self.status_apart:
            del found[0]["spec"]["versions"][0]["subresources"]
        if self.defined_by:
            found[0]["metadata"]["ownerReferences"] = [dict(self.defined_by)]
        cluster_scoped = self.scope == "Cluster"
        if not cluster_scoped or self.children != "none":
            found += parts.spaces(self.places())
        for number, space, name in self.each():
            found.append(self._instance(number, None if cluster_scoped else space, name))
            for child in range(self.children_each if self.children != "none" else 0):
                found += self._child(space, name, f"{name}-{child}")
        return found

    def _instance(self, number: int, space: str | None, name: str) -> Object:
        instance = parts.thing(
            f"{self.group}/{self.version}",
            self.kind,
            name,
            space,
            self.common(name),
            spec=fill(self.spec, number),
        )
        annotations = dict(self.annotations)
        if self.deleted:
            annotations[DELETED] = "true"
        if annotations:
            instance["metadata"]["annotations"] = annotations
        if self.finalizers:
            instance["metadata"]["finalizers"] = list(self.finalizers)
        return instance

    def _child(self, space: str, parent: str, name: str) -> list[Object]:
        labels = {**self.common(name), f"{self.group}/owner": parent}
        owners = (
            [parts.owner(f"{self.group}/{self.version}", self.kind, parent)] if self.owned else []
        )
        match self.children:
            case "configmaps" | "secrets":
                kind = "Secret" if self.children == "secrets" else "ConfigMap"
                return [parts.config(kind, space, name, labels, {"key": name}, owners=owners)]
            case "pods":
                return [parts.pod(space, name, parts.template(labels), owners=owners)]
            case "deployments" | "services":
                pods = parts.template(labels)
                serving = parts.workload("Deployment", space, name, labels, pods, owners=owners)
                if self.children == "deployments":
                    return [serving]
                # WHY without owner: a balancer's Services point at pods that are not its own.
                serving["metadata"].pop("ownerReferences", None)
                return [
                    serving,
                    parts.service(space, name, labels, selector={"app": name}, owners=owners),
                ]
            case _:
                return []


class Owned(CrdWithInstances, frozen=True, kw_only=True):
    """A balancer's custom resource with a finalizer, and the Services that it owns.

    The Services serve pods of Deployments that are not the balancer's.
    """

    prefix: str = "balancer"
    count: Count = 1
    kind: str = "LoadBalancer"
    group: str = "balancers.example.com"
    finalizers: tuple[str, ...] = ("balancers.example.com/release",)
    children: ChildKind = "services"
    children_each: Count = 40


def definition(group: str, version: str, kind: str, plural: str, scope: str) -> Object:
    """Return a CustomResourceDefinition that takes any fields and has a status."""
    made = parts.thing(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        f"{plural}.{group}",
        spec={
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    )
    if group.endswith(PROTECTED):
        made["metadata"]["annotations"] = {APPROVED: "unapproved: a stand-in on a lab"}
    return made
