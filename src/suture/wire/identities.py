"""Which objects a list has, and in which state: all that an audit of the model compares.

A fifth of the cost of trimming them: names and versions are read, the rest is skipped. Pure.
"""

from __future__ import annotations

import msgspec

from suture.wire.oddities import UNREADABLE
from suture.wire.pages import WatchError


class Identity(msgspec.Struct, rename={"version": "resourceVersion"}, gc=False):
    """One object's place, life and state."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    version: str = ""


class _Item(msgspec.Struct, gc=False):
    metadata: Identity


class _ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "more": "continue"}):
    version: str = ""
    more: str = ""


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[_Item] | None = None


_decoder = msgspec.json.Decoder(_Page)


class Identities(msgspec.Struct, frozen=True):
    """One page of a list; `resource_version` is that of the list, the same on all its pages."""

    objects: list[Identity]
    resource_version: str
    last: bool


def identities(body: bytes) -> Identities:
    """Read one page of a list. Errors: `WatchError` when it is none."""
    try:
        page = _decoder.decode(body)
    except UNREADABLE as error:
        raise WatchError(f"page of names is malformed: {error}") from error
    return Identities(
        [item.metadata for item in page.items or ()], page.metadata.version, not page.metadata.more
    )
