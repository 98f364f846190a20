"""The same thing again and again: deleted and made anew, there and back, evicted as it comes.

Read from what was let through lately, this request included. A number of times is a fact; how many
are too many, a policy says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from suture.impact.causes.counters import restarter, taken_from, takings
from suture.impact.causes.recent import (
    asks_removal,
    rewrites_status,
    shape_number,
    status_number,
)
from suture.impact.causes.sizes import asked_for
from suture.impact.causes.unsettled import LOOP_S, taken_again
from suture.impact.effects import Churn, Confidence, Victim
from suture.impact.ground.change import Change, Resized, Rewritten
from suture.impact.ground.stamps import FOLLOWING, restarts
from suture.impact.ordinary.uninstalled import is_first_try
from suture.impact.scene import Scene, named, victim_of
from suture.impact.workloads.piledup import piled_up
from suture.model.clock import Now
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.habits import managers_of
from suture.model.names import PODS, SNAPSHOTS, ObjectKey, Resource
from suture.model.objects import WorkloadFacts
from suture.model.writes import DAY_S, HOUR_S, TEN_MINUTES_S, number

WINDOWS_S: Final = (TEN_MINUTES_S, HOUR_S)

REPEATED: Final = 2
"""From how often on it is said: what happens once is no repetition."""

APART_S: Final = 60
"""LIMIT: how long after the end of one life the next of its name is another matter: a loop makes
anew what it took in the same reconcile, or in the one that the removal sets off."""

ROWS_ASKED: Final = 64
"""LIMIT: objects of a collection of which each is asked how often it went, 5 µs each."""


def repeats(_change: Change) -> bool:
    """Whether a change may repeat an earlier one: any may; most are told by one look-up."""
    return True


def churn_effects(scene: Scene) -> list[Churn]:
    """Return what a request does not for the first time."""
    now, change = scene.now, scene.change
    found: list[Churn] = []
    if now is None:
        return found
    made = change.rewritten
    if change.direct:
        found += _removed(scene, now)
    elif made is not None and made.before is None:
        found += _recreated(scene, now)
        found += piled_up(scene, made.after, now)
    elif made is not None and scene.view.history.writes.knows(scene.request.key):
        value = shape_number(made.after, scene.request.new_body)
        found += _flipped(scene, What.WROTE, value, victim_of(made.after), now)
        found += _restarted(scene, made, value, now)
    elif made is None and rewrites_status(scene.request):
        found += _status(scene, now)
    if change.resized is not None and not change.resized.asked:
        found += _scaled(scene, now)
    return found


def _removed(scene: Scene, now: Now) -> list[Churn]:
    view, request = scene.view, scene.request
    found: list[Churn] = []
    if not asks_removal(request):
        return found
    evicted = scene.change.evicted or request.subresource == "eviction"
    what = What.EVICTED if evicted else What.DELETED
    word = "evicted" if evicted else "deleted"
    for row in scene.change.direct[:ROWS_ASKED]:
        key = view.key(row)
        if view.history.writes.knows(key) and not (
            scene.causes.explains(row) or _ends_own_life(scene, row) or _takes_back(scene, row)
        ):
            deed = Deed(what, request.user.username, number(view.uid(row)))
            found += _told(scene, word, deed, scene.victim(row), now)
    found += _rounds(scene, word, now)
    found += _unsettled(scene, what, word, now)
    return found


def _ends_own_life(scene: Scene, row: int) -> bool:
    """Whether the actor ends what it made itself, a while after the life before it had ended.

    So a pipeline, or a person at work, makes and gives up the same thing run after run. WHY not
    what has an owner: its operator would be in a loop with that, however slow. A snapshot is of a
    moment, and the next of its name is of another.
    """
    view, key = scene.view, scene.view.key(row)
    if not _own(key.resource, owned=view.has_owner(row)):
        return False
    made, before = view.history.creation(view.uid(row)), view.history.removed_at(key)
    if made is None or made.identity != scene.actor.user.username:
        return False
    if before is None or before.uid == made.uid or before.by != made.identity:
        return False
    return made.at_ns - before.at_ns > APART_S * 10**9


def _takes_back(scene: Scene, row: int) -> bool:
    """Whether the actor takes back what it made itself in an install that failed.

    Source: Flux, `install.remediation`: uninstalled at once, and installed again, as often as the
    release says.
    """
    return scene.made(row, DAY_S) and is_first_try(scene, scene.marks(row))


def _is_apart(scene: Scene, key: ObjectKey, now: Now) -> bool:
    """Whether the actor makes again what it took away itself, a while ago."""
    before = scene.view.history.removed_at(key)
    return before is not None and _was_own(scene, key) and now.ago_s(before.at_ns) > APART_S


def _was_own(scene: Scene, key: ObjectKey) -> bool:
    """Whether the actor made what had a name before, and took it away."""
    before = scene.view.history.removed_at(key)
    return before is not None and before.by == before.created_by == scene.actor.user.username


def _own(resource: Resource, *, owned: bool) -> bool:
    """Whether an object may be made and given up by one hand, and nobody else's wish."""
    return not owned or resource == SNAPSHOTS


def _unsettled(scene: Scene, what: What, word: str, now: Now) -> Iterator[Churn]:
    """Yield the owners of whose pods each one was taken several times within some hours."""
    rows, identity = scene.change.direct[:ROWS_ASKED], scene.request.user.username
    for owner, times in taken_again(scene.view, rows, what, identity, now):
        yield Churn(
            target=scene.victim(owner), what=word, times=times, window_s=LOOP_S,
            actors=1, rounds=True, confidence=Confidence.BOUNDED,
        )  # fmt: skip


