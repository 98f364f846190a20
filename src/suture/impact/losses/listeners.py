"""Listeners of a Gateway that go, or take fewer routes in, while routes are attached to them.

Beside `references`, which tells of it: a route that no listener takes in any more has no parent,
and no traffic comes to it. By a listener's name, or by the namespaces whose routes it takes in; of
those that it chooses by more than labels, nothing is known.
Source: Gateway API, `sectionName` and `AllowedRoutes` (its own namespace where nothing is said).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from suture.impact.ground.bodies import decoded
from suture.impact.ordinary.atwork import leads
from suture.impact.scene import Scene
from suture.impact.traffic.spaces import namespace_labels
from suture.model.edges import Edge
from suture.model.graph import GraphView, Use

_ATTACHED: Final = frozenset({Edge.ATTACHED_TO})
_ALL, _SAME, _CHOSEN = "All", "Same", "Selector"


class _Selector(msgspec.Struct, rename="camel", gc=False):
    match_labels: dict[str, str] | None = None


class _Namespaces(msgspec.Struct, gc=False):
    come_from: str = msgspec.field(default=_SAME, name="from")
    selector: _Selector | None = None


class _Allowed(msgspec.Struct, gc=False):
    namespaces: _Namespaces | None = None


class _Listener(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    allowed_routes: _Allowed | None = None

    def takes(self, view: GraphView, own: str, space: str) -> bool:
        """Whether routes of a namespace are taken in; `own`: that of the Gateway."""
        said = self.allowed_routes.namespaces if self.allowed_routes is not None else None
        where = said or _Namespaces()
        if where.come_from == _SAME:
            return space == own
        if where.come_from != _CHOSEN or where.selector is None:
            return where.come_from == _ALL
        labels = namespace_labels(view, space)
        wanted = where.selector.match_labels or {}
        return all(labels.get(name) == value for name, value in wanted.items())


class _Spec(msgspec.Struct, gc=False):
    listeners: tuple[_Listener, ...] | None = None


class _Gateway(msgspec.Struct, gc=False):
    spec: _Spec | None = None


_decoder = msgspec.json.Decoder(_Gateway)


def detached(scene: Scene, gateway: int) -> list[Use]:
    """Return the routes that no listener of a written Gateway takes in any more, and one did.

    They lead to somebody, and are attached to nothing else.
    """
    view, request = scene.view, scene.request
    old, new = _listeners(request.old_body), _listeners(request.new_body)
    if old == new:
        return []
    gone = {one.name for one in old}.difference(one.name for one in new)
    own = request.key.namespace

    def taken(use: Use, listeners: Sequence[_Listener]) -> bool:
        space = view.namespace(use.row)
        return any(one.takes(view, own, space) for one in listeners if use.key in ("", one.name))

    uses = [one for one in view.uses(gateway, _ATTACHED) if not one.optional]
    left = [one for one in uses if one.key in gone or (taken(one, old) and not taken(one, new))]
    staying = {one.row for one in uses if one not in left}
    return [
        one
        for one in left
        if one.row not in staying
        and leads(view, one.row, scene.removed)
        and all(other == gateway for other, _ in view.targets(one.row, Edge.ATTACHED_TO))
    ]


def _listeners(body: bytes) -> tuple[_Listener, ...]:
    spec = decoded(_decoder, body, _Gateway()).spec
    return (spec.listeners if spec is not None else None) or ()
