"""The time of a story: what is waited for is lived until nothing moves, and the rest is moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.offline.loop import run_jumping
from suture.lab.scenarios.quiet import MOST_S, QUIET_S, SETTLED_S
from suture.lab.scenarios.story import NOTICED_S, MovedStory, Story


class Restless:
    """A cluster that comes to rest some seconds after it is asked, or not in time."""

    def __init__(self, after_s: float) -> None:
        self.after_s = after_s

    async def quiet(self, quiet_s: float = QUIET_S, most_s: float = MOST_S) -> bool:
        """Take as long as it takes."""
        await asyncio.sleep(min(self.after_s + quiet_s, most_s))
        return self.after_s + quiet_s <= most_s


def told(
    after_s: float, wait: Callable[[MovedStory], Awaitable[None]]
) -> tuple[list[float], float, float]:
    """Return the moves, the seconds lived, and the seconds that passed in the story."""
    moves: list[float] = []

    async def run() -> tuple[list[float], float, float]:
        story = MovedStory(Restless(after_s), moves.append)
        lived_s, told_s = now_s(), story.now_s()
        await wait(story)
        return moves, now_s() - lived_s, story.now_s() - told_s

    return run_jumping(run())


def test_six_hours_are_moved_once_the_cluster_is_at_rest() -> None:
    """In the story all of them pass; lived is the unrest, the rest, and what the guard needs."""
    moves, lived_s, told_s = told(4.0, lambda story: story.wait(6 * 3600.0))

    assert told_s == pytest.approx(6 * 3600.0)
    assert lived_s == pytest.approx(4.0 + QUIET_S + NOTICED_S)
    assert moves == [pytest.approx(told_s - lived_s)]


def test_a_gap_between_writes_needs_less_rest() -> None:
    """Since what follows from one write comes in a burst."""
    moves, lived_s, told_s = told(0.0, lambda story: story.gap(60.0))

    assert (told_s, lived_s) == pytest.approx((60.0, SETTLED_S + NOTICED_S))
    assert len(moves) == 1


def test_a_cluster_that_does_not_rest_is_lived_with() -> None:
    """To the end of the span, and no longer."""
    moves, lived_s, told_s = told(1000.0, lambda story: story.wait(120.0))

    assert moves == []
    assert (told_s, lived_s) == pytest.approx((120.0, 120.0))


@pytest.mark.parametrize("span_s", [0.0, 0.05, SETTLED_S + NOTICED_S])
def test_short_spans_are_lived(span_s: float) -> None:
    """There is nothing to gain."""
    moves, lived_s, told_s = told(0.0, lambda story: story.gap(span_s))

    assert moves == []
    assert (told_s, lived_s) == pytest.approx((span_s, span_s))


def test_without_moves_all_is_lived() -> None:
    """As everywhere but in the examination on a lab."""

    async def run() -> float:
        story, began = Story(), now_s()
        await story.wait(3600.0)
        await story.gap(60.0)
        return now_s() - began

    assert run_jumping(run()) == pytest.approx(3660.0)
