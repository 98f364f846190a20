"""Scalers that all let go in one moment: each may, and no load ends everywhere at once.

Beside `sizes`, which asks of one workload whether its scaler may decide so. Scalers read what they
go by from a few sources; one that answers with nothing is believed by all of them. What ends by
itself ends here and there. So the first few are believed, and the others have to come again later:
a scaler asks again within the minute, and what stays too large for so long costs little. Those that
go by the clock have one cause, and it is none to doubt. So has what stood at the least size of its
scaler until somebody else lowered that: nothing but the bound had kept it so large. So has what a
person has paused, at the size at which it is held. Pure.
LIMIT: a few scalers that are deceived are not told from a few that are right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from suture.impact.causes.counters import least_lowered, least_lowered_by
from suture.impact.ground.bodies import annotations_of
from suture.impact.ground.change import Resized, Rewritten
from suture.model.actor import is_person
from suture.model.clock import Now
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.request import Request
from suture.model.writes import HOUR_S, MINUTE_S

BELIEVED: Final = 5
"""How many workloads an actor may cut deep within a minute: a chain of services that has no more
to do is as long."""

BELIEVED_PERCENT: Final = 10
"""The same as a share of the scalers of a type; the larger one counts."""

PAUSED: Final = "paused"
"""What an annotation of an autoscaler has in its name by which it is held at a size. SOURCE: KEDA
`autoscaling.keda.sh/paused-replicas`."""

CLOCK: Final = ("cron", "schedul")
"""What types of scalers are called after that go by the clock."""


def remember_cut(view: GraphView, identity: str, resized: Resized, now: Now) -> None:
    """Remember of a size that was let through that it cut deep what a scaler sizes."""
    scalers = view.sources(resized.row, Edge.SCALES) if _is_deep(resized) else ()
    if scalers and not _has_cause(view, scalers, identity, resized, now):
        view.history.writes.count(_cutter(identity), now)


def remember_least(view: GraphView, identity: str, made: Rewritten, now: Now) -> None:
    """Remember of an autoscaler that its least size was lowered, and from which number."""
    old, new = made.facts_before, made.after.facts
    if not isinstance(old, AutoscalerFacts) or not isinstance(new, AutoscalerFacts):
        return
    if new.least < old.least:
        writes, uid = view.history.writes, made.after.uid
        writes.count(least_lowered(uid, old.least), now)
        writes.count(least_lowered_by(uid, old.least, identity), now)


def remember_pause(request: Request, view: GraphView, now: Now) -> None:
    """Remember that a person pauses an autoscaler at a size, by an annotation that says which."""
    row = view.find(request.key)
    if row is None or not is_person(request.user.username):
        return
    old, new = annotations_of(request.old_body), annotations_of(request.new_body)
    for name, value in new.items():
        if PAUSED in name and value.isdecimal() and old.get(name) != value:
            view.history.writes.count(_paused(view.uid(row), int(value)), now)


def cut_together(view: GraphView, identity: str, resized: Resized, now: Now | None) -> bool:
    """Whether an actor cuts a workload deep after so many others that one cause is behind it."""
    if now is None or not _is_deep(resized):
        return False
    others = view.history.writes.counted(_cutter(identity), now, MINUTE_S)
    if others < BELIEVED:
        return False
    scalers = view.sources(resized.row, Edge.SCALES)
    known = max((view.count(view.resource(one)) for one in scalers), default=0)
    enough = bool(scalers) and others * 100 >= known * BELIEVED_PERCENT
    return enough and not _has_cause(view, scalers, identity, resized, now)


def _has_cause(
    view: GraphView, scalers: Collection[int], identity: str, resized: Resized, now: Now
) -> bool:
    """Whether what lets a workload go is known: the clock, a pause, or a bound that was lowered."""
    counted = view.history.writes.counted
    return (
        _is_timed(view, scalers)
        or _was_held(view, scalers, identity, resized, now)
        or any(counted(_paused(view.uid(one), resized.after), now, HOUR_S) for one in scalers)
    )


def _was_held(
    view: GraphView, scalers: Collection[int], identity: str, resized: Resized, now: Now
) -> bool:
    """Whether a workload stands at a least size that another than the actor lowered lately.

    WHY exactly there: what was larger was so for its load, whatever the bound.
    """
    counted, size = view.history.writes.counted, resized.before
    return any(
        counted(least_lowered(uid, size), now, HOUR_S)
        > counted(least_lowered_by(uid, size, identity), now, HOUR_S)
        for uid in map(view.uid, scalers)
    )


def _is_timed(view: GraphView, scalers: Iterable[int]) -> bool:
    """Whether one of some scalers goes by the clock, or who made it for that.

    It says so, or is of a type that is called after it.
    """
    makers = (made for one in scalers for made in (one, view.controller(one)) if made >= 0)
    return any(
        facts.timed
        if isinstance(facts := view.facts(made), AutoscalerFacts)
        else any(word in view.resource(made).plural for word in CLOCK)
        for made in makers
    )


def _is_deep(resized: Resized) -> bool:
    """Whether more than half goes in one step, and more than one."""
    return resized.before - resized.after > 1 and resized.after * 2 < resized.before


def _paused(uid: str, size: int) -> str:
    return f"paused/{size}/{uid}"


def _cutter(identity: str) -> str:
    return f"cut/{identity}"
