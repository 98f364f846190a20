"""Who does what as a matter of course: whose finalizer it is, whose kind, whose release.

Kubernetes does not say which identity a controller runs as; what an identity was let through to do
tells. Pure and in memory, with one caller. Bounded: what falls out is unknown, and what is unknown
makes nobody a stranger.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from suture.model.bounded import oldest
from suture.model.edges import Edge
from suture.model.names import SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.request import Request

FINALIZERS_KEPT = 1_024
"""LIMIT: finalizers whose owners are remembered; a cluster has some hundred. 0.3 kB each."""

KINDS_KEPT = 4_096
"""LIMIT: types whose status writers are remembered; twice what the largest cluster known has."""

WORKS_KEPT = 16_384
"""LIMIT: releases and applications whose writers are remembered; 0.5 kB each, 8 MB."""

IDENTITIES = 4
"""LIMIT: identities of one habit: a controller, its successor under another name, and two more."""

RELEASES = Resource("helm.sh", "releases")
"""No type of the API: a release is a Secret that Helm writes before and after what it does.
SOURCE: Helm, storage driver `secrets`: labels `owner: helm` and `name`."""

DEPLOYED = "deployed"
"""What the record in force of a release says of it. SOURCE: Helm, `release.Status`."""

T = TypeVar("T", bound=Hashable)

_NOBODY: frozenset[str] = frozenset()


class _Kept(Generic[T]):
    """Identities by subject; the subject that was longest not heard of is forgotten first."""

    __slots__ = ("_by", "_limit", "_of")

    def __init__(self, limit: int) -> None:
        self._by: dict[T, tuple[str, ...]] = {}
        self._of: dict[str, dict[T, None]] = {}
        self._limit = limit

    def of(self, subject: T) -> frozenset[str]:
        found = self._by.get(subject)
        return _NOBODY if found is None else frozenset(found)

    def subjects(self, identity: str) -> Iterable[T]:
        return self._of.get(identity, ())

    def note(self, subject: T, identity: str) -> None:
        known = self._forget(subject)
        others = tuple(one for one in known if one != identity)
        self._keep(subject, (*others, identity)[-IDENTITIES:])
        for one in oldest(self._by, self._limit):
            self._forget(one)

    def _keep(self, subject: T, identities: tuple[str, ...]) -> None:
        self._by[subject] = identities
        for one in identities:
            self._of.setdefault(one, {})[subject] = None

    def _forget(self, subject: T) -> tuple[str, ...]:
        known = self._by.pop(subject, ())
        for one in known:
            subjects = self._of[one]
            del subjects[subject]
            if not subjects:
                del self._of[one]
        return known

    def kept(self) -> list[tuple[T, tuple[str, ...]]]:
        return list(self._by.items())

    def recall(self, kept: Iterable[tuple[T, tuple[str, ...]]]) -> None:
        for subject, identities in kept:
            self._forget(subject)
            self._keep(subject, identities)


Remembered = Sequence[tuple[T, tuple[str, ...]]]
"""Identities by subject, the longest not heard of first."""


class Known(NamedTuple):
    """All habits at one moment."""

    finalizers: Remembered[str]
    kinds: Remembered[Resource]
    works: Remembered[ObjectKey]


class Habits:
    """What identities were let through to do, as far as it tells what is theirs."""

    __slots__ = ("_finalizers", "_kinds", "_works")

    def __init__(self) -> None:
        self._finalizers: _Kept[str] = _Kept(FINALIZERS_KEPT)
        self._kinds: _Kept[Resource] = _Kept(KINDS_KEPT)
        self._works: _Kept[ObjectKey] = _Kept(WORKS_KEPT)

    def note(self, request: Request) -> None:
        """Learn from a write that was let through.

        Who adds a finalizer owns it, and so does who is the first to take it off something; who
        writes the status of a kind keeps that kind; who makes an object with the mark of a release
        or application, or writes the release itself, works for it.
        """
        identity, old, new = request.user.username, request.old, request.new
        if new is None:
            return
        if request.subresource == "status":
            self._kinds.note(request.key.resource, identity)
            return
        if request.subresource:
            return
        had = old.finalizers if old is not None else ()
        if new.finalizers != had:
            self._note_finalizers(identity, had, new.finalizers)
        if old is None:
            for manager in managers_of(new):
                self._works.note(manager, identity)
        release = release_of(new)
        if release is not None:
            self._works.note(release, identity)

    def _note_finalizers(self, identity: str, had: Iterable[str], has: Iterable[str]) -> None:
        before, after = frozenset(had), frozenset(has)
        for added in after - before:
            self._finalizers.note(added, identity)
        for lifted in before - after:
            if not self._finalizers.of(lifted):
                self._finalizers.note(lifted, identity)

    # -- over a restart

    def kept(self) -> Known:
        """Return all habits, for another process."""
        return Known(self._finalizers.kept(), self._kinds.kept(), self._works.kept())

    def recall(
        self,
        finalizers: Remembered[str],
        kinds: Remembered[Resource],
        works: Remembered[ObjectKey],
    ) -> None:
        """Take over habits that an earlier process learnt."""
        self._finalizers.recall(finalizers)
        self._kinds.recall(kinds)
        self._works.recall(works)

    # -- what they tell

    def lifters(self, finalizer: str) -> frozenset[str]:
        """Return the identities whose finalizer it is."""
        return self._finalizers.of(finalizer)

    def keepers(self, resource: Resource) -> frozenset[str]:
        """Return the identities that write the status of a type."""
        return self._kinds.of(resource)

    def kinds_of(self, identity: str) -> Iterable[Resource]:
        """Return the types of which an identity is known to write the status."""
        return self._kinds.subjects(identity)

    def workers(self, manager: ObjectKey) -> frozenset[str]:
        """Return the identities that write what a release or application manages."""
        return self._works.of(manager)

    def works_of(self, identity: str) -> Iterable[ObjectKey]:
        """Return the releases and applications for which an identity is known to work."""
        return self._works.subjects(identity)


def managers_of(thing: ClusterObject) -> tuple[ObjectKey, ...]:
    """Return the releases and applications whose mark an object carries."""
    return tuple(need.target for need in thing.needs if need.edge is Edge.MANAGED_BY)


def is_past_record(labels: Mapping[str, str]) -> bool:
    """Whether the labels of a Secret say that it records what a release was, and is no more."""
    return labels.get("owner") == "helm" and labels.get("status", DEPLOYED) != DEPLOYED


def release_of(thing: ClusterObject) -> ObjectKey | None:
    """Return the release that a Secret records; None for any other object."""
    if thing.key.resource != SECRETS or thing.labels.get("owner") != "helm":
        return None
    name = thing.labels.get("name", "")
    return ObjectKey(RELEASES, thing.key.namespace, name) if name else None
