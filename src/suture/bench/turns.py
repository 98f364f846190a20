"""How long the event loop stands still: the CPU time of each of its turns, and of each callback.

A turn is all that the loop does before it looks for news again: whoever asks as it begins waits for
the whole of it. A callback is what none can interrupt: one step of one task. In CPU time of the
thread, as the neighbours' share of the machine is not ours. On a virtual machine that clock is not
the thread's alone: it was seen to run ahead by 15 ms in no time at all, in a program that does
nothing but read it. So nothing took longer than the wall clock says, and what the kernel took the
CPU away from is told apart: no clock says what of it was ours. See `docs/performance.md`.
"""

from __future__ import annotations

import asyncio
import resource
import time
from array import array
from collections.abc import Coroutine, Generator
from typing import Any

WORK_NS = 50_000
"""Turns that take less did nothing worth counting: the loop looked, and there was no news."""


class Stopwatch:
    """How long this thread has worked since it was last looked at, as far as clocks can say."""

    __slots__ = ("_cpu_ns", "_switches", "_wall_ns")

    def __init__(self) -> None:
        self._cpu_ns, self._wall_ns, self._switches = _clocks()

    def lap(self) -> tuple[int, bool]:
        """Return the ns of work since the last look, and whether the CPU was ours all the while."""
        cpu_ns, wall_ns, switches = _clocks()
        took_ns, ours = (
            min(cpu_ns - self._cpu_ns, wall_ns - self._wall_ns),
            self._switches == switches,
        )
        self._cpu_ns, self._wall_ns, self._switches = cpu_ns, wall_ns, switches
        return took_ns, ours


def _clocks() -> tuple[int, int, int]:
    """Return the thread's CPU time, the time, and how often the kernel took the CPU away."""
    switches = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
    return time.thread_time_ns(), time.perf_counter_ns(), switches


class Steps:
    """A meter of what tasks do in one go, from one wait to the next; of tasks begun after it."""

    def __init__(self) -> None:
        self.longest: dict[str, float] = {}
        """The longest step in µs, by what the task runs, of those that had the CPU throughout."""

    def install(self) -> None:
        """Measure the tasks of this loop from now on."""
        asyncio.get_running_loop().set_task_factory(self._task)

    def clear(self) -> None:
        """Forget what was until now."""
        self.longest.clear()

    def _task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any] | Generator[Any, Any, Any],
        **more: Any,
    ) -> asyncio.Task[Any]:
        return asyncio.Task(self._measured(coroutine), loop=loop, **more)

    async def _measured(self, coroutine: Any) -> Any:
        return await _Measured(coroutine, self.longest)


class _Measured:
    """Awaits a coroutine, step by step, and notes the longest."""

    def __init__(self, coroutine: Any, longest: dict[str, float]) -> None:
        self._coroutine = coroutine
        self._longest = longest
        self._name = getattr(coroutine, "__qualname__", type(coroutine).__name__)

    def __await__(self) -> Generator[Any, Any, Any]:
        step, value = self._coroutine.send, None
        while True:
            watch = Stopwatch()
            try:
                waits_for = step(value)
            except StopIteration as end:
                return end.value
            finally:
                took_ns, ours = watch.lap()
                if ours and took_ns / 1e3 > self._longest.get(self._name, 0.0):
                    self._longest[self._name] = took_ns / 1e3
            try:
                step, value = self._coroutine.send, (yield waits_for)
            except BaseException as error:  # noqa: BLE001 whatever it is, it is the coroutine's
                step, value = self._coroutine.throw, error


class Turns:
    """A meter that runs once in each turn of the loop. While it runs, the loop does not sleep."""

    def __init__(self) -> None:
        self.work_us = array("d")
        """What each turn took that did something and had the CPU throughout, in µs."""
        self.broken_us = array("d")
        """The same of those that the kernel took the CPU away from: theirs and the machine's."""
        self.count = 0
        self._watch = Stopwatch()
        self._running = False

    def start(self) -> None:
        """Begin with the next turn."""
        self._running = True
        self._watch.lap()
        asyncio.get_running_loop().call_soon(self._turn)

    def stop(self) -> None:
        """Measure no more."""
        self._running = False

    def _turn(self) -> None:
        took_ns, ours = self._watch.lap()
        self.count += 1
        if took_ns >= WORK_NS:
            (self.work_us if ours else self.broken_us).append(took_ns / 1e3)
        if self._running:
            asyncio.get_running_loop().call_soon(self._turn)
