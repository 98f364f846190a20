"""Selectors that would select other pods: they change, or the labels that they read do.

Beside `serving`, which counts what a Service loses: here it is who is selected, by whatever
selects, and whether those were meant. A label is a contract that nobody signed: it is removed by
one and read by another.
Source: core/v1 Service, policy/v1, networking/v1 (what absent and empty mean: see
`model.references.selections`); controller_ref_manager.go (a controller adopts what matches its
selector and has no controller, and lets go of what no longer matches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from suture.impact.effects import Growth, SelectionChanged
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.stamps import FOLLOWING, template_changed
from suture.impact.ordinary.delivery import turns_to_next
from suture.impact.ordinary.keepers import is_own
from suture.impact.ordinary.roles import moves_role, root_of
from suture.impact.rollout import pods_under
from suture.impact.scene import Scene, victim_of
from suture.impact.traffic.choosing import LABELS, choosing_effects, matched
from suture.model.edges import Selection
from suture.model.graph import GraphView
from suture.model.names import (
    DAEMON_SETS,
    JOBS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
)
from suture.model.objects import (
    EXTERNAL_NAME,
    ClusterObject,
    ServiceFacts,
    WorkloadFacts,
    controller_of,
)
from suture.model.podtemplate import rollout_of
from suture.model.references import selections

ADOPTING: Final = (REPLICA_SETS, DAEMON_SETS, STATEFUL_SETS, JOBS, REPLICATION_CONTROLLERS)
"""What takes pods without a controller for its own, when their labels match."""

SELECTOR, ROLE, CREATED = "selector", "role", "created"
ORPHANED: Final = "orphaned"

CONTROLLERS_ASKED: Final = 2_000
"""LIMIT: controllers of a type in a namespace that are asked whether they would adopt a pod: 5 ms.
Only pods without a controller are asked about, and those are few."""


def may_select(change: Change) -> bool:
    """Whether a change makes or rewrites an object, or leaves dependents without their owner."""
    return change.rewritten is not None or change.orphaned


def selection_effects(scene: Scene) -> Iterable[SelectionChanged]:
    """Return what would select others than before, where that makes a difference now."""
    made = scene.change.rewritten
    if made is None:
        yield from _orphaned(scene) if scene.change.orphaned else ()
        return
    before, after = made.before, made.after
    if before is None:
        yield from _adopting(scene, made) if after.key.resource in ADOPTING else ()
        yield from _new_pod(scene, made) if after.key.resource == PODS else ()
        return
    old, new = selected(before), selected(after)
    if old != new:
        yield from _reselected(scene, made, old, new)
    if before.labels != after.labels:
        yield from _relabelled(scene, made)
    if after.key.resource in FOLLOWING and template_changed(before, after):
        yield from _restamped(scene, made)


def writes_pod(change: Change) -> bool:
    """Whether a change makes or rewrites a pod."""
    made = change.rewritten
    return made is not None and made.after.key.resource == PODS


def adoption_effects(scene: Scene) -> Iterable[Growth]:
    """Return the controllers of others that would take a pod without a controller for their own."""
    made = scene.change.rewritten
    if made is None or any(one.controller for one in made.after.owners):
        return
    if made.before is not None and made.before.labels == made.after.labels:
        return
    for source in _takers(scene.view, made.after):
        if is_own(scene, source):
            continue
        before = len(_pods(scene.view, source))
        facts = scene.view.facts(source)
        wanted = facts.replicas if isinstance(facts, WorkloadFacts) else None
        yield Growth(
            resource=str(PODS),
            per="selector",
            holder=scene.victim(source),
            before=before,
            after=before + 1,
            lately=0,
            wanted=-1 if wanted is None else wanted,
        )


def selected(thing: ClusterObject) -> tuple[Selection, ...]:
    """Return what an object selects, as a controller of pods too."""
    facts = thing.facts
    if isinstance(facts, WorkloadFacts):
        selector = facts.selector
        return () if selector is None else (Selection(PODS, thing.key.namespace, selector),)
    return selections(thing)


# ---- a selector changes


def _reselected(
    scene: Scene, made: Rewritten, old: Sequence[Selection], new: Sequence[Selection]
) -> Iterable[SelectionChanged]:
    """Tell of an object that selects by other labels than before."""
    view = scene.view
    if _leads_elsewhere(made):
        return
    had, will = matched(view, old), matched(view, new)
    before = len(had)
    if not old and made.row is not None and made.after.key.resource == SERVICES:
        # Endpoints that somebody writes by hand.
        before = len(view.ready_endpoints(made.row))
    if before == 0 and not will:
        return
    if had == will and new:
        return
    yield SelectionChanged(
        source=victim_of(made.after),
        before=before,
        after=len(will),
        kept=len(had & will),
        empty=not new,
        foreign=_foreign(view, will - had, had),
        cause=ROLE if turns_to_next(scene, made, had - will) else SELECTOR,
        own=is_own(scene, made.row),
    )


def _leads_elsewhere(made: Rewritten) -> bool:
    """Whether a Service comes to be another name for what is elsewhere: it selects nobody then.

    Source: core/v1 ServiceSpec (`selector` is ignored if the type is ExternalName, whose name is
    required): who leaves a selector out by mistake does not say where to go.
    """
    facts = made.after.facts
    return isinstance(facts, ServiceFacts) and facts.type == EXTERNAL_NAME


# ---- labels change


def _relabelled(scene: Scene, made: Rewritten) -> Iterable[SelectionChanged]:
    """Tell of what selects an object by labels that it loses or gains."""
    key, row = made.after.key, made.row
    if row is None or made.before is None:
        return
    if key.resource != PODS:
        yield from choosing_effects(scene, made, row)
        return
    view, namespace = scene.view, key.namespace
    old = set(view.selecting(namespace, made.before.labels))
    new = set(view.selecting(namespace, made.after.labels))
    controlled = any(one.controller for one in made.after.owners)
    released = _released(view, made)
    takers = set(_takers(view, made.after)) if released or not controlled else set[int]()
    new |= takers
    # WHY: a controller that lets a pod go makes another one, with the labels of its template.
    if view.serves(row) and not released:
        cause = ROLE if moves_role(scene, made) else LABELS
        for source in sorted(old - new):
            yield _moved(scene, source, (row,), cause, leaves=True)
    for source in sorted(new - old):
        # WHY of takers: one that has no pods takes what it did not make all the same.
        foreign = _foreign(view, {row}, set(_pods(view, source))) or int(source in takers)
        if foreign:
            yield _moved(scene, source, (row,), LABELS, foreign=foreign)


def next_keepers(view: GraphView, made: Rewritten) -> list[int]:
    """Return the controllers that would adopt a pod whose own controller lets go of it."""
    return list(_takers(view, made.after)) if _released(view, made) else []


def _released(view: GraphView, made: Rewritten) -> bool:
    """Whether the controller of a pod no longer knows it for its own."""
    for owner in made.after.owners:
        row = view.find_uid(owner.uid) if owner.controller else None
        facts = view.facts(row) if row is not None else None
        if not isinstance(facts, WorkloadFacts) or facts.selector is None:
            continue
        if not facts.selector.matches(made.after.labels):
            return True
    return False


def _new_pod(scene: Scene, made: Rewritten) -> Iterable[SelectionChanged]:
    """Tell of what takes a new pod for one of its own, though nothing made it for that.

    Only of pods without a controller: what a controller makes it makes with its own labels.
    """
    thing, view = made.after, scene.view
    if any(one.controller for one in thing.owners):
        return
    if controller_of(thing.owners) is None:
        for source in sorted({*view.selecting(thing.key.namespace, thing.labels)}):
            if view.resource(source) == SERVICES and any(
                root_of(view, pod) != pod for pod in view.pods_of(source)
            ):
                yield _moved(scene, source, (), CREATED, foreign=1)
    # WHY of these all the same: only one that says `controller` is not taken.
    for source in _takers(view, thing):
        yield _moved(scene, source, (), CREATED, foreign=1)


def _orphaned(scene: Scene) -> Iterable[SelectionChanged]:
    """Tell of controllers that adopt the pods that a deleted one leaves behind."""
    view, joining = scene.view, dict[int, list[int]]()
    for maker in scene.change.direct:
        for kind in view.classes_owned(maker):
            pods = [one for one in view.pods_alike(kind) if not view.finished(one)]
            for taker in _takers(view, view.at(pods[0])) if pods else ():
                if taker not in scene.removed:
                    joining.setdefault(taker, []).extend(pods)
    for taker, pods in sorted(joining.items()):
        yield _moved(scene, taker, pods, ORPHANED, foreign=len(pods))


def _takers(view: GraphView, pod: ClusterObject) -> Iterable[int]:
    """Yield the controllers that would adopt a pod that has none."""
    for resource in ADOPTING:
        for row in view.rows(resource, pod.key.namespace)[:CONTROLLERS_ASKED]:
            facts = view.facts(row)
            if isinstance(facts, WorkloadFacts) and _takes(view, row, facts, pod):
                yield row


def _takes(view: GraphView, row: int, facts: WorkloadFacts, pod: ClusterObject) -> bool:
    selector = facts.selector
    return (
        selector is not None
        and not selector.everything
        and not facts.finished
        and not view.terminating(row)
        and selector.matches(pod.labels)
    )


def _adopting(scene: Scene, made: Rewritten) -> Iterable[SelectionChanged]:
    """Tell of a new controller that finds pods that it did not make."""
    facts, view = made.after.facts, scene.view
    if not isinstance(facts, WorkloadFacts) or facts.selector is None or facts.selector.everything:
        return
    pods = view.pods_selected(made.after.key.namespace, facts.selector)
    found = [pod for pod in pods if not _controlled(view, pod) and not view.finished(pod)]
    if found:
        yield SelectionChanged(
            source=victim_of(made.after),
            before=0,
            after=len(found),
            kept=0,
            empty=False,
            foreign=len(found),
            cause=CREATED,
            own=all(is_own(scene, pod) for pod in found),
        )


# ---- a template stamps out other labels


def _restamped(scene: Scene, made: Rewritten) -> Iterable[SelectionChanged]:
    """Tell of what selects a workload's pods by labels that its template loses or gains."""
    if made.row is None:
        return
    old = rollout_of(scene.request.old_body).labels
    new = rollout_of(scene.request.new_body).labels
    if old == new:
        return
    view, namespace = scene.view, made.after.key.namespace
    pods = [pod for pod in pods_under(view, made.row) if view.serves(pod)]
    had, will = set(view.selecting(namespace, old)), set(view.selecting(namespace, new))
    for source in sorted(had - will):
        if any(pod in pods for pod in _pods(view, source)):
            yield _moved(scene, source, pods, LABELS, leaves=True, whole=made.row)
    for source in sorted(will - had):
        foreign = _foreign(view, set(pods), set(_pods(view, source)))
        if foreign:
            yield _moved(scene, source, pods, LABELS, foreign=foreign, whole=made.row)


