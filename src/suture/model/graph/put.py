"""What putting an object did: a life began, goes on, or took the place of another."""

from __future__ import annotations

from enum import Enum

import msgspec

from suture.model.objects import ClusterObject


class Life(Enum):
    """What an object that was put is to the one that was there."""

    NEW = "new"
    SAME = "same"
    REPLACED = "replaced"


class Put(msgspec.Struct, frozen=True, gc=False):
    """What putting an object did. `ended`: the earlier life under its name, where that is over.

    `terminates`: its delete was accepted since the last time.
    """

    life: Life
    terminates: bool = False
    ended: ClusterObject | None = None
