"""Things outside the cluster that would be deleted with the objects that stand for them.

Told by field and type, never by product: a field that says what becomes of the thing (`Delete`, or
a yes to `destroyOnDeletion`, a no to `preserveOnDelete` and the like), a provider's id on an object
that a finalizer holds, a load balancer, a volume that is not kept.
Source: core/v1 Service (`service.kubernetes.io/load-balancer-cleanup`), PersistentVolume reclaim,
VolumeSnapshotContent `deletionPolicy`; for custom resources their own schemas.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.counters import remover
from suture.impact.causes.parents import is_kept_in_api, set_of
from suture.impact.data.ofbackup import is_of_expired
from suture.impact.data.storage import DELETE, names_only, reclaim_of
from suture.impact.effects import ExternalDeleted
from suture.impact.ground.bodies import node_named
from suture.impact.ground.inventory import DELETES, LEAVES
from suture.impact.ground.kinds import is_custom
from suture.impact.ground.machines import holder, is_id, is_machine_id, node_behind
from suture.impact.ordinary.hands import made_lately
from suture.impact.ordinary.keepers import works_for
from suture.impact.scene import Scene
from suture.model.actor import account_of
from suture.model.edges import Edge
from suture.model.facts import SnapshotContentFacts
from suture.model.graph import GraphView
from suture.model.names import (
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    NAMESPACES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    VOLUMES,
    ObjectKey,
    Resource,
)
from suture.model.objects import LOAD_BALANCER, ClaimFacts, CustomFacts, Ended, Facts, ServiceFacts
from suture.model.rules import speaks_of_outside

FINALIZER: Final = "finalizer"
POLICY: Final = "deletion-policy"

ALONG_ASKED: Final = 64
"""LIMIT: objects that go along and are asked whether they stand for a thing outside, 1 us each."""

HELD: Final = 5
"""From how many custom resources of a type in a namespace it is believed that they stand for things
outside, where a finalizer alone says so. Many operators hold what they have nothing to do for."""


class _Tally:
    """What stands for something outside, of one type and for one reason."""

    __slots__ = ("count", "direct", "explained", "rows")

    def __init__(self) -> None:
        self.count = self.direct = self.explained = 0
        self.rows: list[int] = []


def external_effects(scene: Scene) -> Iterable[ExternalDeleted]:
    """Yield what goes outside the cluster, one effect for each type, reason and policy."""
    tallies: dict[tuple[Resource, str, str], _Tally] = {}
    for resource, rows in scene.kinds.items():
        if not may_stand_for(resource):
            continue
        for row, found in _signs(scene, resource, rows).items():
            tally = tallies.setdefault((resource, *found), _Tally())
            tally.count += 1
            tally.direct += row in scene.direct
            tally.explained += (
                scene.causes.explains(row)
                or _is_machine(scene, row)
                or names_only(scene, row)
                or is_of_expired(scene, row)
                or _is_errand(scene, row)
                or _never_joined(scene, row)
                or _has_failed(scene.view, row)
            )
            if len(tally.rows) < scene.limit:
                tally.rows.append(row)
    for (resource, why, policy), tally in tallies.items():
        yield ExternalDeleted(
            resource=str(resource),
            why=why,
            policy=policy,
            count=tally.count,
            direct=tally.direct,
            explained=tally.explained,
            replaced=_replaced(scene, resource, tally) if why == FINALIZER else 0,
            population=scene.view.count(resource),
            victims=tuple(map(scene.victim, tally.rows)),
        )


def _signs(scene: Scene, resource: Resource, rows: list[int]) -> dict[int, tuple[str, str]]:
    """Return which of some objects of a type stand for something outside, and what says so."""
    view, signs = scene.view, _held_along(scene, resource, rows)
    signs.update(_held_pruned(scene, resource))
    for facts, alike in view.by_facts(rows):
        for row in alike:
            found = stands_for(view, row, facts)
            if found is not None:
                signs[row] = found
    return signs


def _held_along(scene: Scene, resource: Resource, rows: list[int]) -> dict[int, tuple[str, str]]:
    """Return which custom resources of a type that go along a finalizer alone tells of.

    What has nothing of its own in the cluster, and is held all the same, is held for something
    that its operator clears away elsewhere: a topic, a database in a server, an application of
    another cluster. WHY only along with a namespace, or with the application that keeps it: who
    deletes one by name, or what owns it, has seen what it is.
    """
    asked = scene.request.key.resource
    if not is_custom(resource) or len(rows) < HELD:
        return {}
    if is_custom(asked):
        rows = [row for row in rows if _kept_by_going(scene, row)]
    elif asked != NAMESPACES:
        return {}
    found = {row: (FINALIZER, by) for row in rows if (by := _held(scene, row))}
    return found if len(found) >= HELD else {}


def _kept_by_going(scene: Scene, row: int) -> bool:
    """Whether an object goes along with an application that keeps it."""
    if row in scene.direct:
        return False
    return any(one in scene.removed for one, _ in scene.view.targets(row, Edge.MANAGED_BY))


def _held_pruned(scene: Scene, resource: Resource) -> dict[int, tuple[str, str]]:
    """Return the custom resource that a machine prunes, which a finalizer alone tells of.

    It leaves an application that stays, and that nobody wrote within the hour: that it is in no
    source any more is all that is known, and nobody has named it. WHY not of a release: who
    upgrades one says by its record what it keeps.
    """
    view, direct = scene.view, scene.change.direct
    if len(direct) != 1 or view.resource(direct[0]) != resource or not is_custom(resource):
        return {}
    if account_of(scene.actor.user.username) is None or view.count(resource) < HELD:
        return {}
    by = _held(scene, direct[0])
    if not by or not any(_stays(scene, one) for one in view.targets(direct[0], Edge.MANAGED_BY)):
        return {}
    return {direct[0]: (FINALIZER, by)}


def _held(scene: Scene, row: int) -> str:
    """Return the finalizer of somebody's that holds what has nothing of its own in the cluster."""
    view, by = scene.view, holder(scene.view, row)
    if not by or _is_left(view.facts(row)) or view.children_of(row) or view.classes_owned(row):
        return ""
    return "" if view.sources(row, Edge.MANAGED_BY) or made_lately(scene, row) else by


