"""What every effect is made of: an object that it happens to, and how sure it is."""

from __future__ import annotations

from enum import StrEnum

import msgspec

VICTIMS_NAMED = 5
"""LIMIT: victims named in an effect; counts are exact, a 300-character message holds no more."""


class Confidence(StrEnum):
    """How sure an effect is."""

    EXACT = "exact"
    BOUNDED = "bounded"
    UNKNOWN = "unknown"


class Victim(msgspec.Struct, frozen=True, gc=False):
    """An object that an effect happens to."""

    group: str
    resource: str
    namespace: str
    name: str
    uid: str = ""
