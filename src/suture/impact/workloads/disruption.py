"""Disruption arithmetic: what PodDisruptionBudgets still let go, and what a majority needs.

Counts by pod class. An eviction is asked of the API server itself, a delete of a pod is not: the
budget then says what was agreed, and nobody keeps to it.
Source: policy/v1 PodDisruptionBudget and the disruption controller's rounding (shares of pods are
rounded up); the eviction subresource (`IfHealthyBudget`: pods that are not Ready may go only while
the budget is kept); StatefulSet and the member sets of custom resources: a majority of what was
declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.counters import taken_from
from suture.impact.causes.drained import drains
from suture.impact.causes.parents import parents_of, size_of, wanted_count
from suture.impact.effects import DisruptionExceeded, QuorumLost
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.ordinary.paused import notes_size, sleeps_by_plan
from suture.impact.ordinary.putdown import cut_by_asking, stopped_by_name
from suture.impact.ordinary.stopping import stops_for_next
from suture.impact.scene import Scene
from suture.impact.traffic.shrinking import left_ready
from suture.impact.workloads.podloss import pods_of
from suture.model.edges import Edge
from suture.model.facts import Amount, DisruptionBudgetFacts
from suture.model.graph import GraphView, Lot
from suture.model.names import (
    DISRUPTION_BUDGETS,
    PODS,
    STATEFUL_SETS,
    WORKLOADS,
    ObjectKey,
    Resource,
)
from suture.model.objects import CustomFacts, PodFacts
from suture.model.writes import HOUR_S

MEMBERS: Final = 3
"""LIMIT: members of the smallest set that can have a majority and lose one."""

MOST: Final = 9
"""LIMIT: members of the largest set without data of its own that is taken to need a majority. Who
agrees by voting does so among few, as each one more makes that slower; of more it is a pool."""

PODS_ASKED: Final = 64
"""LIMIT: pods of a custom resource that are asked for their names, 1 us each."""


class _Loss:
    """What one budget, or one set of members, loses."""

    __slots__ = ("explained", "healing", "ready", "unready")

    def __init__(self) -> None:
        self.ready = self.unready = 0
        self.healing = self.explained = True

    def add(self, scene: Scene, lot: Lot, *, heals: bool = False) -> None:
        """Count the pods of a lot in; `heals`: they come back, whoever keeps them."""
        if lot.serves:
            self.ready += lot.count
        else:
            self.unready += lot.count
        left = lot.count - scene.causes.explained_of(lot)
        self.explained &= not left
        self.healing &= not left or heals or scene.causes.heals(lot.first)


def disruption_effects(scene: Scene) -> Iterable[DisruptionExceeded]:
    """Yield each PodDisruptionBudget that stays and would be broken."""
    view, losses = scene.view, dict[int, _Loss]()
    for lot in scene.lots:
        if lot.serves or (scene.change.evicted and _started(view, lot)):
            for budget in view.selecting_class(lot.kind, DISRUPTION_BUDGETS):
                if budget not in scene.removed:
                    losses.setdefault(budget, _Loss()).add(scene, lot)
    for budget, loss in sorted(losses.items()):
        facts = view.facts(budget)
        if not isinstance(facts, DisruptionBudgetFacts):
            continue
        serving, desired, allowed = _counted(scene, budget, facts)
        # WHY below what is wanted: then the API server keeps those that are not Ready, too.
        kept = 0 if facts.spares_unready or 0 < desired <= serving else loss.unready
        if loss.ready + kept > allowed:
            yield DisruptionExceeded(
                budget=scene.victim(budget),
                asked=loss.ready + kept,
                allowed=allowed,
                healthy=serving,
                desired=desired,
                evicted=scene.change.evicted,
                self_healing=loss.healing,
                explained=loss.explained,
            )


def kept_by_budget(scene: Scene, lot: Lot) -> bool:
    """Whether a PodDisruptionBudget that stays lets Ready pods of a lot not go at this moment."""
    view = scene.view
    return any(
        isinstance(facts := view.facts(budget), DisruptionBudgetFacts)
        and lot.count > _counted(scene, budget, facts)[2]
        for budget in view.selecting_class(lot.kind, DISRUPTION_BUDGETS)
        if budget not in scene.removed
    )


def _counted(scene: Scene, budget: int, facts: DisruptionBudgetFacts) -> tuple[int, int, int]:
    """Return how many pods of a budget are healthy, how many have to be, and how many may go.

    Of an eviction as the budget's own status says: the API server goes by that alone, and it may be
    of before. The disruption controller looks at the budgets that a changed pod has now, not at
    those that it had, so that one whose pod was labelled out of it counts that pod still.
    """
    if scene.change.evicted and facts.expected:
        return facts.healthy, facts.desired, facts.allowed
    kinds = scene.view.classes_selected(budget)
    serving = sum(map(scene.view.serving_alike, kinds))
    expected = facts.expected or _wanted(scene, facts, kinds)
    desired = desired_healthy(facts, expected)
    return serving, desired, max(0, serving - desired) if expected else 0


def _started(view: GraphView, lot: Lot) -> bool:
    """Whether pods that are not Ready run, or are about to: one that nobody has placed may go."""
    facts = view.facts(lot.first)
    return lot.running and isinstance(facts, PodFacts) and bool(facts.node)


def _wanted(scene: Scene, facts: DisruptionBudgetFacts, kinds: list[int]) -> int:
    """Return how many pods are wanted, as long as the controller has not written a number.

    All that run; but of a share, those that a controller keeps. Where that is none, the
    disruption controller expects none, and lets none go.
    """
    view = scene.view
    if not isinstance(facts.min_available, int):
        kinds = [
            kind
            for kind in kinds
            if (pod := view.one_alike(kind)) >= 0 and view.controller(pod) >= 0
        ]
    return sum(scene.running(kind)[0] for kind in kinds)


def desired_healthy(facts: DisruptionBudgetFacts, expected: int) -> int:
    """Return how many of the `expected` pods a budget wants healthy, as the controller computes it.

    Shares are rounded up to a whole pod. A budget with neither bound allows nothing.
    """
    if facts.min_available is not None:
        return _of(facts.min_available, expected)
    if facts.max_unavailable is not None:
        return max(0, expected - _of(facts.max_unavailable, expected))
    return expected


def _of(amount: Amount, expected: int) -> int:
    """Return an amount as pods; a share that cannot be read is all of them."""
    if isinstance(amount, int):
        return amount
    share = amount.removesuffix("%")
    if not share.isdecimal():
        return expected
    return -(-int(share) * expected // 100)


# ---------------------------------------------------------------- members


def quorum_effects(scene: Scene) -> Iterable[QuorumLost]:
    """Yield each set of members that stays and would have fewer Ready than a majority."""
    sets, view = _Sets(scene), scene.view
    for lot in scene.lots:
        if lot.serves:
            sets.pods_go(lot)
    for resource, rows in scene.kinds.items():
        if resource in WORKLOADS:
            # What goes with its owners is a member of those alone that find it by label or name.
            asked = view.pointing(rows, Edge.PARENT) if scene.causes.settled else rows
            for row in asked:
                sets.member_goes(row)
    yield from sets.effects()
    yield from _scaled(scene)


class _Sets:
    """Sets of members that lose some, each by what declares it and what its members are."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._pods: dict[int, _Loss] = {}
        self._members: dict[tuple[int, Resource, str], list[int]] = {}

    def pods_go(self, lot: Lot) -> None:
        """Count pods that are members themselves."""
        scene, maker = self._scene, self._scene.maker(lot)
        if maker not in scene.removed and _declared(scene, maker) >= MEMBERS:
            self._pods.setdefault(maker, _Loss()).add(scene, lot, heals=_moves(scene, lot))

    def member_goes(self, row: int) -> None:
        """Count a workload that is one member of a custom resource."""
        view = self._scene.view
        for parent in parents_of(view, row):
            if parent in self._scene.removed or view.terminating(parent):
                continue
            if (wanted_count(view, parent) or 0) >= MEMBERS:
                key = (parent, view.resource(row), stem(view, row))
                self._members.setdefault(key, []).append(row)

    def effects(self) -> Iterable[QuorumLost]:
        """Yield the sets that would lose their majority."""
        view, causes = self._scene.view, self._scene.causes
        for maker, loss in sorted(self._pods.items()):
            members = _declared(self._scene, maker)
            serving = sum(map(view.serving_alike, view.classes_owned(maker)))
            after = serving - loss.ready
            if after < majority(members):
                counts = (serving, after)
                yield self._lost(
                    maker, members, counts, healing=loss.healing, explained=loss.explained
                )
        for (parent, resource, name), gone in sorted(self._members.items()):
            members = wanted_count(view, parent) or 0
            siblings = _siblings(view, parent, resource, name)
            ready = [row for row in siblings if pods_of(self._scene, row)[1]]
            after = len(set(ready).difference(gone))
            # WHY as many: what is fewer than a majority is another part of the same product.
            whole = majority(members) <= len(siblings) <= members
            if whole and after < majority(members) and after < len(ready):
                explained = all(map(causes.explains, gone))
                counts = (len(ready), after)
                yield self._lost(parent, members, counts, healing=False, explained=explained)

    def _lost(
        self, owner: int, members: int, ready: tuple[int, int], *, healing: bool, explained: bool
    ) -> QuorumLost:
        return QuorumLost(
            owner=self._scene.victim(owner),
            members=members,
            majority=majority(members),
            before=ready[0],
            after=ready[1],
            self_healing=healing,
            explained=explained,
        )


