"""The graph is written in slices, and nobody waits long for their turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial

from msgspec.structs import replace as changed

from support.observing import Told
from suture.app.intake import Intake
from suture.app.slices import SLICE_NS, Slices
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import CONFIG_MAPS, SECRETS, Gvk, ObjectKey
from suture.model.objects import ClusterObject
from suture.wire.watch import Delta, Listed, Upsert

KIND = Gvk("", "v1", "ConfigMap")


class Ticking:
    """A clock that moves on whenever it is looked at, so that work takes time."""

    def __init__(self, step_ns: int) -> None:
        self.step_ns = step_ns
        self.ns = 1

    def __call__(self) -> Now:
        """Return the time, a step later than before."""
        self.ns += self.step_ns
        return Now(self.ns, 0.0)


def things(count: int, version: int = 1) -> list[ClusterObject]:
    """Return as many objects of one type."""
    return [
        ClusterObject(ObjectKey(CONFIG_MAPS, "n", f"c{n}"), f"u{n}", KIND, str(version))
        for n in range(count)
    ]


async def turns_of_others(intake: Intake, deltas: list[Delta]) -> int:
    """Return how often another task came to its turn while changes were taken."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await intake.take(CONFIG_MAPS, "9", deltas)
    task.cancel()
    await asyncio.wait([task])
    return turns


async def test_a_long_list_is_taken_in_slices() -> None:
    """Whoever waits for the event loop waits a slice, not a list."""
    clock = Ticking(SLICE_NS // 4)
    intake = Intake(Graph(), clock)
    turns = await turns_of_others(intake, [Upsert(thing) for thing in things(800)])
    assert len(intake.graph) == 800
    # 100 looks at the clock, each a quarter of a slice: some 20 slices.
    assert turns >= 15
    intake.begin_list(CONFIG_MAPS)
    swept = await turns_of_others(intake, [Listed()])
    assert len(intake.graph) == 0
    assert swept >= 15


async def test_little_work_is_not_cut() -> None:
    """A few changes cost no turn of the loop."""
    intake = Intake(Graph(), Ticking(1))
    assert await turns_of_others(intake, [Upsert(thing) for thing in things(100)]) == 0


def test_observers_are_told_of_the_types_they_heed() -> None:
    """Of others only that they ended, also who joins when the model is under way."""

    class Few(Told):
        heeds = frozenset({CONFIG_MAPS})

    early, late, whole = Few(), Few(), Told()
    intake = Intake(Graph(), Ticking(1), [early])
    [kept] = things(1)
    secret = ClusterObject(ObjectKey(SECRETS, "n", "s"), "us", Gvk("", "v1", "Secret"), "1")
    intake.put(kept)
    intake.put(secret)
    intake.join(late)
    intake.join(whole)
    for one in (kept, secret):
        intake.put(changed(one, resource_version="2"))
        intake.remove(one.key, one.uid)
    assert early.names("began") == ["c0"]
    assert early.names("changed") == late.names("changed") == ["c0"]
    assert whole.names("changed") == ["c0", "s"]
    assert early.names("ended") == late.names("ended") == whole.names("ended") == ["c0", "s"]


async def test_several_kinds_share_one_slice() -> None:
    """Eight lists at once do not take eight slices of one turn."""
    clock = Ticking(SLICE_NS // 4)
    intake = Intake(Graph(), clock)
    longest = 0

    async def watchdog() -> None:
        nonlocal longest
        while True:
            before = clock.ns
            await asyncio.sleep(0)
            longest = max(longest, clock.ns - before)

    task = asyncio.create_task(watchdog())
    await asyncio.gather(
        *(intake.take(CONFIG_MAPS, "9", [Upsert(one) for one in things(200)]) for _ in range(8))
    )
    task.cancel()
    await asyncio.wait([task])
    # Eight tasks look at the clock once each to see that the slice is spent.
    assert longest <= SLICE_NS + 9 * clock.step_ns + SLICE_NS // 2


async def test_reviews_wait_for_each_other_and_not_for_what_the_model_takes_in() -> None:
    """Eight reviews beside eight long lists: one in a turn, in order, the first at once."""
    clock = Ticking(SLICE_NS // 4)
    intake, reviews = Intake(Graph(), clock), Slices(clock)
    order: list[int] = []
    turn = 0
    in_turn: Counter[int] = Counter()

    async def turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def review(number: int) -> None:
        await reviews.breathe()
        clock.ns += SLICE_NS
        in_turn[turn] += 1
        order.append(number)

    counting = asyncio.create_task(turns())
    taking = [
        asyncio.create_task(intake.take(CONFIG_MAPS, "9", [Upsert(thing) for thing in things(800)]))
        for _ in range(8)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    begun = turn
    await asyncio.gather(*(review(number) for number in range(8)))
    assert turn - begun <= 2 * len(order)
    assert not any(one.done() for one in taking)
    await asyncio.gather(*taking)
    counting.cancel()
    await asyncio.wait([counting])
    assert order == list(range(8))
    assert max(in_turn.values()) == 1
    assert len(intake.graph) == 800


async def test_whoever_gives_up_waiting_leaves_the_line() -> None:
    """A review whose deadline is over holds up nobody behind it."""
    slices = Slices(Ticking(2 * SLICE_NS))
    waiting = [asyncio.create_task(slices.breathe()) for _ in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    async with asyncio.timeout(5):
        done = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in done].count(asyncio.CancelledError) == 1
    assert done[2:] == [None, None]


async def test_what_is_called_and_who_looks_wait_in_one_line() -> None:
    """Calls and tasks have their turn in the order in which they came; who gives up holds up none."""
    slices = Slices(Ticking(2 * SLICE_NS))
    order: list[int] = []

    async def looks(number: int) -> None:
        await slices.breathe()
        order.append(number)

    assert slices.free()
    slices.later(partial(order.append, 0))
    tasks = [asyncio.create_task(looks(number)) for number in (1, 2)]
    await asyncio.sleep(0)
    slices.later(partial(order.append, 3))
    tasks[1].cancel()
    async with asyncio.timeout(5):
        await asyncio.wait(tasks)
        while len(order) < 3:
            await asyncio.sleep(0)
    assert order == [0, 1, 3]
    assert slices.free()


async def test_what_is_called_alone_is_called() -> None:
    """Nobody else has to come for it."""
    slices = Slices(Ticking(1))
    done = asyncio.Event()
    slices.later(done.set)
    async with asyncio.timeout(5):
        await done.wait()


async def test_what_a_list_repeats_unchanged_is_told_to_nobody() -> None:
    """A relist of a thousand objects of which one changed is one change."""
    told = Told()
    intake = Intake(Graph(), Ticking(1), [told])
    first = things(50)
    await intake.take(CONFIG_MAPS, "9", [Upsert(thing) for thing in first])
    told.clear()
    again = things(50)
    again[7] = things(50, version=2)[7]
    intake.begin_list(CONFIG_MAPS)
    await intake.take(CONFIG_MAPS, "9", [*(Upsert(one) for one in again), Listed()])
    assert told.all == [("changed", again[7])]
