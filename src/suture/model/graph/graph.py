"""The graph itself: every object of the cluster, kept exact by `put` and `remove`.

Written by one caller. Rows are dense integers and are reused; a row means nothing once the
caller has returned to the event loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from suture.model.graph.check import check
from suture.model.graph.columns import NONE
from suture.model.graph.freshness import Freshness
from suture.model.graph.put import Life, Put
from suture.model.graph.rowneeds import RowNeeds
from suture.model.graph.rows import (
    ALIVE,
    LEAVING,
    TERMINATING,
    WHOLE,
    pack_uid,
    packed_uid,
)
from suture.model.graph.storage import name_bytes
from suture.model.graph.sweep import Sweep
from suture.model.graph.writing import Writable
from suture.model.names import ObjectKey, Resource
from suture.model.objects import ClusterObject, PodState

MADE: Final = 4096
"""LIMIT: objects read back and kept for the next question: a decision looks at some hundred, ten
times each; 4,096 of 1 KB are 4 MB."""


RESERVED: Final = 0.02
"""LIMIT: what is reserved is resident. To move the names of two million rows takes 0.5 ms where
they are mapped by themselves, once in ten thousand new ones, so that more would buy nothing."""

_NEW: Final = Put(Life.NEW), Put(Life.NEW, terminates=True)
_SAME: Final = Put(Life.SAME), Put(Life.SAME, terminates=True)


class Graph(Writable):
    """Every object of the cluster, with its relations.

    `secret` keys the hashes of names; equal graphs with other secrets differ in nothing else.
    INVARIANT: each index holds exactly what a walk over all rows would compute; `check` does.
    """

    def __init__(self, secret: bytes = b"") -> None:
        super().__init__(secret)
        self.freshness: dict[Resource, Freshness] = {}
        self.changes = 0
        """How often anything was put or removed: what was read before the last is old."""
        self.row_put = NONE
        """The row of what was put last, known already or not: a list need not look for it."""
        self.made_of: dict[object, tuple[int, Any]] = {}
        """What views made of all objects of some types, by what made it, and at which of their
        changes."""
        self._leaving: set[str] = set()
        self._made: dict[int, ClusterObject] = {}
        self._made_at = 0

    # ---- what is there

    def __len__(self) -> int:
        return sum(kind.count for kind in self.places.kinds.values())

    def at(self, row: int) -> ClusterObject:
        """Return the object in a live row. Its needs are to be read before the graph changes."""
        # WHY all of them: the needs of what was read before a change can be read no more.
        if self._made_at != self.changes:
            self._made.clear()
            self._made_at = self.changes
        found = self._made.get(row)
        if found is None:
            if not self.alive(row):
                raise KeyError(row)
            if len(self._made) >= MADE:
                self._made.clear()
            found = self._made[row] = self.read(row, RowNeeds(self, row))
        return found

    def __iter__(self) -> Iterator[ClusterObject]:
        """Walk all objects, without keeping any."""
        for row in range(len(self.rows_of)):
            if self.rows_of.flags[row] & ALIVE:
                yield self.read(row, RowNeeds(self, row))

    # ---- how it changes

    def declare(self, group: str, kind: str, resource: Resource) -> None:
        """Note that the cluster serves a type, listed or not, as discovery says."""
        self.kinds[group, kind] = resource
        self.freshness.setdefault(resource, Freshness())

    def put(self, thing: ClusterObject) -> Put:
        """Add an object or replace its earlier state, and tell what that was."""
        done = self._put(thing, known=None)
        if done is None:
            raise AssertionError("nothing was taken for known")
        return done

    def news(self, thing: ClusterObject) -> Put | None:
        """Put an object unless this version of this life of it is there; None: it is."""
        return self._put(thing, known=thing.resource_version or None)

    def renew(self, key: ObjectKey, resource_version: str) -> None:
        """Give an object another version, of which all else is as it was. Errors: KeyError."""
        row = self.row(key)
        if row is None:
            raise KeyError(key)
        self.rows_of.set_version(row, resource_version)
        self.changes += 1

    def _put(self, thing: ClusterObject, known: str | None) -> Put | None:
        key, rows = thing.key, self.rows_of
        name = name_bytes(key.name)
        place = self.places.make(key.resource, key.namespace)
        hashed = rows.hash_name(place, name)
        row = rows.find_hashed(place, name, hashed)
        uid, odd = packed_uid(thing.uid)
        terminating = thing.deleted > 0
        leaving = bool(self._leaving) and thing.uid in self._leaving
        had = rows.flags[row] if row >= 0 else 0
        if not had & ALIVE:
            if row < 0:
                row = self.named_row(place, name, hashed)
            else:
                self.give_up_uid(row)
            self.take_uid(row, uid, odd)
            self.begin(row, thing, leaving=leaving)
            done = _NEW[terminating]
        else:
            if rows.uids[row << 4 : (row << 4) + 16] == uid:
                if known is not None and rows.version(row) == known:
                    self.row_put = row
                    return None
                done = _SAME[terminating and not had & TERMINATING]
            else:
                ended = self.read(row, ())
                self.give_up_uid(row)
                self.take_uid(row, uid, odd)
                done = Put(Life.REPLACED, terminating, ended)
            self.write(row, thing, had, leaving=leaving)
        self.row_put = row
        # WHY last: an object that was read here may be put again, changed in part.
        self.changes += 1
        return done

    def restate(self, state: PodState) -> bool:
        """Put the state of a pod of which all else is as it is here.

        False, and nothing is done, where that is not so: then the whole pod is to be put.
        """
        row, rows = self.row(state.key), self.rows_of
        if row is None or rows.uids[row << 4 : (row << 4) + 16] != pack_uid(state.uid):
            return False
        had = rows.flags[row]
        # WHY a node: what a pod names is given once it has one, and until then it may be written.
        if had & (WHOLE | TERMINATING) != WHOLE or rows.traits[row]:
            return False
        if self.links.out_head[row] < 0 or not self._is_in(rows.extra[row], state):
            return False
        self._restate(row, state, had)
        self.row_put = row
        self.changes += 1
        return True

    def remove(
        self, key: ObjectKey, uid: str = "", last: ClusterObject | None = None
    ) -> ClusterObject | None:
        """Take an object out. With a `uid`, only that life of it: a late event harms no successor.

        Returns what was there, or None when there was nothing to remove: `last`, its last state,
        where somebody has it; else what was known of it, its needs left out.
        """
        row = self.row(key)
        if row is None:
            return None
        if uid and self.rows_of.uids[row << 4 : (row << 4) + 16] != pack_uid(uid):
            return None
        # WHY not always: to read it back takes longer than to take it out.
        ended = last if last is not None else self.read(row, ())
        self.changes += 1
        self.end(row)
        return ended

    @property
    def anything_leaves(self) -> bool:
        """Whether the removal of any object was admitted."""
        return bool(self._leaving)

    def sweep(self, resource: Resource) -> Sweep:
        """Begin a complete list of a type."""
        return Sweep(self, resource)

    def replace(self, resource: Resource, things: Iterable[ClusterObject]) -> None:
        """Make `things` all there is of a resource, as after a complete list."""
        sweep = self.sweep(resource)
        for thing in things:
            self.put(thing)
            sweep.see_row(self.row_put)
        for key, uid in sweep.rest():
            self.remove(key, uid)
        self.note_listed(resource)

    def leave(self, uid: str) -> None:
        """Note that the removal of an object was admitted: every view counts it as gone."""
        self._leaving.add(uid)
        self.mark_leaving(uid, LEAVING)

    def stay(self, uid: str) -> None:
        """Take back that an object leaves."""
        self._leaving.discard(uid)
        self.mark_leaving(uid, 0)

    def note_listed(self, resource: Resource) -> None:
        """Note that a type was listed whole, so that what is not here does not exist."""
        self.freshness.setdefault(resource, Freshness()).listed = True

    def forget(self, resource: Resource) -> None:
        """Note that the cluster serves a type no more; its objects are removed one by one."""
        self.freshness.pop(resource, None)
        self.kinds = {kind: found for kind, found in self.kinds.items() if found != resource}

    def heard(self, resource: Resource, resource_version: str, mono_ns: int) -> None:
        """Note that a type's watch is alive and has told all up to `resource_version`."""
        fresh = self.freshness.setdefault(resource, Freshness())
        fresh.heard_ns = mono_ns
        fresh.resource_version = resource_version or fresh.resource_version
        fresh.began = fresh.began or fresh.resource_version
        fresh.unknown = ""

    def mark_unknown(self, resource: Resource, why: str) -> None:
        """Note that a type cannot be listed: what it holds is unknown, which is not empty."""
        self.freshness.setdefault(resource, Freshness()).unknown = why

    def reserve(self, share: float = RESERVED) -> None:
        """Make room for a share more of all texts, so that little churn never moves them."""
        self.rows_of.reserve(share)
        for values in (self.label_sets, self.facts_sets, self.trait_sets):
            values.texts.reserve(share)

    def memory(self) -> dict[str, int]:
        """Return how many bytes each part of the storage takes, what is reserved left out."""
        rows = self.rows_of
        heads = 4 * (len(self.links.in_head) + len(self.owners.in_head)) * 2
        return {
            "rows": rows.size_bytes + heads + self.chain.size_bytes,
            "names": rows.names.size_bytes,
            "tables": rows.by_name.size_bytes + rows.by_uid.size_bytes,
            "owners": self.owners.size_bytes,
            "links": self.links.size_bytes,
            "labels": self.label_sets.size_bytes,
            "facts": self.facts_sets.size_bytes,
            "traits": self.trait_sets.size_bytes,
            "places": self.places.size_bytes,
            "pod classes": 20 * len(self.classes.row),
        }

    def check(self) -> None:
        """Compute every index anew and compare. Errors: AssertionError, with what differs."""
        check(self)