def _moves(scene: Scene, lot: Lot) -> bool:
    """Whether pods are evicted from nodes that are being emptied.

    WHY that heals: whoever empties a node asks again, and by then those that are missing may have
    come. Who keeps the pods, and is no controller that is known to make them anew, is asked to.
    """
    return scene.change.evicted and all(drains(scene.view, pod, scene.now) for pod in lot.pods)


def majority(members: int) -> int:
    """Return how many of some members are more than half."""
    return members // 2 + 1


def _declared(scene: Scene, maker: int) -> int:
    """Return how many members a set of pods was declared with; 0 where it is no such set."""
    view = scene.view
    resource = view.resource(maker)
    if resource == STATEFUL_SETS:
        size = size_of(view, maker)
        return 0 if _is_pool(view, maker, size) else size
    if resource in WORKLOADS or resource == PODS:
        return 0
    wanted = wanted_count(view, maker)
    if wanted is not None:
        return wanted
    return _believed(view, maker) or _with_those_away(scene, maker)


def _believed(view: GraphView, maker: int) -> int:
    """Return the number that a custom resource says of itself, and that its pods bear out.

    A majority of so many runs, and no more than they. Of several the most; 0 where none is.
    """
    facts = view.facts(maker)
    if not isinstance(facts, CustomFacts) or not facts.sizes:
        return 0
    running = sum(view.running_alike(kind)[0] for kind in view.classes_owned(maker))
    return max((size for size in facts.sizes if majority(size) <= running <= size), default=0)


