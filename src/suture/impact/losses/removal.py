"""What goes, per resource: how much of it is explained, heals by itself, or is lost for good."""

from __future__ import annotations

from typing import Final

from suture.impact.causes.drained import drains
from suture.impact.causes.explained import (
    KEPT_BY_NAME,
    RECREATED_BY,
    USABLE,
    counted,
    in_use,
    may_count,
)
from suture.impact.causes.parents import SIBLINGS
from suture.impact.effects import ObjectsRemoved
from suture.impact.ground.kinds import is_custom
from suture.impact.losses.standing import called_after, has_stand_in, keeping, standing
from suture.impact.nodes.agents import is_out_of_use, needed_by_nodes, succeeded
from suture.impact.ordinary.atwork import (
    may_work,
    works,
)
from suture.impact.ordinary.backagain import comes_back
from suture.impact.ordinary.brokenmember import of_broken_member
from suture.impact.ordinary.clearedaway import is_cleared_away
from suture.impact.ordinary.cutshort import is_cut_short
from suture.impact.ordinary.hands import (
    claim_replaced,
    idle_along,
    idle_of_hand,
    is_passing,
    is_trial,
    leads_nowhere,
    made_before,
    made_lately,
    member_replaced,
    own_errand,
)
from suture.impact.ordinary.keptback import leads_to_kept
from suture.impact.ordinary.namedafter import opens_what_runs
from suture.impact.ordinary.onebyone import goes_alone
from suture.impact.ordinary.protected import protected, protected_pods
from suture.impact.ordinary.renamed import is_renamed
from suture.impact.ordinary.setsanew import is_made_anew
from suture.impact.ordinary.stopping import goes_for_next
from suture.impact.ordinary.uninstalled import of_staying_release, taken_by_operator
from suture.impact.reach.strangers import bare_of_others
from suture.impact.scene import Scene
from suture.impact.traffic.namesanswered import last_to_answer
from suture.impact.workloads.disruption import kept_by_budget
from suture.model.edges import Edge
from suture.model.graph import GraphView, Lot
from suture.model.names import (
    CLAIMS,
    CONFIG_MAPS,
    CRDS,
    DAEMON_SETS,
    ENDPOINT_SLICES,
    NAMESPACES,
    PODS,
    SECRETS,
    SERVICES,
    WORKLOADS,
    Resource,
)
from suture.model.objects import CrdFacts

AGENTS: Final = frozenset({CONFIG_MAPS, DAEMON_SETS})
"""What agents of nodes are, and what they are told."""

AGENTS_ASKED: Final = 64
"""LIMIT: DaemonSets of one change that are asked whether nodes need them, 30 us each."""

STANDING_ASKED: Final = 64
"""LIMIT: objects of a collection that are asked what they stand for, and whether their release is
uninstalled, 4 us each; and of what goes along, by its type, whether it is at rest."""


class _Tally:
    """The counts of one resource, while what goes is walked."""

    __slots__ = (
        "count", "counted", "counted_cascaded", "direct", "explained", "foreign",
        "in_use", "lasting", "lately_cascaded", "made_lately", "makers", "protected", "replaced",
        "self_healing", "wanted",
    )  # fmt: skip

    def __init__(self, count: int, direct: int) -> None:
        self.count, self.direct = count, direct
        self.explained = self.self_healing = self.lasting = 0
        self.counted = self.counted_cascaded = self.foreign = self.wanted = self.in_use = 0
        self.protected = self.replaced = self.made_lately = self.lately_cascaded = 0
        self.makers: set[int] = set()


def removal_effects(scene: Scene) -> list[ObjectsRemoved]:
    """Return what a change removes, one effect a resource, the most that counts first."""
    tallies: dict[Resource, _Tally] = {}
    for resource, rows in scene.kinds.items():
        tally = _Tally(len(rows), _direct(scene, resource, rows))
        if resource == PODS:
            marked = protected_pods(scene.view, scene.lots)
            for lot, kept in zip(scene.lots, marked, strict=True):
                _count_pods(scene, tally, lot, kept)
        else:
            _count(scene, tally, resource, rows)
        tallies[resource] = tally
    ranked = sorted(tallies.items(), key=lambda item: (-item[1].counted, -item[1].count, item[0]))
    return [_effect(scene, resource, tally) for resource, tally in ranked]


