"""Whether an object is in use, whatever its type: it serves, runs, is read, or gives rights. Pure.

Apart from `tenure`, which asks whose it is.
"""

from __future__ import annotations

from suture.impact.causes.explained import in_use
from suture.impact.ground.readers import is_read, ready_of
from suture.impact.ordinary.copies import is_copy
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import RoleBindingFacts
from suture.model.graph import GraphView
from suture.model.names import BINDINGS, NAMESPACES, WORKLOADS


def used(view: GraphView, row: int) -> bool:
    """Whether an object serves, runs, holds data, is read by pods, or gives running pods rights."""
    if in_use(view, row):
        return True
    resource = view.resource(row)
    if resource in WORKLOADS:
        return ready_of(view, row) > 0
    if resource == NAMESPACES:
        return any(map(view.serving_alike, view.classes_in(view.name(row))))
    if resource in BINDINGS:
        subjects = (link for link in view.needs(row) if link.edge is Edge.SUBJECT)
        return any(is_read(view, link.row) for link in subjects)
    return is_read(view, row)


def gives_people_rights(scene: Scene, row: int) -> bool:
    """Whether a binding names people or groups, whom nobody sees at work, and is no copy.

    WHY no copy: who copies bindings copies the marks of their keeper as well, which has those alone
    that it made.
    """
    facts = scene.view.facts(row)
    return (
        isinstance(facts, RoleBindingFacts)
        and bool(facts.users or facts.groups)
        and not is_copy(scene, row)
    )
