"""The last forms of the objects that a log writes again and again: what did not change is cheap.

Beside `auditreplay`, which alone writes into the model. A form is the object as it was read, which
is compared by the bytes that its parts are of; the model would have to read them back first.
"""

from __future__ import annotations

import msgspec

from suture.model.names import ObjectKey
from suture.model.objects import ClusterObject

FORMS = 8_192
"""LIMIT: forms kept, in two generations, 16,384 of 2 KB at most: 32 MB. Most writes are about an
object that was written lately: by leaders, heartbeats, resyncs, roll-outs."""


class Forms:
    """Objects by their keys, the ones written last. INVARIANT: each is what the model holds."""

    def __init__(self, limit: int = FORMS) -> None:
        self._limit = limit
        self._young: dict[ObjectKey, ClusterObject] = {}
        self._old: dict[ObjectKey, ClusterObject] = {}

    def get(self, key: ObjectKey) -> ClusterObject | None:
        """Return an object as it was written last, where that was lately."""
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def keep(self, thing: ClusterObject) -> None:
        """Note what was written."""
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[thing.key] = thing

    def drop(self, key: ObjectKey) -> None:
        """Forget an object: it is gone, or the model was told otherwise of it."""
        self._young.pop(key, None)
        self._old.pop(key, None)


def renewed(before: ClusterObject, after: ClusterObject) -> bool:
    """Whether a write changed nothing that the model holds but the object's version."""
    same = msgspec.structs.replace(before, resource_version=after.resource_version)
    return same == after
