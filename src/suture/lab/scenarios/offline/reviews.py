"""One write as whoever stands before the store sees it, and its AdmissionReview.

Lives apart from `admission`, which asks: here is only what the question looks like. Pure.
Source: admission.k8s.io/v1; a collection's reviews leave the object's name out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from suture.lab.scenarios.cluster import Object
from suture.model.actor import UserInfo
from suture.model.names import Gvk, Operation
from suture.wire.discovery import ApiResource


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """A write on its way to the store.

    `old` and `new` are the documents that a review shows: for a subresource its own. `options` is
    what a delete says of its manner. `labels` are those of the object that selectors look at.
    """

    operation: Operation
    api: ApiResource
    user: UserInfo
    sub: str = ""
    gvk: Gvk
    namespace: str = ""
    name: str = ""
    collected: bool = False
    old: Object | None = None
    new: Object | None = None
    options: Mapping[str, Any] = {}
    dry_run: bool = False

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the object that it is about."""
        whole = self.new if self.new is not None else self.old
        found: Mapping[str, str] = ((whole or {}).get("metadata") or {}).get("labels") or {}
        return found


def request_of(write: Write, uid: str) -> dict[str, Any]:
    """Return the request of a review, empty fields left out as the API server does."""
    version = {"group": write.gvk.group, "version": write.gvk.version, "kind": write.gvk.kind}
    api = write.api
    resource = {"group": api.group, "version": api.version, "resource": api.plural}
    space = write.name if api.kind == "Namespace" and not api.group else write.namespace
    user = write.user
    found: dict[str, Any] = {
        "uid": uid,
        "kind": version,
        "resource": resource,
        "subResource": write.sub,
        "requestKind": version,
        "requestResource": resource,
        "requestSubResource": write.sub,
        "name": "" if write.collected else write.name,
        "namespace": space,
        "operation": write.operation.value,
        "userInfo": {"username": user.username, "groups": list(user.groups)},
        "dryRun": write.dry_run,
        "options": dict(write.options),
    }
    return {key: value for key, value in found.items() if value not in ("", None)}


def review_of(write: Write, request: Mapping[str, Any]) -> bytes:
    """Return the AdmissionReview with the objects in it."""
    whole = {**request, "object": write.new, "oldObject": write.old}
    return msgspec.json.encode(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": whole}
    )


def access_of(
    user: UserInfo,
    verb: str,
    api: ApiResource,
    *,
    namespace: str,
    name: str = "",
    sub: str = "",
    selector: str | None = None,
    fields: str | None = None,
) -> bytes:
    """Return the SubjectAccessReview that the API server would ask before a request."""
    attributes: dict[str, Any] = {
        "verb": verb,
        "group": api.group,
        "version": api.version,
        "resource": api.plural,
        "subresource": sub,
        "namespace": name if api.kind == "Namespace" and not api.group else namespace,
        "name": name,
    }
    # WHY not an empty one: without requirements the API server shows none.
    if selector:
        attributes["labelSelector"] = {"rawSelector": selector}
    if fields:
        attributes["fieldSelector"] = {"rawSelector": fields}
    return msgspec.json.encode(
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.username,
                "groups": list(user.groups),
                "resourceAttributes": {k: v for k, v in attributes.items() if v != ""},
            },
        }
    )
