"""Routes that would send traffic to nothing: an Ingress or Gateway route whose Service goes.

Source: ingress and gateway controllers answer 503, or 500, for a backend without endpoints.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    view, causes = scene.view, scene.causes
    if not (serving or SERVICES in scene.kinds) or not view.names_by(Edge.ROUTES_TO):
        return []
    found: list[RouteBroken] = []
    emptied = {}
    for effect in serving:
        if isinstance(effect, ServiceEmptied):
            row = scene.row_of(effect.service)
            if row is not None:
                emptied[row] = effect
    gone = {
        effect.service.uid: effect.before
        for effect in serving
        if isinstance(effect, EndpointsLost) and effect.removed
    }
    for row in (*scene.kinds.get(SERVICES, ()), *emptied):
        routes = view.sources(row, Edge.ROUTES_TO)
        if not routes:
            continue
        staying = [one for one in dict.fromkeys(routes) if one not in scene.removed]
        left = emptied.get(row)
        is_explained = left.explained if left is not None else causes.explains(row)
        if staying and left is None and not is_explained:
            is_explained = own_of_the_day(scene, row)
        for route in staying:
            if view.terminating(route) or goes_next(scene, route):
                continue
            broken = RouteBroken(
                route=scene.victim(route),
                service=scene.victim(row),
                before=gone.get(scene.victim(row).uid, 0) if left is None else left.before,
                service_removed=left is None,
                self_healing=left is not None and left.self_healing,
                explained=is_explained,
            )
            found.append(broken)
    return found
