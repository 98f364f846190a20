"""Custom resources that were written anew, and so are stored in the version of today.

What an object is stored in is the storage version of its definition when it was last written, also
where that write made nothing else of it: so objects are brought from one version to the next. Only
of definitions in more than one version, of which the most have one, is it remembered.
Source: apiextensions/v1 CustomResourceDefinitionStatus (`storedVersions`: all versions in which
objects may be stored; who has migrated them strikes the former one out).
"""

from __future__ import annotations

from typing import Final

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
    writes = view.history.writes
    if not writes.written(request.key, What.STORED, now, _NOTED_S):
        # A number that no other note of it has: each of them is one.
        deed = Deed(What.STORED, request.user.username, -now.mono_ns)
        writes.note(request.key, deed, now)


def stored_before(view: GraphView, resource: Resource, now: Now) -> int:
    """Return how many instances nobody is known to have written within the day."""
    if view.count(resource) > ASKED:
        return 0
    written = view.history.writes.written
    return sum(
        not written(view.key(row), What.STORED, now, DAY_S)
        for row in view.staying(view.rows(resource))
    )


def _in_several(view: GraphView, resource: Resource) -> bool:
    row = view.crd(resource)
    facts = None if row is None else view.facts(row)
    return isinstance(facts, CrdFacts) and len(facts.stored_versions) > 1
