"""What no owner answers for: whether it ends with another parent, or that one asks for it still.

Beside `parents`, whose edges are declared: here labels name the parent, or what is bound to both;
or the object says itself when it ends. A guess by names, so that `Causes` asks it of few objects.
"""

from __future__ import annotations

from collections.abc import Collection

from suture.impact.causes.agreed import ends_as_agreed
from suture.impact.causes.blank import is_blank
from suture.impact.causes.bound import bound_ends, bound_wants
from suture.impact.causes.labelled import (
    label_names_ended,
    label_parent,
    label_parent_ends,
    label_parent_wants,
)
from suture.impact.causes.releases import release_ends
from suture.impact.causes.timed import time_is_up
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.names import ObjectKey


class Apart:
    """Tells of objects without owner, while a change is weighed; each parent is looked up once.

    `identity` asks; `named` is the one object that the request names, if it is one, and `body` that
    object as the API server has it.
    """

    __slots__ = ("_body", "_identity", "_named", "_now", "_parents", "_view")

    def __init__(
        self, view: GraphView, identity: str, now: Now | None, named: int, body: bytes
    ) -> None:
        self._view, self._identity, self._now = view, identity, now
        self._named, self._body = named, body
        self._parents: dict[int, ObjectKey | None] = {}

    def ends(self, row: int) -> bool:
        """Whether an object ends with another parent, or by what it says, which may be nothing."""
        view, now = self._view, self._now
        body = self._body if row == self._named else b""
        return (
            label_parent_ends(view, row, self._parent(row), now)
            or label_names_ended(view, row, self._identity, now)
            or bound_ends(view, row)
            or ends_as_agreed(view, row, now)
            or time_is_up(view, row, now, body)
            or is_blank(view, row, body)
            or release_ends(view, row, self._identity, now)
        )

    def wanted(self, row: int, removed: Collection[int]) -> bool:
        """Whether a parent that no ownerReference names stays, and asks for an object as before."""
        view, now = self._view, self._now
        return label_parent_wants(view, self._parent(row), removed, now) or bound_wants(
            view, row, removed, now
        )

    def _parent(self, row: int) -> ObjectKey | None:
        """Return the parent that the labels of an object without owner name."""
        if row not in self._parents:
            self._parents[row] = label_parent(self._view, row)
        return self._parents[row]
