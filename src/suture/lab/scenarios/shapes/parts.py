"""The plain objects that populations are made of: as small as the API server takes them.

Lives beside the shapes because each of them is made of these; knows no counts and no spreading
beyond one object. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from suture.errors import InputError
from suture.lab.scenarios.choosing import listed
from suture.lab.scenarios.expand import expand, fill

Object = dict[str, Any]
Labels = Mapping[str, str]

IMAGE = "registry.example/app:1"
# WHY: the lab's nodes hold 500 pods and 64 CPUs each; pods must not be what fills them.
REQUESTS = {"cpu": "10m", "memory": "16Mi"}

Count = Annotated[int, Meta(ge=0, le=20_000)]
Namespaces = Annotated[
    int | tuple[str, ...] | str,
    Meta(
        description="A number makes PREFIX-0, PREFIX-1, …; names are taken as they are. "
        "Object number i is in namespace i modulo their number."
    ),
]
LabelMap = Annotated[
    dict[str, str], Meta(description="Labels added to every object; `{i}` is its number.")
]
AnnotationMap = Annotated[
    dict[str, str], Meta(description="Annotations of each; `{i}` is its number.")
]
NodeLabels = Annotated[
    dict[str, str], Meta(description="Labels that a node has to have for the pods to go there.")
]


_GROUND = frozenset({"Namespace", "StorageClass", "PersistentVolume", "CustomResourceDefinition"})
"""Kinds on which a population stands, and which nobody in it owns."""


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A population with parameters; `objects` writes it out, the same each time."""

    shape: Annotated[str, Meta(description="The shape's name, where the file writes a list.")] = ""
    owner: Annotated[
        dict[str, str],
        Meta(
            description="apiVersion, kind and name of a controlling owner for each object that "
            "has none, in the owner's namespace; `{i}` is the object's number."
        ),
    ] = msgspec.field(default_factory=dict)
    owner_controls: Annotated[
        bool, Meta(description="Whether that owner controls them, or merely owns them.")
    ] = True
    annotate: Annotated[
        dict[str, str],
        Meta(description="Annotations added to every object: whose it is; `{i}` is its number."),
    ] = msgspec.field(default_factory=dict)

    def dressed(self) -> list[Object]:
        """Return the manifests with the owner and the annotations that all of them get."""
        found = self.objects()
        for one in found:
            metadata = one["metadata"]
            if one["kind"] in self.ground():
                continue
            if self.owner and "ownerReferences" not in metadata:
                owner = numbered(self.owner, metadata["name"])
                metadata["ownerReferences"] = [
                    {
                        **owner,
                        "controller": self.owner_controls,
                        "blockOwnerDeletion": self.owner_controls,
                    }
                ]
            if self.annotate:
                added = numbered(self.annotate, metadata["name"])
                metadata["annotations"] = {**metadata.get("annotations", {}), **added}
        return found

    def ground(self) -> frozenset[str]:
        """Return the kinds that get neither: what the population stands on."""
        return _GROUND

    def objects(self) -> list[Object]:
        """Return the manifests, each after what it needs."""
        raise NotImplementedError


class Spread(Shape, frozen=True, kw_only=True):
    """A population of `count` alike things, spread over namespaces."""

    count: Count = 10
    namespaces: Namespaces = 1
    prefix: Annotated[str, Meta(description="Objects are named PREFIX-0, PREFIX-1, …")] = "app"
    labels: Annotated[
        LabelMap,
        Meta(
            description="Labels added to every object, beside `app`: its own name, by which its "
            "pods are selected; `{i}` is its number."
        ),
    ] = msgspec.field(default_factory=dict)

    def places(self) -> list[str]:
        """Return the namespaces by name."""
        if isinstance(self.namespaces, int):
            if self.namespaces < 1:
                raise InputError("`namespaces` must be at least 1")
            return [f"{self.prefix}-{number}" for number in range(self.namespaces)]
        if not (named := listed(self.namespaces)):
            raise InputError("`namespaces` must name at least one, or be left out")
        return named

    def each(self) -> list[tuple[int, str, str]]:
        """Return number, namespace and name of each thing."""
        places = self.places()
        return [
            (number, places[number % len(places)], f"{self.prefix}-{number}")
            for number in range(self.count)
        ]

    def common(self, name: str) -> dict[str, str]:
        """Return the labels that every object of the thing `name` carries."""
        given = numbered(self.labels, name)
        return {"app": name, "app.kubernetes.io/part-of": self.prefix, **given}


def numbered(given: Labels, name: str) -> dict[str, str]:
    """Return pairs in which `{i}` is the number at the end of an object's name, if it has one."""
    number = name.rpartition("-")[2]
    return fill(dict(given), int(number)) if number.isdecimal() else dict(given)


