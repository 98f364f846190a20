"""One write of one object, as it is remembered, and the shape in which all of them are kept.

Apart from `writes`, which counts them and is machine code.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Self

import msgspec

from suture.errors import InputError
from suture.model.clock import Now


class What(IntEnum):
    """What was done to an object."""

    DELETED = 1
    EVICTED = 2
    SCALED = 3
    WROTE = 4
    STATUS = 5
    CLOSED = 6
    """A node was closed on which pods ran that were not bound to be there."""
    STORED = 7
    """A definition got a version to store its instances in; the value is the latest
    version of those that were there."""
    ROLLED = 8
    """An actor had a workload replace its pods, the old before the new; noted of the actor."""
    GIVEN = 9
    """A Service or route was said to be reached elsewhere than before."""
    SPOKEN = 10
    """An instance of a type was written in a version of its API by who writes the statuses of the
    type; noted of the two, and the value is the number of the version's name."""


class Deed(msgspec.Struct, frozen=True, gc=False):
    """One write of one object, by whom. `value`: which life it ended, or what it made of it."""

    what: What
    identity: str
    value: int

    @classmethod
    def apart(cls, what: What, identity: str, now: Now) -> Self:
        """Return a write that is told from every other: its value is one that no content has."""
        return cls(what, identity, -now.mono_ns)


class WritesError(InputError):
    """The bytes are no memory of writes, or one of a later version."""

    code = "writes_unreadable"


class Saved(msgspec.Struct):
    """What is written down."""

    version: int
    mono_ns: int
    utc_s: float
    tracks: dict[int, bytes]
    tallies: dict[int, bytes]
    closed: dict[str, int]
    fewer: dict[str, dict[str, int]] = {}
    left_out: dict[str, frozenset[str]] = {}
    vacant: dict[str, tuple[int, int, str]] = {}
    lifted: list[str] = []