def _stays(scene: Scene, keeper: tuple[int, bool]) -> bool:
    """Whether an application that keeps an object, and for which the actor works, is as it was.

    WHY also where none of its type is there: then applications are kept in another cluster.
    """
    view, (row, present) = scene.view, keeper
    if not is_kept_in_api(view, row) or not scene.stays(row):
        return False
    if not works_for(scene, view.key(row)):
        return False
    if not present and view.count(view.resource(row)):
        return False
    if view.history.removed_at(view.key(row)) is not None:
        return False
    return not scene.written(row)


def _is_left(facts: Facts | None) -> bool:
    """Whether a custom resource says that what it stands for stays when it goes."""
    return isinstance(facts, CustomFacts) and facts.outside.lower() in LEAVES


def _is_errand(scene: Scene, row: int) -> bool:
    """Whether the actor gives up by name what it made itself within the day, for nobody else.

    So do tests, and whoever tries something out. With what no application keeps goes what was made
    for it since: the machines of a cluster are as young as that is. WHY not what else has an owner:
    machines and parts of a whole are made by who keeps that, and go by its mistakes.
    """
    view, direct = scene.view, scene.change.direct
    if row in scene.direct:
        return not view.has_owner(row) and made_lately(scene, row)
    return (
        len(direct) == 1
        and is_custom(view.resource(direct[0]))
        and not scene.marks(direct[0])
        and made_lately(scene, row)
        and _is_errand(scene, direct[0])
    )


def _is_machine(scene: Scene, row: int) -> bool:
    """Whether an object is the machine of a node that is there: then it goes as that node does."""
    return node_behind(scene.request, scene.view, row) is not None


def _never_joined(scene: Scene, row: int) -> bool:
    """Whether a request deletes a machine of which no node has come, and that the actor just made.

    What does not join in time is given up, and asked for anew: nothing has run on it. WHY of the
    actor's own alone: of a machine that another made, another may know where it has joined.
    """
    request, view, facts = scene.request, scene.view, scene.view.facts(row)
    return (
        view.uid(row) == request.object_uid
        and isinstance(facts, CustomFacts)
        and is_machine_id(facts.outside)
        and scene.made(row)
        and bool(request.old_body)
        and not node_named(request.old_body)
    )


def _has_failed(view: GraphView, row: int) -> bool:
    """Whether a machine says that it has failed for good, and what controls it makes another.

    WHY of machines alone: what else fails may hold data yet.
    SOURCE: Cluster API `status.phase: Failed`, once its provider finds the instance terminated.
    """
    facts = view.facts(row)
    return (
        isinstance(facts, CustomFacts)
        and facts.ended is Ended.FAILED
        and is_machine_id(facts.outside)
        and view.controller(row) >= 0
    )


