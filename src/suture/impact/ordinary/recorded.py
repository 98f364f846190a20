"""Records that a controller keeps of others, one of each, and deletes while those live.

Beside `explained`, which asks this of what a pod or node owns and is called as: here nobody owns
the record, and its spec names what it is of. That is a pod, by namespace and name, as an address is
reserved for; or an object of its own group, after which it is called, as what was measured of one
is. What collects such records goes by a list of its own of what there is, which another's part of
it, or what was made anew under its name, is not in. Pace alone tells nothing of custom resources,
but nobody clears these away in numbers: they go after what they are of.

A record that is older than what bears the name was made for one before it, and is left over.
What is lost if it was meant: nothing; what is refused goes once what it is of has gone.
LIMIT: told of what a request names itself, as only there the spec is known.
Source: address managers of further networks (`spec.podref`, namespace/name); vertical autoscalers
(checkpoints called after their autoscaler, `spec.vpaObjectName`).
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.over import is_over
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.difference import all_parts, map_in
from suture.model.names import PODS, ObjectKey
from suture.model.writes import DAY_S

TEXTS: Final = 16
"""LIMIT: texts of a spec that are looked up, 1 us each for a type of the group."""

TYPES: Final = 64
"""LIMIT: types of a group in which something is looked for by name."""


def record_of_living(scene: Scene, row: int) -> bool:
    """Whether a machine deletes a record while what it is of is there, and stays as it was."""
    view, request = scene.view, scene.request
    if scene.now is None or scene.change.direct != (row,) or not is_custom(view.resource(row)):
        return False
    if view.has_owner(row) or account_of(scene.actor.user.username) is None:
        return False
    spec = map_in(all_parts(request.old_body).get("spec"))
    texts = [text for text in spec.values() if isinstance(text, str) and text][:TEXTS]
    if not any(_of_pod(scene, row, one) or _of_its_group(scene, row, one) for one in texts):
        return False
    return not is_over(view, row)


def _of_pod(scene: Scene, row: int, text: str) -> bool:
    """Whether a text says by namespace and name for which Ready pod a record was made."""
    namespace, slash, name = text.partition("/")
    if not slash:
        return False
    view = scene.view
    pod = view.find(ObjectKey(PODS, namespace, name))
    return pod is not None and view.serves(pod) and _is_of(scene, row, pod)


def _of_its_group(scene: Scene, row: int, name: str) -> bool:
    """Whether a text names what a record is called after, which nobody wrote within the hour.

    WHY days old: what is asked of an object is called after it too, and cleared away when done.
    """
    view, key, now = scene.view, scene.view.key(row), scene.now
    if now is None or not key.name.startswith(f"{name}-"):
        return False
    if view.created(row) > now.utc_s - DAY_S:
        return False
    group = [one for one in view.resources() if one.group == key.resource.group][:TYPES]
    found = (view.find(ObjectKey(one, key.namespace, name)) for one in group if one != key.resource)
    return any(
        one is not None and _is_of(scene, row, one) and not scene.written(one) for one in found
    )


def _is_of(scene: Scene, row: int, other: int) -> bool:
    """Whether a record is of another object that stays, and not of one before it of that name."""
    return scene.stays(other) and scene.view.created(row) >= scene.view.created(other)
