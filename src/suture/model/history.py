"""What was lately removed, created and asked for as a collection: what the graph no longer shows.

Pure and in memory, with one caller, who tells it the time. Bounded: what falls out is unknown, and
unknown explains nothing and ties nothing, so that forgetting can only make Suture stricter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, TypeVar

from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.habits import Habits
from suture.model.lives import Asked, Created, Kept, Removed
from suture.model.names import ObjectKey, Resource
from suture.model.objects import OwnerReference
from suture.model.request import Collection
from suture.model.writes import Writes

REMOVED_KEPT: Final = 65_536
"""LIMIT: removed objects remembered: six namespaces of 10,000 objects, or eleven minutes of 100
removals a second; about 0.6 kB each, 40 MB."""

CREATED_KEPT: Final = 131_072
"""LIMIT: live objects whose creator is remembered: all but pods of a cluster of 30,000 pods, twice
over; about 0.35 kB each, 46 MB. The oldest creation is forgotten first."""

COLLECTIONS_KEPT: Final = 4_096
"""LIMIT: collections judged at authorization that are remembered: one a namespace of a cluster of
4,000 namespaces within `COLLECTION_VALID_S`; 0.5 kB each, 2 MB."""

RENAMES_KEPT: Final = 4_096
"""LIMIT: replacements remembered over all identities: 30 renames of a hundred charts at once;
0.2 kB each, 1 MB. One forgotten early is believed once more."""

RENAME_VALID_S: Final = 3_600
"""LIMIT: how long an operator that removes a replacement is no longer believed to be renaming,
and how long a replacement is remembered: an upgrade of a large chart ends within the hour."""

COLLECTION_VALID_S: Final = 60
"""LIMIT: how long a collection's objects may follow its authorization: the API server's default
RequestTimeout, in which the whole collection is served."""

LATELY_S: Final = 5
"""LIMIT: how long a creation that the model does not have yet may be on its way to it: the age at
which a type counts as stale."""

LATELY_LOOKED: Final = 256
"""LIMIT: creations looked through for those of a namespace, 0.1 us each: 50 a second for that
long; of more the oldest are not found, and what rests on them waits for the watch."""

K = TypeVar("K")
V = TypeVar("V")


class History:
    """Bounded memory of removals, creations and collections; `writes` of what is written often."""

    __slots__ = (
        "_asked", "_created", "_disbelieved", "_gone", "_latest", "_removed", "_removers",
        "_stand_ins", "habits", "writes",
    )  # fmt: skip

    def __init__(self) -> None:
        self.habits = Habits()
        self.writes = Writes()
        self._removed: dict[str, Removed] = {}
        self._gone: dict[ObjectKey, str] = {}  # uid of the latest removal under this key
        self._removers: dict[str, str] = {}  # who is to be thanked for what is going
        self._created: dict[str, Created] = {}
        self._latest: dict[ObjectKey, str] = {}  # uid of the latest creation of this key
        self._asked: dict[tuple[str, Resource, str], Asked] = {}
        self._stand_ins: dict[tuple[str, str], int] = {}  # (identity, uid) -> since when
        self._disbelieved: dict[str, int] = {}  # identity -> since when

    # -- removals

    def note_removed(
        self,
        uid: str,
        key: ObjectKey,
        now: Now,
        *,
        by: str = "",
        owners: Iterable[OwnerReference] = (),
    ) -> None:
        """Remember that an object is gone. Seen twice, what is known of it is kept."""
        known = self._removed.pop(uid, None)
        by = self._removers.pop(uid, "") or by
        creation = self._created.pop(uid, None)
        if creation is not None and self._latest.get(key) == uid:
            del self._latest[key]
        self._removed[uid] = Removed(
            key=key,
            uid=uid,
            at_ns=known.at_ns if known else now.mono_ns,
            by=by or (known.by if known else ""),
            created_by=creation.identity if creation else (known.created_by if known else ""),
            owners=tuple(owners) or (known.owners if known else ()),
        )
        self._gone.pop(key, None)
        self._gone[key] = uid
        for one in oldest(self._removed, REMOVED_KEPT):
            forgotten = self._removed.pop(one)
            if self._gone.get(forgotten.key) == one:
                del self._gone[forgotten.key]

    def note_remover(self, uid: str, by: str) -> None:
        """Remember whose admitted request an object goes by, while it is still going."""
        self._removers.pop(uid, None)
        self._removers[uid] = by
        _bound(self._removers, REMOVED_KEPT)

    def removed_at(self, key: ObjectKey) -> Removed | None:
        """Return the latest removal under this key; None: none was seen, or long ago."""
        uid = self._gone.get(key)
        return self._removed.get(uid) if uid is not None else None

    def removed(self, uid: str) -> Removed | None:
        """Return what is known of a removed object; None: it was not seen to go, or long ago."""
        return self._removed.get(uid)

    # -- creations

    def note_created(
        self, uid: str, identity: str, operator: str, key: ObjectKey, now: Now
    ) -> None:
        """Remember who was admitted to create an object; without a uid nothing can be told."""
        if not uid:
            return
        self._created.pop(uid, None)
        self._created[uid] = Created(
            uid=uid, identity=identity, operator=operator, key=key, at_ns=now.mono_ns
        )
        self._latest[key] = uid
        for one in oldest(self._created, CREATED_KEPT):
            forgotten = self._created.pop(one)
            if self._latest.get(forgotten.key) == one:
                del self._latest[forgotten.key]

    def creation(self, uid: str) -> Created | None:
        """Return the admitted creation of this very object; None where it was not seen."""
        return self._created.get(uid)

    def created_lately(self, namespace: str, now: Now) -> list[ObjectKey]:
        """Return what was admitted to be created in a namespace a moment ago, newest first.

        Admitted is not there yet: something later may have refused it.
        """
        found: list[ObjectKey] = []
        since_ns = now.mono_ns - LATELY_S * 1_000_000_000
        for one in islice(reversed(self._created.values()), LATELY_LOOKED):
            if one.at_ns < since_ns:
                break
            if one.key.namespace == namespace and one.key.name:
                found.append(one.key)
        return found

    def created_by(self, uid: str) -> str:
        """Return the identity that created this object, empty where that is not known."""
        creation = self._created.get(uid)
        if creation is not None:
            return creation.identity
        gone = self._removed.get(uid)
        return gone.created_by if gone else ""

    def created_at(self, key: ObjectKey) -> Created | None:
        """Return the latest admitted creation under this key.

        Admitted is not persisted: compare its uid with that of the object that is there.
        """
        uid = self._latest.get(key)
        return self._created.get(uid) if uid is not None else None

    # -- renames

    def note_renamed(self, identity: str, stand_ins: Iterable[str], now: Now) -> None:
        """Remember the Services that justified a removal by `identity`, by uid."""
        for uid in stand_ins:
            self._stand_ins.pop((identity, uid), None)
            self._stand_ins[identity, uid] = now.mono_ns
        _bound(self._stand_ins, RENAMES_KEPT)

    def note_attempt(self, identity: str, uid: str, now: Now) -> None:
        """Take note that `identity` wants an object gone; it may have justified a removal before.

        Who goes on to remove the replacement was not renaming.
        """
        since = self._stand_ins.get((identity, uid))
        if since is not None and now.mono_ns - since <= RENAME_VALID_S * 1_000_000_000:
            self._disbelieved.pop(identity, None)
            self._disbelieved[identity] = now.mono_ns
            _bound(self._disbelieved, RENAMES_KEPT)

    def believes_renames(self, identity: str, now: Now) -> bool:
        """Tell whether a replacement still justifies a removal by `identity`."""
        since = self._disbelieved.get(identity)
        return since is None or now.mono_ns - since > RENAME_VALID_S * 1_000_000_000

    # -- collections

    def note_collection(
        self,
        identity: str,
        resource: Resource,
        namespace: str,
        collection: Collection,
        now: Now,
    ) -> None:
        """Remember a collection's selectors; the latest of an identity, type and namespace."""
        spot = (identity, resource, namespace)
        self._asked.pop(spot, None)
        self._asked[spot] = Asked(collection, now.mono_ns)
        _bound(self._asked, COLLECTIONS_KEPT)

    def collection(
        self, identity: str, resource: Resource, namespace: str, now: Now
    ) -> Collection | None:
        """Return a collection seen lately; None: none was seen within `COLLECTION_VALID_S`."""
        asked = self._asked.get((identity, resource, namespace))
        if asked is None or now.mono_ns - asked.at_ns > COLLECTION_VALID_S * 1_000_000_000:
            return None
        return asked.collection

    # -- over a restart

    def kept(self) -> Kept:
        """Return what outlives a restart: not the collections, which are over by then."""
        return Kept(
            list(self._removed.values()),
            dict(self._removers),
            list(self._created.values()),
            [(identity, uid, at) for (identity, uid), at in self._stand_ins.items()],
            dict(self._disbelieved),
        )

    def recall_removed(self, removed: Iterable[Removed], removers: Mapping[str, str]) -> None:
        """Take over removals that an earlier process saw, the oldest first."""
        for one in removed:
            self._removed[one.uid] = one
            self._gone[one.key] = one.uid
        self._removers.update(removers)

    def recall_created(self, created: Iterable[Created]) -> None:
        """Take over creations that an earlier process admitted, the oldest first."""
        for one in created:
            self._created[one.uid] = one
            self._latest[one.key] = one.uid

    def recall_renames(
        self, stand_ins: Iterable[tuple[str, str, int]], disbelieved: Mapping[str, int]
    ) -> None:
        """Take over which replacements justified removals, and who is not believed."""
        self._stand_ins.update(((identity, uid), at) for identity, uid, at in stand_ins)
        self._disbelieved.update(disbelieved)


def _bound(kept: dict[K, V], limit: int) -> None:
    """Forget the oldest entries past the limit."""
    for key in oldest(kept, limit):
        del kept[key]