def _direct(scene: Scene, resource: Resource, rows: list[int]) -> int:
    """Return how many of some objects the request names itself."""
    if not scene.change.cascaded:
        return len(rows)
    return sum(scene.view.resource(row) == resource for row in scene.change.direct)


def _count_pods(scene: Scene, tally: _Tally, lot: Lot, marked: int) -> None:
    """Count pods in; `marked` of them people marked to stay."""
    view, causes = scene.view, scene.causes
    used = lot.serves and bool(causes.services_of(lot.first))
    if used:
        tally.in_use += lot.count
    explained = causes.explained_of(lot)
    tally.explained += explained
    left = lot.count - explained
    if not left:
        return
    if causes.heals(lot.first) or comes_back(scene, lot.first):
        tally.self_healing += left
        return
    tally.lasting += left
    tally.protected += min(left, marked)
    if causes.wanted(lot.first):
        tally.wanted += left
    others = not used and (bare_of_others(scene, lot) or is_cut_short(scene, lot))
    if not (used or others or _guarded(scene, lot)) or _counted_as_maker(
        view, lot.first, causes.removed
    ):
        return
    tally.counted += left
    pods = [lot.first] if view.has_owner(lot.first) else lot.pods[:left]
    strange = sum(not scene.tied(pod) for pod in pods)
    tally.foreign += left if strange == len(pods) else strange
    lately = 0 if strange else sum(made_lately(scene, pod) for pod in lot.pods[:left])
    tally.made_lately += lately
    if lot.first not in scene.direct:
        _count_along(scene, tally, lot, left, lately)
    tally.replaced += min(left - lately, made_before(scene, lot))


def _count_along(scene: Scene, tally: _Tally, lot: Lot, left: int, lately: int) -> None:
    """Count pods in that go along; a set without data is one workload, as old as it is itself."""
    view, maker = scene.view, scene.view.controller(lot.first)
    is_set = maker in scene.removed and is_custom(view.resource(maker))
    if is_set and not view.targets(lot.first, Edge.CLAIM):
        left = int(maker not in tally.makers)
        lately = left if lately and made_lately(scene, maker) else 0
        tally.makers.add(maker)
    tally.counted_cascaded += left
    tally.lately_cascaded += lately


def _guarded(scene: Scene, lot: Lot) -> bool:
    """Whether pods that no Service reaches matter all the same: a disruption budget keeps them.

    They are deleted by name, under a living custom resource that they belong to, on a node that is
    open. An eviction is answered by the API server, and what goes along goes for another reason.
    """
    view, pod = scene.view, lot.first
    maker = view.controller(pod)
    return (
        lot.serves
        and pod in scene.direct
        and not scene.change.evicted
        and maker >= 0
        and is_custom(view.resource(maker))
        and scene.causes.wanted(pod)
        and not drains(scene.view, pod, scene.now)
        and kept_by_budget(scene, lot)
    )


def _count(scene: Scene, tally: _Tally, resource: Resource, rows: list[int]) -> None:
    """Count objects of a type in, no pods."""
    view, causes = scene.view, scene.causes
    if resource in USABLE:
        tally.in_use = sum(in_use(view, row) and not has_stand_in(scene, row) for row in rows)
    tally.protected = _protected(scene, resource, rows)
    left = causes.unexplained(resource, rows)
    if resource in AGENTS and len(left) == 1 and is_out_of_use(scene, left[0]):
        left = []
    tally.explained = len(rows) - len(left)
    healing = causes.healing(resource, left)
    if healing:
        tally.self_healing = len(healing)
        left = [row for row in left if row not in healing]
    tally.lasting = len(left)
    # WHY not the slices of Services that go: nobody asks for one, and none counts by itself.
    if not left or (resource == ENDPOINT_SLICES and not tally.direct):
        return
    named = _named(scene, resource, left)
    _count_wanted(scene, tally, resource, left, named)
    if not may_count(resource):
        for row in keeping(scene, resource, left, named):
            _charge(scene, tally, row)
        return
    few = len(left) <= STANDING_ASKED
    for row in left:
        if counted(view, row) and not _counted_as_maker(view, row, causes.removed):
            direct = row in scene.direct
            if _is_idle(scene, row) if direct else few and _is_idle_along(scene, row):
                continue
            if resource == CRDS and not direct and _takes_nothing(scene, row):
                continue
            _charge(scene, tally, row)
            tally.replaced += is_renamed(scene, row) or (
                resource in WORKLOADS and member_replaced(scene, row)
            )


