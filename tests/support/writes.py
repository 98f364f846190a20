"""Writes as an admission review shows them: two bodies, and the objects that are read from them."""

from __future__ import annotations

from typing import Any

import msgspec

from support.cluster import operator
from suture.model.actor import Actor
from suture.model.names import Gvk, Gvr, Operation, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Request
from suture.wire.trim import Trimmer

Body = dict[str, Any]

_trimmer = Trimmer(secret_keys=True)


def body(kind: str, name: str, namespace: str = "prod", **parts: Any) -> Body:
    """Write an object as JSON; `metadata` adds to its name, namespace and uid."""
    version = parts.pop("apiVersion", "v1")
    metadata = {"name": name, "uid": f"uid-{kind}-{namespace}-{name}", **parts.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **parts}


def changed(old: Body, **parts: Any) -> Body:
    """Return a body with other parts; `metadata` is added to what it has, the rest replaced."""
    return {**old, **parts, "metadata": {**old["metadata"], **parts.get("metadata", {})}}


def trimmed(resource: Resource, one: Body) -> ClusterObject:
    """Read a body as the model does."""
    gvk = Gvk.of(one["apiVersion"], one["kind"])
    return _trimmer.trim(msgspec.json.encode(one), resource, gvk)


def write(
    resource: Resource,
    old: Body | None,
    new: Body | None,
    *,
    by: Actor | None = None,
    subresource: str = "",
) -> Request:
    """Ask for an update from one body to another; a create without the first."""
    shown = new or old
    assert shown is not None
    gvk = Gvk.of(shown["apiVersion"], shown["kind"])
    if old is None:
        operation = Operation.CREATE
    else:
        operation = Operation.UPDATE if new is not None else Operation.DELETE
    namespace = "" if gvk.kind == "Namespace" else shown["metadata"].get("namespace", "")
    return Request(
        uid="review-1",
        operation=operation,
        gvr=Gvr(resource.group, gvk.version, resource.plural),
        gvk=gvk,
        subresource=subresource,
        namespace=namespace,
        name=shown["metadata"]["name"],
        user=(by or operator()).user,
        old=trimmed(resource, old) if old is not None else None,
        new=trimmed(resource, new) if new is not None else None,
        old_body=msgspec.json.encode(old) if old is not None else b"",
        new_body=msgspec.json.encode(new) if new is not None else b"",
    )
