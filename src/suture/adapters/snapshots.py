"""Snapshots on disk: a graph into a file and back, whole or not at all.

The rim of `wire.snapshot`: opens, writes, syncs and renames, and tells the time; knows nothing of
what the bytes mean. A file appears under its name when it is complete, and is the owner's alone to
read: names of objects and identities are nobody else's business.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from suture import __version__
from suture.adapters.wholefile import replacing
from suture.errors import InputError
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import NAMESPACES, ObjectKey
from suture.wire import snapshotcolumns, snapshotobjects
from suture.wire.snapshot import (
    END_BYTES,
    PREAMBLE_BYTES,
    Buffer,
    Header,
    KindCount,
    Packer,
    Section,
    SnapshotCorruptError,
    SnapshotVersionError,
    end_of,
    head_of,
    header_bytes,
    read_header,
    room_for,
    unpack,
    unpack_stream,
)

LAYOUTS = {layout.LAYOUT: layout for layout in (snapshotcolumns, snapshotobjects)}
"""What sections may hold, by the name that the header gives it. A layout is a module that makes
sections of a graph and a graph of sections."""

UNPACKERS = 2
"""LIMIT: sections unpacked at a time, beside what is made of them: half of loading is unpacking,
which leaves the interpreter to others."""


class SnapshotFileError(InputError):
    """A snapshot's file cannot be opened, read or written at all."""

    code = "snapshot_file"


def clock() -> Now:
    """Return the time: monotonic for ages, wall for stamps."""
    return Now(time.monotonic_ns(), time.time())


# ---- writing


def save_graph(
    graph: Graph,
    path: Path,
    *,
    now: Now | None = None,
    source: str = "",
    cluster: str = "",
    notes: Iterable[str] = (),
    layout: str = snapshotcolumns.LAYOUT,
) -> Header:
    """Write a graph into a file, in place of what is there, and return what the header says.

    Either the whole file is there afterwards or the earlier one is. Takes as much memory as the
    largest section. `layout`: as the storage stands, or object by object, for another version of
    Suture to read. Errors: SnapshotFileError.
    """
    draft = _header(graph, now or clock(), source=source, cluster=cluster, notes=notes)
    draft = msgspec.structs.replace(
        draft, layout=layout, layout_version=LAYOUTS[layout].LAYOUT_VERSION
    )
    sections: Mapping[str, Iterable[Buffer]] = LAYOUTS[layout].sections_of(graph)
    try:
        with replacing(path) as file:
            room = room_for(draft, list(sections))
            file.seek(room)
            packed = [_write(file, name, content) for name, content in sections.items()]
            header = msgspec.structs.replace(draft, sections=tuple(packed))
            head = head_of(header, room)
            file.write(end_of(head))
            file.seek(0)
            file.write(head)
    except OSError as error:
        raise SnapshotFileError(f"`{path}` cannot be written: {error.strerror}") from error
    return header


def _header(graph: Graph, now: Now, *, source: str, cluster: str, notes: Iterable[str]) -> Header:
    system = graph.row(ObjectKey(NAMESPACES, "", "kube-system"))
    kinds = []
    for resource in snapshotobjects.resources_of(graph):
        fresh, first = graph.freshness.get(resource), graph.first(resource)
        kinds.append(
            KindCount(
                resource=str(resource),
                objects=graph.count(resource),
                listed=fresh is not None and fresh.listed,
                resource_version="" if fresh is None else fresh.resource_version,
                unknown="" if fresh is None else fresh.unknown,
                whole=first is not None and graph.at(first).facts is not None,
            )
        )
    return Header(
        suture=__version__,
        layout=snapshotobjects.LAYOUT,
        layout_version=snapshotobjects.LAYOUT_VERSION,
        taken_s=now.utc_s,
        mono_ns=now.mono_ns,
        source=source,
        cluster=cluster,
        cluster_uid="" if system is None else graph.uid(system),
        objects=len(graph),
        kinds=tuple(kinds),
        notes=tuple(notes),
    )


def _write(file: IO[bytes], name: str, content: Iterable[Buffer]) -> Section:
    packer = Packer(name)
    for piece in packer.pack(content):
        file.write(piece)
    return packer.section


# ---- reading


