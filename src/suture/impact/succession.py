"""Generated ConfigMaps and Secrets that go a moment before their users name the next of them.

Beside `hands`, which believes that what a keeper drops goes with its users: here the users stay,
and are about to be written. A generator gives each content a name of its own, and who prunes before
it applies takes the old one first. Two recorded causes tell that from a loss: the keeper itself
says that it prunes this one, keeps the next and is about to change the user; or the actor has made
the next, with all that is read of this, within minutes, and all three are of one hand.

What is lost if the write of the user never comes: pods that run keep what they mounted, and one
that starts in between waits for what is gone, for ever. So such a user counts as a revision of the
past, which is warned about and journaled, and not as nothing. LIMIT: that no apply came afterwards
is not told a second time.
Source: kubelet (a missing ConfigMap or Secret holds a container back until it is there).
"""

from __future__ import annotations

from typing import Final

from suture.impact.hands import of_one_hand
from suture.impact.keepers import works_for
from suture.impact.records import followed, follows, to_change
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import KeysFacts
from suture.model.graph import Use
from suture.model.names import CONFIG_MAPS, SECRETS
from suture.model.writes import HOUR_S, TEN_MINUTES_S

GENERATED: Final = (CONFIG_MAPS, SECRETS)

BESIDE: Final = 2_048
"""LIMIT: objects of a type in a namespace whose names are compared, 0.3 us each, and only before a
refusal; among more of them none is found to be the next."""


def leaves_for_next(scene: Scene, user: int, row: int, uses: list[Use]) -> bool:
    """Whether a user of an object that goes is about to name the next of it instead.

    `uses` are all uses of the object; those by this user say which of its entries it reads.
    """
    view = scene.view
    # WHY alone: what is pruned is asked for one by one, and a sweep asks of a thousand.
    if scene.now is None or scene.change.direct != (row,) or view.resource(row) not in GENERATED:
        return False
    if _announced(scene, user, row):
        return True
    read = {use.key for use in uses if use.row == user and use.key and not use.optional}
    return any(of_one_hand(scene, (row, user, one)) for one in _made_beside(scene, row, read))


def _announced(scene: Scene, user: int, row: int) -> bool:
    """Whether the keeper of both has said that it prunes the one for its next, and changes both."""
    view, now = scene.view, scene.now
    if now is None:
        return False
    writes = view.history.writes
    if not writes.counted(followed(view.uid(row)), now, HOUR_S):
        return False
    if not writes.counted(to_change(view.uid(user)), now, HOUR_S):
        return False
    mine = {one for one, _ in view.targets(row, Edge.MANAGED_BY)}
    return any(
        one in mine and works_for(scene, view.key(one))
        for one, _ in view.targets(user, Edge.MANAGED_BY)
    )


def _made_beside(scene: Scene, row: int, read: set[str]) -> list[int]:
    """Return what the actor made within minutes under the next name, with all that is read."""
    view, now = scene.view, scene.now
    beside = view.rows(view.resource(row), view.namespace(row))
    if now is None or len(beside) > BESIDE:
        return []
    name, since_ns = view.name(row), now.mono_ns - TEN_MINUTES_S * 10**9
    return [
        one
        for one in beside
        if follows(view.name(one), name)
        and not (one in scene.removed or view.terminating(one))
        and (made := view.history.creation(view.uid(one))) is not None
        and made.identity == scene.actor.user.username
        and made.at_ns >= since_ns
        and isinstance(facts := view.facts(one), KeysFacts)
        and read.issubset(facts.keys)
    ]
