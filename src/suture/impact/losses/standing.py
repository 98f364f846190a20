"""What counts for what it does, and not for its type: asked of what a request names itself.

Apart from `removal`, which counts: here is who would miss an object, or stands in for it. Most of
it is custom resources, whose types say nothing of that. Pure.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.recent import COPIED
from suture.impact.causes.standsfor import stands_for_living
from suture.impact.data.external import asked_with_outside, still_listed
from suture.impact.data.storage import is_kept_elsewhere
from suture.impact.data.unexpired import is_unexpired
from suture.impact.ground.kinds import is_custom
from suture.impact.losses.reserved import is_reserved
from suture.impact.nodes.ofmachine import has_living_machine
from suture.impact.ordinary.atwork import (
    guards,
    kept_of_route,
    leads_by_name,
    spared,
    stands_for_route,
    stood_in_for,
)
from suture.impact.ordinary.copies import copy_of_living, of_living_policy, went
from suture.impact.ordinary.fewleft import leaves_few
from suture.impact.ordinary.keeping import keeps_secret
from suture.impact.ordinary.namedafter import CHILDREN, named_after_living
from suture.impact.reach.strangers import left_by_schedule, taken_blindly, wall_of_others
from suture.impact.scene import Scene
from suture.model.actor import is_person
from suture.model.deeds import What
from suture.model.difference import own_texts_of
from suture.model.edges import Edge
from suture.model.facts import RoleBindingFacts
from suture.model.names import (
    BINDINGS,
    CLAIMS,
    DISRUPTION_BUDGETS,
    NODES,
    SERVICES,
    SNAPSHOTS,
    ObjectKey,
    Resource,
)
from suture.model.objects import LOAD_BALANCER, ClaimFacts, ServiceFacts
from suture.model.writes import HOUR_S

_COPIES: Final = frozenset({CLAIMS, SNAPSHOTS})

BINDINGS_ASKED: Final = 64
"""LIMIT: bindings that go along and are asked whom they name; one that names people is enough."""

SUBJECTS_ASKED: Final = 8_192
"""LIMIT: bindings of each type that are asked whether they name a group or user that goes: ten in
each namespace of a large cluster."""

_SUBJECTS: Final = frozenset({"groups", "users"})


def called_after(scene: Scene, resource: Resource, named: list[int]) -> int:
    """Return how many objects the request names that only their names tie to a living parent."""
    if resource not in CHILDREN:
        return 0
    return sum(not scene.causes.wanted(row) and named_after_living(scene, row) for row in named)


def keeping(scene: Scene, resource: Resource, left: list[int], named: list[int]) -> list[int]:
    """Return which objects that the request names count for what they do, and not for their type.

    Custom resources that keep a Secret which pods read, lead to a Service that serves, are kept of
    a route that leads, are done and to be kept a while yet, go by who knows nothing of them, or
    take along bindings that give people rights;
    disruption budgets that hold running pods; copies of an original that lives, what a living
    policy has made, and NetworkPolicies that others made. And, along with
    their schedule, backups.
    """
    if resource == DISRUPTION_BUDGETS:
        return [row for row in named if guards(scene.view, row, scene.removed)]
    if resource in COPIED:
        return [row for row in named if _is_kept_for(scene, row)]
    if not is_custom(resource):
        return []
    return [row for row in named if _keeps(scene, row)] or left_by_schedule(scene, resource, left)


def _is_kept_for(scene: Scene, row: int) -> bool:
    """Whether an object of a type that is copied is there for an original, a policy or a person."""
    return copy_of_living(scene, row) or of_living_policy(scene, row) or wall_of_others(scene, row)


def _keeps(scene: Scene, row: int) -> bool:
    """Whether a custom resource does what something in use would miss."""
    view, removed = scene.view, scene.removed
    return (
        keeps_secret(view, row, removed)
        or leads_by_name(scene, row)
        or kept_of_route(scene, row)
        or taken_blindly(scene, row)
        or is_unexpired(scene, row)
        or _gives_rights(scene, row)
        or _has_rights(scene, row)
    )


def _has_rights(scene: Scene, row: int) -> bool:
    """Whether bindings go by the name of a group or user that is kept as an object of the cluster.

    With it its members lose what the bindings give, which stay and name nobody.
    SOURCE: OpenShift `user.openshift.io` Group and User, which directories are synchronised into.
    """
    view, kind = scene.view, scene.view.resource(row).plural
    if kind not in _SUBJECTS or view.namespace(row):
        return False
    name = view.name(row)
    return any(
        isinstance(facts := view.facts(one), RoleBindingFacts)
        and name in (facts.groups if kind == "groups" else facts.users)
        for resource in BINDINGS
        for one in view.rows(resource)[:SUBJECTS_ASKED]
    )


def _gives_rights(scene: Scene, row: int) -> bool:
    """Whether bindings that name people or groups go along with the one object that is deleted.

    Not where what it names, of its own group of types, is going or was seen to go: so goes
    what a user had. WHY no person: who takes rights from one after the other does so by hand.
    """
    view = scene.view
    if scene.change.direct != (row,) or is_person(scene.actor.user.username):
        return False
    if not any(
        isinstance(facts := view.facts(one), RoleBindingFacts) and (facts.users or facts.groups)
        for kind in BINDINGS
        for one in scene.kinds.get(kind, ())[:BINDINGS_ASKED]
    ):
        return False
    group, space = view.resource(row).group, view.namespace(row)
    types = [one for one in view.resources() if one.group == group]
    return not any(
        went(view, ObjectKey(kind, place, name))
        for name in own_texts_of(scene.request.old_body)
        for kind in types
        for place in {"", space}
    )


def standing(scene: Scene, resource: Resource, named: list[int]) -> list[int]:
    """Return which of some objects of a type the request names itself are in use by what they are.

    A node whose machine, which it names, lives. A custom resource that stands for a pod, node or
    route, for a thing outside that what keeps it still lists, or for the machine of a node in use
    while others were marked to go; or of those of which another wants a number, and fewer than half
    of that would be left; or that holds the addresses of living pods, or the last of a node. And a
    snapshot or claim from which a claim that has no volume yet is to be filled.
    What goes along is not asked: it goes for another reason than its name.
    """
    view = scene.view
    if resource == NODES:
        return [row for row in named if has_living_machine(scene, row)]
    if resource in _COPIES:
        return [row for row in named if _fills_next(scene, row)]
    if "." not in resource.group:
        return []
    return [
        row
        for row in named
        if stands_for_living(view, row, scene.now)
        or stands_for_route(scene, row)
        or still_listed(scene, row)
        or asked_with_outside(scene, row)
        or spared(scene, row)
        or leaves_few(scene, row)
        or is_reserved(scene, row)
    ]


def _fills_next(scene: Scene, row: int) -> bool:
    """Whether a claim without a volume, which stays, is to be filled from a snapshot or claim.

    WHY not with one: it has its data by then, and what it was filled from is history.
    """
    view = scene.view
    return any(
        isinstance(facts := view.facts(one), ClaimFacts) and not facts.bound and scene.stays(one)
        for one in view.sources(row, Edge.DATA_SOURCE)
    )


def has_stand_in(scene: Scene, row: int) -> bool:
    """Whether something else that stays does what an object in use is there for, or soon will."""
    resource = scene.view.resource(row)
    if resource == DISRUPTION_BUDGETS:
        return stood_in_for(scene.view, row, scene.removed) or _may_be_renewed(scene, row)
    if resource == SERVICES and _is_taken_for_another(scene, row):
        return True
    return is_kept_elsewhere(scene, row)


def _is_taken_for_another(scene: Scene, service: int) -> bool:
    """Whether a person deletes one Service so that its operator makes it otherwise.

    What kind of Service it is cannot all be changed, so that one that is to be headless is made
    anew. WHY not with an address outside: the next one has another.
    """
    facts = scene.view.facts(service)
    return (
        scene.change.direct == (service,)
        and is_person(scene.actor.user.username)
        and not (isinstance(facts, ServiceFacts) and facts.type == LOAD_BALANCER)
        and _may_be_renewed(scene, service)
    )


def _may_be_renewed(scene: Scene, row: int) -> bool:
    """Whether a person or another rewrote, within the hour, the custom resource that has it made.

    It may ask for other numbers by now, and who keeps it makes the object anew: once, and not where
    it was rewritten again since, be it to what it was before.
    """
    view, now = scene.view, scene.now
    if now is None:
        return False
    for owner in view.owners(row):
        if not owner.present or not is_custom(view.resource(owner.row)):
            continue
        key = view.key(owner.row)
        # WHY two: the first that is remembered is what was there.
        written = view.history.writes.deeds(key, What.WROTE, now, HOUR_S)
        by_other = is_person(scene.actor.user.username) or scene.written_by_another(key)
        if len(written) == 2 and by_other:
            ago_s, _ = written[-1]
            return view.created(row) < now.utc_s - ago_s
    return False
