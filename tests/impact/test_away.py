"""Members of a custom resource that were taken and are not back: what the next one would cost."""

from __future__ import annotations

import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.effects import QuorumLost
from suture.model.names import PODS, ObjectKey, Resource
from suture.model.objects import CustomFacts, PodFacts

SETS = Resource("core.example.com", "podsets")
BY = operator("system:serviceaccount:queue:set-operator")
NOW = START.plus_s(300)


def told(
    *there: int, away: tuple[int, ...] = (), stem: str = "keeper", facts: CustomFacts | None = None
) -> list[tuple[int, int]]:
    """Take the last member that is there; return of how many it would leave how many."""
    parent = thing(SETS, "keeper", "queue", facts=facts or CustomFacts())
    pods = [
        thing(
            PODS, f"{stem}-{number}", "queue", owners=[owner(parent)],
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in there
    ]  # fmt: skip
    view = view_of(parent, pods)
    view.history.writes.count(taken_from(parent.uid, PODS), START, len(away) or 1)
    for number in away:
        key = ObjectKey(PODS, "queue", f"{stem}-{number}")
        view.history.note_removed(f"uid-{number}", key, START, by=BY.user.username)
    impact = impact_of(delete(pods[-1], by=BY), view, by=BY, now=NOW)
    return [(one.members, one.after) for one in effects(impact, QuorumLost)]


def test_the_next_member_while_one_is_away() -> None:
    """One of three was taken and could not be made anew: the second would leave one."""
    assert told(1, 2, away=(0,)) == [(3, 1)]
    assert told(0, 1, 2, away=(3, 4)) == [(5, 2)]


@pytest.mark.parametrize(
    ("there", "away"),
    [
        pytest.param((0, 1, 2), (), id="all are there"),
        pytest.param((0, 1, 2), (0,), id="it is back"),
        pytest.param((0, 1, 2, 3), (4,), id="a majority is left"),
    ],
)
def test_what_leaves_a_majority(there: tuple[int, ...], away: tuple[int, ...]) -> None:
    """The twins: a roll that waits, and a set made smaller by one."""
    assert told(*there, away=away) == []


def test_what_is_called_by_lot_is_missed_by_nobody() -> None:
    """Runners and workers come and go; only members have names of their own."""
    assert told(1, 2, away=(0,), stem="keeper-worker") == []


def test_what_says_how_many_it_wants() -> None:
    """Its word counts, and not what was there before it."""
    assert told(1, 2, away=(0,), facts=CustomFacts(wanted=2)) == []
    assert told(1, 2, away=(0,), facts=CustomFacts(sizes=(1,))) == []
