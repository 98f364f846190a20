"""An event loop whose time jumps to the next thing due, so that no span is waited for.

Lives apart because it knows nothing of scenarios: whatever sleeps, paces or times out on it sees
time pass as usual. Only for tasks that wait for nothing but time and each other.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Tells the loop of no wait: what it would have waited is added to its time."""

    def __init__(self) -> None:
        super().__init__()
        self.jumped_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now; a wait for nothing but time is a jump."""
        ready = super().select(0)
        if ready or timeout is None:
            # WHY waiting where nothing is due: only another thread can go on then.
            return ready or super().select(timeout)
        self.jumped_s += max(0.0, timeout)
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop that starts at 0 and never waits."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the seconds jumped so far: computing takes no time here."""
        return self._jumping.jumped_s


def run_jumping(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(main)