def _with_those_away(scene: Scene, maker: int) -> int:
    """Return how many numbered members a custom resource had within the hour; 0 where none is away.

    For one that says nowhere how many it has: `db-0`, `db-1`, … of a `db`, and those of them that
    were taken and are not back. WHY numbered: only members that have a name of their own are missed
    by the others; what is called by lot comes and goes.
    """
    view, now = scene.view, scene.now
    if now is None or maker < 0 or not is_custom(view.resource(maker)):
        return 0
    facts = view.facts(maker)
    # WHY: a number that fits no more was made smaller, and what goes since may be for that.
    if isinstance(facts, CustomFacts) and (facts.sizes or facts.pools):
        return 0
    taken = scene.counted(taken_from(view.uid(maker), PODS))
    if not taken:
        return 0
    pods = [pod for kind in view.classes_owned(maker) for pod in view.pods_alike(kind)]
    name, space = view.name(maker), view.namespace(maker)
    if len(pods) > PODS_ASKED or not all(_is_member(view.name(pod), name) for pod in pods):
        return 0
    missed = (
        key
        for number in range(len(pods) + taken + 1)
        if view.find(key := ObjectKey(PODS, space, f"{name}-{number}")) is None
    )
    away = sum(
        (gone := view.history.removed_at(key)) is not None and now.ago_s(gone.at_ns) < HOUR_S
        for key in missed
    )
    return len(pods) + away if away else 0


