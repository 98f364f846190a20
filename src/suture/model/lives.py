"""What is known of an object beyond its life: who made it, when it went, and by whom.

Values, apart from `history`, which keeps them and is machine code.
"""

from __future__ import annotations

import msgspec

from suture.model.names import ObjectKey
from suture.model.objects import OwnerReference
from suture.model.request import Collection


class Removed(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An object that is gone: what it was, when it was seen to go, and by whom if that is known."""

    key: ObjectKey
    uid: str
    at_ns: int
    by: str = ""
    """The identity whose admitted request removed it; empty where nobody was seen to."""
    created_by: str = ""
    owners: tuple[OwnerReference, ...] = ()


class Created(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A creation that was admitted. The uid tells whether it is the one that was persisted."""

    uid: str
    identity: str
    operator: str
    key: ObjectKey
    at_ns: int


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A collection as authorization showed it."""

    collection: Collection
    at_ns: int


class Kept(msgspec.Struct, frozen=True):
    """What a history remembers at one moment, the oldest first."""

    removed: list[Removed]
    removers: dict[str, str]
    created: list[Created]
    stand_ins: list[tuple[str, str, int]]
    disbelieved: dict[str, int]
