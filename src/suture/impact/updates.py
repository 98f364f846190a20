"""From a create or update to a change: whatever differs that the model reads, and other sizes.

Beside `project`, which tells what goes. Total: what the model has not heard of is taken as the
request shows it.
Source: apiserver `ShouldDeleteDuringUpdate` (an update that takes the last finalizer off an object
that is going is its end, and no delete follows); garbagecollector (an object whose owners are all
absent is deleted); horizontal controller (the wanted size is kept between the bounds).
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.cascade import closure, collectable
from suture.impact.ground.change import NOTHING, Change, Resized, Rewritten
from suture.impact.ground.unready import told_unready
from suture.impact.history import outdated
from suture.impact.members import counted_otherwise, sized_below
from suture.impact.shed import shed
from suture.model.difference import parts_changed
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES
from suture.model.objects import ClusterObject, CustomFacts, Facts, WorkloadFacts
from suture.model.request import Request

ORPHANS: Final = "orphan"
"""The finalizer of a delete that leaves its dependents. SOURCE: `FinalizerOrphanDependents`."""

WHOLE: Final = frozenset({"", "finalize"})
"""Subresources by which an object itself is written: none, and `finalize`, a namespace's own."""


def created(request: Request, view: GraphView) -> Change:
    """Return what a create would change: there is one object more, and what it sizes is sized."""
    after = request.new
    if request.subresource or after is None:
        return NOTHING
    return Change(resized=_bounded(view, after), rewritten=Rewritten(None, None, after))


def updated(request: Request, view: GraphView) -> Change:
    """Return what an update would change: an object that stays, or one that goes for it."""
    if request.subresource == "scale":
        return _scale(request, view)
    after = request.new
    if after is None:
        return NOTHING
    if request.subresource not in WHOLE:
        pod = told_unready(request, view)
        return NOTHING if pod is None else Change(unready=pod)
    # WHY first: it is the usual reconcile, and nothing else of it need be looked at.
    if request.old_body and request.old_body == request.new_body:
        return NOTHING
    row = view.find(request.key)
    before = request.old
    if before is None:
        if row is None:
            return NOTHING
        before = view.at(row)
    elif row is not None and view.uid(row) != before.uid:
        row = None
    parts = request.parts_changed
    if parts is None:
        parts = parts_changed(request.old_body, request.new_body)
    if not parts and _alike(before, after):
        return NOTHING
    rewritten = Rewritten(row, before, after, parts)
    if row is not None and _ends(view, before, after):
        orphan = ORPHANS in before.finalizers
        return Change((row,), closure(view, (row,), orphan=orphan), rewritten=rewritten)
    resized = _resized(request, view, row, before, after) or _bounded(view, after, before)
    left = () if row is None else outdated(view, row, after, request.new_body)
    return Change(cascaded=left + shed(view, resized), resized=resized, rewritten=rewritten)


def _alike(before: ClusterObject, after: ClusterObject) -> bool:
    """Whether two versions of an object are the same in everything that the model reads."""
    return (
        before.labels == after.labels
        and before.facts == after.facts
        and before.needs == after.needs
        and before.owners == after.owners
        and before.finalizers == after.finalizers
        and before.terminating == after.terminating
    )


def _ends(view: GraphView, before: ClusterObject, after: ClusterObject) -> bool:
    """Whether an update is the end of its object: nothing holds it any more, or nobody owns it."""
    if after.terminating:
        # A namespace is held by its own list of finalizers too, which is not in its metadata.
        held = before.finalizers and not after.finalizers
        return bool(held) and after.key.resource != NAMESPACES
    return (
        before.owners != after.owners
        and bool(after.owners)
        and collectable(view, after)
        and not (before.owners and collectable(view, before))
    )


def _scale(request: Request, view: GraphView) -> Change:
    row, size = view.find(request.key), request.scale_to
    if row is None or size is None:
        return NOTHING
    before = _wanted(view.facts(row))
    if before is None:
        before = request.scale_from
    if before is None or before == size:
        return NOTHING
    resized = Resized(row, before, size)
    if isinstance(view.facts(row), CustomFacts):
        resized = sized_below(view, row, before, size)
    return Change(cascaded=shed(view, resized), resized=resized)


def _wanted(facts: Facts | None) -> int | None:
    """Return how many an object says that it wants."""
    if isinstance(facts, WorkloadFacts):
        return facts.replicas
    return facts.wanted if isinstance(facts, CustomFacts) else None


def _resized(
    request: Request, view: GraphView, row: int | None, before: ClusterObject, after: ClusterObject
) -> Resized | None:
    if row is None:
        return None
    had, wants = _wanted(before.facts), _wanted(after.facts)
    if not isinstance(after.facts, CustomFacts):
        return None if had is None or wants is None or had == wants else Resized(row, had, wants)
    if had is None or wants is None:
        return counted_otherwise(request, view, row)
    return None if had == wants else sized_below(view, row, had, wants)


def _bounded(
    view: GraphView, after: ClusterObject, before: ClusterObject | None = None
) -> Resized | None:
    """Return the size that an autoscaler's bounds force upon its target, when they are written."""
    facts = after.facts
    if not isinstance(facts, AutoscalerFacts):
        return None
    if before is not None and before.facts == facts and before.needs == after.needs:
        return None
    for need in after.needs:
        row = view.find(need.target) if need.edge is Edge.SCALES else None
        if row is None:
            continue
        size = _wanted(view.facts(row))
        # WHY not zero: an autoscaler leaves alone what was scaled to nothing by hand.
        if not size:
            continue
        forced = max(min(size, facts.most), facts.least)
        if forced != size:
            return Resized(row, size, forced)
    return None