def namespace(name: str, labels: Labels | None = None) -> Object:
    """Return a Namespace."""
    return _object("v1", "Namespace", name, labels=labels)


def spaces(names: Sequence[str]) -> list[Object]:
    """Return the Namespaces of a population; those that every cluster has are left out."""
    standing = {"default", "kube-system", "kube-public", "kube-node-lease"}
    return [namespace(name) for name in dict.fromkeys(expand(names)) if name not in standing]


def template(
    labels: Labels,
    *,
    image: str = IMAGE,
    annotations: Labels | None = None,
    volumes: Sequence[Object] = (),
    env_from: Sequence[Object] = (),
    node_selector: Labels | None = None,
    restart: str | None = None,
) -> Object:
    """Return a pod template of one container."""
    container: Object = {"name": "app", "image": image, "resources": {"requests": REQUESTS}}
    if volumes:
        container["volumeMounts"] = [
            {"name": volume["name"], "mountPath": f"/mnt/{volume['name']}"} for volume in volumes
        ]
    if env_from:
        container["envFrom"] = list(env_from)
    spec: Object = {
        "containers": [container],
        # WHY: a token volume per pod is a Secret-like reference that no scenario is about.
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
    }
    if volumes:
        spec["volumes"] = list(volumes)
    if node_selector:
        spec["nodeSelector"] = dict(node_selector)
    if restart is not None:
        spec["restartPolicy"] = restart
    metadata: Object = {"labels": dict(labels)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "spec": spec}


def pod(space: str, name: str, pod_template: Object, *, owners: Sequence[Object] = ()) -> Object:
    """Return a bare Pod made of a template."""
    found = _object("v1", "Pod", name, space, pod_template["metadata"]["labels"], owners)
    if annotations := pod_template["metadata"].get("annotations"):
        found["metadata"]["annotations"] = annotations
    return {**found, "spec": pod_template["spec"]}


def workload(
    kind: str,
    space: str,
    name: str,
    labels: Labels,
    pod_template: Object,
    *,
    replicas: int | None = 1,
    owners: Sequence[Object] = (),
    more: Object | None = None,
) -> Object:
    """Return a Deployment, StatefulSet, ReplicaSet or DaemonSet selecting its pods by `app`."""
    spec: Object = {
        "selector": {"matchLabels": {"app": labels["app"]}},
        "template": pod_template,
        **(more or {}),
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return {**_object("apps/v1", kind, name, space, labels, owners), "spec": spec}


def service(
    space: str,
    name: str,
    labels: Labels,
    *,
    selector: Labels | None = None,
    ports: Sequence[int] = (80,),
    owners: Sequence[Object] = (),
    more: Object | None = None,
) -> Object:
    """Return a Service; without a selector nothing is behind it."""
    spec: Object = {
        "ports": [{"name": f"p{port}", "port": port, "targetPort": 8080} for port in ports],
        **(more or {}),
    }
    if selector is not None:
        spec["selector"] = dict(selector)
    return {**_object("v1", "Service", name, space, labels, owners), "spec": spec}


def config(
    kind: str,
    space: str,
    name: str,
    labels: Labels,
    data: Labels,
    *,
    owners: Sequence[Object] = (),
) -> Object:
    """Return a ConfigMap or a Secret."""
    field = "stringData" if kind == "Secret" else "data"
    return {**_object("v1", kind, name, space, labels, owners), field: dict(data)}


def ingress(space: str, name: str, labels: Labels, *, service: str) -> Object:
    """Return an Ingress that routes one host to port 80 of a Service."""
    backend = {"service": {"name": service, "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    rules = [{"host": f"{name}.example.com", "http": {"paths": paths}}]
    head = _object("networking.k8s.io/v1", "Ingress", name, space, labels)
    return {**head, "spec": {"rules": rules}}


def owner(api_version: str, kind: str, name: str, *, controller: bool = True) -> Object:
    """Return an ownerReference without uid: the runner writes in the live owner's."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "controller": controller,
        "blockOwnerDeletion": controller,
    }


def _object(  # noqa: PLR0917 - an object's head, in its order
    api_version: str,
    kind: str,
    name: str,
    space: str | None = None,
    labels: Labels | None = None,
    owners: Sequence[Object] = (),
) -> Object:
    metadata: Object = {"name": name}
    if space is not None:
        metadata["namespace"] = space
    if labels:
        metadata["labels"] = dict(labels)
    if owners:
        metadata["ownerReferences"] = list(owners)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def thing(  # noqa: PLR0917 - an object's head, in its order
    api_version: str,
    kind: str,
    name: str,
    space: str | None = None,
    labels: Labels | None = None,
    owners: Sequence[Object] = (),
    **fields: Any,
) -> Object:
    """Return any other object, its fields as given."""
    return {**_object(api_version, kind, name, space, labels, owners), **fields}
