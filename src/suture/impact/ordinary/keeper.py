"""Who manages an object."""

from __future__ import annotations

import msgspec


class Keeper(msgspec.Struct, frozen=True, gc=False):
    """Who manages an object, how that is known, and whether that manager is still there."""

    manager: str
    by: str
    lives: bool
