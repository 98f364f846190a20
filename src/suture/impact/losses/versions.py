"""Versions of a type that go while instances are left, which then nothing can read.

The last one that is served; and one that is struck from the definition's status though nobody wrote
its objects anew: from then on nothing reads what was left in it, and no list of the type succeeds.
Source: apiextensions/v1 CustomResourceDefinition (without a served version none of its objects is
reached) and its status (`storedVersions`, which only who has migrated the objects shortens).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from suture.impact.causes.storedanew import stored_before
from suture.impact.effects import Confidence, ReferenceBroken, Victim
from suture.impact.ground.change import Rewritten
from suture.impact.scene import Scene, victim_of
from suture.model.edges import Edge
from suture.model.names import CRDS
from suture.model.objects import CrdFacts


def unserved_effects(scene: Scene, made: Rewritten) -> Iterator[ReferenceBroken]:
    """Yield the versions without which no instance of a definition can be reached any more."""
    before, after = made.facts_before, made.after.facts
    if not isinstance(before, CrdFacts) or not isinstance(after, CrdFacts):
        return
    instances = scene.view.count(before.resource)
    # WHY only the last: what is stored in a version that is not served is served in another, and
    # the API server itself refuses that a stored one is dropped.
    if instances and not after.served_versions:
        yield from _gone(victim_of(made.after), before.served_versions, instances)


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


def _gone(definition: Victim, versions: Iterable[str], instances: int) -> Iterator[ReferenceBroken]:
    for version in versions:
        yield ReferenceBroken(
            target=definition,
            key=version,
            edge=Edge.DEFINITION,
            current=instances,
            past=0,
            pods=0,
            confidence=Confidence.BOUNDED,
        )
