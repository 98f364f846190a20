"""Versions of a type that go while instances are left, which then nothing can read or write.

The last one that is served. One of several, in which a controller of the type speaks: what is
stored can be read in another, but all that the controller asks for is answered with 404. And one
that is struck from the definition's status though nobody wrote its objects anew: from then on
nothing reads what was left in it, and no list of the type succeeds.
Source: apiextensions/v1 CustomResourceDefinition (without a served version none of its objects is
reached) and its status (`storedVersions`, which only who has migrated the objects shortens).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from suture.impact.causes.spoken import speakers
from suture.impact.causes.storedanew import stored_before
from suture.impact.effects import Confidence, ReferenceBroken, Victim
from suture.impact.ground.change import Rewritten
from suture.impact.reach.atworkas import works_as
from suture.impact.scene import Scene, victim_of
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.names import CRDS, ObjectKey, Resource
from suture.model.objects import CrdFacts


def unserved_effects(scene: Scene, made: Rewritten) -> Iterator[ReferenceBroken]:
    """Yield the versions without which instances cannot be reached, or not by their controllers."""
    before, after = made.facts_before, made.after.facts
    if not isinstance(before, CrdFacts) or not isinstance(after, CrdFacts):
        return
    instances = scene.view.count(before.resource)
    gone = [one for one in before.served_versions if one not in after.served_versions]
    if not (instances and gone):
        return
    definition = victim_of(made.after)
    if not after.served_versions:
        yield from _gone(definition, gone, instances)
        return
    # WHY only what is spoken: what is stored in a version that is not served is served in another,
    # and the API server itself refuses that a stored one is dropped.
    for version in gone:
        if by := _speakers(scene, before.resource, version):
            yield from _gone(definition, [version], instances, users=_accounts(scene, by))


def _speakers(scene: Scene, resource: Resource, version: str) -> list[str]:
    """Return the controllers of a type, other than the actor, that speak a version and are there.

    LIMIT: a controller that works from outside with a token of an account is taken for one that is
    gone.
    """
    return [
        one
        for one in speakers(scene.view, resource, version)
        if one != scene.actor.user.username and not _is_gone(scene, account_of(one))
    ]


def _is_gone(scene: Scene, account: ObjectKey | None) -> bool:
    """Whether nothing works as an account any more, of which it is known that something did."""
    if account is None or works_as(scene, account):
        return False
    view = scene.view
    return (
        view.find(account) is not None
        or bool(view.named_by(account, Edge.SERVICE_ACCOUNT))
        or view.history.removed_at(account) is not None
    )


def _accounts(scene: Scene, identities: Iterable[str]) -> tuple[Victim, ...]:
    """Return the accounts among some identities, as far as they are objects of the cluster."""
    keys = (account_of(one) for one in identities)
    rows = (scene.view.find(key) for key in keys if key is not None)
    return tuple(scene.victim(row) for row in rows if row is not None)


def struck_effects(scene: Scene) -> Iterator[ReferenceBroken]:
    """Yield the versions that are struck while instances may be stored in them."""
    request, view = scene.request, scene.view
    if request.subresource != "status" or request.gvr.resource != CRDS:
        return
    old, new, row = request.old, request.new, view.find(request.key)
    before = old.facts if old is not None else None
    after = new.facts if new is not None else None
    if row is None or not isinstance(before, CrdFacts) or not isinstance(after, CrdFacts):
        return
    struck = [one for one in before.stored_versions if one not in after.stored_versions]
    left = stored_before(view, before.resource) if struck else 0
    if left:
        yield from _gone(scene.victim(row), struck, left)


def _gone(
    definition: Victim,
    versions: Iterable[str],
    instances: int,
    *,
    users: tuple[Victim, ...] = (),
) -> Iterator[ReferenceBroken]:
    for version in versions:
        yield ReferenceBroken(
            target=definition,
            key=version,
            edge=Edge.DEFINITION,
            current=instances,
            past=0,
            pods=0,
            users=users,
            confidence=Confidence.BOUNDED,
        )
