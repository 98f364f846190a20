"""What goes with an application or release that a finalizer holds: all that it keeps.

Beside `cascade`, which follows Kubernetes' own controllers: here it is the keeper's that acts on
its finalizer, and without one nothing goes along.
Source: GitOps controllers prune the inventory of an object that is deleted with their finalizer,
and leave it where the finalizer was taken off before, or the object was suspended; operators made
of a chart (Operator SDK) own the record of the release that they uninstall.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from suture.impact.ground.builtin import BUILT_IN
from suture.impact.ground.cascade import closure
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.names import SECRETS, ObjectKey
from suture.model.objects import CustomFacts
from suture.model.parts import SUSPENDED

_KEPT_BY: Final = Edge.MANAGED_BY

FINALIZERS: Final = 1024
"""LIMIT: sets of finalizers of which it is remembered whose they are; clusters have a hundred."""

LEAVES: Final = frozenset({"orphan", "retain", "keep", "abandon", "skip", "detach-on-delete"})
"""What a deletion policy says, in small letters, by which all that an object keeps stays."""

DELETES: Final = frozenset({"delete", "destroy"})
"""What a field says, in small letters, that has the thing outside deleted; else it is kept."""

KEEPERS: Final = 16
OWNED: Final = 256
"""LIMIT: objects that are named at a time, and what each owns, that are looked at for the record
of a release."""

DEEP: Final = 4
"""LIMIT: applications that keep applications: an application of applications is two. What lies
deeper is told when its own application goes."""


def with_inventories(
    view: GraphView, direct: tuple[int, ...], taken: tuple[int, ...]
) -> tuple[int, ...]:
    """Return what goes along with `direct`, to which `taken` is known, inventories included."""
    if not view.names_by(_KEPT_BY):
        return taken
    level = [*direct, *taken]
    # WHY first: nearly nothing has a finalizer of somebody's own, and columns tell.
    if not any(_held_by_own(held) for held, _, _ in view.held(level)):
        return taken
    known, found = set(level), list(taken)
    kept = [*_kept(view, level), *_released(view, direct)]
    for _ in range(DEEP):
        kept = [row for row in kept if row not in known]
        if not kept:
            break
        more = dict.fromkeys((*kept, *closure(view, kept)))
        level = [row for row in more if row not in known]
        known.update(level)
        found += level
        kept = _kept(view, level)
    return tuple(found)


@lru_cache(FINALIZERS)
def _held_by_own(finalizers: tuple[str, ...]) -> bool:
    """Whether a finalizer among some is somebody's own."""
    return not BUILT_IN.keys() >= frozenset(finalizers)


def _kept(view: GraphView, rows: list[int]) -> list[int]:
    """Return what is kept by those of some objects that a finalizer of their own holds."""
    keepers = [
        row
        for row in view.named(rows)
        if _held_by_own(view.finalizers(row))
        and not leaves_all(view, row)
        and not was_suspended(view, row)
    ]
    return list(dict.fromkeys(one for row in keepers for one in view.sources(row, _KEPT_BY)))


def _released(view: GraphView, direct: tuple[int, ...]) -> Iterator[int]:
    """Yield what the releases keep whose records are owned by what a finalizer of its own holds."""
    for keeper in direct[:KEEPERS]:
        if not _held_by_own(view.finalizers(keeper)):
            continue
        for row in view.children_of(keeper)[:OWNED]:
            labels = view.labels(row)
            if view.resource(row) == SECRETS and labels.get("owner") == "helm":
                release = ObjectKey(RELEASES, view.namespace(row), labels.get("name", ""))
                yield from view.named_by(release, _KEPT_BY)


def leaves_all(view: GraphView, row: int) -> bool:
    """Whether a keeper says that what it keeps stays when it goes."""
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and facts.outside.lower() in LEAVES


def was_suspended(view: GraphView, row: int) -> bool:
    """Whether a keeper was suspended: its controller lets it go, and touches nothing it keeps.

    WHY by this word alone: what is shut down, stopped or asleep ends as a whole where it goes.
    LIMIT: of what was suspended before Suture was there nobody knows.
    SOURCE: Flux, whose controllers skip the end of what is suspended.
    """
    return SUSPENDED in view.history.writes.left_out(view.uid(row))
