"""Custom resources of which another one wants a number, where fewer than half of it would be left.

Beside `members`, where pods are the members: here each is a custom resource of its own, as the
machines of a control plane are, and what runs on it may be in another cluster. Whoever repairs or
renews them takes one after the other, or brings the next first; who takes most of them at once has
lost sight of them, a person too. Nobody who is asked for fewer: then the number is another. Nor of
what says itself that it is not well, nor of the machine of a dead node: it is replaced, however
many of them there are. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.counters import taken_from
from suture.impact.causes.over import is_over
from suture.impact.causes.parents import SIBLINGS, wanted_count
from suture.impact.ground.bodies import denied
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import node_behind
from suture.impact.scene import Scene
from suture.model.objects import NodeFacts

_WELL: Final = ("Ready", "Healthy", "Available")
"""How conditions end that say whether a thing is well: `NodeHealthy` of a machine. SOURCE: API
conventions, typical status properties."""


def leaves_few(scene: Scene, row: int) -> bool:
    """Whether a custom resource goes of which its controller would keep less than half.

    It wants a number of them, and has had as many within the hour. Not where it was rewritten in
    that hour: what it wants may be made true in other ways than by its number. WHY what a finalizer
    holds: with another's end nothing ends, and records are moved so from one cluster to the next.
    """
    view, resource = scene.view, scene.view.resource(row)
    parent = view.controller(row)
    if parent < 0 or not is_custom(resource) or not is_custom(view.resource(parent)):
        return False
    wants = wanted_count(view, parent) or 0
    if wants < 2 or not view.finalizers(row) or not scene.stays(parent) or scene.written(parent):
        return False
    children = view.children_of(parent)
    if len(children) > SIBLINGS or is_over(view, row):
        return False
    alike = [one for one in children if view.resource(one) == resource and not view.gone(one)]
    if _is_unwell(scene, row):
        return False
    left = sum(one != row and scene.stays(one) and not is_over(view, one) for one in alike)
    # WHY the larger: what is going yet was taken within the hour, or earlier.
    going = sum(view.terminating(one) for one in alike)
    gone = max(going, scene.counted(taken_from(view.uid(parent), resource)))
    return left * 2 < wants <= len(alike) - going + gone


def _is_unwell(scene: Scene, row: int) -> bool:
    """Whether a custom resource says that it is not well, or is the machine of a dead node."""
    if any(one.endswith(_WELL) for one in denied(scene.request.old_body)):
        return True
    node = node_behind(scene.request, scene.view, row)
    facts = scene.view.facts(node) if node is not None else None
    return isinstance(facts, NodeFacts) and not facts.ready
