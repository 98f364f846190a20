"""Custom resources that were written anew, and so are stored in the version of today.

What an object is stored in is the storage version of its definition when it was last written, also
where that write made nothing else of it: so objects are brought from one version to the next, and
no admission need be asked. That they were written their own versions tell, since those of all
objects count on together.
Source: apiextensions/v1 CustomResourceDefinitionStatus (`storedVersions`: all versions in which
objects may be stored; who has migrated them strikes the former one out); the API server adds the
storage version to it before admission. etcd: a revision is one of the whole store.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Rewritten
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import Resource
from suture.model.objects import CrdFacts
from suture.model.request import Request

ASKED: Final = 20_000
"""LIMIT: instances of one definition that are asked for their version, 0.3 us each, for a write
that comes once in the life of a version. Of a definition with more nothing is known."""


def remember_version(request: Request, made: Rewritten, view: GraphView, now: Now) -> None:
    """Remember that from now on objects are stored in a version in which they were not before."""
    old, new = made.facts_before, made.after.facts
    if not isinstance(old, CrdFacts) or not isinstance(new, CrdFacts):
        return
    if set(new.stored_versions) <= set(old.stored_versions) or view.count(old.resource) > ASKED:
        return
    # WHY the latest: whatever is written from now on has a later one.
    latest = max(_versions(view, old.resource), default=0)
    view.history.writes.note(request.key, Deed(What.STORED, request.user.username, latest), now)


def stored_before(view: GraphView, resource: Resource) -> int:
    """Return how many instances nobody has written since the last version came.

    Where that was before the model was told of their writes, since then: what it was not told of
    may have been before the version. Not what was written after the definition was last: it is
    stored in the version of today, and to write it as it is changes nothing, its own version
    neither. None where the versions are no numbers.
    LIMIT: a version that one brings of whom Suture is not asked counts as one of before.
    """
    row = view.crd(resource)
    if row is None or view.count(resource) > ASKED:
        return 0
    came = view.history.writes.latest(view.key(row), What.STORED)
    since = _number(view.told_since(resource)) if came is None else came
    defined = _number(view.version(row))
    if since is None or defined is None:
        return 0
    return sum(one <= min(since, defined) for one in _versions(view, resource))


def _versions(view: GraphView, resource: Resource) -> list[int]:
    """Return the versions of the instances that stay, as far as they are numbers."""
    versions = [_number(view.version(row)) for row in view.staying(view.rows(resource))]
    return [one for one in versions if one is not None]


def _number(version: str) -> int | None:
    return int(version) if version.isdecimal() else None
