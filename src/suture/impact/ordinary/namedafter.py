"""Parents that an object without owner is called after, where the actor runs such parents.

Beside `labelled`, whose labels say of which group a parent is: here a bare label, as
`cluster-name: orders`, or nothing but the name does. So it is believed only of objects whose name
begins with the parent's, in its namespace, and only of the operator of that type: which objects
with such names belong together it knows, and nobody else is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.deeds import What
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import SECRETS, SERVICES, WORKLOADS, ObjectKey, Resource
from suture.model.writes import HOUR_S

CHILDREN: Final = frozenset({SECRETS, SERVICES, *WORKLOADS})
"""What operators make for their own resources, and find by name or label."""

TYPES_ASKED: Final = 256
"""LIMIT: custom types of a cluster that are asked whether the actor runs them, 1 us each, of those
that have instances; in a cluster of more the rest is not asked."""


def named_after_living(scene: Scene, row: int) -> bool:
    """Whether an object belongs by its name to a custom resource of the actor's that stays.

    That is what has no owner and no other parent, and is no older. Nor was the parent changed
    within the hour, save that it was made then: what it asks for is what it asked for when this
    object was made.
    """
    view = scene.view
    if view.resource(row) not in CHILDREN or view.has_owner(row) or not view.namespace(row):
        return False
    if scene.marks(row) or view.targets(row, Edge.PARENT):
        return False
    return any(_asks(scene, parent, row) for parent in _parents(scene, row))


def _asks(scene: Scene, parent: int, row: int) -> bool:
    """Whether a parent stays, is as it was when an object was made, and made no later than it."""
    view, now = scene.view, scene.now
    if parent in scene.removed or view.gone(parent) or view.terminating(parent):
        return False
    if view.created(parent) > view.created(row):
        return False
    return now is None or not view.history.writes.changed(view.key(parent), What.WROTE, now, HOUR_S)


def _parents(scene: Scene, row: int) -> Iterator[int]:
    """Yield the custom resources of the actor's after which an object is called."""
    view = scene.view
    namespace, name = view.namespace(row), view.name(row)
    values = set(view.labels(row).values())
    stems = [stem for stem in _stems(name) if stem in values or stem != name]
    for resource in _run_by(scene):
        for stem in stems:
            found = view.find(ObjectKey(resource, namespace, stem))
            if found is not None:
                yield found


def _stems(name: str) -> Iterator[str]:
    """Yield a name and what is left of it word by word: `a-b-c`, `a-b`, `a`."""
    while name:
        yield name
        name = name.rpartition("-")[0]


def _run_by(scene: Scene) -> list[Resource]:
    """Return the custom types with instances that the actor is known to run."""
    view: GraphView = scene.view
    custom = [one for one in view.resources() if is_custom(one)][:TYPES_ASKED]
    return [one for one in custom if view.count(one) and keeps(scene, one)]
