"""What the API server fills in when an object is written, as far as anything here reads it.

Lives apart from `server` as the page that changes with Kubernetes. Pure.
Source: the defaulting and PrepareForCreate of the core, apps, batch and apiextensions types.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.nulls import is_typed

CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"

_STATELESS = frozenset({"Node", "CustomResourceDefinition", "PersistentVolume"})
"""Kinds whose status a creation may carry along."""

_HOOK: Object = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}


def defaulted(body: Object, *, has_status: bool) -> Object:
    """Return a new object as it is stored; metadata is the caller's."""
    kind = body.get("kind", "")
    found = dict(filled(body))
    if has_status and kind not in _STATELESS:
        found.pop("status", None)
    # WHY: a custom resource may be called as a kind of Kubernetes is.
    match kind if is_typed(body) else "":
        case "Namespace":
            _namespace(found)
        case "Secret":
            _secret(found)
        case "Job":
            _job(found)
        case "Pod":
            found["status"] = {"phase": "Pending"}
            found["spec"] = {"serviceAccountName": "default", **(found.get("spec") or {})}
        case "PersistentVolumeClaim":
            _held(found, CLAIM_PROTECTION)
            found["status"] = {"phase": "Pending"}
        case "PersistentVolume":
            _held(found, VOLUME_PROTECTION)
            found.setdefault("status", {"phase": "Available"})
        case "CustomResourceDefinition":
            _definition(found)
        case _:
            pass
    return found


def filled(body: Object) -> Object:
    """Return an object with what it does not say filled in, new or changed; other kinds as given.

    SOURCE: the SetDefaults functions of the core, apps and admissionregistration types.
    """
    if not is_typed(body):
        return body
    match body.get("kind", ""):
        case "Service":
            return {**body, "spec": {"type": "ClusterIP", **(body.get("spec") or {})}}
        case "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController":
            return {**body, "spec": {"replicas": 1, **(body.get("spec") or {})}}
        case "ValidatingWebhookConfiguration":
            return {**body, "webhooks": [_hook(one) for one in body.get("webhooks") or ()]}
        case "MutatingWebhookConfiguration":
            again = {"reinvocationPolicy": "Never"}
            hooks = [{**again, **_hook(one)} for one in body.get("webhooks") or ()]
            return {**body, "webhooks": hooks}
        case _:
            return body


def _hook(hook: Object) -> Object:
    """Return a webhook that says whom it is asked about: without a selector, all."""
    rules = [{"scope": "*", **rule} for rule in hook.get("rules") or ()]
    return {**_HOOK, **hook, **({"rules": rules} if rules else {})}


def _namespace(found: Object) -> None:
    metadata = found["metadata"]
    labels = {"kubernetes.io/metadata.name": metadata["name"], **(metadata.get("labels") or {})}
    found["metadata"] = {**metadata, "labels": labels}
    found["spec"] = {"finalizers": ["kubernetes"]}
    found["status"] = {"phase": "Active"}


def _secret(found: Object) -> None:
    text = found.pop("stringData", None)
    if text:
        data = {key: b64encode(str(value).encode()).decode() for key, value in text.items()}
        found["data"] = {**(found.get("data") or {}), **data}
    found.setdefault("type", "Opaque")


def _job(found: Object) -> None:
    spec = dict(found.get("spec") or {})
    template = dict(spec.get("template") or {})
    metadata = dict(template.get("metadata") or {})
    name = found["metadata"].get("name", "")
    own = {
        "batch.kubernetes.io/controller-uid": found["metadata"].get("uid", ""),
        "batch.kubernetes.io/job-name": name,
        "job-name": name,
    }
    metadata["labels"] = {**(metadata.get("labels") or {}), **own}
    template["metadata"] = metadata
    spec["template"] = template
    if not spec.get("manualSelector"):
        uid = own["batch.kubernetes.io/controller-uid"]
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    found["spec"] = spec


def _definition(found: Object) -> None:
    spec = dict(found.get("spec") or {})
    names = dict(spec.get("names") or {})
    names.setdefault("singular", str(names.get("kind", "")).lower())
    names.setdefault("listKind", f"{names.get('kind', '')}List")
    spec["names"] = names
    spec.setdefault("conversion", {"strategy": "None"})
    found["spec"] = spec
    served = [one.get("name") for one in spec.get("versions") or () if one.get("storage")]
    found["status"] = {
        "acceptedNames": names,
        "storedVersions": served,
        "conditions": [
            {"type": "NamesAccepted", "status": "True"},
            {"type": "Established", "status": "True"},
        ],
    }


def stored_in(definition: Object) -> Object:
    """Return a definition that names its storage version among those it was ever stored in.

    SOURCE: apiextensions registry, `PrepareForUpdate`: before admission sees it.
    """
    spec, status = definition.get("spec") or {}, definition.get("status") or {}
    storage = [one.get("name") for one in spec.get("versions") or () if one.get("storage")]
    known = status.get("storedVersions") or []
    stored = [*known, *(one for one in storage if one not in known)]
    return {**definition, "status": {**status, "storedVersions": stored}}


def _held(found: Object, finalizer: str) -> None:
    metadata = found["metadata"]
    held = list(metadata.get("finalizers") or ())
    if finalizer not in held:
        found["metadata"] = {**metadata, "finalizers": [*held, finalizer]}


def changes_generation(before: Object, after: Object) -> bool:
    """Whether a wish changed: anything besides metadata and status."""
    return _wish(before) != _wish(after)


def _wish(body: Object) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in ("metadata", "status")}
