"""A clock that a lab moves forward: the hours of a story that nobody waits for.

Lives at the rim because it reads the machine's clocks and a file. The file is eight bytes,
nanoseconds to add to both, mapped into memory: a look at it is no system call. It is made by the
lab alone, and `suture serve` takes one only where its API server is on this machine.
"""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

from suture.errors import InputError
from suture.model.clock import Now

SIZE = 8


class LabClock:
    """The machine's clocks, later by what the file says."""

    def __init__(self, path: Path) -> None:
        """Follow the file. Errors: InputError when it is not one that a lab made."""
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size != SIZE:
                    raise InputError(f"`{path}` has {size} bytes: it is no clock of a lab")
                self._added = mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ)
        except OSError as error:
            raise InputError(f"the clock `{path}` cannot be read: {error}") from error
        self._most_ns = 0

    def __call__(self) -> Now:
        """Return the time. It never goes back, whatever becomes of the file."""
        self._most_ns = max(self._most_ns, int.from_bytes(self._added[:], "little"))
        return Now(time.monotonic_ns() + self._most_ns, time.time() + self._most_ns / 1e9)


def reset(path: Path) -> None:
    """Make a clock that shows the machine's own time; an earlier one stays with its followers."""
    # WHY not in place: to read a mapped file that was cut short ends a process.
    beside = path.with_suffix(".new")
    beside.write_bytes(bytes(SIZE))
    beside.replace(path)


def move(path: Path, by_s: float) -> None:
    """Move a clock forward, at once for all who follow it."""
    if by_s < 0:
        raise InputError(f"a clock is not moved back, by {-by_s:g} s")
    with path.open("r+b", buffering=0) as file:
        added_ns = int.from_bytes(file.read(SIZE), "little") + int(by_s * 1e9)
        # WHY one write of the same length: a follower maps the file, and reads all of it or none.
        os.pwrite(file.fileno(), added_ns.to_bytes(SIZE, "little"), 0)
