"""What `trim` hands out and keeps of objects that come in pairs, or more than once.

Apart from it because it is machine code, and these are structs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from suture.model.edges import Need
from suture.model.labels import Labels
from suture.model.names import ObjectKey
from suture.model.objects import ClusterObject, Facts
from suture.model.podneeds import PodNeeds
from suture.wire.shapes import ManagedDocument


class Head(ManagedDocument, gc=False, forbid_unknown_fields=True):
    """What stands before an object's spec, as API servers write it."""

    api_version: str = ""


class End(msgspec.Struct, gc=False):
    """What was read of an object from its spec on, and with what its metadata adds to it."""

    reader: object
    named: tuple[ObjectKey, Labels]
    end: bytes
    facts: Facts | None
    needs: Sequence[Need]
    keepers: tuple[Need, ...] = ()
    with_keepers: Sequence[Need] = ()

    def joined(self, keepers: tuple[Need, ...]) -> Sequence[Need]:
        """Return the needs with what keeps the object, which is seldom another than last time."""
        if keepers != self.keepers:
            self.keepers, self.with_keepers = keepers, joined(self.needs, keepers)
        return self.with_keepers


class Both(NamedTuple):
    """An object as it is to be and as it is, and which parts beside metadata and status differ."""

    new: ClusterObject
    old: ClusterObject
    changed: tuple[str, ...]


def joined(needs: Sequence[Need], more: tuple[Need, ...]) -> Sequence[Need]:
    """Return needs with more of them; of a pod still unread."""
    return needs.also(more) if isinstance(needs, PodNeeds) else (*needs, *more)