def _is_idle(scene: Scene, row: int) -> bool:
    """Whether an object that is deleted is at rest, and goes by the hand of who may say so."""
    return idle_of_hand(scene, row) or is_cleared_away(scene, row) or _is_outgrown(scene, row)


def _is_outgrown(scene: Scene, row: int) -> bool:
    """Whether a DaemonSet has no pod, and its owner has another: one for each version of its nodes.

    WHY not without the other: a pool that has no node at night has one in the morning.
    """
    view, owner = scene.view, scene.view.controller(row)
    if owner < 0 or not _runs_nowhere(view, row) or not scene.stays(owner):
        return False
    return any(
        one != row and view.resource(one) == DAEMON_SETS and scene.stays(one)
        for one in view.children_of(owner)[:SIBLINGS]
    )


def _is_idle_along(scene: Scene, row: int) -> bool:
    """Whether an object that goes along is at rest, or nothing is left that it could lead to."""
    return (
        idle_along(scene, row)
        or _runs_nowhere(scene.view, row)
        or (NAMESPACES in scene.kinds and leads_nowhere(scene, row))
    )


def _runs_nowhere(view: GraphView, row: int) -> bool:
    """Whether a DaemonSet has no pod: no node is there for it."""
    return view.resource(row) == DAEMON_SETS and not view.classes_owned(row)


def _takes_nothing(scene: Scene, definition: int) -> bool:
    """Whether all instances of a definition are notes that go as it does, with owner or keeper.

    An application goes with its definitions and with what it made of them.
    WHY a few only: whose they are is not known of more in time.
    """
    view, facts = scene.view, scene.view.facts(definition)
    if not isinstance(facts, CrdFacts) or not 0 < view.count(facts.resource) <= STANDING_ASKED:
        return False
    return all(_goes_itself(scene, row) for row in view.rows(facts.resource))


def _goes_itself(scene: Scene, row: int) -> bool:
    """Whether an owner of an object goes, or its keeper, and nothing else comes of its end.

    WHY no finalizer, nor anything of its own: by these its end is that of what it stands for.
    """
    view, removed = scene.view, scene.removed
    if view.finalizers(row) or any(view.dependents([row])):
        return False
    return any(owner.row in removed for owner in view.owners(row) if owner.present) or any(
        keeper in removed for keeper in view.there(row, Edge.MANAGED_BY)
    )


def _count_wanted(
    scene: Scene, tally: _Tally, resource: Resource, left: list[int], named: list[int]
) -> None:
    """Count which of those that go for good somebody asks for, and which are at work.

    `named`: those of them that the request names.
    """
    causes = scene.causes
    tally.wanted = causes.asked_for(left) + called_after(scene, resource, named)
    if tally.wanted:
        _take_back(scene, tally, resource, left)
    if tally.wanted and resource == SECRETS:
        tally.in_use += sum(opens_what_runs(scene, row) for row in named)
    if resource == SERVICES and (answering := last_to_answer(scene, left)):
        tally.wanted = max(tally.wanted, answering)
        tally.in_use = max(tally.in_use, answering)
    if tally.wanted and may_work(resource):
        tally.in_use += sum(causes.wanted(row) and works(scene, row) for row in named)
    needed = standing(scene, resource, named)
    tally.in_use += len(needed)
    tally.wanted += sum(not causes.wanted(row) for row in needed)
    if resource == DAEMON_SETS:
        agents = [row for row in left[:AGENTS_ASKED] if not causes.wanted(row)]
        tally.wanted += sum(needed_by_nodes(scene, row) for row in agents)
        if scene.change.direct == (left[0],) and tally.wanted:
            tally.wanted -= succeeded(scene, left[0])
    if is_custom(resource):
        tally.wanted += sum(
            not causes.wanted(row) and taken_by_operator(scene, row) for row in named
        )
    if may_count(resource):
        tally.wanted += sum(not causes.wanted(row) and _stays_asked(scene, row) for row in named)


