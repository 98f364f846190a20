"""Audit logs on disk: files, folders, compressed or not, several API servers' side by side.

Yields lines with where they stand; what a line means, `wire.audit` knows.
"""

from __future__ import annotations

import atexit
import gzip
import heapq
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from suture.errors import InputError
from suture.wire.audit import AuditLineError, EventDecoder, Skipped, Write, events_of, is_list

SUFFIXES = (".log", ".json", ".jsonl", ".ndjson", ".gz", ".zst", ".audit")
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

MAX_LINE_BYTES = 64 << 20
"""LIMIT: one line; an event with two bodies of etcd's largest object is 3 MiB."""

KEPT_BYTES = 512 << 20
"""LIMIT: memory for the writes of a log, which are decoded once and kept for the second pass; the
log itself may be twice as large, with its reads and leases. Longer ones are read twice."""

WRITE_BYTES = 700
"""What a write takes beside its bodies, rounded up."""

BUFFER_BYTES = 1 << 20
"""LIMIT: read at a time: some hundred lines of several KB each."""

LOCATED = 20
"""LIMIT: malformed lines that are located; all are counted."""

Say = Callable[[int, int], None]
"""Told how many events were read, and how many bytes of the files."""


class AuditLogError(InputError):
    """An audit log cannot be read at all."""

    code = "audit_log_unreadable"


class Tally(msgspec.Struct):
    """What was met while reading."""

    events: int = 0
    reads: int = 0
    stages: int = 0
    no_object: int = 0
    malformed: int = 0
    where: list[str] = []
    bytes: int = 0

    def note(self, problem: str) -> None:
        """Count what could not be read; the first few are kept with their place."""
        self.malformed += 1
        if len(self.where) < LOCATED:
            self.where.append(problem)


def files_of(paths: Sequence[str]) -> list[Path]:
    """Return the files of what was named, folders' in order of their names.

    Errors: AuditLogError for what is not there, or a folder without logs.
    """
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if name == "-":
            found.append(_spooled())
        elif path.is_dir():
            inner = sorted(one for one in path.rglob("*") if one.is_file() and _is_log(one))
            if not inner:
                raise AuditLogError(f"folder `{path}` holds no audit logs ({', '.join(SUFFIXES)})")
            found += inner
        elif path.exists():
            found.append(path)
        else:
            raise AuditLogError(f"audit log `{path}` does not exist")
    return found


def _spooled() -> Path:
    """Return stdin as a file: a log is read twice, first for what there was at its beginning."""
    with tempfile.NamedTemporaryFile(prefix="suture-audit-", delete=False) as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    spooled = Path(file.name)
    atexit.register(spooled.unlink, missing_ok=True)
    return spooled


def _is_log(path: Path) -> bool:
    # WHY any: rotated files end in a time, `audit-2026-11-20T10-00-00.000.log.gz`.
    return any(suffix in SUFFIXES for suffix in path.suffixes)


class Recorded:
    """The writes of some logs, to be gone through twice; a small log is decoded only once."""

    def __init__(self, files: Sequence[Path], *, kept_bytes: int = KEPT_BYTES) -> None:
        self.tally = Tally()
        self._files = files
        self._most_bytes = kept_bytes
        self._kept: list[Write] | None = None

    def first(self, say: Say) -> Iterator[Write]:
        """Yield the writes; fill the tally. Errors: AuditLogError where there is no event."""
        kept: list[Write] | None = []
        kept_bytes = 0
        for write in read_writes(self._files, self.tally, say):
            if kept is not None:
                kept.append(write)
                kept_bytes += len(write.request) + len(write.response) + WRITE_BYTES
                if kept_bytes > self._most_bytes:
                    kept = None
            yield write
        if not self.tally.events:
            # WHY refused: that nothing would have been refused must not be said of no log at all.
            problem = self.tally.where[0] if self.tally.where else "they are empty"
            raise AuditLogError(f"no audit event was found in what was named: {problem}")
        self._kept = kept

    def again(self, say: Say) -> Iterator[Write]:
        """Yield the same writes once more."""
        if self._kept is None:
            yield from read_writes(self._files, Tally(), say)
            return
        share = self.tally.bytes / max(1, len(self._kept))
        for number, write in enumerate(self._kept):
            if number % 2000 == 0:
                say(number, int(number * share))
            yield write


def read_writes(
    files: Sequence[Path], tally: Tally, say: Say = lambda _e, _b: None
) -> Iterator[Write]:
    """Yield the writes of all files in the order of their time.

    Within a file events come as they were finished, which is nearly that order; what is out of it
    by more than the other files stays as it stands.
    """
    streams = [_writes(path, tally, say) for path in files]
    if len(streams) == 1:
        return streams[0]
    return heapq.merge(*streams, key=lambda write: write.time_s)


def _writes(path: Path, tally: Tally, say: Say) -> Iterator[Write]:
    number, decode = 0, EventDecoder().decode
    with _opened(path) as file:
        while True:
            try:
                line = file.readline(MAX_LINE_BYTES)
            except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
                # WHY going on: a file that is cut short is told of, and what came before it counts.
                tally.note(f"{path}:{number + 1}: the file cannot be read further: {error}")
                return
            if not line:
                return
            number += 1
            tally.bytes += len(line)
            text = line.strip()
            if not text:
                continue
            try:
                for event in events_of(text) if is_list(text) else (text,):
                    found = decode(event)
                    tally.events += 1
                    match found:
                        case Write():
                            yield found
                        case Skipped.READ:
                            tally.reads += 1
                        case Skipped.STAGE:
                            tally.stages += 1
                        case Skipped.NO_OBJECT:
                            tally.no_object += 1
            except AuditLineError as error:
                tally.note(f"{path}:{number}: {error}")
            if number % 2000 == 0:
                say(tally.events, tally.bytes)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and what it is packed in. Errors: AuditLogError."""
    try:
        file = BufferedReader(path.open("rb", buffering=0), BUFFER_BYTES)
        magic = file.peek(4)
    except OSError as error:
        raise AuditLogError(f"audit log `{path}` cannot be read: {error.strerror}") from error
    with file:
        if magic.startswith(GZIP):
            with gzip.open(file) as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif magic.startswith(ZSTD):
            with zstd.open(file) as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield file
