"""What a parent lets go of, one of whose numbers somebody lowered.

Beside `recent`, which remembers that: by whatever name, the number was as many as the parent had
children of a type, or as many of them as are labelled alike: the workers of a group.
LIMIT: of what was lowered before Suture was there nobody knows.
"""

from __future__ import annotations

from suture.impact.causes.parents import has_idle
from suture.impact.causes.recent import group_of
from suture.model.graph import GraphView
from suture.model.names import Resource


class Lowered:
    """How many children each parent can spare still, while those that go are told one by one."""

    __slots__ = ("_beyond", "_view")

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._beyond: dict[tuple[int, str], int] = {}

    def lets_go(self, row: int, resource: Resource) -> bool:
        """Whether an object's parent can spare it, which is then this one."""
        view = self._view
        fewer = view.history.writes.fewer
        parent = view.controller(row)
        if parent < 0:
            return False
        uid, group = view.uid(parent), str(resource)
        wanted = fewer(uid, group)
        if wanted is None:
            group = group_of(view, row)
            wanted = fewer(uid, group)
        if wanted is None or has_idle(view, parent, row, resource):
            return False
        at = parent, group
        if at not in self._beyond:
            self._beyond[at] = self._count(parent, resource, group) - wanted
        self._beyond[at] -= 1
        return self._beyond[at] >= 0

    def _count(self, parent: int, resource: Resource, group: str) -> int:
        """Return how many children of a type a parent has, in a group where it is one."""
        view, of_type = self._view, group == str(resource)
        return sum(
            view.resource(one) == resource and (of_type or group_of(view, one) == group)
            for one in view.staying(view.children_of(parent))
            if not view.terminating(one)
        )
