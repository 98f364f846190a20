"""Who manages an object's fields, as far as it is read: its writers, and whose its size is."""

from __future__ import annotations

from suture.lab.scenarios.cluster import Object

_SIZE: Object = {"f:spec": {"f:replicas": {}}}


def managed(manager: str, version: str) -> Object:
    """Return who wrote, less the fields: of those nothing but the size is read."""
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {},
    }


def says(body: Object) -> bool:
    """Whether a new body says more than what it is and its name: only then somebody manages it.

    WHY namespaces: the API server labels them, and counts the label as their maker's.
    """
    told = body.keys() - {"apiVersion", "kind", "metadata"}
    marks = (body.get("metadata") or {}).keys() - {"name", "namespace"}
    return bool(told or marks or body.get("kind") == "Namespace")


def noted(body: Object, manager: str) -> Object:
    """Return a changed body with its writer among its managers."""
    metadata = body["metadata"]
    known = list(metadata.get("managedFields") or ())
    if any(one.get("manager") == manager for one in known):
        return body
    known.append(managed(manager, str(body.get("apiVersion", ""))))
    return {**body, "metadata": {**metadata, "managedFields": known}}


def sized(body: Object, manager: str = "") -> Object:
    """Return a body whose size was set by one of its managers; without a name, by none of them."""
    metadata = body["metadata"]
    entries = [
        {**one, "fieldsV1": _SIZE if one.get("manager") == manager else {}}
        for one in metadata.get("managedFields") or ()
    ]
    return {**body, "metadata": {**metadata, "managedFields": entries}}
