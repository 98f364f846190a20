"""Where a graph can come from on this machine: a snapshot, manifests, `kubectl` output, stdin.

The rim of `app.sources`: finds and maps files. What a source is, is seen by its first bytes and
not by its name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from io import SEEK_END
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO

import msgspec
import structlog

from suture.adapters.snapshots import clock, open_snapshot, quiet_collector
from suture.app.sources import Gatherer
from suture.errors import InputError
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.wire.manifests import Text
from suture.wire.snapshot import MAGIC, Header, NotASnapshotError

log = structlog.get_logger(__name__)

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson")

MAX_FILES = 100_000
"""LIMIT: manifests below one folder; the largest GitOps repositories have tens of thousands."""

MAX_STDIN_BYTES = 4 << 30
"""LIMIT: what comes by a pipe is held in memory, where a file is mapped: half of the largest
cluster known as JSON, which can be given as a file."""

MAPPED_BYTES = 1 << 20
"""LIMIT: files up to this are read, larger ones mapped: a process has 65,530 mappings on Linux."""

MANIFESTS = "manifests"
SNAPSHOT = "snapshot"

Say = Callable[[int, str], None]


class SourceError(InputError):
    """A source of a graph cannot be read at all."""

    code = "source_unreadable"


class Opened(msgspec.Struct, frozen=True):
    """A graph and what it was read from; `header` where that is a snapshot.

    `notes` and `whole` as `Gathered` has them.
    """

    graph: Graph
    kind: str
    notes: tuple[str, ...] = ()
    whole: bool = True
    header: Header | None = None


def open_graph(source: str | Path, *, now: Now | None = None) -> Graph:
    """Return the graph of a snapshot, a folder or file of manifests, `kubectl` JSON, or `-`.

    What was left out, or rests on a guess, goes to the log as warnings; `open_source` returns it.
    Errors: as `open_source`.
    """
    opened = open_source(source, now=now)
    for note in opened.notes:
        log.warning("not read as it stands", source=str(source), note=note)
    return opened.graph


def open_source(
    source: str | Path,
    *,
    now: Now | None = None,
    say: Say = lambda _count, _place: None,
    stdin: IO[bytes] | None = None,
) -> Opened:
    """Return the graph of a source, and what is to be said of it; `say` is told how far it is.

    `stdin` None: the process's own.

    Errors: SourceError, SnapshotError, NothingReadError.
    """
    moment = now or clock()
    with quiet_collector():
        if str(source) == STDIN:
            return _gathered("stdin", _piped(stdin or sys.stdin.buffer), moment, say)
        path = Path(source)
        if path.is_dir():
            return _gathered(str(path), _folder(path), moment, say, skipped=_skipped(path))
        if _begins(path) == MAGIC:
            header, graph = open_snapshot(path, now=moment)
            return Opened(graph, SNAPSHOT, header.notes, header=header)
        return _gathered(str(path), iter([path]), moment, say)


def texts(source: str | Path) -> Iterator[tuple[Text, str]]:
    """Yield the texts of a folder, of a file, or of `-`, each with what to call it.

    For those who need whole bodies, which a snapshot has not. Errors: SourceError.
    """
    if str(source) == STDIN:
        for text in _piped(sys.stdin.buffer):
            yield text, "stdin"
        return
    path = Path(source)
    if not path.is_dir() and _begins(path) == MAGIC:
        raise SourceError(
            f"`{path}` is a snapshot, which keeps no bodies; give a folder of manifests, the "
            "output of `kubectl get -A -o json`, or a live cluster"
        )
    for file in _folder(path) if path.is_dir() else [path]:
        yield _text(file), str(file)


def _gathered(
    source: str,
    parts: Iterator[Path | bytes],
    now: Now,
    say: Say,
    *,
    skipped: Iterable[tuple[Path, str]] = (),
) -> Opened:
    gatherer = Gatherer(source, now, say)
    for link, why in skipped:
        gatherer.skip(str(link), why)
    for part in parts:
        if isinstance(part, bytes):
            gatherer.add(part, source)
        else:
            gatherer.add(_text(part), str(part))
    found = gatherer.finish()
    return Opened(found.graph, MANIFESTS, found.notes, found.whole)


def _piped(stdin: IO[bytes]) -> Iterator[bytes]:
    text = stdin.read(MAX_STDIN_BYTES + 1)
    if len(text) > MAX_STDIN_BYTES:
        raise SourceError(
            f"more than {MAX_STDIN_BYTES >> 30} GiB came by stdin; write it to a file and give that"
        )
    if text[: len(MAGIC)] == MAGIC:
        raise NotASnapshotError("stdin", "is one, but is read from a file only: give its path")
    yield text


def _folder(path: Path) -> Iterator[Path]:
    """Yield the manifests of a folder, those of folders in it too, hidden ones not."""
    found = [file for file in _seen(path) if file.suffix in SUFFIXES and file.is_file()]
    if len(found) > MAX_FILES:
        raise SourceError(f"folder `{path}` holds {len(found)} manifests, at most {MAX_FILES}")
    if not found:
        raise SourceError(f"folder `{path}` holds no manifests ({', '.join(SUFFIXES)})")
    yield from found


def _skipped(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the links of a folder that are not read, and why.

    One to a folder that is read in its own place loses nothing.
    """
    found, root = _seen(path), path.resolve()
    read = {root, *(root / file.relative_to(path) for file in found)}
    for file in found:
        if not file.is_symlink():
            continue
        if file.is_dir() and file.resolve() not in read:
            yield file, "is a link to a folder, which is not followed"
        elif file.suffix in SUFFIXES and not file.exists():
            yield file, "is a link that leads nowhere"


def _seen(path: Path) -> list[Path]:
    """Return what is in a folder and in folders in it, hidden ones left out."""
    return sorted(
        file
        for file in path.rglob("*")
        if not any(part.startswith(".") for part in file.relative_to(path).parts)
    )


def _begins(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC))
    except OSError as error:
        raise SourceError(f"`{path}` cannot be read: {error.strerror}") from error


def _text(path: Path) -> Text:
    """Return a file's bytes; a large one is not read into memory."""
    try:
        with path.open("rb") as file:
            if file.seek(0, SEEK_END) <= MAPPED_BYTES:
                file.seek(0)
                return file.read()
            # WHY never closed by hand: objects that wait for their definition lie in it.
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except OSError as error:
        raise SourceError(f"`{path}` cannot be read: {error.strerror}") from error
