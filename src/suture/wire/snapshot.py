"""The snapshot file: named sections of bytes under one header, each byte of it checked.

Here because it is bytes to values and knows nothing of files; what the sections mean is said next
door. Data, never code: reading one runs nothing, and bounds what it allocates before it does.

    magic, format version, length of the header          16 bytes
    header: what this is of, and its sections            JSON, padded with spaces
    sections, one after another                          compressed
    end mark, and the SHA-256 of all before the sections 40 bytes

The reference has a page on it: `docs/reference/snapshot-format.md`.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Protocol, TypeAlias

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from suture.errors import InputError

Buffer: TypeAlias = bytes | bytearray | memoryview

# WHY these letters: as in PNG, a first byte that is no text, and a line end, so that a transfer
# that changes line ends or the eighth bit is noticed at once.
MAGIC = b"\x89SUTURE\n"
END = b"\x89SUTEND\n"
FORMAT = 1
"""Version of all that is said here. A reader refuses what is newer; sections have their own."""

_PREAMBLE = struct.Struct("<8sII")
PREAMBLE_BYTES = _PREAMBLE.size
END_BYTES = len(END) + sha256().digest_size

CODEC = "zstd"
LEVEL = 1
"""The fastest level that still finds repeats: a second of writing at the largest cluster, and
higher levels save 1 % and read slower."""

MAX_HEADER_BYTES = 4 << 20
"""LIMIT: 1,000 kinds with a reason each why they are unknown are 0.3 MB, 4,096 sections 1 MB."""

MAX_SECTIONS = 4096
"""LIMIT: one a kind, and some; clusters serve 1,000 kinds at most."""

MAX_RAW_BYTES = 16 << 30
"""LIMIT: all sections unpacked: ten times the largest cluster known, object by object."""

CHUNK_BYTES = 1 << 20
"""LIMIT: unpacked at a time where a section is read as a stream."""


class SnapshotError(InputError):
    """A snapshot cannot be read."""

    code = "snapshot_unreadable"

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(f"snapshot `{source}` {problem}")
        self.source = source
        self.problem = problem


class NotASnapshotError(SnapshotError):
    """The bytes are something else."""

    code = "snapshot_foreign"


class SnapshotVersionError(SnapshotError):
    """The file was written by a newer Suture, or by one whose layout is read no more."""

    code = "snapshot_version"


class SnapshotTruncatedError(SnapshotError):
    """The file ends before its end mark."""

    code = "snapshot_truncated"


class SnapshotCorruptError(SnapshotError):
    """The bytes are not those that were written."""

    code = "snapshot_corrupt"


class SnapshotTooLargeError(SnapshotError):
    """The file says that it holds more than any cluster does."""

    code = "snapshot_too_large"


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One section as the header lists it. `required` False: who does not know it may skip it.

    `sha256` is of the stored bytes, so that nothing unchecked reaches the decompressor.
    WHY SHA-256: processors have instructions for it, 1.4 GB/s here and twice as fast as BLAKE2, so
    that a whole cluster is checked in 0.1 s; what is faster in the standard library (CRC-32,
    Adler-32) has 32 bits, and lets a damaged graph pass now and then.
    """

    name: str
    raw_bytes: int
    stored_bytes: int
    sha256: str
    codec: str = CODEC
    required: bool = True


class KindCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many objects of a type there are, at which version; `unknown`: why that is not so.

    `whole`: they were read whole, as far as one of them tells; by their metadata alone, else.
    """

    resource: str
    objects: int = 0
    listed: bool = False
    resource_version: str = ""
    unknown: str = ""
    whole: bool = False


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot is of. `taken_s` is seconds since the epoch.

    `mono_ns` is the writer's monotonic clock at that moment: the ages of what was heard are told
    from it, and mean nothing by themselves. `source` says where the objects came from, `cluster`
    and `cluster_uid` (the uid of kube-system) of which cluster they are, as far as is known.
    """

    suture: str
    layout: str
    layout_version: int
    taken_s: float
    mono_ns: int = 0
    source: str = ""
    cluster: str = ""
    cluster_uid: str = ""
    objects: int = 0
    kinds: tuple[KindCount, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be read, or only by a guess."""
    sections: tuple[Section, ...] = ()

    @property
    def raw_bytes(self) -> int:
        """Size of all sections unpacked."""
        return sum(section.raw_bytes for section in self.sections)

    @property
    def stored_bytes(self) -> int:
        """Size of all sections as they stand in the file."""
        return sum(section.stored_bytes for section in self.sections)

    @property
    def unknown(self) -> dict[str, str]:
        """The types that could not be known, and why."""
        return {kind.resource: kind.unknown for kind in self.kinds if kind.unknown}


_header_decoder = msgspec.json.Decoder(Header)


# ---- writing


class Packer:
    """Compresses one section as a stream, and keeps its account."""

    def __init__(self, name: str, *, required: bool = True) -> None:
        self.name = name
        self.required = required
        self._raw = 0
        self._stored = 0
        self._sum = sha256()

    def pack(self, content: Iterable[Buffer]) -> Iterator[bytes]:
        """Yield the section's stored bytes; `content` is walked once and never held."""
        compressor = zstd.ZstdCompressor(level=LEVEL)
        for piece in content:
            whole = memoryview(piece).cast("B")
            for at in range(0, len(whole), CHUNK_BYTES):
                yield from self._account(compressor.compress(whole[at : at + CHUNK_BYTES]))
            self._raw += len(whole)
        yield from self._account(compressor.flush())

    def _account(self, stored: bytes) -> Iterator[bytes]:
        if stored:
            self._stored += len(stored)
            self._sum.update(stored)
            yield stored

    @property
    def section(self) -> Section:
        """What the header says of the section, once it is packed."""
        return Section(
            name=self.name,
            raw_bytes=self._raw,
            stored_bytes=self._stored,
            sha256=self._sum.hexdigest(),
            required=self.required,
        )


def head_of(header: Header, room: int = 0) -> bytes:
    """Return all that stands before the sections, padded to `room` bytes.

    Errors: SnapshotTooLargeError for more kinds, notes or sections than fit into a header.
    """
    text = msgspec.json.encode(header)
    text = text.ljust(room - PREAMBLE_BYTES)
    if len(text) > MAX_HEADER_BYTES or len(header.sections) > MAX_SECTIONS:
        raise SnapshotTooLargeError(
            header.source,
            f"would have a header of {len(text)} bytes with {len(header.sections)} sections; "
            f"at most {MAX_HEADER_BYTES} and {MAX_SECTIONS}",
        )
    return _PREAMBLE.pack(MAGIC, FORMAT, len(text)) + text


def room_for(header: Header, names: Sequence[str]) -> int:
    """Return how many bytes the head takes at most, once sections of these names are packed."""
    most = [
        Section(name=name, raw_bytes=2**62, stored_bytes=2**62, sha256="0" * 64, required=False)
        for name in names
    ]
    return len(head_of(msgspec.structs.replace(header, sections=tuple(most))))


def end_of(head: bytes) -> bytes:
    """Return the end mark of a file that begins with `head`."""
    return END + sha256(head).digest()


# ---- reading


class Sections(Protocol):
    """The sections of a file, as layouts ask for them."""

    def stream(self, name: str) -> Iterator[bytes]:
        """Yield what a section holds, CHUNK_BYTES at most at a time. Errors: SnapshotError."""
        ...

    def begin(self, name: str) -> Callable[[], bytes]:
        """Begin to read a section in one piece; return what waits for it. Errors: SnapshotError."""
        ...


def header_bytes(preamble: bytes, source: str) -> int:
    """Return the length of the header that follows a file's first PREAMBLE_BYTES.

    Errors: NotASnapshotError, SnapshotVersionError, SnapshotTruncatedError for an empty rest,
    SnapshotTooLargeError.
    """
    if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
        raise NotASnapshotError(
            source,
            "is not one: it does not begin as snapshots do; make one by `suture snapshot save`",
        )
    if len(preamble) < PREAMBLE_BYTES:
        raise _truncated(source, len(preamble))
    _, version, length = _PREAMBLE.unpack(preamble)
    if version != FORMAT:
        raise SnapshotVersionError(
            source,
            f"has format {version}, and this Suture reads format {FORMAT}; "
            "read it with the Suture that wrote it, or take it anew",
        )
    if length > MAX_HEADER_BYTES:
        raise SnapshotTooLargeError(
            source, f"says that its header has {length} bytes, at most {MAX_HEADER_BYTES}"
        )
    return int(length)


def read_header(head: bytes, end: bytes, size_bytes: int, source: str) -> Header:
    """Return the header of a file of `size_bytes`, checked against its end mark.

    `head` is all before the sections, `end` the file's last END_BYTES. Errors: SnapshotError.
    """
    if len(head) < PREAMBLE_BYTES + header_bytes(head[:PREAMBLE_BYTES], source):
        raise _truncated(source, size_bytes)
    marked = end[: len(END)] == END
    if marked and end != end_of(head):
        raise _corrupt(source, "its header is not what was written")
    try:
        header = _header_decoder.decode(head[PREAMBLE_BYTES:])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _corrupt(source, f"its header cannot be read: {error}") from error
    _check_bounds(header, source)
    expected = len(head) + header.stored_bytes + END_BYTES
    if size_bytes > expected:
        raise _corrupt(source, f"it has {size_bytes} bytes, and says {expected}")
    if size_bytes < expected or not marked:
        raise _truncated(source, size_bytes, expected)
    return header


def _check_bounds(header: Header, source: str) -> None:
    sections = header.sections
    if len(sections) > MAX_SECTIONS:
        raise SnapshotTooLargeError(
            source, f"says that it has {len(sections)} sections, at most {MAX_SECTIONS}"
        )
    if any(section.raw_bytes < 0 or section.stored_bytes < 0 for section in sections):
        raise _corrupt(source, "a section has a negative length")
    if header.raw_bytes > MAX_RAW_BYTES:
        raise SnapshotTooLargeError(
            source, f"says that it unpacks to {header.raw_bytes} bytes, at most {MAX_RAW_BYTES}"
        )
    if len({section.name for section in sections}) < len(sections):
        raise _corrupt(source, "two sections have one name")


def check(section: Section, stored: Buffer, source: str) -> None:
    """Make sure that stored bytes are those that were written. Errors: SnapshotCorruptError."""
    if len(stored) != section.stored_bytes or sha256(stored).hexdigest() != section.sha256:
        raise _corrupt(source, f"section `{section.name}` is not what was written")
    if section.codec != CODEC:
        raise SnapshotVersionError(
            source,
            f"section `{section.name}` is packed by `{section.codec}`, and this Suture reads "
            f"`{CODEC}`; read it with the Suture that wrote it",
        )


def unpack(section: Section, stored: Buffer, source: str) -> bytes:
    """Return what a section holds, in one piece. Errors: SnapshotError."""
    check(section, stored, source)
    return b"".join(_unpacked(section, stored, source, section.raw_bytes))


def unpack_stream(section: Section, stored: Buffer, source: str) -> Iterator[bytes]:
    """Yield what a section holds, CHUNK_BYTES at most at a time. Errors: SnapshotError."""
    check(section, stored, source)
    yield from _unpacked(section, stored, source, CHUNK_BYTES)


def _unpacked(section: Section, stored: Buffer, source: str, most: int) -> Iterator[bytes]:
    decompressor = zstd.ZstdDecompressor()
    left, given = section.raw_bytes, stored
    try:
        while not decompressor.eof:
            # WHY one more than is left: where the section is longer than it says, it shows.
            piece = decompressor.decompress(given, max_length=min(left, most) + 1)
            given = b""
            left -= len(piece)
            if left < 0 or (not piece and decompressor.needs_input and not decompressor.eof):
                break
            yield piece
    except zstd.ZstdError as error:
        raise _corrupt(source, f"section `{section.name}` cannot be unpacked: {error}") from error
    if left != 0 or not decompressor.eof or decompressor.unused_data:
        raise _corrupt(source, f"section `{section.name}` does not have the length that it says")


def _truncated(source: str, size_bytes: int, expected: int = 0) -> SnapshotTruncatedError:
    of = f" of {expected}" if expected else ""
    return SnapshotTruncatedError(
        source, f"is cut off: it has {size_bytes} bytes{of} and no end mark; copy or take it anew"
    )


def _corrupt(source: str, problem: str) -> SnapshotCorruptError:
    return SnapshotCorruptError(source, f"is damaged: {problem}; copy or take it anew")
