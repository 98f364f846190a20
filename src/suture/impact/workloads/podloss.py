"""Running pods that would be gone, by what is behind them: workload, custom resource, nobody.

Pods are counted by class. A scale down counts as well: those that the controller lets go.
Source: ReplicaSet and StatefulSet controllers (surplus pods go, those not ready first).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from suture.impact.causes.counters import taken_from
from suture.impact.causes.drained import drains
from suture.impact.causes.explained import held_up
from suture.impact.causes.parents import wanted_count
from suture.impact.causes.sizes import asked_for
from suture.impact.effects import Confidence, PodsLost
from suture.impact.ground.change import Resized
from suture.impact.ordinary.backagain import comes_back
from suture.impact.ordinary.delivery import handed_over, next_answers
from suture.impact.ordinary.failing import fails_alone, fails_whole
from suture.impact.ordinary.meant import is_meant
from suture.impact.ordinary.paused import (
    is_paused,
    notes_size,
    sleeps_as_told,
    sleeps_beside,
    sleeps_by_plan,
)
from suture.impact.ordinary.putback import gives_back, puts_back
from suture.impact.ordinary.putdown import cut_by_asking, cut_by_hand, cut_by_manifest
from suture.impact.ordinary.stopping import stops_for_next
from suture.impact.scene import Scene
from suture.impact.workloads.standstill import NOBODY, kept_up
from suture.impact.workloads.waiting import told_to_run, told_to_wait
from suture.model.graph import GraphView
from suture.model.names import PODS, REPLICA_SETS
from suture.model.objects import WorkloadFacts

NAMED_MAKERS: Final = 8
"""LIMIT: makers whose victims are named, those that lose most: of a namespace with 300 of them a
name is 4 us, and nobody reads 1,500. What is removed is named as a whole beside this."""


class _Loss:
    """What one maker loses, while pods are counted in."""

    __slots__ = (
        "count", "drained", "evicted", "explained", "lasting", "ready", "self_healing", "victims",
    )  # fmt: skip

    def __init__(self) -> None:
        self.count = self.ready = self.explained = self.self_healing = self.lasting = 0
        self.drained = 0
        self.victims: list[int] = []


def pod_effects(scene: Scene) -> Iterable[PodsLost]:
    """Yield what each maker loses, the one that loses most first."""
    losses: dict[int, _Loss] = {}
    causes = scene.causes
    by_name = any(scene.view.resource(row) == PODS for row in scene.change.direct)
    for lot in scene.lots:
        if not lot.running:
            continue
        maker = scene.maker(lot)
        # WHY each by itself: pods of nobody are alike, and yet each is its own.
        bare = scene.view.resource(maker) == PODS
        pods = lot.pods if bare else [lot.first]
        for pod in pods:
            loss = losses.setdefault(pod if bare else maker, _Loss())
            count = 1 if bare else lot.count
            explained = min(count, causes.explained_of(lot))
            left = count - explained
            heals = bool(left) and (causes.heals(pod) or comes_back(scene, pod))
            loss.count += count
            loss.ready += count if lot.serves else 0
            if lot.serves and by_name:
                several = [pod] if bare else lot.pods
                loss.drained += sum(
                    one in scene.direct and drains(scene.view, one, scene.now) for one in several
                )
            loss.explained += explained
            loss.self_healing += left if heals else 0
            loss.lasting += 0 if heals else left
            if len(loss.victims) < scene.limit:
                loss.victims += [pod] if bare else lot.pods[: scene.limit]
    ranked = sorted(losses.items(), key=lambda item: (-item[1].lasting, -item[1].count, item[0]))
    for place, (maker, loss) in enumerate(ranked):
        yield _effect(scene, maker, loss, named=place < NAMED_MAKERS)
    yield from _scaled(scene)


def pods_of(scene: Scene, maker: int) -> tuple[int, int, int]:
    """Return how many pods of a maker run, how many serve, how many Ready ones leave already."""
    running = serving = leaving = 0
    for kind in scene.view.classes_controlled(maker, REPLICA_SETS):
        more = scene.running(kind)
        running, serving, leaving = running + more[0], serving + more[1], leaving + more[2]
    return running, serving, leaving


def declared(view: GraphView, maker: int, running: int) -> int:
    """Return how many pods a maker wants; as many as run where it does not say."""
    facts = view.facts(maker)
    wants = facts.replicas if isinstance(facts, WorkloadFacts) else wanted_count(view, maker)
    return running if wants is None else wants


def _effect(scene: Scene, maker: int, loss: _Loss, *, named: bool) -> PodsLost:
    view = scene.view
    if view.resource(maker) == PODS:
        before, serving, leaving, wants = 1, 0, 0, 1
    else:
        before, serving, leaving = pods_of(scene, maker)
        wants = declared(view, maker, before)
    whole = bool(loss.self_healing) and not leaving and serving >= wants
    return PodsLost(
        maker=scene.victim(maker),
        count=loss.count,
        ready=loss.ready,
        before=before,
        declared=wants,
        leaving=leaving,
        explained=loss.explained,
        self_healing=loss.self_healing,
        lasting=loss.lasting,
        drained=loss.drained,
        back=_taken_lately(scene, loss.victims) if whole else 0,
        foreign=loss.lasting if loss.lasting and not scene.tied(maker) else 0,
        population=view.count(PODS),
        evicted=scene.change.evicted,
        victims=tuple(map(scene.victim, loss.victims[: scene.limit] if named else ())),
    )


def _taken_lately(scene: Scene, pods: list[int]) -> int:
    """Return how many pods were taken within the hour from the controllers of some."""
    view = scene.view
    controllers = {view.controller(pod) for pod in pods} - {-1}
    return sum(scene.counted(taken_from(view.uid(one), PODS)) for one in controllers)


def _scaled(scene: Scene) -> Iterable[PodsLost]:
    """Yield what a workload that shrinks loses; it wants fewer, and nothing brings them back."""
    resized = scene.change.resized
    if resized is None or resized.after >= resized.before or resized.row in scene.removed:
        return
    view = scene.view
    before, serving, leaving = pods_of(scene, resized.row)
    count = before - resized.after
    if count <= 0:
        return
    explained = (
        scene.size_explained(resized)
        or is_meant(scene, resized)
        or handed_over(scene, resized)
        or puts_back(scene, resized)
        or gives_back(scene, resized)
        or cut_by_hand(scene, resized)
        or cut_by_asking(scene, resized)
        or cut_by_manifest(scene, resized)
        or sleeps_as_told(scene.request, resized)
        or sleeps_beside(scene, resized)
        or told_to_wait(scene, resized)
    )
    waits = held_up(view, resized.row, resized.after)
    yield PodsLost(
        maker=scene.victim(resized.row),
        count=count,
        ready=max(0, serving - resized.after),
        before=before,
        declared=resized.before,
        leaving=leaving,
        explained=count if explained else 0,
        lasting=0 if explained else count,
        wanted=_wanted(scene, resized),
        population=view.count(PODS),
        confidence=Confidence.BOUNDED if waits else Confidence.EXACT,
    )


def _wanted(scene: Scene, resized: Resized) -> int:
    """Return how many pods those behind a workload that shrinks ask for; -1 for nobody does."""
    # WHY not asked for: it is what asks for them that wants fewer.
    if resized.asked:
        return NOBODY
    if told_to_run(scene, resized):
        return resized.before
    asleep = (
        notes_size(scene.request, resized)
        or sleeps_by_plan(scene, resized)
        or is_paused(scene.request, resized)
    )
    wanted = asked_for(
        scene.view, resized.row, least=True, after=resized.after, asleep=asleep, now=scene.now
    )
    if wanted >= 0 and (
        next_answers(scene, resized)
        or fails_alone(scene, resized)
        or fails_whole(scene, resized)
        or stops_for_next(scene, resized)
    ):
        wanted = NOBODY
    return max(wanted, kept_up(scene, resized))
