"""Custom resources that were written anew, and so are stored in the version of today.

What an object is stored in is the storage version of its definition when it was last written, also
where that write made nothing else of it: so objects are brought from one version to the next. Only
of definitions in more than one version, of which the most have one, is it remembered.
Source: apiextensions/v1 CustomResourceDefinitionStatus (`storedVersions`: all versions in which
objects may be stored; who has migrated them strikes the former one out).
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.change import Rewritten
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import Operation, Resource
from suture.model.objects import CrdFacts
from suture.model.request import Request
from suture.model.writes import DAY_S

ASKED: Final = 2_000
"""LIMIT: instances of one definition that are asked when they were written, 2.5 us each, for a
write that comes once in the life of a version. Of a definition with more nothing is known."""

_NOTED_S: Final = DAY_S // 4
"""How long a note of it stands before the next, so that who writes all day does not fill what is
remembered of an object."""


def remember_stored(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a custom resource was made or written, in part or whole."""
    if request.operation is Operation.DELETE or not _in_several(view, request.key.resource):
        return
    ago_s = view.history.writes.ago_s(request.key, What.STORED, now)
    if ago_s is None or ago_s >= _since_s(view, request.key.resource, _NOTED_S, now):
        _note(request, view, now)


def remember_version(request: Request, made: Rewritten, view: GraphView, now: Now) -> None:
    """Remember that from now on objects are stored in a version in which they were not before."""
    old, new = made.facts_before, made.after.facts
    if not isinstance(old, CrdFacts) or not isinstance(new, CrdFacts):
        return
    if not set(new.stored_versions) <= set(old.stored_versions):
        _note(request, view, now)


def stored_before(view: GraphView, resource: Resource, now: Now) -> int:
    """Return how many instances nobody is known to have written since the last version came.

    Within the day, where that is longer ago or not known.
    """
    if view.count(resource) > ASKED:
        return 0
    since_s = _since_s(view, resource, DAY_S, now)
    times = (
        view.history.writes.ago_s(view.key(row), What.STORED, now)
        for row in view.staying(view.rows(resource))
    )
    return sum(ago_s is None or ago_s > since_s for ago_s in times)


def _note(request: Request, view: GraphView, now: Now) -> None:
    # A number that no other note of it has: each of them is one.
    deed = Deed(What.STORED, request.user.username, -now.mono_ns)
    view.history.writes.note(request.key, deed, now)


def _since_s(view: GraphView, resource: Resource, most_s: float, now: Now) -> float:
    """Return how long ago a definition's last version came, or `most_s` where that is less."""
    row = view.crd(resource)
    came_s = None if row is None else view.history.writes.ago_s(view.key(row), What.STORED, now)
    return most_s if came_s is None else min(most_s, came_s)


def _in_several(view: GraphView, resource: Resource) -> bool:
    row = view.crd(resource)
    facts = None if row is None else view.facts(row)
    return isinstance(facts, CrdFacts) and len(facts.stored_versions) > 1
