"""Schemas of the custom resources of a made cluster, as their definitions carry them.

Apart from the lines, where definitions stand without, because an API server takes none without
one, and because selectors and numbers of replicas are found by it.
"""

from __future__ import annotations

from collections.abc import Mapping

from suture.lab.clusters.bodies import Object

_TEXT: Object = {"type": "string"}
_TEXTS: Object = {"type": "object", "additionalProperties": _TEXT}
_NUMBER: Object = {"type": "integer", "format": "int32"}
_NAMED: Object = {"type": "object", "properties": {"name": _TEXT}}

_SELECTOR: Object = {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "properties": {
        "matchLabels": _TEXTS,
        "matchExpressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["key", "operator"],
                "properties": {
                    "key": _TEXT,
                    "operator": _TEXT,
                    "values": {"type": "array", "items": _TEXT},
                },
            },
        },
    },
}
"""A LabelSelector of meta/v1, as generators of definitions write it."""

FIELDS: Mapping[str, Mapping[str, Object]] = {
    "certificates": {"secretName": _TEXT},
    "servicemonitors": {"selector": _SELECTOR},
    "policies": {"match": {"type": "object", "properties": {"podSelector": _SELECTOR}}},
    "backups": {"labelSelector": _SELECTOR},
    "postgresclusters": {"replicas": _NUMBER, "superuserSecret": _NAMED},
    "rediscaches": {"size": _NUMBER, "configMapRef": _NAMED},
    "consumers": {"topicRef": _NAMED, "serviceAccountName": _TEXT},
    "runners": {"replicas": _NUMBER, "tokenSecretRef": _NAMED},
    "externalsecrets": {"target": _NAMED, "storeRef": _NAMED},
    "records": {"serviceRef": _NAMED, "ttl": _NUMBER},
}
"""Fields of `spec` that a definition describes, by its plural; others it lets be."""

SCALES: Mapping[str, str] = {
    "postgresclusters": ".spec.replicas",
    "rediscaches": ".spec.size",
    "runners": ".spec.replicas",
}
"""Where the wanted number of children stands, of those that have a scale subresource."""

OPEN = "x-kubernetes-preserve-unknown-fields"


def with_schema(body: Object) -> Object:
    """Return what a definition has besides its metadata, with a schema for each version."""
    plural = body["spec"]["names"]["plural"]
    spec: Object = {"type": "object", OPEN: True}
    if plural in FIELDS:
        spec["properties"] = FIELDS[plural]
    whole = {
        "type": "object",
        OPEN: True,
        "properties": {"spec": spec, "status": {"type": "object", OPEN: True}},
    }
    more: Object = {"schema": {"openAPIV3Schema": whole}}
    if plural in SCALES:
        scale = {"specReplicasPath": SCALES[plural], "statusReplicasPath": ".status.replicas"}
        more["subresources"] = {"status": {}, "scale": scale}
    versions = [{**version, **more} for version in body["spec"]["versions"]]
    return {**body, "spec": {**body["spec"], "versions": versions}}
