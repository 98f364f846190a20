"""More and more objects: under one owner, in a namespace, by one actor.

A count is a fact; how many are too many, a policy says. Told only from where it may matter on:
most creates are ordinary. What stands in for an object that another actor took away is recovery.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.causes.counters import creator, creator_in, creator_like, pattern_of, remover
from suture.impact.effects import Confidence, Growth, Victim
from suture.impact.ground.change import Change
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene, named
from suture.model.clock import Now
from suture.model.deeds import What
from suture.model.graph import GraphView
from suture.model.names import (
    CRON_JOBS,
    JOBS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from suture.model.objects import ClusterObject, CustomFacts, WorkloadFacts
from suture.model.writes import HOUR_S, MINUTE_S, number

CHILDREN_TOLD: Final = 50
"""From how many children on one more is told, unless their owner declares as many."""

CREATED_TOLD: Final = 50
"""From how many creations of a type by one actor within a minute on one more is told."""

UNANSWERED_TOLD: Final = 500
"""From how many custom resources that nobody works off on one more is told."""

UNANSWERED_ASKED: Final = 16
"""LIMIT: custom resources of a namespace that are asked who wrote them, 20 us each."""

_DECLARES: Final = frozenset({REPLICA_SETS, STATEFUL_SETS, JOBS, REPLICATION_CONTROLLERS})
"""Owners that declare how many pods they want; a Deployment's number is not of ReplicaSets."""


def creates(change: Change) -> bool:
    """Whether a change makes an object."""
    return change.created is not None


def growth_effects(scene: Scene) -> Iterator[Growth]:
    """Yield of what there would be more than is usual."""
    made = scene.change.created
    if made is None:
        return
    now = scene.now
    lately = 0
    if now is not None:
        by = creator(scene.request.user.username, made.key.resource)
        lately = scene.view.history.writes.counted(by, now, MINUTE_S)
    yield from _under_owners(scene, made, lately)
    if not made.owners:
        yield from _alike(scene, made, lately)
    if now is not None and lately >= CREATED_TOLD:
        yield from _by_actor(scene, made, lately, now)


def _under_owners(scene: Scene, made: ClusterObject, lately: int) -> Iterator[Growth]:
    view, resource = scene.view, made.key.resource
    for reference in made.owners:
        owner = view.find_uid(reference.uid)
        if owner is None:
            continue
        yield from _of_schedule(scene, owner, lately)
        before = view.children_count(owner, resource)
        if before < CHILDREN_TOLD:
            continue
        wanted = wanted_of(view, owner, resource)
        if before < wanted:
            continue
        yield Growth(
            resource=str(resource), per="owner", holder=scene.victim(owner), before=before,
            after=before + 1, lately=lately, wanted=wanted, recovery=recovers(scene, made),
        )  # fmt: skip


def _of_schedule(scene: Scene, job: int, lately: int) -> Iterator[Growth]:
    """Tell of a Job that gets a pod beside more of its schedule's that have not ended.

    A schedule makes one after the other, each with a pod of its own: where none ends there are
    ever more. WHY here: the controller of schedules only carries out, and is not asked. WHY of no
    other maker: what means to run many at once may have thousands, each asked for.
    """
    view = scene.view
    schedule = view.controller(job) if view.resource(job) == JOBS else -1
    if schedule < 0 or view.resource(schedule) != CRON_JOBS:
        return
    if view.children_count(schedule, JOBS) <= CHILDREN_TOLD:
        return
    before = sum(
        one != job and view.resource(one) == JOBS and not (view.gone(one) or view.finished(one))
        for one in view.children_of(schedule)
    )
    if before >= CHILDREN_TOLD:
        yield Growth(
            resource=str(JOBS), per="owner", holder=scene.victim(schedule), before=before,
            after=before + 1, lately=lately, wanted=wanted_of(view, schedule, JOBS),
        )  # fmt: skip


