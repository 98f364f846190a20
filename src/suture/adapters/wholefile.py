"""A file that is replaced whole or not at all, whoever dies meanwhile.

Its new content is written beside it under one hidden name, locked, so that a writer that was killed
leaves at most one unfinished file, which the next one takes over.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

OWNER_ONLY = 0o600


class BeingWrittenError(OSError):
    """Another process is writing the same file now."""

    def __init__(self, path: Path) -> None:
        super().__init__(0, "another process is writing it now", str(path))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write, of mode 0600; it takes the place of `path` when all went well.

    Else `path` is as it was. Errors: OSError, `BeingWrittenError` among them.
    """
    # WHY beside it: a rename is one step only within a file system.
    part = path.parent / f".{path.name}.part"
    with _locked(part) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    # WHY the folder too: the new name is a change of it, and not yet on the disk.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def _locked(part: Path) -> Iterator[IO[bytes]]:
    """Open a file, empty, that no other process writes."""
    # WHY not emptied yet: until it is locked it may be another's.
    handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, OWNER_ONLY)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BeingWrittenError(part) from None
        # WHY: the other may have finished in between; then this is its file, under its new name.
        if not _is(part, file):
            raise BeingWrittenError(part)
        file.truncate()
        yield file


def _is(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
