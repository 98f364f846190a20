"""Bindings that whoever keeps them deletes, and makes again at once with another role.

Beside `reissued`, where the past of the very object tells it: here nothing does, as a binding is
hardly ever replaced twice. The role of a binding cannot be changed, so that tools delete it and
make it anew. Told by whose it is: the actor made it, or works for all releases and applications
that keep it; and of the bindings that it took away so within the hour no more than one is away.

What is lost if it does not come back: the rights of one account or two, and the next is refused.
Nothing of the control plane's is let go so. Pure.
Source: rbac/v1: `roleRef` cannot be changed (`ValidateRoleBindingUpdate`).
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import not_back
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene
from suture.model.names import BINDINGS

AWAY: Final = 2
"""LIMIT: bindings that an actor may have away at a time: one, and its companion."""


def is_rebound(scene: Scene, row: int) -> bool:
    """Whether a binding goes alone by the hand of its keeper, which has hardly any other away."""
    view, identity = scene.view, scene.actor.user.username
    resource = view.resource(row)
    if scene.now is None or resource not in BINDINGS:
        return False
    if scene.change.direct != (row,) or view.has_owner(row):
        return False
    marks = scene.marks(row)
    kept = bool(marks) and all(works_for(scene, one) for one in marks)
    if not (kept or view.history.created_by(view.uid(row)) == identity):
        return False
    away = sum(scene.counted(not_back(identity, one)) for one in BINDINGS)
    return away < AWAY
