"""What long work says of itself while it goes on: what it does now, since when, and last time.

Lives in the lab because only the lab does work that takes minutes; how it is shown is up to the
command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One moment of long work; `last_s` is how long the same took before, None if never seen."""

    what: str
    elapsed_s: float = 0.0
    last_s: float | None = None

    def __str__(self) -> str:
        """Return one line for people."""
        parts = [self.what]
        if self.elapsed_s >= 1:
            parts.append(f"{self.elapsed_s:.0f} s")
        if self.last_s is not None:
            parts.append(f"took {self.last_s:.0f} s last time")
        return ", ".join(parts)


Report = Callable[[Progress], None]


def silent(_progress: Progress) -> None:
    """Say nothing."""
