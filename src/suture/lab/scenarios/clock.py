"""The time that paces, waits and deadlines of a run count.

Lives apart so that one line decides it: the event loop's own time. On the lab that is the machine's
monotonic clock; offline a loop's time jumps to the next thing due, and nothing is waited for.
"""

from __future__ import annotations

import asyncio


def now_s() -> float:
    """Return the seconds of the running loop's clock; only differences mean something."""
    return asyncio.get_running_loop().time()
