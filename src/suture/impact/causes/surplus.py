"""What parents have more of than they ask for, and let go of.

Beside `lowered`, which goes by a number that was made smaller: here a parent counts its children.
LIMIT: what each can spare is handed out once, to whichever of its children is asked first.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import counts_children, has_idle, has_sets, spare
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import PODS, Resource

_PARENT: Final = Edge.PARENT


class Surplus:
    """How many children each parent can spare still, while those that go are told one by one."""

    __slots__ = ("_spare", "_view")

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._spare: dict[tuple[int, Resource], int] = {}

    def lets_go(self, row: int, resource: Resource) -> bool:
        """Whether every parent that counts its children lets one go, which is then this one."""
        view = self._view
        if resource != PODS and not (view.names_by(_PARENT) or has_sets(view, resource)):
            return False
        parents = self._counting(row, resource)
        if not parents or not all(self._has_spare(one, resource) for one in parents):
            return False
        if any(has_idle(view, one, row, resource) for one in parents):
            return False
        for parent in parents:
            if (parent, resource) in self._spare:
                self._spare[parent, resource] -= 1
        return True

    def _counting(self, row: int, resource: Resource) -> list[int]:
        view = self._view
        parents = [parent for parent, _ in view.targets(row, _PARENT)]
        if not parents and (resource == PODS or has_sets(view, resource)):
            controller = view.controller(row)
            if controller >= 0 and counts_children(view.resource(controller), resource):
                parents = [controller]
        return parents

    def _has_spare(self, parent: int, resource: Resource) -> bool:
        view = self._view
        if view.gone(parent) or not view.alive(parent):
            return view.listed(view.resource(parent))
        if view.terminating(parent):
            return True
        if (parent, resource) not in self._spare:
            self._spare[parent, resource] = spare(view, parent, resource)
        return self._spare[parent, resource] > 0
