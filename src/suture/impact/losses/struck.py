"""Versions that a definition is said to have no object in any more, though nobody wrote them anew.

Beside `references`, where the last version that is served goes: the API server refuses that one
goes in which objects are stored, until its name is struck from the definition's status. From then
on nothing reads what was left in it, and no list of the type succeeds.
Source: apiextensions/v1 CustomResourceDefinitionStatus (`storedVersions`), which only who has
migrated the objects shortens.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.causes.storedanew import stored_before
from suture.impact.effects import Confidence, ReferenceBroken
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import CRDS
from suture.model.objects import CrdFacts


def struck_effects(scene: Scene) -> Iterator[ReferenceBroken]:
    """Tell of each version that is struck while instances may be stored in it."""
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
    for version in struck if left else ():
        yield ReferenceBroken(
            target=scene.victim(row),
            key=version,
            edge=Edge.DEFINITION,
            current=left,
            past=0,
            pods=0,
            confidence=Confidence.BOUNDED,
        )
