"""Products of work that has ended, which are kept until a moment that they name themselves.

Beside `causes.over`: a run that has ended leaves nothing behind that is wanted, while a backup is
what its making was for. Its status tells the one from the other: it says until when it is kept. A
machine that takes it before, with nobody having asked, goes by what it did not see. Not what
failed; nor what is about to be deleted, of which the status says that and not that it is done. A
person may know better.
Source: custom resources whose status has `expiration` beside the phase in which they ended.
LIMIT: what is deleted by a retention of its own before that moment counts as well.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bodies import kept_until, until_of
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.objects import CustomFacts, Ended

_FAILED: Final = ("fail", "error", "cancel")
"""Parts of the words for an end that nothing came of: `PartiallyFailed`."""


def is_unexpired(scene: Scene, row: int) -> bool:
    """Whether a machine takes by name what is done, and is to be kept for a while yet."""
    view, now = scene.view, scene.now
    # WHY first: hardly anything that goes has ended, and then the body is not read.
    if now is None or scene.change.direct != (row,) or not is_custom(view.resource(row)):
        return False
    facts = view.facts(row)
    if not isinstance(facts, CustomFacts) or facts.ended in (Ended.NO, Ended.FAILED):
        return False
    if account_of(scene.actor.user.username) is None:
        return False
    word, _ = until_of(scene.request.old_body)
    if any(part in word.lower() for part in _FAILED):
        return False
    until = kept_until(scene.request.old_body)
    return until is not None and until > now.utc_s
