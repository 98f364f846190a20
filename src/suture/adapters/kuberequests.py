"""What is said to the API server: paths, queries, options, media types, as pure functions.

Beside `kube` and not in it because none of this needs a connection, and because most mistakes
that would hurt (a dry run that is none, a path that leads elsewhere) would be made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from suture.errors import InputError
from suture.model.names import Propagation

PatchType = Literal["json", "merge", "strategic", "apply"]
Body = Mapping[str, Any] | Sequence[Any] | msgspec.Struct | bytes

PATCH_TYPES: Mapping[PatchType, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",  # JSON is YAML
}
JSON = "application/json"
_META = "g=meta.k8s.io;v=v1"
META_OBJECT = f"application/json;as=PartialObjectMetadata;{_META}"
META_LIST = f"application/json;as=PartialObjectMetadataList;{_META}"
DISCOVERY = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)


def resource_path(  # noqa: PLR0917 - the parts of a path, in its order
    group: str,
    version: str,
    resource: str,
    namespace: str | None = None,
    name: str | None = None,
    subresource: str | None = None,
) -> str:
    """Return the path of a collection, an object or a subresource.

    The core group is "", and so may be the namespace of what is cluster-scoped.
    Errors: `InputError` for a part that could lead elsewhere: empty, `.`, `..`, or with `/` or
    `%` in it, none of which the API server takes in a path either.
    """
    parts = ["api"] if group == "" else ["apis", group]
    parts.append(version)
    if namespace:
        parts += ["namespaces", namespace]
    parts.append(resource)
    if name is not None:
        parts.append(name)
    if subresource is not None:
        if name is None:
            raise InputError(f"subresource `{subresource}` of `{resource}` needs a name")
        parts += subresource.split("/")  # `proxy` paths have several
    for part in parts:
        if part in {"", ".", ".."} or "/" in part or "%" in part:
            raise InputError(f"`{part}` cannot be part of a path of `{resource}`")
    return "/" + "/".join(quote(part, safe=":@") for part in parts)


def write_query(dry_run: bool, field_manager: str) -> dict[str, str]:
    """Return the options of a create, update or patch."""
    query = {"fieldManager": field_manager}
    if dry_run:
        query["dryRun"] = "All"
    return query


def delete_options(
    propagation_policy: Propagation | None, grace_period_seconds: int | None, dry_run: bool
) -> dict[str, Any]:
    """Return the DeleteOptions body of a delete or of a collection's."""
    # WHY all in the body: where there is one, the API server reads no option from the query, and
    # a dry run asked for there would be a real delete.
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if propagation_policy is not None:
        options["propagationPolicy"] = propagation_policy
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = grace_period_seconds
    if dry_run:
        options["dryRun"] = ["All"]
    return options


def list_query(label_selector: str | None, field_selector: str | None) -> dict[str, str]:
    """Return the selectors that are given; absent is everything, empty is sent as it is."""
    query = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {key: value for key, value in query.items() if value is not None}
