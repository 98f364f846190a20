"""Creates and updates of objects as values, without bodies: what most effects are computed from."""

from __future__ import annotations

from typing import TypeVar

from support.cluster import START, operator
from suture.impact.effects import Effect, Impact
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.actor import Actor
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import Gvr, Operation
from suture.model.objects import ClusterObject
from suture.model.request import Request

E = TypeVar("E", bound=Effect)


def update(
    before: ClusterObject | None,
    after: ClusterObject,
    *,
    by: Actor | None = None,
    subresource: str = "",
    bodies: tuple[bytes, bytes] = (b"", b""),
) -> Request:
    """Ask for an update, or without `before` for a create."""
    resource = after.key.resource
    return Request(
        uid="review-1",
        operation=Operation.CREATE if before is None else Operation.UPDATE,
        gvr=Gvr(resource.group, after.gvk.version, resource.plural),
        gvk=after.gvk,
        subresource=subresource,
        namespace=after.key.namespace,
        name=after.key.name,
        user=(by or operator()).user,
        old=before,
        new=after,
        old_body=bodies[0],
        new_body=bodies[1],
    )


def impact_of(
    request: Request, view: GraphView, *, now: Now = START, by: Actor | None = None
) -> Impact:
    """Estimate what a request would do."""
    return estimate(request, project(request, view), view, by or operator(), now=now)


def effects(impact: Impact, kind: type[E]) -> list[E]:
    """Return the effects of one type."""
    return [one for one in impact.effects if isinstance(one, kind)]