def _alike(scene: Scene, made: ClusterObject, lately: int) -> Iterator[Growth]:
    """Tell of objects that nobody owns and that one actor makes over and over, under one name.

    As under an owner, which nobody has set here: the copies of a copy, the tokens of an account.
    Only what is there still counts. WHY not work, nor custom resources that others see to: of
    those thousands are submitted under one name, and end by themselves. WHY of what lies in no
    namespace only these themselves: volumes and requests for certificates are made by one actor
    for everybody.
    """
    view, key = scene.view, made.key
    if key.resource in (PODS, JOBS) or (not key.namespace and key.resource != NAMESPACES):
        return
    alike = scene.counted(creator_like(scene.request.user.username, key))
    if alike < CHILDREN_TOLD:
        return
    custom = is_custom(key.resource)
    before = _unanswered(scene, made) if custom else min(alike, _there(view, key))
    if before >= CHILDREN_TOLD:
        yield Growth(
            resource=str(key.resource), per="owner",
            holder=_place(scene, key), before=before,
            after=before + 1, lately=lately, recovery=recovers(scene, made),
            confidence=Confidence.BOUNDED,
        )  # fmt: skip


def _unanswered(scene: Scene, made: ClusterObject) -> int:
    """Return how many custom resources lie in a namespace that nobody works off; 0 if somebody may.

    Whoever works them off writes of each what came of it, or takes it away. None of some, old and
    new, was ever written by another than who makes them, nor does that one take any away.
    WHY all that lie there: a slow leak fills the store as well.
    """
    view, key = scene.view, made.key
    there = view.place_count(key.resource, key.namespace)
    taken = remover(scene.request.user.username, key.resource)
    if there < UNANSWERED_TOLD or not made.managers:
        return 0
    if scene.counted(taken):
        return 0
    rows = view.rows(key.resource, key.namespace)
    some = rows[:: len(rows) // UNANSWERED_ASKED + 1]
    return there if all(view.at(row).managers == made.managers for row in some) else 0


def _there(view: GraphView, key: ObjectKey) -> int:
    if key.namespace:
        return view.place_count(key.resource, key.namespace)
    # WHY by name: those of tests come and go all day in a cluster that has many others.
    stem = pattern_of(key.name)
    return sum(
        not view.terminating(one) and pattern_of(view.name(one)) == stem
        for one in view.rows(key.resource)
    )


def _place(scene: Scene, key: ObjectKey) -> Victim:
    """Return the namespace that is filled; of namespaces themselves, who makes them."""
    if key.namespace:
        return named(ObjectKey(NAMESPACES, "", key.namespace))
    return Victim("", "users", "", scene.request.user.username)


def wanted_of(view: GraphView, owner: int, resource: Resource) -> int:
    """Return how many children of a type an owner declares; -1 where it declares none.

    WHY completions too: the pods of a Job that have ended stay as long as it does.
    """
    facts = view.facts(owner)
    if isinstance(facts, CustomFacts):
        return -1 if facts.wanted is None else facts.wanted
    if not isinstance(facts, WorkloadFacts) or facts.replicas is None:
        return -1
    declares = resource == PODS and view.resource(owner) in _DECLARES
    return max(facts.replicas, facts.completions) if declares else -1


def _by_actor(scene: Scene, made: ClusterObject, lately: int, now: Now) -> Iterator[Growth]:
    view, identity, resource = scene.view, scene.request.user.username, made.key.resource
    writes, namespace = view.history.writes, made.key.namespace
    recovery = recovers(scene, made)
    there = view.count(resource)
    yield Growth(
        resource=str(resource), per="actor", holder=Victim("", "users", "", identity),
        before=there, after=there + 1, lately=lately, recovery=recovery,
    )  # fmt: skip
    here = writes.counted(creator_in(identity, resource, namespace), now, MINUTE_S)
    if namespace and here >= CREATED_TOLD:
        before = view.place_count(resource, namespace)
        yield Growth(
            resource=str(resource), per="namespace",
            holder=named(ObjectKey(NAMESPACES, "", namespace)), before=before, after=before + 1,
            lately=here, recovery=recovery, confidence=Confidence.EXACT,
        )  # fmt: skip


def recovers(scene: Scene, made: ClusterObject) -> bool:
    """Whether another actor took away an object of this name within the hour, or was seen to."""
    now = scene.now
    if now is None:
        return False
    history, identity = scene.view.history, scene.request.user.username
    by = history.writes.last(made.key, What.DELETED, now, HOUR_S)
    if by is not None:
        return by != number(identity)
    gone = history.removed_at(made.key)
    if gone is None or now.mono_ns - gone.at_ns > HOUR_S * 1_000_000_000:
        return False
    return gone.by not in ("", identity)
