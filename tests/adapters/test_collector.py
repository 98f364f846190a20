"""The garbage collector runs when it is told to, over little, and what it costs is known."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from suture.adapters.collector import WALK, Collector


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    """Leave Python's collector as it was found."""
    yield
    gc.unfreeze()
    gc.enable()


class Node:
    """One half of a cycle."""

    other: Node


def cycle() -> None:
    """Leave garbage behind that only a collector finds."""
    one, two = Node(), Node()
    one.other, two.other = two, one


async def nobody() -> None:
    """Wait for nobody: the loop is ours."""


def nodes() -> int:
    """Return how many nodes there are, found or not."""
    return sum(type(thing) is Node for thing in gc.get_objects())


def test_nothing_is_collected_while_the_model_loads() -> None:
    """However much comes."""
    collector = Collector(lambda _: None)
    collector.start()
    cycle()
    kept = [[number] for number in range(50_000)]
    assert nodes() == 2
    collector.freeze()
    assert nodes() == 0
    assert len(kept) == 50_000
    assert not gc.isenabled()
    assert collector.uncollected == 0


def test_young_garbage_is_found() -> None:
    """In the next pass, which is timed."""
    pauses: list[float] = []
    collector = Collector(pauses.append)
    collector.start()
    collector.freeze()
    cycle()
    collector.collect()
    assert nodes() == 0
    assert len(pauses) == 1
    assert pauses[0] >= 0


def test_what_outlives_a_full_pass_is_walked_no_more_and_counted() -> None:
    """Growth of the model does not make the passes longer, and is seen."""
    collector = Collector(lambda _: None)
    collector.start()
    collector.freeze()
    kept = [[number] for number in range(2 * WALK)]
    collector.collect()
    assert collector.uncollected >= len(kept)
    assert len(gc.get_objects()) < WALK


async def test_it_runs_only_once_the_model_is_frozen() -> None:
    """Before, a pass would walk half a model."""
    pauses: list[float] = []
    collector = Collector(pauses.append)
    collector.start()
    task = asyncio.create_task(collector.run(nobody))
    await asyncio.sleep(0.3)
    assert pauses == []
    collector.freeze()
    async with asyncio.timeout(5):
        while not pauses:
            await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
