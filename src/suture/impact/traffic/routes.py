"""Routes that would send traffic to nothing: an Ingress or Gateway route whose Service goes.

Source: ingress and gateway controllers answer 503, or 500, for a backend without endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from suture.impact.effects import EndpointsLost, RouteBroken, ServiceEmptied
from suture.impact.ordinary.byhand import goes_next
from suture.impact.ordinary.hands import own_of_the_day
from suture.impact.scene import Scene
from suture.impact.traffic.serving import ServingEffect
from suture.model.edges import Edge
from suture.model.names import SERVICES


def route_effects(scene: Scene, serving: Sequence[ServingEffect]) -> list[RouteBroken]:
    """Return a route that stays for each Service of it that goes or is emptied.

    A Service that had no endpoint before is told of where it goes: the route then names nothing.
    """
    if not (serving or SERVICES in scene.kinds) or not scene.view.names_by(Edge.ROUTES_TO):
        return []
    found: list[RouteBroken] = []
    emptied = {
        row: effect
        for effect in serving
        if isinstance(effect, ServiceEmptied) and (row := scene.row_of(effect.service)) is not None
    }
    gone = {
        effect.service.uid: effect.before
        for effect in serving
        if isinstance(effect, EndpointsLost) and effect.removed
    }
    for row in (*scene.kinds.get(SERVICES, ()), *emptied):
        found += _broken(scene, row, emptied.get(row), gone)
    return found


def _broken(
    scene: Scene, row: int, left: ServiceEmptied | None, gone: Mapping[str, int]
) -> list[RouteBroken]:
    """Return the routes that stay of one Service, which is `left` with nothing or is `gone`."""
    routes = dict.fromkeys(filter(scene.stays, scene.view.sources(row, Edge.ROUTES_TO)))
    if not routes:
        return []
    service = scene.victim(row)
    if left is None:
        is_explained = scene.causes.explains(row) or own_of_the_day(scene, row)
    else:
        is_explained = left.explained
    return [
        RouteBroken(
            route=scene.victim(route),
            service=service,
            before=gone.get(service.uid, 0) if left is None else left.before,
            service_removed=left is None,
            self_healing=left is not None and left.self_healing,
            explained=is_explained,
        )
        for route in routes
        if not goes_next(scene, route)
    ]
