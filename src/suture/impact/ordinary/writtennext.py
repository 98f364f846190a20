"""What reads an object from which entries go, and is written next by whoever has them go.

Who keeps both an object and what reads it writes them one after the other, ConfigMaps and Secrets
first. What is read by then nothing here tells. So it is, too, with what an operator writes for a
custom resource which somebody else has just written who keeps what reads it: he asked for other
entries, and reads those. Pure.
Source: Helm, `releaseutil.InstallOrder`; Argo CD, the order of kinds within a wave; synchronizers
of Secrets, which write what the resource of each asks for.
"""

from __future__ import annotations

from suture.impact.causes.explained import CLIMBED
from suture.impact.ordinary.hands import of_one_hand
from suture.impact.ordinary.keepers import runs
from suture.impact.scene import Scene


def is_written_next(scene: Scene, user: int, row: int) -> bool:
    """Whether a user of entries that go is written next, by the hand that takes them or for it."""
    if of_one_hand(scene, (row, user)):
        return True
    above = _runs(scene, row)
    return above >= 0 and (
        above in scene.view.controllers(user, CLIMBED) or _is_asked_beside(scene, user, above)
    )


def _runs(scene: Scene, row: int) -> int:
    """Return the custom resource that controls an object, stays, and is run by the actor; or -1."""
    view = scene.view
    above = view.controller(row)
    return above if runs(scene, above) and not view.terminating(above) else -1


def _is_asked_beside(scene: Scene, user: int, above: int) -> bool:
    """Whether another than the actor wrote a custom resource within the hour, who keeps the user.

    WHY within the hour: a source that finds nothing for a moment drops what nobody asked it to.
    """
    if frozenset(scene.marks(above)).isdisjoint(scene.marks(user)):
        return False
    return scene.written_by_another(scene.view.key(above)) and scene.changed(above)
