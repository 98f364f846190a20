"""How well each type is known: a list of it that was complete, and how lately it was heard of."""

from __future__ import annotations

import msgspec


class Freshness(msgspec.Struct):
    """How well one type is known: listed at all, last heard of when, or why it is unknown.

    `began` is the version from which on its writes were told: that of the first list, or of the
    snapshot that it was read from.
    """

    listed: bool = False
    heard_ns: int = 0
    resource_version: str = ""
    unknown: str = ""
    began: str = ""
