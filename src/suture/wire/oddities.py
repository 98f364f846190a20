"""Objects that are not as their kind says: what can be read of them, part by part.

Beside `trim`, which reads what is as it should be; see `docs/reference/odd-objects.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from suture.errors import InputError
from suture.model.names import Gvk
from suture.model.objects import OwnerReference
from suture.wire.shapes import ABSENT, ManagedMeta, Time

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder throws at bytes that are no JSON, are not of the expected shape, or are nested
deeper than the interpreter's stack."""


class TrimError(InputError):
    """The bytes are not JSON at all, so that nothing can be said of the object."""

    code = "object_unreadable"


class Owner(msgspec.Struct, rename="camel", gc=False):
    """An owner reference as it is written."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None

    def reference(self) -> OwnerReference:
        """Return it as the model has it."""
        return OwnerReference(
            Gvk.of(self.api_version, self.kind),
            self.name,
            self.uid,
            bool(self.controller),
            bool(self.block_owner_deletion),
        )


_EPOCH = datetime.fromtimestamp(1, UTC)

# WHY a float hook: numbers past a double's range are JSON too, and are never read here.
_any_decoder = msgspec.json.Decoder(float_hook=float)
_owner_decoder = msgspec.json.Decoder(Owner)


def odd_owners(value: object) -> list[Owner]:
    """Read one owner of a list in which some cannot be read; nothing where it is that one."""
    try:
        return [_owner_decoder.decode(msgspec.json.encode(value))]
    except UNREADABLE:
        return []


def anything(raw: bytes) -> Any:
    """Read any JSON. Errors: `TrimError` where the bytes are none."""
    try:
        return _any_decoder.decode(raw)
    except UNREADABLE as error:
        raise TrimError(f"object cannot be read: {error}") from error


def odd_meta(raw: Mapping[str, Any]) -> ManagedMeta:
    """Pick what is as it should be from metadata of which some part is not."""
    finalizers = raw.get("finalizers")
    return ManagedMeta(
        name=_text(raw.get("name")),
        namespace=_text(raw.get("namespace")),
        uid=_text(raw.get("uid")),
        resource_version=_text(raw.get("resourceVersion")),
        creation_timestamp=_time(raw.get("creationTimestamp")),
        deletion_timestamp=_time(raw.get("deletionTimestamp")),
        labels=_raw(raw.get("labels")),
        owner_references=_raw(raw.get("ownerReferences")),
        finalizers=tuple(map(_text, finalizers)) if isinstance(finalizers, list) else None,
        annotations=_raw(raw.get("annotations")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time(value: object) -> Time | None:
    if value is None:
        return None
    try:
        return msgspec.convert(value, Time)
    except msgspec.ValidationError:
        # WHY not None: an object with a deletionTimestamp is going, whatever the time says.
        return _EPOCH


def _raw(value: object) -> msgspec.Raw:
    return ABSENT if value is None else msgspec.Raw(msgspec.json.encode(value))
