"""Grants that let Gateways and routes name what is in another namespace, when the last one goes.

Beside `routes`, of which nothing is gone here: a Gateway whose listener may not read its
certificate has none, and a route that may not name a Service answers with an error. A grant says
who may, in its own namespace; where another stays there, that may say the same.
Source: gateway.networking.k8s.io ReferenceGrant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from suture.impact.effects import ReferenceBroken, RouteBroken
from suture.impact.ground.grants import Granted, granted_by
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import GATEWAYS, REFERENCE_GRANTS, SERVICES
from suture.model.targets import resource_of

USERS_ASKED: Final = 1_000
"""LIMIT: Gateways or routes of a namespace that are asked what they name, 2.5 us each."""

_NAMING: Final = (Edge.ROUTES_TO, Edge.CERTIFICATE)


def granted_effects(scene: Scene) -> Iterator[RouteBroken | ReferenceBroken]:
    """Yield what could name the objects of a namespace by a grant, which is deleted, alone."""
    view, request = scene.view, scene.request
    if request.key.resource != REFERENCE_GRANTS or len(scene.direct) != 1:
        return
    space = request.key.namespace
    if any(one not in scene.removed for one in view.rows(REFERENCE_GRANTS, space)):
        return
    explained = all(map(scene.causes.explains, scene.direct))
    granted = granted_by(request.old_body)
    named: dict[tuple[int, Edge], list[int]] = defaultdict(list)
    for user in _users(scene, granted):
        for edge in _NAMING:
            for target, stays in view.targets(user, edge):
                if stays and view.namespace(target) == space and _is_meant(scene, granted, target):
                    named[target, edge].append(user)
    for (target, edge), users in named.items():
        if view.resource(target) == SERVICES:
            for user in users:
                yield RouteBroken(
                    route=scene.victim(user),
                    service=scene.victim(target),
                    before=view.serving_count(target),
                    service_removed=True,
                    explained=explained,
                )
        else:
            yield ReferenceBroken(
                target=scene.victim(target),
                key="",
                edge=edge,
                current=len(users),
                past=0,
                pods=0,
                users=tuple(map(scene.victim, users[: scene.limit])),
                explained=explained,
            )


def _users(scene: Scene, granted: Granted) -> dict[int, None]:
    """Return who may name something by a grant, of those that stay, each once."""
    view = scene.view
    found: dict[int, None] = {}
    for one in granted.sources:
        resource = resource_of(one.group, one.kind)
        if resource.group == GATEWAYS.group:
            rows = view.rows(resource, one.namespace)[:USERS_ASKED]
            found |= dict.fromkeys(r for r in rows if scene.stays(r) and not view.terminating(r))
    return found


def _is_meant(scene: Scene, granted: Granted, target: int) -> bool:
    """Whether a grant lets an object be named: all of its type, or this one by its name."""
    view = scene.view
    return any(
        resource_of(one.group, one.kind) == view.resource(target)
        and (one.name or view.name(target)) == view.name(target)
        for one in granted.targets
    )