def _take_back(scene: Scene, tally: _Tally, resource: Resource, left: list[int]) -> None:
    """Take back that the first of those that go is wanted, where another has its place."""
    row = left[0]
    if resource == CLAIMS:
        replaced = claim_replaced(scene, row)
        tally.wanted -= replaced or own_errand(scene, row) or of_broken_member(scene, row)
        tally.replaced += replaced
    elif resource in WORKLOADS:
        tally.wanted -= (
            is_trial(scene, row)
            or is_made_anew(scene, row)
            or member_replaced(scene, row)
            or goes_for_next(scene, row)
        )
    elif is_custom(resource):
        tally.wanted -= (
            is_passing(scene, row) or goes_for_next(scene, row) or goes_alone(scene, [row])
        )


def _stays_asked(scene: Scene, row: int) -> bool:
    """Whether an object is of a release that stays, or leads to what the actor has to leave."""
    return not made_lately(scene, row) and (
        of_staying_release(scene, row) or leads_to_kept(scene, row)
    )


def _charge(scene: Scene, tally: _Tally, row: int) -> None:
    """Count one object that goes for good."""
    cascaded = row not in scene.direct
    tally.counted += 1
    tally.counted_cascaded += cascaded
    tied = scene.tied(row)
    # WHY first: to ask whose the owners and applications of thousands are costs more.
    if (tied or scene.made_marks) and made_lately(scene, row):
        tally.made_lately += 1
        tally.lately_cascaded += cascaded
    elif not tied or (cascaded and _is_for_another(scene, row)):
        tally.foreign += 1


def _is_for_another(scene: Scene, row: int) -> bool:
    """Whether a claim that the actor made goes with what it made for something that stays.

    WHY then not its own: it was asked for it, and who asked is still there, and no less of it.
    """
    view, identity = scene.view, scene.actor.user.username
    if view.resource(row) != CLAIMS:
        return False
    parents = (view.controller(one) for one in scene.change.direct[:STANDING_ASKED])
    return any(
        one >= 0
        and is_custom(view.resource(one))
        and scene.stays(one)
        and view.history.created_by(view.uid(one)) != identity
        for one in parents
    )


def _named(scene: Scene, resource: Resource, left: list[int]) -> list[int]:
    """Return which of the type's objects `left` the request names; of a collection the first."""
    view, asked = scene.view, scene.change.direct[:STANDING_ASKED]
    return [row for row in asked if view.resource(row) == resource and row in left]


def _protected(scene: Scene, resource: Resource, rows: list[int]) -> int:
    """Return how many of some objects people marked to stay, less what is brought back.

    Whatever explains a removal: the mark is on this object.
    """
    marked = protected(scene.view, rows)
    if marked and (resource in RECREATED_BY or resource in KEPT_BY_NAME):
        return sum(not scene.causes.heals(row) for row in marked)
    return len(marked)


def _counted_as_maker(view: GraphView, row: int, removed: frozenset[int]) -> bool:
    """Whether an object goes together with a counted maker: one workload, counted once.

    A Deployment takes its ReplicaSets and pods along; the loss is one workload, not fifty. A
    Service runs nothing: what was hung on it, to go with it, is no part of it.
    """
    maker = view.controller(row)
    return maker in removed and counted(view, maker) and view.resource(maker) != SERVICES


def _effect(scene: Scene, resource: Resource, tally: _Tally) -> ObjectsRemoved:
    named = scene.kinds[resource][: scene.limit]
    return ObjectsRemoved(
        resource=str(resource),
        count=tally.count,
        direct=tally.direct,
        explained=tally.explained,
        self_healing=tally.self_healing,
        lasting=tally.lasting,
        counted=tally.counted,
        counted_cascaded=tally.counted_cascaded,
        foreign=tally.foreign,
        made_lately=tally.made_lately,
        lately_cascaded=tally.lately_cascaded,
        replaced=tally.replaced,
        wanted=tally.wanted,
        in_use=tally.in_use,
        protected=tally.protected,
        population=scene.view.count(resource),
        victims=tuple(map(scene.victim, named)),
        reversible=resource != CLAIMS,
    )