def _rounds(scene: Scene, word: str, now: Now) -> Iterator[Churn]:
    """Yield the owners of whose pods each one went several times over, on average.

    WHY pods alone: of them a workload says how many it wants. Of other children few may be left
    because each went once.
    """
    view, writes = scene.view, scene.view.history.writes
    for uid, resource, count in takings(view, scene.change.direct):
        holder = taken_from(uid, resource)
        # WHY first: the size of an owner is counted only where so many were taken that it may
        # matter, and the longest window counts most.
        if resource != PODS or writes.counted(holder, now, WINDOWS_S[-1]) + count <= REPEATED:
            continue
        owner = view.find_uid(uid)
        facts = view.facts(owner) if owner is not None else None
        wanted = facts.replicas if isinstance(facts, WorkloadFacts) else None
        if owner is not None and wanted and not view.terminating(owner):
            taken = [writes.counted(holder, now, window_s) + count for window_s in WINDOWS_S]
            rounds = [(one // wanted if one > REPEATED else 0, 1) for one in taken]
            yield from _again(scene.victim(owner), word, rounds, by_owner=True)


def _recreated(scene: Scene, now: Now) -> Iterator[Churn]:
    made, writes = scene.change.rewritten, scene.view.history.writes
    if made is None or not writes.knows(made.after.key):
        return
    key = made.after.key
    if _own(made.after.key.resource, owned=bool(made.after.owners)) and _is_apart(scene, key, now):
        return
    if _was_own(scene, key) and is_first_try(scene, managers_of(made.after)):
        return
    deleted = [(writes.written(key, What.DELETED, now, window_s), 1) for window_s in WINDOWS_S]
    yield from _again(named(key), "recreated", deleted)


def _restarted(scene: Scene, made: Rewritten, value: int, now: Now) -> Iterator[Churn]:
    """Yield how often one actor had a workload make all its pods anew, each time otherwise.

    WHY of one actor: what several do to one workload within the hour is a day's work.
    """
    request, writes = scene.request, scene.view.history.writes
    if made.before is None or made.after.key.resource not in FOLLOWING:
        return
    holder = restarter(request.user.username, made.before)
    # WHY first: few templates are changed twice within the hour, and bodies are read for it.
    if writes.counted(holder, now, WINDOWS_S[-1]) + 1 < REPEATED:
        return
    # WHY not the latest: reviewed once more, it is counted already.
    if writes.latest(request.key, What.WROTE) == value or not restarts(request, made):
        return
    restarted = [(writes.counted(holder, now, window_s) + 1, 1) for window_s in WINDOWS_S]
    yield from _again(victim_of(made.after), "recreated", restarted, by_owner=True)


def _status(scene: Scene, now: Now) -> Iterator[Churn]:
    request, writes = scene.request, scene.view.history.writes
    if writes.written(request.key, What.STATUS, now, TEN_MINUTES_S) < REPEATED:
        return
    value = status_number(request.new_body)
    yield from _flipped(scene, What.STATUS, value, named(request.key, request.object_uid), now)


def _scaled(scene: Scene, now: Now) -> Iterator[Churn]:
    resized = scene.change.resized
    if resized is None:
        return
    key, writes = scene.view.key(resized.row), scene.view.history.writes
    if not writes.knows(key):
        return
    victim = scene.victim(resized.row)
    deed = Deed(What.SCALED, scene.request.user.username, resized.after)
    # WHY not down: step by step a set makes room for the next; what comes back is a flip. WHY not
    # towards what is asked for: one member after the other is no loop.
    if resized.after > resized.before and not _towards(scene.view, resized):
        raised = [
            (
                writes.raised(key, What.SCALED, now, window_s) + 1,
                writes.times(key, deed, now, window_s)[1],
            )
            for window_s in WINDOWS_S
        ]
        yield from _again(victim, "scaled", raised)
    yield from _flipped(scene, What.SCALED, resized.after, victim, now)


def _flipped(scene: Scene, what: What, value: int, victim: Victim, now: Now) -> Iterator[Churn]:
    writes, key = scene.view.history.writes, scene.request.key
    deed = Deed(what, scene.request.user.username, value)
    yield from _again(victim, "flipped", [writes.flips(key, deed, now, one) for one in WINDOWS_S])


def _told(scene: Scene, word: str, deed: Deed, victim: Victim, now: Now) -> Iterator[Churn]:
    writes, key = scene.view.history.writes, scene.request.key
    yield from _again(victim, word, [writes.times(key, deed, now, one) for one in WINDOWS_S])


def _again(
    target: Victim, what: str, counts: Iterable[tuple[int, int]], *, by_owner: bool = False
) -> Iterator[Churn]:
    """Tell of what repeats: of each window in which it is more often than in the shorter ones.

    `counts` are of `WINDOWS_S`: how often, this time included, and by how many. `by_owner`: of all
    pods of an owner, so that it is each of them on average.
    """
    said = REPEATED - 1
    for window_s, (times, actors) in zip(WINDOWS_S, counts, strict=True):
        if times > said:
            said = times
            yield Churn(
                target=target,
                what=what,
                times=times,
                window_s=window_s,
                actors=actors,
                rounds=by_owner,
                confidence=Confidence.BOUNDED if by_owner else Confidence.EXACT,
            )


def _towards(view: GraphView, resized: Resized) -> bool:
    """Whether a workload that grows does to no more than those behind it ask for."""
    return resized.after <= asked_for(view, resized.row)
