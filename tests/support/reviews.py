"""AdmissionReviews and SubjectAccessReviews as API servers write them, in one line each."""

from __future__ import annotations

import json
from typing import Any

from suture.model.names import Operation, Resource
from suture.model.objects import ClusterObject, ServiceFacts

OPERATOR = "system:serviceaccount:lb:operator"


def document(thing: ClusterObject) -> dict[str, Any]:
    """Return the Kubernetes JSON of a small object; of Services with their selector."""
    version = f"{thing.gvk.group}/{thing.gvk.version}" if thing.gvk.group else thing.gvk.version
    found: dict[str, Any] = {
        "apiVersion": version,
        "kind": thing.gvk.kind,
        "metadata": {
            "name": thing.key.name,
            "uid": thing.uid,
            "resourceVersion": thing.resource_version,
            "labels": dict(thing.labels),
            **({"namespace": thing.key.namespace} if thing.key.namespace else {}),
        },
    }
    if isinstance(thing.facts, ServiceFacts) and thing.facts.selector is not None:
        found["spec"] = {
            "selector": {one.key: one.values[0] for one in thing.facts.selector.requirements}
        }
    return found


def review(
    thing: ClusterObject,
    operation: Operation = Operation.DELETE,
    *,
    user: str = OPERATOR,
    uid: str = "review-1",
    dry_run: bool = False,
    collection: bool = False,
    new: ClusterObject | None = None,
) -> bytes:
    """Return an AdmissionReview about an object."""
    resource: Resource = thing.key.resource
    body = document(thing)
    request = {
        "uid": uid,
        "kind": {"group": thing.gvk.group, "version": "v1", "kind": thing.gvk.kind},
        "resource": {"group": resource.group, "version": "v1", "resource": resource.plural},
        "name": "" if collection else thing.key.name,
        "namespace": thing.key.namespace,
        "operation": operation.value,
        "userInfo": {"username": user, "groups": ["system:authenticated"]},
        "object": document(new) if new is not None else None,
        "oldObject": None if operation is Operation.CREATE else body,
        "dryRun": dry_run,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"},
    }
    if operation is Operation.CREATE:
        request["object"] = body
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(envelope).encode()


def access(
    verb: str,
    resource: Resource,
    namespace: str,
    *,
    user: str = OPERATOR,
    selector: dict[str, str] | None = None,
    fields: str = "",
    name: str = "",
) -> bytes:
    """Return a SubjectAccessReview about a verb on a resource."""
    attributes: dict[str, Any] = {
        "verb": verb,
        "group": resource.group,
        "version": "v1",
        "resource": resource.plural,
        "namespace": namespace,
        "name": name,
    }
    if selector is not None:
        attributes["labelSelector"] = {
            "requirements": [
                {"key": key, "operator": "In", "values": [value]} for key, value in selector.items()
            ]
        }
    if fields:
        attributes["fieldSelector"] = {"rawSelector": fields}
    envelope = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": [], "resourceAttributes": attributes},
    }
    return json.dumps(envelope).encode()
