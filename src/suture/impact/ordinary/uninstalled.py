"""Releases and applications that stay as they are, while what they keep is taken away.

Beside `hands`, which believes who works for a manager that a part of it is retired. A part leaves
the greater part of it there; where nearly all goes, the manager has to go too, or somebody has to
have written it lately. Pure.
Source: Helm, `action/uninstall`: the record of a release says `uninstalling` before anything goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from suture.impact.causes.counters import taken_apart as counter_of
from suture.impact.causes.parents import is_kept_in_api
from suture.impact.ground.readers import ready_of
from suture.impact.ordinary.keepers import keeps, lives, records_of, works_for
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.names import (
    GATEWAY_CLASSES,
    INGRESS_CLASSES,
    SERVICES,
    STORAGE_CLASSES,
    WORKLOADS,
    ObjectKey,
)

_KEPT_BY: Final = Edge.MANAGED_BY

STATUS, UNINSTALLING = "status", "uninstalling"
"""What the record of a release says while all of it is taken away."""

FAILING: Final = frozenset({"pending-install", "failed", UNINSTALLING})
"""What the only record of a release says from its install to the undoing of that, if it fails."""

PART: Final = 2
"""LIMIT: so many of a type may go whatever else is there: one component, and its companion."""

CLASSES: Final = (INGRESS_CLASSES, GATEWAY_CLASSES, STORAGE_CLASSES)
"""Types whose objects say who does the work for all that name them."""

_NAMED_BY: Final = frozenset({Edge.CLASS, Edge.STORAGE_CLASS})

CLASSES_ASKED: Final = 64
"""LIMIT: classes of one type that are asked which release keeps them, 1 us each."""

KEPT_ASKED: Final = 4_096
"""LIMIT: objects of one manager that are counted, 0.3 us each; of more it is not told."""


def of_staying_release(scene: Scene, row: int) -> bool:
    """Whether an object is of a release that stays, or was there before one that failed."""
    return (
        is_uninstalled(scene, row)
        or leaves_its_users(scene, row)
        or of_another_release(scene, row)
        or found_by_install(scene, row)
    )


def is_uninstalled(scene: Scene, row: int) -> bool:
    """Whether the release that an object is of is taken away as a whole, and who has it made stays.

    Of a release that nobody but its record stands for nothing is told: who uninstalls it may.
    """
    view = scene.view
    marks = scene.marks(row)
    # WHY first: hardly anything bears two marks, and only then records are looked for.
    if len(marks) < 2:
        return False
    kept_by = _staying(scene, view.targets(row, _KEPT_BY))
    if not kept_by or any(map(scene.changed, kept_by)):
        return False
    return any(_goes_whole(scene, key) for key in marks)


def taken_by_operator(scene: Scene, row: int) -> bool:
    """Whether a release that stays keeps a custom resource, and who looks after its type takes it.

    An operator does what a resource says, and does not end it. WHY of releases alone: what an
    application keeps is told as a write of another's, whoever it is that deletes it. WHY recorded:
    of one that nobody has a record of it is not known that it stays.
    """
    view = scene.view
    if view.has_owner(row) or not keeps(scene, view.resource(row)):
        return False
    return any(
        bool(records_of(scene, one)) and lives(scene, one) and not works_for(scene, one)
        for one in scene.marks(row)
        if one.resource == RELEASES
    )


def leaves_its_users(scene: Scene, row: int) -> bool:
    """Whether the release that an object is of is taken away as a whole, and others name its class.

    A class stays as long as it is named; who does the work for it is of the same release.
    """
    view = scene.view
    if not any(key.resource == RELEASES for key in scene.marks(row)):
        return False
    for manager, _ in view.targets(row, _KEPT_BY):
        # WHY first: few releases keep a class, and only then records are looked for.
        classes = _classes_of(view, manager)
        if (
            classes
            and _goes_whole(scene, view.key(manager))
            and view.used_from_outside(
                classes, _NAMED_BY, {*view.sources(manager, _KEPT_BY), *scene.removed}
            )
        ):
            return True
    return False


def goes_along(scene: Scene, row: int) -> bool:
    """Whether an object is of a release that the actor takes away as a whole.

    WHY before it does: webhook configurations come last in an order that does not know their kind.
    """
    return any(works_for(scene, key) and _goes_whole(scene, key) for key in scene.marks(row))


def _classes_of(view: GraphView, manager: int) -> list[int]:
    """Return the classes that a release or application keeps."""
    return [
        one
        for resource in CLASSES
        for one in view.rows(resource)[:CLASSES_ASKED]
        if any(by == manager for by, _ in view.targets(one, _KEPT_BY))
    ]


def _goes_whole(scene: Scene, key: ObjectKey) -> bool:
    """Whether a manager is a release whose record says that all of it is taken away."""
    if key.resource != RELEASES:
        return False
    return bool(scene.view.labelled(records_of(scene, key), STATUS, UNINSTALLING))


def taken_apart(scene: Scene, going: Collection[int]) -> bool:
    """Whether with some objects the greater part would be gone of what a manager keeps that stays.

    Of their type, within the hour, whatever was written into the manager: another source may be
    that of another. What was made in that hour and has no Ready pod yet is no part that is left: it
    may never start.
    """
    view, now = scene.view, scene.now
    if now is None:
        return False
    asked = Counter(
        (manager, view.resource(row))
        for row in going
        for manager in _staying(scene, view.targets(row, _KEPT_BY))
    )
    for (manager, resource), count in asked.items():
        gone = count + scene.counted(counter_of(view.uid(manager), resource))
        if gone <= PART:
            continue
        kept = view.sources(manager, _KEPT_BY)
        if len(kept) > KEPT_ASKED:
            continue
        rest = [
            one
            for one in kept
            if view.resource(one) == resource
            and one not in scene.removed
            and not _just_begun(scene, one)
        ]
        back = sum(made_again(scene, one) for one in rest)
        if gone - back > max(PART, len(rest)):
            return True
    return False


def _just_begun(scene: Scene, row: int) -> bool:
    """Whether a workload was made within the hour, in the place of nothing, and serves nobody."""
    view = scene.view
    if not scene.is_new(row) or made_again(scene, row):
        return False
    return not ready_of(view, row)


def made_again(scene: Scene, row: int) -> bool:
    """Whether the actor made an object within the hour, in the place of one that it removed."""
    view, identity = scene.view, scene.actor.user.username
    before = view.history.removed_at(view.key(row))
    return (
        before is not None
        and before.by == identity
        and before.uid != view.uid(row)
        and scene.made(row)
    )


def _staying(scene: Scene, marks: Collection[tuple[int, bool]]) -> list[int]:
    """Return which managers that are kept in the API stay; none where one of them does not.

    WHY none: what is kept by two goes where either wants it to.
    """
    view = scene.view
    found = [one for one, present in marks if present and is_kept_in_api(view, one)]
    return found if all(scene.stays(one) and not view.gone(one) for one in found) else []


def of_another_release(scene: Scene, row: int) -> bool:
    """Whether an object is of a release that stays, and goes by the hand of who deploys others.

    Who upgrades or uninstalls a release writes its record before anything else, so that the actor
    would be known to work for it; it is known to work for another one in the namespace.
    """
    marks, habits = scene.marks(row), scene.view.history.habits
    # WHY first: hardly anything is of a release, and only then habits are asked.
    if not marks or any(one.resource != RELEASES or works_for(scene, one) for one in marks):
        return False
    # WHY before whether it lives: hardly any identity works for a release, and its own are few.
    of_another = any(
        key.resource == RELEASES and key.namespace == marks[0].namespace
        for key in habits.works_of(scene.actor.user.username)
    )
    return of_another and all(lives(scene, one) for one in marks)


def found_by_install(scene: Scene, row: int) -> bool:
    """Whether an install that fails takes along what it found there, as its manifest names it too.

    That is a Service or workload that nothing keeps, older than the only records of a release of
    its namespace. The actor, who makes that release, has got no further with it than its install.
    """
    view = scene.view
    resource = view.resource(row)
    if resource != SERVICES and resource not in WORKLOADS:
        return False
    if view.has_owner(row) or scene.marks(row):
        return False
    space, born = view.namespace(row), view.created(row)
    for release in view.history.habits.works_of(scene.actor.user.username):
        if release.resource != RELEASES or release.namespace != space:
            continue
        records = records_of(scene, release)
        if records and all(
            view.created(one) > born
            and view.at(one).labels.get(STATUS) in FAILING
            and scene.is_new(one)
            for one in records
        ):
            return True
    return False


def is_first_try(scene: Scene, marks: Collection[ObjectKey]) -> bool:
    """Whether an object is of a release whose only record is of an install of this hour.

    It was never deployed, and the actor makes it: who takes it away is about to try again.
    """
    view = scene.view
    for key in marks:
        if key.resource != RELEASES or not works_for(scene, key):
            continue
        records = records_of(scene, key)
        if (
            len(records) == 1
            and view.at(records[0]).labels.get(STATUS) in FAILING
            and scene.is_new(records[0])
        ):
            return True
    return False
