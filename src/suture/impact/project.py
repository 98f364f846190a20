"""From a request to a change: all that would differ afterwards, direct and cascaded.

Total: an unknown kind or an object that the model has not heard of is a change with a doubt, never
an error.
"""

from __future__ import annotations

from typing import Final, assert_never

from suture.impact.ground.cascade import closure, default_propagation
from suture.impact.ground.change import NOTHING, Change
from suture.impact.ground.claims import leaving_in_time
from suture.impact.ground.inventory import with_inventories
from suture.impact.updates import created, updated
from suture.model.fieldselectors import unfollowed
from suture.model.graph import GraphView
from suture.model.names import PODS, ObjectKey, Operation, Propagation, Resource
from suture.model.request import Collection, CollectionItem, One, Request

_CREATE: Final = Operation.CREATE
_FOREGROUND: Final = Propagation.FOREGROUND
_ORPHAN: Final = Propagation.ORPHAN

FINALIZED: Final = {"orphan": _ORPHAN, "foregroundDeletion": _FOREGROUND}
"""What a finalizer on an object says of its dependents, where the delete says nothing."""


def project(request: Request, view: GraphView) -> Change:
    """Return what a request would change, as the model sees it now."""
    match request.operation:
        case Operation.DELETE:
            rows, doubt = _targets(request, view)
            return _removal(request, view, rows, doubt)
        case Operation.CREATE if request.subresource == "eviction":
            pod = ObjectKey(PODS, request.namespace, request.key.name)
            rows, doubt = _one(view, pod, "")
            return _removal(request, view, rows, doubt)
        case Operation.UPDATE:
            return updated(request, view)
        case Operation.CREATE:
            return created(request, view)
        case Operation.CONNECT:
            return NOTHING
        case _:
            assert_never(request.operation)


def _targets(request: Request, view: GraphView) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the rows that a delete names, and a doubt where the model cannot tell."""
    match request.extent:
        case One() | CollectionItem():
            return _one(view, request.key, request.object_uid)
        case Collection() as asked:
            resource = request.key.resource
            unknown = unfollowed(asked.fields, resource)
            if unknown:
                # WHY none: each object comes to admission by itself, and is judged there.
                return (), tuple(f"which {resource} have that `{field}`" for field in unknown)
            rows = tuple(
                row
                for row in view.rows(resource, request.namespace or None)
                if asked.may_take(view.key(row), view.labels(row), view.facts(row))
            )
            return rows, _unlisted(view, resource)
        case _:
            assert_never(request.extent)


def _one(view: GraphView, key: ObjectKey, uid: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    row = view.find(key)
    if row is None:
        return (), _unlisted(view, key.resource)
    if uid and view.uid(row) != uid:
        # WHY: a name was reused and one of us is behind; the confirming read tells which.
        return (), (f"{key} is another life than the one that the request names",)
    return (row,), ()


def _unlisted(view: GraphView, resource: Resource) -> tuple[str, ...]:
    return () if view.listed(resource) else (f"{resource} is not known to the model",)


def _removal(
    request: Request, view: GraphView, targets: tuple[int, ...], doubt: tuple[str, ...]
) -> Change:
    """Return the change that takes `targets` away, unless they are on their way out already."""
    fresh = tuple(row for row in targets if not view.terminating(row))
    evicted = request.operation is _CREATE
    orphaning = [row for row in fresh if _orphans(request, view, row)]
    if not orphaning:
        foreground = request.options.propagation is _FOREGROUND
        roots = fresh if foreground else leaving_in_time(view, fresh)
        cascaded = with_inventories(view, fresh, closure(view, roots))
        return Change(fresh, cascaded, evicted=evicted, doubt=doubt)
    mine, staying = set(fresh), set(orphaning)
    leaving = [row for row in fresh if row not in staying]
    content = closure(view, orphaning, orphan=True)
    taken = dict.fromkeys((*closure(view, leaving, beside=orphaning), *content))
    cascaded = tuple(row for row in taken if row not in mine)
    cascaded = with_inventories(view, fresh, cascaded)
    return Change(fresh, cascaded, evicted=evicted, orphaned=not leaving, doubt=doubt)


def _orphans(request: Request, view: GraphView, row: int) -> bool:
    """Whether an object leaves its dependents behind.

    The request says so, else the object's own finalizers do, else its kind's default.
    SOURCE: apiserver registry/generic `shouldOrphanDependents`, in this order.
    """
    asked = request.options.propagation
    if asked is not None:
        return asked is _ORPHAN
    for finalizer in view.finalizers(row):
        if finalizer in FINALIZED:
            return FINALIZED[finalizer] is _ORPHAN
    return default_propagation(view.resource(row)) is _ORPHAN