_NEVER: Final = frozenset(
    {PODS, ENDPOINT_SLICES, CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS, NAMESPACES}
)
_NEVER_OF: Final = frozenset(
    {"apps", "batch", "policy", "autoscaling", "rbac.authorization.k8s.io"}
)
"""Kinds and groups of Kubernetes' own that stand for nothing outside: not read, only counted."""


def may_stand_for(resource: Resource) -> bool:
    """Whether objects of a type may stand for something outside."""
    return resource not in _NEVER and resource.group not in _NEVER_OF


def stands_for(view: GraphView, row: int, facts: Facts) -> tuple[str, str] | None:
    """Return why something outside goes with an object, and what says so; None if nothing does."""
    match facts:
        case ServiceFacts():
            return ("load-balancer", facts.type) if facts.type == LOAD_BALANCER else None
        case ClaimFacts():
            held = view.find(ObjectKey(VOLUMES, "", facts.volume)) if facts.volume else None
            return ("reclaim-policy", DELETE) if reclaim_of(view, held) == DELETE else None
        case SnapshotContentFacts():
            return (POLICY, DELETE) if facts.deletion == DELETE else None
        case CustomFacts() if facts.outside:
            return _custom(view, row, facts.outside)
        case _:
            return None


def still_listed(scene: Scene, row: int) -> bool:
    """Whether a thing outside would go with an object that what keeps it lists as before.

    That is the custom resource that controls it, lives, and names it by type and name. WHY not
    where that was written within the hour: its wish changed, and controllers strike what it does
    not want any more from the list when it is gone.
    """
    view, facts = scene.view, scene.view.facts(row)
    if not isinstance(facts, CustomFacts) or not facts.outside:
        return False
    parent = view.controller(row)
    by = view.facts(parent) if parent >= 0 else None
    if not isinstance(by, CustomFacts) or not by.lists:
        return False
    found = stands_for(view, row, facts)
    if found is None or found[0] != POLICY or not scene.stays(parent):
        return False
    resource, name = view.resource(row), view.name(row)
    if not any(one == name and view.kind(group, kind) == resource for group, kind, one in by.lists):
        return False
    return not scene.written(parent)


def asked_with_outside(scene: Scene, row: int) -> bool:
    """Whether something outside goes along with an object that a living parent asks for.

    By the word of its deletion policy, as part of what the object is made of; or by its id, where
    the object is the set of it, as sets of machines are: who rolls a set empties it first.
    """
    view = scene.view
    if not scene.causes.wanted(row):
        return False
    for one in scene.change.cascaded[:ALONG_ASKED]:
        facts = view.facts(one)
        if isinstance(facts, CustomFacts) and facts.outside:
            found = stands_for(view, one, facts)
            if found is not None and (found[0] == POLICY or _set_stays_full(scene, row, one)):
                return True
    return False


def _set_stays_full(scene: Scene, row: int, member: int) -> bool:
    """Whether an object is the set of a member that was to stay, and its parent has not changed.

    WHY not where the parent was written within the hour: another set may be on its way.
    """
    view, parent = scene.view, scene.view.controller(row)
    if parent < 0 or view.terminating(member) or view.controller(member) != row:
        return False
    if view.resource(row) != set_of(view.resource(member)):
        return False
    return not scene.written(parent)


def _custom(view: GraphView, row: int, said: str) -> tuple[str, str] | None:
    if said.lower() in DELETES:
        return POLICY, said
    # A provider's id is an address, a policy is a word; a yes is known by the name of its field.
    yes = speaks_of_outside(said)
    held = holder(view, row) if yes or is_id(said) else ""
    # WHY a finalizer for a yes as well: it may be of what is inside the cluster, which needs none.
    if not held:
        return None
    return (POLICY, said) if yes else (FINALIZER, held)


def _replaced(scene: Scene, resource: Resource, tally: _Tally) -> int:
    """Return for how many of those that go the actor has made another, which is there.

    WHY of an id alone: what a deletion policy is for holds data, and another one is empty.
    """
    left = min(tally.direct, tally.count - tally.explained)
    if left <= 0:
        return 0
    view, by_id = scene.view, any(_has_id(scene.view, row) for row in tally.rows)
    made = sum(
        scene.made_young(row) and not view.terminating(row) and (_has_id(view, row) or not by_id)
        for row in view.rows(resource)
        if row not in scene.removed
    )
    return max(0, min(left, made - scene.counted(remover(scene.actor.user.username, resource))))


def _has_id(view: GraphView, row: int) -> bool:
    """Whether an object says which thing outside it is."""
    facts = view.facts(row)
    return isinstance(facts, CustomFacts) and is_id(facts.outside)
