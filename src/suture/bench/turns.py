"""How long the event loop stands still: the CPU time of each of its turns, and of each callback.

A turn is all that the loop does before it looks for news again: whoever asks as it begins waits for
the whole of it. A callback is what none can interrupt: one step of one task. In CPU time of the
thread, as the neighbours' share of the machine is not ours.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import Coroutine, Generator
from typing import Any

WORK_NS = 50_000
"""Turns that take less did nothing worth counting: the loop looked, and there was no news."""


class Steps:
    """A meter of what tasks do in one go, from one wait to the next; of tasks begun after it."""

    def __init__(self) -> None:
        self.longest: dict[str, float] = {}
        """The longest step in µs, by what the task runs."""

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
            began_ns = time.thread_time_ns()
            try:
                waits_for = step(value)
            except StopIteration as end:
                return end.value
            finally:
                took_us = (time.thread_time_ns() - began_ns) / 1e3
                if took_us > self._longest.get(self._name, 0.0):
                    self._longest[self._name] = took_us
            try:
                step, value = self._coroutine.send, (yield waits_for)
            except BaseException as error:  # noqa: BLE001 whatever it is, it is the coroutine's
                step, value = self._coroutine.throw, error


class Turns:
    """A meter that runs once in each turn of the loop. While it runs, the loop does not sleep."""

    def __init__(self) -> None:
        self.work_us = array("d")
        """What each turn took that did something, in µs."""
        self.count = 0
        self._last_ns = 0
        self._running = False

    def start(self) -> None:
        """Begin with the next turn."""
        self._running = True
        self._last_ns = time.thread_time_ns()
        asyncio.get_running_loop().call_soon(self._turn)

    def stop(self) -> None:
        """Measure no more."""
        self._running = False

    def _turn(self) -> None:
        now_ns = time.thread_time_ns()
        took_ns, self._last_ns = now_ns - self._last_ns, now_ns
        self.count += 1
        if took_ns >= WORK_NS:
            self.work_us.append(took_ns / 1e3)
        if self._running:
            asyncio.get_running_loop().call_soon(self._turn)
