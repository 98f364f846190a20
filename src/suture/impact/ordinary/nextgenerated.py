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

from typing import Final, NamedTuple

from suture.impact.causes.counters import followed, to_change
from suture.impact.causes.records import follows, is_generated
from suture.impact.ordinary.hands import of_one_hand
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import KeysFacts
from suture.model.graph import Use
from suture.model.names import CONFIG_MAPS, SECRETS
from suture.model.writes import TEN_MINUTES_S

GENERATED: Final = (CONFIG_MAPS, SECRETS)

BESIDE: Final = 2_048
"""LIMIT: objects of a type in a namespace whose names are compared, 0.3 us each, and only before a
refusal; among more of them none is found to be the next."""


class Next(NamedTuple):
    """What comes after a generated object: its keeper announced one, or the actor made these."""

    announced: bool
    made: tuple[int, ...]


def next_of(scene: Scene, row: int) -> Next | None:
    """Return what comes after an object that goes; None where nothing is known to."""
    view = scene.view
    # WHY alone: what is pruned is asked for one by one, and a sweep asks of a thousand.
    if scene.change.direct != (row,) or view.resource(row) not in GENERATED:
        return None
    if not is_generated(view.name(row)):
        return None
    announced = scene.counted(followed(view.uid(row))) > 0
    made = _made_beside(scene, row)
    return Next(announced, made) if announced or made else None


def leaves_for_next(scene: Scene, user: int, row: int, comes: Next, uses: list[Use]) -> bool:
    """Whether a user of an object that goes is about to name the next of it instead.

    `uses` are all uses of the object; those by this user say which of its entries it reads.
    """
    if comes.announced and _announced(scene, user, row):
        return True
    read = {use.key for use in uses if use.row == user and use.key and not use.optional}
    return any(
        isinstance(facts := scene.view.facts(one), KeysFacts)
        and read.issubset(facts.keys)
        and of_one_hand(scene, (row, user, one))
        for one in comes.made
    )


def _announced(scene: Scene, user: int, row: int) -> bool:
    """Whether the keeper of an object that it prunes is about to change a user that it keeps."""
    view = scene.view
    if not scene.counted(to_change(view.uid(user))):
        return False
    mine = {one for one, _ in view.targets(row, Edge.MANAGED_BY)}
    return any(
        one in mine and works_for(scene, view.key(one))
        for one, _ in view.targets(user, Edge.MANAGED_BY)
    )


def _made_beside(scene: Scene, row: int) -> tuple[int, ...]:
    """Return what the actor made within minutes under the next name."""
    view = scene.view
    beside = view.rows(view.resource(row), view.namespace(row))
    if len(beside) > BESIDE:
        return ()
    name = view.name(row)
    return tuple(
        one
        for one in beside
        if follows(view.name(one), name) and scene.stays(one) and scene.made(one, TEN_MINUTES_S)
    )