# ---- what all have in common


def _moved(
    scene: Scene,
    source: int,
    pods: Sequence[int],
    cause: str,
    *,
    foreign: int = 0,
    leaves: bool = False,
    whole: int | None = None,
) -> SelectionChanged:
    """Tell of pods that leave a selection, or join it; without `pods` a new one joins."""
    view = scene.view
    mine = [pod for pod in _pods(view, source) if view.serves(pod)]
    had = set(mine)
    before = len(had)
    leaving = len(had.intersection(pods)) if leaves else 0
    joining = 0 if leaves else len(pods) or 1
    about = whole if whole is not None else (pods[0] if pods else None)
    return SelectionChanged(
        source=scene.victim(source),
        before=before,
        after=before - leaving + joining,
        kept=before - leaving,
        empty=False,
        foreign=foreign,
        cause=cause,
        own=is_own(scene, about),
    )


def _pods(view: GraphView, source: int) -> list[int]:
    """Return the pods of a selection: of a controller those that it made."""
    if isinstance(view.facts(source), WorkloadFacts):
        return list(pods_under(view, source))
    return view.pods_of(source)


def _foreign(view: GraphView, joining: set[int], had: set[int]) -> int:
    """Return how many of those who join are of makers that none of those who were there has.

    Nobody is foreign to a selection without pods.
    """
    if not had or not joining:
        return 0
    makers = {root_of(view, pod) for pod in {view.alike(pod): pod for pod in had}.values()}
    return sum(root_of(view, pod) not in makers for pod in joining)


def _controlled(view: GraphView, row: int) -> bool:
    """Whether a pod says that it has a controller: only then no other adopts it."""
    return any(owner.controller for owner in view.owners(row))
