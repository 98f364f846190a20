"""What changes of a pod as it runs, and that it ended, read from the ends of a watch line.

Nine in ten events of a busy cluster are a pod whose status changed. Of 8 KB its managed fields and
its spec are 6, and the spec of a pod that has a node says what it said before: the API server
refuses any update of what it names. So what stands before the managed fields is read, and the
status. Whether all else is as it was is for the graph to tell; where it is not, or where a line
looks otherwise than API servers write it, the whole line is read as any other. Pure.
Source: `ValidatePodUpdate` of Kubernetes; meta/v1 ObjectMeta, whose last field `managedFields` is.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import OwnerReference, PodState
from suture.wire.podshapes import PodStatus
from suture.wire.shapes import ABSENT

MODIFIED = b'{"type":"MODIFIED","object":{'
DELETED = b'{"type":"DELETED","object":{'

_MANAGED = b',"managedFields":['
_STATUS = b',"status":{'
_ADDED_LATER = b'"ephemeralContainers":'
"""The one field of a pod's spec that names other objects and may be written when it runs."""


KINDS = 64
"""LIMIT: kinds that own pods, kept as values; a cluster has some ten."""


class _Owner(msgspec.Struct, rename="camel", gc=False):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class _Meta(msgspec.Struct, rename="camel", gc=False):
    name: str
    namespace: str
    uid: str
    resource_version: str
    owner_references: tuple[_Owner, ...]
    labels: msgspec.Raw = ABSENT
    deletion_timestamp: msgspec.Raw = ABSENT
    finalizers: msgspec.Raw = ABSENT


class _Object(msgspec.Struct, rename="camel", gc=False, forbid_unknown_fields=True):
    kind: str
    api_version: str
    metadata: _Meta


class _Head(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str
    object: _Object


class _Name(msgspec.Struct, rename="camel", gc=False):
    name: str
    namespace: str
    uid: str
    resource_version: str


class _Named(msgspec.Struct, rename="camel", gc=False, forbid_unknown_fields=True):
    kind: str
    api_version: str
    metadata: _Name


class _NamedHead(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str
    object: _Named


class _Tail(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    status: PodStatus


_head_decoder = msgspec.json.Decoder(_Head)
_named_decoder = msgspec.json.Decoder(_NamedHead)
_tail_decoder = msgspec.json.Decoder(_Tail)


_gvk = lru_cache(KINDS)(Gvk.of)


class PodEnd(msgspec.Struct, frozen=True, gc=False):
    """Which life of a pod is over, as of which version: its last state is known."""

    key: ObjectKey
    uid: str
    resource_version: str


def pod_state(line: bytes, resource: Resource) -> PodState | None:
    """Return what a watch line says of a pod's state; None where the whole line is to be read.

    The line may have its end still.

    INVARIANT: what is read stands where it seems to. A quote is escaped inside a text, so that both
    marks are fields; what is before the one, closed, and what is after the other, opened, are JSON
    by themselves; so they are fields of the metadata and of the pod, and of nothing within.
    """
    status = line.rfind(_STATUS)
    managed = line.find(_MANAGED, 0, status)
    if managed < 0 or line.rfind(_ADDED_LATER, managed, status) >= 0:
        return None
    # The line's own last brace is left out: the pod's closes what is opened here.
    end = -2 if line.endswith(b"\n") else -1
    try:
        found = _head_decoder.decode(line[:managed] + b"}}}").object
        status_now = _tail_decoder.decode(b"{" + line[status + 1 : end]).status
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    meta = found.metadata
    if len(meta.owner_references) != 1 or not meta.name or not meta.uid:
        return None
    if meta.deletion_timestamp is not ABSENT or meta.finalizers is not ABSENT:
        return None
    if status_now.resource_claim_statuses is not None:
        return None
    [owner] = meta.owner_references
    return PodState(
        ObjectKey(resource, meta.namespace, meta.name),
        meta.uid,
        meta.resource_version,
        b"" if meta.labels is ABSENT else bytes(meta.labels),
        OwnerReference(
            _gvk(owner.api_version, owner.kind),
            owner.name,
            owner.uid,
            owner.controller,
            owner.block_owner_deletion,
        ),
        status_now.ready,
        status_now.finished,
    )


def pod_end(line: bytes, resource: Resource) -> PodEnd | None:
    """Return which pod a watch line says is gone; None where the whole line is to be read.

    INVARIANT: as above; what stands before the managed fields, closed, is JSON by itself.
    """
    managed = line.find(_MANAGED)
    if managed < 0:
        return None
    try:
        meta = _named_decoder.decode(line[:managed] + b"}}}").object.metadata
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not meta.name or not meta.uid:
        return None
    key = ObjectKey(resource, meta.namespace, meta.name)
    return PodEnd(key, meta.uid, meta.resource_version)
