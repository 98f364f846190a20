"""ConfigMaps and Secrets that their operator deletes and makes again in the same moment.

Beside `succession`, where the next has another name: here it has the same, and nothing on the
cluster says that it comes. What tells it is the past of this very object: the actor made it within
a minute of having removed the one before it under the same name. So an operator that replaces what
it keeps is believed once it was seen to, while nobody hindered it; and no longer once `GAPS` of
what it took away so within the hour have not come back.

What is lost if it does not come back: pods that run keep what they mounted, and one that starts
waits for what is gone. So its users count as revisions of the past, which is warned about.
LIMIT: an operator that was enforced from its first replacement on was never seen to do it.
Source: history alone; kubelet, see `references`.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import not_back
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.names import CONFIG_MAPS, SECRETS
from suture.model.writes import HOUR_S

AT_ONCE_S: Final = 60
"""LIMIT: within how long a replacement is made: the next call of the same reconcile, and what the
API server and a busy operator may need for it."""

GAPS: Final = 8
"""LIMIT: objects of a type that an operator may have away at a time: those of one reconcile, which
deletes all before it makes all."""


def is_remade(scene: Scene, row: int) -> bool:
    """Whether the actor made an object in the place of one that it had just removed itself."""
    view, now, identity = scene.view, scene.now, scene.actor.user.username
    resource = view.resource(row)
    if now is None or resource not in (CONFIG_MAPS, SECRETS) or scene.change.direct != (row,):
        return False
    parent = view.controller(row)
    if parent >= 0 and not (
        is_custom(view.resource(parent))
        and keeps(scene, view.resource(parent))
        and not view.terminating(parent)
    ):
        return False
    made, before = view.history.creation(view.uid(row)), view.history.removed_at(view.key(row))
    if made is None or before is None or before.uid == made.uid:
        return False
    # WHY either way: what was removed is seen to go a moment after it was let through.
    if not made.identity == before.by == identity:
        return False
    if abs(made.at_ns - before.at_ns) > AT_ONCE_S * 10**9:
        return False
    return view.history.writes.counted(not_back(identity, resource), now, HOUR_S) < GAPS
