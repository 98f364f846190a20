"""Who manages an object, as far as the cluster says, and whether the actor is that.

Apart from `tenure`, which asks it of each object that a change touches. Kubernetes names managers
(controllers, releases, applications) and identities, and never says which is which: where neither
habit nor name tells, nobody is taken for a stranger.
Source: ownerReferences; the marks of releases and applications (`wire.managedby`); kube-controller-
manager's own accounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from suture.impact.causes.explained import answering, is_at_hand
from suture.impact.ground.builtin import OF_SYSTEM
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.finalizers import called_like
from suture.impact.ordinary.keeper import Keeper
from suture.impact.scene import Scene
from suture.model import names
from suture.model.actor import SERVICE_ACCOUNT, IdentityKind, account_of
from suture.model.habits import RELEASES, managers_of
from suture.model.names import NAMESPACES, ObjectKey, Resource
from suture.model.objects import ClusterObject, controller_of

BUILT_IN: Final = frozenset(
    {
        names.DEPLOYMENTS,
        names.REPLICA_SETS,
        names.STATEFUL_SETS,
        names.DAEMON_SETS,
        names.JOBS,
        names.CRON_JOBS,
        names.REPLICATION_CONTROLLERS,
        names.AUTOSCALERS,
        names.SERVICES,
        names.NODES,
    }
)
"""Kinds that kube-controller-manager runs: their keepers are its accounts, and nobody else."""

CONTROLLER, GITOPS, HELM, CREATOR, FIELDS = (
    "controller", "gitops", "helm", "creator", "field-manager",
)  # fmt: skip


def is_own(scene: Scene, row: int | None) -> bool:
    """Whether the actor made an object, or what made it, or is it."""
    return row is not None and scene.tied(row)


def keeper_of(scene: Scene, thing: ClusterObject) -> Keeper | None:
    """Return who else than the actor manages an object; None where nobody is known to."""
    found = _controller(scene, thing)
    if found is not None:
        return found
    return _marked(scene, managers_of(thing), thing.uid)


def keeper_at(scene: Scene, row: int) -> Keeper | None:
    """Return who else than the actor manages the object in a row, as `keeper_of` does.

    WHY apart: nearly every delete asks, and to read the whole object costs more than the answer.
    """
    view = scene.view
    # WHY not of a release: what only groups its objects owns them too, and they stay the release's.
    # The labels by which an application keeps its own are copied to what its resources make.
    if view.controller(row) >= 0 or all(one.resource != RELEASES for one in scene.marks(row)):
        found = [_controls(scene, owner) for owner in answering(view, row)]
        others = [one for one in found if one is not None]
        if others and len(others) == len(found):
            return max(others, key=lambda one: one.lives)
    return _marked(scene, scene.marks(row), view.uid(row))


def _marked(scene: Scene, marks: Sequence[ObjectKey], uid: str) -> Keeper | None:
    """Return what an object says that it is kept by, or who made it; None where that is the actor.

    Of several it is the first, and none where the actor works for any.
    """
    if not marks:
        return _creator(scene, uid)
    if any(works_for(scene, one) for one in marks):
        return None
    return kept_by(scene, marks[0])


def is_newcomer(before: ClusterObject, after: ClusterObject) -> bool:
    """Whether who writes an object is none of those who are known to have written it."""
    return bool(before.managers) and not set(after.managers) <= set(before.managers)


def kept_by(scene: Scene, manager: ObjectKey) -> Keeper:
    """Return the release or application that keeps an object."""
    by = HELM if manager.resource == RELEASES else GITOPS
    return Keeper(str(manager), by, lives(scene, manager))


def _controller(scene: Scene, thing: ClusterObject) -> Keeper | None:
    owner = controller_of(thing.owners)
    if owner is None:
        return None
    # WHY not of a release: see `keeper_at`.
    if not owner.controller and any(one.resource == RELEASES for one in managers_of(thing)):
        return None
    row = scene.view.find_uid(owner.uid)
    return _controls(scene, row) if row is not None else None


def _controls(scene: Scene, row: int) -> Keeper | None:
    """Return an owner as the keeper, where the actor is not known to run such owners, nor is it."""
    view = scene.view
    if keeps(scene, view.resource(row)) is not False or is_own(scene, row):
        return None
    # WHY: an operator has what it makes go with its own Deployment, and is what keeps it.
    if is_at_hand(view, row, account_of(scene.actor.user.username)):
        return None
    return Keeper(str(view.key(row)), CONTROLLER, scene.stays(row))


def keeps(scene: Scene, resource: Resource) -> bool | None:
    """Whether the actor is what runs objects of a type; None where that is not known."""
    actor = scene.actor
    identity = actor.user.username
    if resource in BUILT_IN:
        return identity.startswith(OF_SYSTEM) and identity.endswith(("-controller", "scaler"))
    known = scene.view.history.habits.keepers(resource)
    if identity in known or called_like(actor, str(resource)):
        return True
    return False if known or actor.kind is IdentityKind.PERSON else None


def runs(scene: Scene, row: int) -> bool:
    """Whether an object, or -1, is a custom resource of a type that the actor is known to run."""
    resource = scene.view.resource(row) if row >= 0 else None
    return resource is not None and is_custom(resource) and bool(keeps(scene, resource))


def has_run(scene: Scene, row: int) -> bool:
    """Whether it is such a one, and not of this hour.

    WHY: the parts of a new one may be taken for those of one that was there before.
    """
    return runs(scene, row) and not scene.is_new(row)


def works_for(scene: Scene, manager: ObjectKey) -> bool:
    """Whether the actor writes what a release or application keeps.

    It was seen to; or it lives where the application does, or is called like what runs it.
    """
    actor = scene.actor
    identity = actor.user.username
    if identity in scene.view.history.habits.workers(manager):
        return True
    if manager.resource == RELEASES:
        return False
    if manager.namespace and actor.namespace == manager.namespace:
        return True
    return bool(keeps(scene, manager.resource))


def lives(scene: Scene, manager: ObjectKey) -> bool:
    """Whether a release or application is there, and stays.

    A release whose records are not found is kept elsewhere, and lives as long as its namespace.
    """
    view = scene.view
    if manager.resource == RELEASES:
        records = records_of(scene, manager)
        if records:
            return any(row not in scene.removed for row in records)
        manager = ObjectKey(NAMESPACES, "", manager.namespace)
    row = view.find(manager)
    return row is not None and scene.stays(row)


def records_of(scene: Scene, release: ObjectKey) -> list[int]:
    """Return the Secrets that record a release, by their labels; see `release_of`."""
    kept = scene.releases(release.namespace) if release.name else []
    return scene.view.labelled(kept, "name", release.name) if kept else []


def _creator(scene: Scene, uid: str) -> Keeper | None:
    creation = scene.view.history.creation(uid)
    if creation is None:
        return None
    actor = scene.actor
    if creation.identity == actor.user.username or creation.operator == actor.operator:
        return None
    account = account_of(creation.identity)
    there = account is None or scene.view.find(account) is not None
    return Keeper(creation.identity.removeprefix(SERVICE_ACCOUNT), CREATOR, there)


def told_by_parent(scene: Scene, row: int) -> bool:
    """Whether the custom resource that controls an object was changed lately, by another.

    What it has its controller write says less then: an authority that is trusted no more, or a
    binding to another role, which cannot be changed and is made anew.
    """
    view = scene.view
    parent = view.controller(row)
    return (
        parent >= 0
        and is_custom(view.resource(parent))
        and scene.stays(parent)
        and keeps(scene, view.resource(parent)) is not False
        and scene.changed(parent)
        and scene.written_by_another(view.key(parent))
    )
