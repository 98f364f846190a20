"""What stands on a fresh lab before any scenario: the kinds that it serves, and its own objects.

Lives apart because it is taken from a real lab, packed, and shipped; nobody writes it by hand.
`python -m suture.lab.scenarios.offline` takes it anew, for another version of Kubernetes.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from suture.errors import DefectError
from suture.lab.scenarios.cluster import Object
from suture.lab.scenarios.offline.store import Store
from suture.model.names import Gvk
from suture.wire.discovery import ApiResource, decode_discovery

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BUNDLED = "base.json.zst"

BASE_BYTES = 8 << 20
"""LIMIT: unpacked; a lab's own objects are 170 KB, and every kind in use would not be forty times
that."""

LEVEL = 19
"""Packed once, unpacked on every run: the slowest level that needs no special memory."""

LEFT_OUT = frozenset({"Event", "Lease", "ComponentStatus", "Secret", "IPAddress", "Endpoints"})
"""Kinds that tell of one moment of one lab, or follow from others."""

_OF_ONE_LAB = ("managedFields", "uid", "resourceVersion", "creationTimestamp")


class Base(msgspec.Struct, frozen=True):
    """Discovery documents as the API server writes them, and objects less what is of one lab."""

    kubernetes: str
    discovery: list[dict[str, Any]]
    objects: list[Object]


def pack(kubernetes: str, discovery: list[bytes], objects: list[Object]) -> bytes:
    """Return the bytes to ship."""
    kept = [_plain(one) for one in objects if one["kind"] not in LEFT_OUT]
    base = Base(kubernetes, [msgspec.json.decode(one) for one in discovery], kept)
    return zstd.compress(msgspec.json.encode(base, order="deterministic"), level=LEVEL)


def _plain(thing: Object) -> Object:
    metadata = {key: value for key, value in thing["metadata"].items() if key not in _OF_ONE_LAB}
    return {**thing, "metadata": metadata}


@cache
def bundled() -> Base:
    """Return the base that is shipped."""
    packed = (files(__package__) / BUNDLED).read_bytes()
    try:
        text = zstd.ZstdDecompressor().decompress(packed, max_length=BASE_BYTES)
        return msgspec.json.decode(text, type=Base)
    except (zstd.ZstdError, msgspec.MsgspecError) as error:
        raise DefectError(f"the bundled base of offline runs cannot be read: {error}") from error


@cache
def _apis() -> tuple[ApiResource, ...]:
    return decode_discovery([msgspec.json.encode(one) for one in bundled().discovery]).resources


def kinds_of() -> dict[tuple[str, str], ApiResource]:
    """Return the kinds that a fresh lab serves, by group and kind."""
    return {(api.group, api.kind): api for api in _apis()}


def furnish(store: Store) -> None:
    """Serve a fresh lab's kinds, and put its objects there."""
    for api in _apis():
        store.serve(api)
    kinds = kinds_of()
    for thing in bundled().objects:
        gvk = Gvk.of(str(thing["apiVersion"]), str(thing["kind"]))
        known = kinds.get((gvk.group, gvk.kind))
        if known is not None:
            stamped = {"uid": store.new_uid(), "creationTimestamp": store.stamp()}
            store.put(known, {**thing, "metadata": {**thing["metadata"], **stamped}})
