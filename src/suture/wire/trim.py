"""Kubernetes JSON to trimmed objects: the one reader behind watches, reviews and files.

Pure. Never refuses JSON for its shape: what cannot be read of an object is left out and counted
as odd, since one strange object must not blind the model to a whole kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from suture.model.bounded import oldest
from suture.model.difference import all_parts, differing
from suture.model.edges import Need
from suture.model.labels import Labels
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import NO_LABELS, ClusterObject, Facts, OwnerReference
from suture.model.podneeds import PodNeeds
from suture.model.rulebook import KindRules
from suture.wire.declared import ruled
from suture.wire.interned import Interned
from suture.wire.kinds import SECRET_KEYS, SHAPES
from suture.wire.managedby import Applications, Managers, managed_by
from suture.wire.oddities import UNREADABLE, Owner, anything, odd_meta, odd_owners
from suture.wire.readings import Both, End, Head, joined
from suture.wire.shapes import (
    ABSENT,
    Document,
    ManagedDocument,
    ManagedMeta,
    Meta,
    Shape,
)
from suture.wire.users import USERS, read_user

INTERNED = 4096
"""LIMIT: label sets and owner lists remembered, each in two generations: 8,192 at 0.8 KB are 7 MB
at most. Lists come sorted by name, so that siblings follow each other; ten times as many made the
largest cluster known 60 MB larger and no faster to read."""

NEEDS = 4096
"""LIMIT: needs of pods remembered, in two generations as above: 6 MB at most. Siblings follow each
other in a list, and what is made anew costs nothing but the sharing."""

NAMES = 65_536
"""LIMIT: names of namespaces and nodes shared between objects; the largest cluster known has
20,000 of both together."""

ENDS = 2048
"""LIMIT: objects whose spec and status are remembered as they were last reviewed: operators write
the same ones again and again. Up to ENDS_BYTES each, 3 KB mostly: 6 MB."""

ENDS_BYTES = 8192
"""LIMIT: longer ones are read each time; 16 MB in all at most."""

READERS = 4096
"""LIMIT: kinds and forms with a reader of their own, 1 KB each; clusters serve 1,000 kinds at
most, and nobody who invents more makes us grow."""

PARTIAL = "PartialObjectMetadata"


_SPEC = b',"spec":'

_meta_decoder = msgspec.json.Decoder(ManagedMeta)
_head_decoder = msgspec.json.Decoder(Head)
_labels_decoder = msgspec.json.Decoder(dict[str, str] | None)
_owners_decoder = msgspec.json.Decoder(tuple[Owner, ...] | None)


class Trimmer:
    """Makes trimmed objects, sharing the parts that many objects have in common.

    `odd` counts, by type and part, what could not be read: `metadata`, `labels`, `owners`,
    `facts`, `needs`, `rules`. `secret_keys`: whole Secrets are read for the names of their
    entries, where whole ones come; never for a value. Labels of two objects are the same mapping
    where they were the same bytes, so that `is` tells most unchanged ones apart; nobody may write
    into them.
    """

    def __init__(self, interned: int = INTERNED, *, secret_keys: bool = False) -> None:
        self.odd: Counter[tuple[str, str]] = Counter()
        self.labels = Interned(self._read_labels, interned)
        self.owners = Interned(self._read_owners, interned)
        self.needs = Interned(PodNeeds, min(interned, NEEDS))
        self.managers = Managers()
        self.users = Interned(read_user, USERS)
        self.applications = Applications()
        """Where applications are whose marks do not say it."""
        self._shapes = {**SHAPES, **SECRET_KEYS} if secret_keys else SHAPES
        self._names: dict[str, str] = {}
        self._rules: dict[Resource, KindRules] = {}
        self._readers: dict[tuple[Resource, Gvk, bool], Reader] = {}
        self.ends: dict[str, End] = {}

    def reader(self, resource: Resource, gvk: Gvk, *, full: bool = True) -> Reader:
        """Return what reads one kind. `full` False: only metadata was asked for, or is wanted.

        The kind decides with the resource: a `Scale` of a Deployment has no Deployment's facts.
        """
        reader = self._readers.get((resource, gvk, full))
        if reader is None:
            if len(self._readers) >= READERS:
                self._readers.clear()
            shape = self._shape(resource, gvk, full=full)
            reader = self._readers[resource, gvk, full] = Reader(self, resource, gvk, shape)
        return reader

    def declare(self, rules: Mapping[Resource, KindRules]) -> None:
        """Put rules in force, in place of those before, for readers that are asked for from now."""
        before, self._rules = self._rules, dict(rules)
        for key in list(self._readers):
            if before.get(key[0]) != rules.get(key[0]):
                del self._readers[key]

    def _shape(self, resource: Resource, gvk: Gvk, *, full: bool) -> Shape | None:
        shape = self._shapes.get(resource)
        if shape is not None and shape.kind != gvk.kind:
            return None
        shape = shape if full else None
        rules = self._rules.get(resource)
        # WHY the group: a `Scale` of a custom resource is none.
        if rules is None or gvk.group != resource.group:
            return shape

        def odd() -> None:
            self.odd[str(resource), "rules"] += 1

        return ruled(gvk.kind, rules, shape, odd, full=full)

    def trim(
        self, body: bytes | msgspec.Raw, resource: Resource, gvk: Gvk, *, full: bool = True
    ) -> ClusterObject:
        """Read one object. Errors: `TrimError` when the bytes are no JSON."""
        return self.reader(resource, gvk, full=full).one(body)

    def shared(self, name: str) -> str:
        """Return an equal text that other objects hold already, where there is one."""
        found = self._names.get(name)
        if found is None:
            if len(self._names) >= NAMES:
                self._names = {}
            found = self._names[name] = name
        return found

    def _read_labels(self, raw: bytes) -> Labels:
        try:
            pairs = _labels_decoder.decode(raw)
        except UNREADABLE:
            self.odd["", "labels"] += 1
            found = anything(raw)
            whole = found if isinstance(found, dict) else {}
            pairs = {key: value for key, value in whole.items() if isinstance(value, str)}
        if not pairs:
            return NO_LABELS
        labels = Labels.of(pairs)
        # WHY the given bytes where they are the same: the table of known ones holds them anyway.
        return Labels(raw) if labels.raw == raw else labels

    def _read_owners(self, raw: bytes) -> tuple[OwnerReference, ...]:
        try:
            return tuple(owner.reference() for owner in _owners_decoder.decode(raw) or ())
        except UNREADABLE:
            self.odd["", "owners"] += 1
            found = anything(raw)
            owners = found if isinstance(found, list) else []
            return tuple(owner.reference() for one in owners for owner in odd_owners(one))


class Reader:
    """Reads one kind, in one form, from any of the places where its objects are found."""

    def __init__(self, trimmer: Trimmer, resource: Resource, gvk: Gvk, shape: Shape | None) -> None:
        self.trimmer = trimmer
        self.resource = resource
        self.gvk = gvk
        self.shape = shape
        self.document: type[Document] = shape.document if shape is not None else ManagedDocument
        self._decoder = msgspec.json.Decoder(self.document)

    def one(self, body: bytes | msgspec.Raw) -> ClusterObject:
        """Read one object. Errors: `TrimError` when the bytes are no JSON."""
        try:
            document = self._decoder.decode(body)
        except UNREADABLE:
            return self._odd_one(bytes(body))
        return self.made(document)

    def decoded(self, body: bytes | msgspec.Raw) -> Document | None:
        """Decode one object, for `made` to trim; None where it is odd, which `one` reads."""
        try:
            return self._decoder.decode(body)
        except UNREADABLE:
            return None

    def made(self, document: Document) -> ClusterObject:
        """Trim what was decoded already, in a page or in a block of watch lines."""
        meta = document.metadata
        if meta is None:
            self._count("metadata")
            meta = Meta()
        key, labels = self._named(meta)
        facts: Facts | None = None
        needs: Sequence[Need] = ()
        shape = self.shape
        if shape is not None and (document.kind != PARTIAL or shape.partial):
            facts, needs = self._read(shape, document, key, labels)
        return self._whole(meta, key, labels, facts, needs)

    def both(self, new: bytes, old: bytes) -> Both:
        """Read an object as it is to be and as it is, and tell which of its parts differ.

        WHY together: most writes touch metadata alone, and what the rest says is then read once.
        Errors: `TrimError` when one of them is no JSON.
        """
        shape = self.shape
        found = self._alike(new, old) if shape is None or shape.apart else None
        if found is not None:
            return found
        return Both(self.one(new), self.one(old), differing(all_parts(old), all_parts(new)))

    def _alike(self, new: bytes, old: bytes) -> Both | None:
        """Read two objects that differ in metadata alone; None where that cannot be seen at once.

        INVARIANT: both end alike from a spec on, and what stands before it is, closed, an object
        of nothing but kind, version and metadata: so that is all in which they can differ.
        """
        at = new.find(_SPEC)
        end = new[at:]
        if at < 0 or not old.endswith(end):
            return None
        try:
            head = _head_decoder.decode(new[:at] + b"}")
            was_head = _head_decoder.decode(old[: -len(end)] + b"}")
        except UNREADABLE:
            return None
        meta, was = head.metadata, was_head.metadata
        if meta is None or was is None or head.kind == PARTIAL:
            return None
        if (head.kind, head.api_version) != (was_head.kind, was_head.api_version):
            return None
        if (meta.name, meta.namespace) != (was.name, was.namespace) or meta.labels != was.labels:
            return None
        rest = self._ended(meta, end)
        if rest is None:
            return None
        (key, labels), facts, needs = rest.named, rest.facts, rest.needs
        return Both(
            self._whole(meta, key, labels, facts, needs, end=rest),
            self._whole(was, key, labels, facts, needs, end=rest),
            (),
        )

    def _ended(self, meta: ManagedMeta, end: bytes) -> End | None:
        """Read what an object says from its spec on, or remember it; None where it is odd."""
        ends = self.trimmer.ends
        named = self._named(meta)
        found = ends.get(meta.uid)
        if found is not None and found.reader is self and found.end == end and found.named == named:
            return found
        try:
            document = self._decoder.decode(b"{" + end[1:])
        except UNREADABLE:
            return None
        # WHY: of a name that stands there twice the last one holds.
        if document.metadata is not None or document.kind:
            return None
        facts: Facts | None = None
        needs: Sequence[Need] = ()
        if self.shape is not None:
            facts, needs = self._read(self.shape, document, *named)
        found = End(self, named, end, facts, needs)
        if len(end) <= ENDS_BYTES:
            ends[meta.uid] = found
            for uid in oldest(ends, ENDS):
                del ends[uid]
        return found

    def _named(self, meta: Meta) -> tuple[ObjectKey, Labels]:
        trimmer, raw = self.trimmer, meta.labels
        labels = NO_LABELS if raw is ABSENT else trimmer.labels.get(bytes(raw))
        return ObjectKey(self.resource, trimmer.shared(meta.namespace), meta.name), labels

    def _whole(
        self,
        meta: Meta,
        key: ObjectKey,
        labels: Labels,
        facts: Facts | None,
        needs: Sequence[Need],
        *,
        end: End | None = None,
    ) -> ClusterObject:
        """Return an object of which all but its metadata is read; `end`: where that is kept."""
        trimmer, raw = self.trimmer, meta.owner_references
        owners = () if raw is ABSENT else trimmer.owners.get(bytes(raw))
        managers: tuple[str, ...] = ()
        if type(meta) is ManagedMeta:
            if meta.managed_fields:
                managers = trimmer.managers.of(meta.managed_fields)
            # WHY the first by itself: whoever has a controller mostly has no other owner.
            if not owners or not (owners[0].controller or _controlled(owners)):
                keepers = managed_by(
                    meta,
                    key,
                    self.gvk.kind,
                    labels,
                    managers=managers,
                    applications=trimmer.applications,
                )
                if keepers:
                    needs = joined(needs, keepers) if end is None else end.joined(keepers)
        created, deleted = meta.creation_timestamp, meta.deletion_timestamp
        return ClusterObject(
            key,
            meta.uid,
            self.gvk,
            meta.resource_version,
            labels,
            owners,
            meta.finalizers or (),
            0.0 if created is None else created.timestamp(),
            # WHY at least 1: who has one is going, also since before the epoch.
            0.0 if deleted is None else max(deleted.timestamp(), 1.0),
            facts,
            needs,
            managers,
        )

    def _read(
        self, shape: Shape, document: Document, key: ObjectKey, labels: Mapping[str, str]
    ) -> tuple[Facts | None, Sequence[Need]]:
        """Read what a kind's projection says; needs that cannot be read cost only themselves."""
        facts = None if shape.facts is None else shape.facts(document, key.namespace, labels)
        if shape.needs is None:
            return facts, ()
        try:
            needs = shape.needs(document, key, labels)
        except UNREADABLE:
            self._count("needs")
            return facts, ()
        if type(needs) is PodNeeds:
            return facts, self.trimmer.needs.get(needs.raw)
        return facts, needs

    def _odd_one(self, body: bytes) -> ClusterObject:
        """Read an object whose projection failed: part by part, leaving out what is odd."""
        found = anything(body)
        whole: dict[str, Any] = found if isinstance(found, dict) else {}
        kind, raw = whole.get("kind"), whole.get("metadata")
        try:
            meta = _meta_decoder.decode(msgspec.json.encode(raw))
        except UNREADABLE:
            self._count("metadata")
            meta = odd_meta(raw if isinstance(raw, dict) else {})
        # WHY as partial: the metadata alone first, whatever the rest is like.
        kept = self.made(Document(PARTIAL, meta))
        if self.shape is None or kind == PARTIAL:
            return kept
        try:
            rest = self._decoder.decode(msgspec.json.encode({**whole, "metadata": None}))
        except UNREADABLE:
            self._count("facts")
            return kept
        facts, needs = self._read(self.shape, rest, kept.key, kept.labels)
        if kept.needs:
            needs = joined(needs, tuple(kept.needs))
        return msgspec.structs.replace(kept, facts=facts, needs=needs)

    def _count(self, part: str) -> None:
        self.trimmer.odd[str(self.resource), part] += 1


def _controlled(owners: tuple[OwnerReference, ...]) -> bool:
    return any(owner.controller for owner in owners)