def load_graph(path: Path, *, now: Now | None = None) -> Graph:
    """Return the graph of a file, all of it checked; ages go on from when it was taken.

    Errors: SnapshotFileError, SnapshotError.
    """
    return open_snapshot(path, now=now)[1]


def open_snapshot(path: Path, *, now: Now | None = None) -> tuple[Header, Graph]:
    """Return header and graph of a file; see `load_graph`."""
    source = str(path)
    with _opened(path) as file, quiet_collector(), ThreadPoolExecutor(UNPACKERS) as pool:
        header, start = _read_head(file, source)
        layout = LAYOUTS.get(header.layout)
        if layout is None or header.layout_version != layout.LAYOUT_VERSION:
            raise SnapshotVersionError(
                source,
                f"has the layout `{header.layout}` {header.layout_version}, which this Suture does "
                "not read; read it with the Suture that wrote it, or take it anew",
            )
        sections = _Sections(file, header, start, source, pool)
        for section in header.sections:
            if not layout.knows(section.name):
                sections.overlook(section, header.suture)
        try:
            graph = layout.graph_of(header, sections, source)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        if len(graph) != header.objects:
            raise SnapshotCorruptError(
                source, f"holds {len(graph)} objects, and says {header.objects}; take it anew"
            )
    _age(graph, header, now or clock())
    return header, graph


def read_snapshot_header(path: Path) -> Header:
    """Return what a file says of itself; its sections are not read. Errors: as `load_graph`."""
    with _opened(path) as file:
        return _read_head(file, str(path))[0]


class _Sections:
    """The sections of an open file."""

    def __init__(
        self,
        file: IO[bytes],
        header: Header,
        start: int,
        source: str,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._file = file
        self._source = source
        self._pool = pool
        self._at: dict[str, tuple[Section, int]] = {}
        for section in header.sections:
            self._at[section.name] = section, start
            start += section.stored_bytes

    def overlook(self, section: Section, writer: str) -> None:
        """Check an unknown section and leave it, or refuse one that must not be overlooked."""
        if section.required:
            raise SnapshotVersionError(
                self._source,
                f"has a section `{section.name}` that must not be overlooked, and that this "
                f"Suture does not know; read it with Suture {writer}",
            )
        for _ in self.stream(section.name):
            pass

    def stream(self, name: str) -> Iterator[bytes]:
        """Yield what a section holds, piece by piece."""
        section, start = self._find(name)
        yield from unpack_stream(section, self._stored(section, start), self._source)

    def begin(self, name: str) -> Callable[[], bytes]:
        """Begin to read a section, in another thread; return what waits for it."""
        return self._pool.submit(self._whole, *self._find(name)).result

    def _whole(self, section: Section, start: int) -> bytes:
        return unpack(section, self._stored(section, start), self._source)

    def _stored(self, section: Section, start: int) -> bytes:
        # WHY not seek and read: several threads read the one file.
        stored = os.pread(self._file.fileno(), section.stored_bytes, start)
        while 0 < len(stored) < section.stored_bytes:
            more = os.pread(
                self._file.fileno(), section.stored_bytes - len(stored), start + len(stored)
            )
            if not more:
                break
            stored += more
        return stored

    def _find(self, name: str) -> tuple[Section, int]:
        if name not in self._at:
            raise SnapshotCorruptError(self._source, f"lacks the section `{name}`; take it anew")
        return self._at[name]


def _read_head(file: IO[bytes], source: str) -> tuple[Header, int]:
    """Return the header, and where the first section begins."""
    size = os.fstat(file.fileno()).st_size
    preamble = file.read(PREAMBLE_BYTES)
    head = preamble + file.read(header_bytes(preamble, source))
    file.seek(max(0, size - END_BYTES))
    return read_header(head, file.read(END_BYTES), size, source), len(head)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise SnapshotFileError(f"`{path}` cannot be read: {error.strerror}") from error


def _age(graph: Graph, header: Header, now: Now) -> None:
    """Tell what was heard by this process's clock: as old as it was, and the time since.

    WHY: the monotonic clock begins anew with each boot; taken as it stands, an old snapshot could
    look fresh.
    """
    since_ns = int(max(0.0, now.utc_s - header.taken_s) * 1e9)
    shift_ns = now.mono_ns - since_ns - header.mono_ns
    for fresh in graph.freshness.values():
        if fresh.heard_ns:
            fresh.heard_ns += shift_ns


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector from walking a half-built model again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
