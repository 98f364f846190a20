"""How long the event loop stands still: the CPU time of each of its turns, and of each callback.

A turn is all that the loop does before it looks for news again: whoever asks as it begins waits for
the whole of it. A callback is what none can interrupt: one step of one task. In CPU time of the
thread, as the neighbours' share of the machine is not ours. On a virtual machine that clock is not
the thread's alone: it was seen to run ahead by 15 ms in no time at all, in a program that does
nothing but read it. So nothing took longer than the wall clock says, and what the kernel took the
CPU away from is told apart: no clock says what of it was ours. What the host of a virtual machine
takes shows in no clock of a thread either, but is counted by the kernel, in hundredths of a second:
what was done within the tenth of a second in which it took some is told apart, too.
See `docs/performance.md`.
"""

from __future__ import annotations

import asyncio
import resource
import time
from array import array
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

WORK_NS = 50_000
"""Turns that take less did nothing worth counting: the loop looked, and there was no news."""


WINDOW_NS = 100_000_000
"""How long what was done waits until it is known whether the host took the CPU meanwhile."""

SETTLED_NS = 8_000_000
"""What the host took is counted at the next tick of the kernel's clock: 4 ms at most, twice."""

STOLEN_FIELD = 8
"""SOURCE: proc(5), /proc/stat: `cpu user nice system idle iowait irq softirq steal`."""

STAT = Path("/proc/stat")


def stolen() -> int:
    """Return what the host has taken of all CPUs, in hundredths of a second; 0 where none says."""
    try:
        fields = STAT.read_bytes().split(b"\n", 1)[0].split()
    except OSError:
        return 0
    return int(fields[STOLEN_FIELD]) if len(fields) > STOLEN_FIELD else 0


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
        self.stolen: dict[str, float] = {}
        """The same of those while which the host took a CPU."""
        self._lately: dict[str, float] = {}

    def install(self) -> None:
        """Measure the tasks of this loop from now on."""
        asyncio.get_running_loop().set_task_factory(self._task)

    def clear(self) -> None:
        """Forget what was until now."""
        for noted in (self.longest, self.stolen, self._lately):
            noted.clear()

    def settle(self, *, stolen: bool) -> None:
        """Learn whether the host took a CPU since this was last said."""
        noted = self.stolen if stolen else self.longest
        for name, took_us in self._lately.items():
            noted[name] = max(took_us, noted.get(name, 0.0))
        self._lately.clear()

    def _task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any] | Generator[Any, Any, Any],
        **more: Any,
    ) -> asyncio.Task[Any]:
        return asyncio.Task(self._measured(coroutine), loop=loop, **more)

    async def _measured(self, coroutine: Any) -> Any:
        return await _Measured(coroutine, self._lately)


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

    def __init__(self, steps: Steps | None = None, host: Callable[[], int] = stolen) -> None:
        """Tell `steps`, too, when the host took a CPU; `host` says how much it has taken."""
        self.work_us = array("d")
        """What each turn took that did something and had the CPU throughout, in µs."""
        self.broken_us = array("d")
        """The same of those that the kernel took the CPU away from: theirs and the machine's."""
        self.stolen_us = array("d")
        """The same of those while which the host took a CPU: theirs and other machines'."""
        self.count = 0
        self._watch = Stopwatch()
        self._running = False
        self._steps = steps
        self._host = host
        self._taken = 0
        self._lately = array("d")
        self._opened_ns = self._long_ns = 0

    def start(self) -> None:
        """Begin with the next turn."""
        self._running = True
        self._watch.lap()
        self._taken, self._opened_ns = self._host(), time.perf_counter_ns()
        asyncio.get_running_loop().call_soon(self._turn)

    def stop(self) -> None:
        """Measure no more."""
        self._running = False
        self._settle(time.perf_counter_ns())

    def _turn(self) -> None:
        took_ns, ours = self._watch.lap()
        self.count += 1
        if took_ns >= WORK_NS:
            now_ns = time.perf_counter_ns()
            (self._lately if ours else self.broken_us).append(took_ns / 1e3)
            if took_ns >= SETTLED_NS // 4:
                self._long_ns = now_ns
            if now_ns - self._opened_ns >= WINDOW_NS and now_ns - self._long_ns >= SETTLED_NS:
                self._settle(now_ns)
                self._watch.lap()
        if self._running:
            asyncio.get_running_loop().call_soon(self._turn)

    def _settle(self, now_ns: int) -> None:
        """Tell what was done lately from what was done while the host took a CPU."""
        taken = self._host()
        stolen_some, self._taken, self._opened_ns = taken > self._taken, taken, now_ns
        (self.stolen_us if stolen_some else self.work_us).extend(self._lately)
        self._lately = array("d")
        if self._steps is not None:
            self._steps.settle(stolen=stolen_some)