def _is_member(pod: str, name: str) -> bool:
    before, _, number = pod.rpartition("-")
    return before == name and number.isdecimal()


def stem(view: GraphView, row: int) -> str:
    """Return a name without its last part, which tells members of one set apart."""
    return view.name(row).rpartition("-")[0]


def _siblings(view: GraphView, parent: int, resource: Resource, name: str) -> list[int]:
    children = dict.fromkeys([*view.children_of(parent), *view.sources(parent, Edge.PARENT)])
    return [
        row
        for row in children
        if view.resource(row) == resource and not view.gone(row) and stem(view, row) == name
    ]


def _too_few(members: int, ready: int) -> bool:
    """Whether of so many members, that can have a majority, fewer are Ready."""
    return members >= MEMBERS and ready < majority(members)


def _scaled(scene: Scene) -> Iterable[QuorumLost]:
    """Yield a StatefulSet that is scaled under the majority of what it was."""
    resized, view = scene.change.resized, scene.view
    if resized is None or resized.row in scene.removed or resized.before < MEMBERS:
        return
    if view.resource(resized.row) != STATEFUL_SETS or _is_pool(view, resized.row, resized.before):
        return
    before = pods_of(scene, resized.row)[1]
    kept = left_ready(scene, resized)
    if kept is not None and _too_few(resized.after, kept) and not _too_few(resized.before, before):
        # WHY whoever asks: who wants a smaller set wants one that has a majority.
        members, after, explained = resized.after, kept, False
    else:
        members, after = resized.before, min(before, resized.after)
        if after >= majority(members) or after >= before:
            return
        explained = (
            scene.size_explained(resized)
            or _is_put_to_sleep(scene, resized)
            or (stops_for_next(scene, resized) and not _mounts_claims(scene.view, resized.row))
            or _put_down(scene, resized)
            or cut_by_asking(scene, resized)
        )
    yield QuorumLost(
        owner=scene.victim(resized.row),
        members=members,
        majority=majority(members),
        before=before,
        after=after,
        self_healing=False,
        explained=explained,
    )


def _is_pool(view: GraphView, row: int, size: int) -> bool:
    """Whether a set has more members than vote, and no data that a majority would have to keep."""
    return size > MOST and not _mounts_claims(view, row)


def _mounts_claims(view: GraphView, row: int) -> bool:
    """Whether pods of a set hold data: of members without any it is not to be lost by a stop."""
    return any(view.targets(view.one_alike(kind), Edge.CLAIM) for kind in view.classes_owned(row))


def _is_put_to_sleep(scene: Scene, resized: Resized) -> bool:
    """Whether a set is stopped as a whole, to come back: nobody stays who would lack a majority.

    How much one actor may put to sleep is asked of its pods, as of those of any workload, and its
    claims are asked for by themselves.
    """
    asleep = notes_size(scene.request, resized) or sleeps_by_plan(scene, resized)
    return not resized.after and asleep


def _put_down(scene: Scene, resized: Resized) -> bool:
    """Whether a person stops a set by its name, and nobody else is known to need its Services."""
    view = scene.view
    services = {
        service
        for kind in view.classes_owned(resized.row)
        for pod in view.pods_alike(kind)
        for service in scene.causes.services_of(pod)
    }
    return bool(services) and all(stopped_by_name(scene, one, resized) for one in services)
