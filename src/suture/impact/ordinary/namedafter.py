"""Parents that an object without owner is called after, where the actor runs such parents.

Beside `labelled`, whose labels say of which group a parent is: here a bare label, as
`cluster-name: orders`, or nothing but the name does. So it is believed only of objects whose name
begins with the parent's, in its namespace, or has it as a part and a label has it too; and only of
the operator of that type: which objects with such names belong together it knows, and nobody else
is judged by it. Where nobody is known to run the type, a label that is called like its kind, as
`searchcluster: orders`, says that the object belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from suture.impact.causes.calledafter import MADE_FOR, run_by, said_parents
from suture.impact.causes.counters import back_again
from suture.impact.causes.records import is_generated
from suture.impact.ground.readers import ready_of
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.actor import IdentityKind
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.habits import is_past_record
from suture.model.names import DEPLOYMENTS, SECRETS, STATEFUL_SETS, WORKLOADS, ObjectKey, Resource

CHILDREN: Final = MADE_FOR | {SECRETS}
"""What operators make for their own resources, and find by name or label."""

PASSING: Final = frozenset(
    {"bootstrap", "init", "initial", "join", "once", "otp", "temp", "temporary", "tmp", "token"}
)
"""Words by which a Secret says that it was needed for a while: it may go under who made it."""

BESIDE: Final = 256
"""LIMIT: objects of a namespace that are asked whether they belong to a parent, 1 us each, and only
of a Secret that an operator deletes by name."""

TOGETHER_S: Final = 60
"""What was made within this time was made for one thing, and nothing of it renews the rest."""

AT_ONCE_S: Final = 5
"""What is made within this time comes of one hand's manifest or reconcile, in whatever order."""


def named_after_living(scene: Scene, row: int) -> bool:
    """Whether an object belongs by its name to a custom resource of the actor's that stays.

    That is what has no owner and no other parent, and is no older. Nor was the parent changed
    within the hour, save that it was made then, or has a part again that it left out: what it asks
    for is what it asked for when this object was made.
    """
    return any(_asks(scene, parent, row) for parent in _parents(scene, row))


def opens_what_runs(scene: Scene, row: int) -> bool:
    """Whether a Secret belongs by name and label to a custom resource of the actor's at work.

    Nobody needs to read it in a pod: people and other programs enter with what it says. Not where
    the actor has made another for that resource since, within the hour: so keys are renewed; nor
    where its name says that it was for a while.
    """
    view, name = scene.view, scene.view.name(row)
    words = name.replace(".", "-").split("-")
    if view.resource(row) != SECRETS or not PASSING.isdisjoint(words):
        return False
    if is_generated(name) and not words[-1].isalpha():
        return False
    said = view.labels(row).values()
    return any(
        view.name(parent) in said
        and _asks(scene, parent, row)
        and _runs(view, parent)
        and not _renewed(scene, parent, row)
        for parent in _parents(scene, row)
    )


def _runs(view: GraphView, parent: int) -> bool:
    """Whether a workload with Ready pods is owned by a custom resource, or called after it."""
    namespace, name = view.namespace(parent), view.name(parent)
    beside = (
        one
        for resource in (STATEFUL_SETS, DEPLOYMENTS)
        for one in view.rows(resource, namespace)[:BESIDE]
        if f"{view.name(one)}-".startswith(f"{name}-")
    )
    for one in chain(view.staying(view.children_of(parent)[:BESIDE]), beside):
        if view.resource(one) in WORKLOADS and ready_of(view, one):
            return True
    return any(map(view.serving_alike, view.classes_controlled(parent)))


def _renewed(scene: Scene, parent: int, row: int) -> bool:
    """Whether the actor has made another Secret that is called after a parent, after one of it."""
    view = scene.view
    name = view.name(parent)
    return any(
        name in view.name(other)
        and view.created(other) > view.created(row) + TOGETHER_S
        and scene.made(other)
        for other in view.rows(SECRETS, view.namespace(row))[:BESIDE]
        if other != row
    )


def _asks(scene: Scene, parent: int, row: int) -> bool:
    """Whether a parent stays, is as it was when an object was made, and was there by then."""
    view = scene.view
    if not scene.stays(parent) or view.gone(parent):
        return False
    if view.created(parent) > view.created(row) + AT_ONCE_S:
        return False
    return not _may_ask_less(scene, parent)


def _may_ask_less(scene: Scene, parent: int) -> bool:
    """Whether a parent was changed within the hour, save that it has again what it had left out."""
    if not scene.changed(parent):
        return False
    uid = scene.view.uid(parent)
    return not scene.counted(back_again(uid)) or bool(scene.view.history.writes.left_out(uid))


def _parents(scene: Scene, row: int) -> Iterator[int]:
    """Yield the custom resources of the actor's after which an object without owner is called."""
    view = scene.view
    if view.resource(row) not in CHILDREN or view.has_owner(row) or not view.namespace(row):
        return
    if scene.marks(row) or view.targets(row, Edge.PARENT) or is_past_record(view.labels(row)):
        return
    namespace, name = view.namespace(row), view.name(row)
    values = dict.fromkeys(view.labels(row).values())
    stems = dict.fromkeys(stem for stem in _stems(name) if stem in values or stem != name)
    stems.update((value, None) for value in values if _is_within(value, name))
    known = (ObjectKey(one, namespace, stem) for one in _run_by(scene) for stem in stems)
    said = (key for key in said_parents(view, row) if keeps(scene, key.resource) is None)
    for key in dict.fromkeys(chain(known if stems else (), said)):
        found = view.find(key)
        if found is not None:
            yield found


def _stems(name: str) -> Iterator[str]:
    """Yield a name and what is left of it word by word: `a-b-c`, `a-b`, `a`."""
    while name:
        yield name
        name = name.rpartition("-")[0]


def _is_within(value: str, name: str) -> bool:
    """Whether a text stands in a name as a part of it: `orders` in `standby.orders.password`."""
    return f"-{value}-" in f"-{name.replace('.', '-')}-" if value else False


def _run_by(scene: Scene) -> Iterable[Resource]:
    """Return the custom types that the actor is known to run."""
    actor = scene.actor
    return run_by(scene.view, actor.user.username, person=actor.kind is IdentityKind.PERSON)
