"""Work that is under way: a run that has not ended, and the pod of one, which nobody starts again.

Beside `strangers`, who asks it: who clears away what has ended is often a part of what ran it, and
called like it, so that the name says nothing against it. What has not ended speaks for itself: a
custom resource of a type whose objects come to an end, with Ready pods of its own, that the actor
was never seen to write the status of; or a bare pod that ends by itself, and that a custom resource
of its own name is there for, which says no end. What collects left-overs goes by a list of what
there is, and what was made after that list is in none.
LIMIT: the end of a pod's spec is known of what a request names alone.
Source: test and build systems, whose runs and pods bear one name, in one or in two namespaces.
"""

from __future__ import annotations

from typing import Final

from suture.impact.ground.bodies import ends_by_itself
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.graph import GraphView
from suture.model.names import ObjectKey, Resource
from suture.model.objects import CustomFacts, Ended

RUNS_ASKED: Final = 64
"""LIMIT: objects of a type that are asked whether they have ended, 0.3 us each."""

TYPES: Final = 16
"""LIMIT: types of a group in which something is looked for by name, 1 us each."""


def is_under_way(scene: Scene, row: int) -> bool:
    """Whether a custom resource is a run that has not ended, and the actor is not seen to keep it.

    WHY others that have: what runs for ever says no end either, and its operator is what it is.
    """
    view, resource = scene.view, scene.view.resource(row)
    if scene.actor.user.username in view.history.habits.keepers(resource):
        return False
    return (
        _says_no_end(view, row)
        and any(lot.serves for lot in scene.lots)
        and any(_has_ended(view, one) for one in view.rows(resource)[:RUNS_ASKED])
    )


def runs_for_named(scene: Scene, pod: int) -> bool:
    """Whether a bare pod ends by itself, and what bears its name says that it still runs.

    That is of a group of which a label of the pod is, and where the pod or the actor is.
    """
    if scene.change.direct != (pod,) or not ends_by_itself(scene.request.old_body):
        return False
    view, name, account = scene.view, scene.view.name(pod), account_of(scene.actor.user.username)
    groups = {
        label.rpartition("/")[0] for label, said in view.labels(pod).items() if said == name
    } - {""}
    spaces = {view.namespace(pod), account.namespace if account is not None else ""}
    found = (
        view.find(ObjectKey(one, space, name))
        for one in _types(view, groups)
        if scene.actor.user.username not in view.history.habits.keepers(one)
        for space in spaces
    )
    return any(one is not None and scene.stays(one) and _says_no_end(view, one) for one in found)


def _types(view: GraphView, groups: set[str]) -> list[Resource]:
    """Return the custom types of some groups, of each as many as are asked."""
    if not groups:
        return []
    return [one for one in view.resources() if one.group in groups and is_custom(one)][:TYPES]


def _says_no_end(view: GraphView, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and facts.ended is Ended.NO


def _has_ended(view: GraphView, row: int) -> bool:
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and facts.ended is not Ended.NO
