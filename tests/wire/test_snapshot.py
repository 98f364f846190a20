"""The snapshot format: every byte is checked, every limit holds before anything is allocated."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.wire.snapshot import (
    CHUNK_BYTES,
    END_BYTES,
    FORMAT,
    MAGIC,
    MAX_HEADER_BYTES,
    MAX_RAW_BYTES,
    MAX_SECTIONS,
    PREAMBLE_BYTES,
    Header,
    NotASnapshotError,
    Packer,
    Section,
    SnapshotCorruptError,
    SnapshotError,
    SnapshotTooLargeError,
    SnapshotTruncatedError,
    SnapshotVersionError,
    end_of,
    head_of,
    header_bytes,
    read_header,
    room_for,
    unpack,
    unpack_stream,
)

HEADER = Header(suture="1", layout="objects", layout_version=1, taken_s=1.0, source="here")


def packed(name: str, content: Iterable[bytes]) -> tuple[Section, bytes]:
    """Pack one section."""
    packer = Packer(name)
    stored = b"".join(packer.pack(content))
    return packer.section, stored


def written(sections: dict[str, bytes], header: Header = HEADER) -> bytes:
    """Return a whole file."""
    done = [packed(name, [raw]) for name, raw in sections.items()]
    full = msgspec.structs.replace(header, sections=tuple(section for section, _ in done))
    head = head_of(full, room_for(header, list(sections)))
    return head + b"".join(stored for _, stored in done) + end_of(head)


def read(file: bytes) -> dict[str, bytes]:
    """Read a whole file, as the adapter does."""
    start = PREAMBLE_BYTES + header_bytes(file[:PREAMBLE_BYTES], "it")
    header = read_header(file[:start], file[-END_BYTES:], len(file), "it")
    found = {}
    for section in header.sections:
        found[section.name] = unpack(section, file[start : start + section.stored_bytes], "it")
        start += section.stored_bytes
    return found


def with_header(**changes: object) -> bytes:
    """Return a file without sections whose header says something else, and is as it was written."""
    text = msgspec.json.encode({**msgspec.to_builtins(HEADER), **changes})
    head = struct.pack("<8sII", MAGIC, FORMAT, len(text)) + text
    return head + end_of(head)


def section(**changes: object) -> dict[str, object]:
    """Return what a header says of a section."""
    whole = {"name": "a", "raw_bytes": 0, "stored_bytes": 0, "sha256": "", "codec": "zstd"}
    return {**whole, **changes}


SMALL = written({"types": b"{}", "objects/pods": b"one\ntwo\n" * 9})


@given(st.dictionaries(st.text(max_size=9), st.binary(max_size=4000), max_size=5))
def test_what_is_written_is_read(sections: dict[str, bytes]) -> None:
    """Any sections come back as they were."""
    assert read(written(sections)) == sections


@given(st.lists(st.binary(max_size=CHUNK_BYTES // 8), max_size=12))
def test_a_section_streams_in_and_out(pieces: list[bytes]) -> None:
    """However it is cut on the way in; no piece on the way out is larger than a chunk."""
    found, stored = packed("a", pieces)
    out = list(unpack_stream(found, stored, "it"))

    assert b"".join(out) == b"".join(pieces)
    assert all(len(piece) <= CHUNK_BYTES + 1 for piece in out)


def test_a_large_section_streams() -> None:
    """Much larger than a chunk, and it compresses to almost nothing."""
    raw = bytes(5 * CHUNK_BYTES + 3)
    found, stored = packed("a", [raw])

    assert len(stored) < 4096
    assert b"".join(unpack_stream(found, stored, "it")) == raw
    assert unpack(found, stored, "it") == raw


@given(at=st.integers(0, len(SMALL) - 1), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(at: int, bit: int) -> None:
    """Wherever it is, the file is refused as one that cannot be read."""
    damaged = bytearray(SMALL)
    damaged[at] ^= 1 << bit

    with pytest.raises(SnapshotError):
        read(bytes(damaged))


@given(at=st.integers(0, len(SMALL)), cut=st.integers(0, 40), put=st.binary(max_size=40))
def test_no_change_of_length_goes_unnoticed(at: int, cut: int, put: bytes) -> None:
    """Bytes taken out, put in or exchanged anywhere."""
    damaged = SMALL[:at] + put + SMALL[at + cut :]
    if damaged == SMALL:
        return

    with pytest.raises(SnapshotError):
        read(damaged)


@pytest.mark.parametrize("kept", range(0, len(SMALL), 7))
def test_a_file_that_ends_early_is_called_cut_off(kept: int) -> None:
    """At any place past its first bytes; the message says what to do."""
    with pytest.raises(SnapshotError) as refused:
        read(SMALL[:kept])

    assert isinstance(refused.value, SnapshotTruncatedError if kept else NotASnapshotError)
    assert kept == 0 or "copy or take it anew" in str(refused.value)


@pytest.mark.parametrize("more", [b"\n", bytes(100)])
def test_a_file_with_bytes_behind_its_end_is_not_called_cut_off(more: bytes) -> None:
    """It is longer than it says; both lengths are told."""
    with pytest.raises(
        SnapshotCorruptError, match=f"{len(SMALL + more)} bytes, and says {len(SMALL)}"
    ):
        read(SMALL + more)


@pytest.mark.parametrize(
    "text", [b"", b"apiVersion: v1\n", b'{"kind":"List"}', b"\x28\xb5\x2f\xfd", b"PK\x03\x04" * 30]
)
def test_another_kind_of_file_is_told_so(text: bytes) -> None:
    """YAML, JSON, archives: none begins as snapshots do."""
    with pytest.raises(NotASnapshotError, match="suture snapshot save"):
        read(text)


def test_a_newer_format_is_named() -> None:
    """What it has, what is read, what to do."""
    newer = SMALL[:8] + struct.pack("<I", FORMAT + 1) + SMALL[12:]

    with pytest.raises(SnapshotVersionError, match=f"format {FORMAT + 1}.*reads format {FORMAT}"):
        read(newer)


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        pytest.param(
            SMALL[:12] + struct.pack("<I", MAX_HEADER_BYTES + 1) + SMALL[16:],
            SnapshotTooLargeError,
            id="header",
        ),
        pytest.param(
            with_header(sections=[section(name=str(n)) for n in range(MAX_SECTIONS + 1)]),
            SnapshotTooLargeError,
            id="sections",
        ),
        pytest.param(
            with_header(sections=[section(raw_bytes=MAX_RAW_BYTES + 1)]),
            SnapshotTooLargeError,
            id="unpacked",
        ),
        pytest.param(
            with_header(sections=[section(raw_bytes=-1)]), SnapshotCorruptError, id="negative"
        ),
        pytest.param(
            with_header(sections=[section(stored_bytes=2**60)]), SnapshotTruncatedError, id="stored"
        ),
        pytest.param(
            with_header(sections=[section(), section()]), SnapshotCorruptError, id="one-name"
        ),
        pytest.param(with_header(taken_s="now"), SnapshotCorruptError, id="another-type"),
        pytest.param(SMALL + b"\0", SnapshotError, id="trailing"),
    ],
)
def test_limits_hold_before_anything_is_read(file: bytes, wanted: type[SnapshotError]) -> None:
    """A header that is well signed may still lie about lengths and numbers."""
    with pytest.raises(wanted):
        read(file)


@pytest.mark.parametrize("told", [0, 1, 499, 501, 10**9])
def test_a_section_has_the_length_that_it_says(told: int) -> None:
    """Neither more nor less comes out of it, whatever the sums say."""
    found, stored = packed("a", [b"x" * 500])
    lying = msgspec.structs.replace(found, raw_bytes=told)

    with pytest.raises(SnapshotCorruptError):
        unpack(lying, stored, "it")
    with pytest.raises(SnapshotCorruptError):
        list(unpack_stream(lying, stored, "it"))


def test_a_codec_that_is_not_known_is_refused() -> None:
    """By name, with the way out."""
    found, stored = packed("a", [b"x"])

    with pytest.raises(SnapshotVersionError, match="`brotli`"):
        unpack(msgspec.structs.replace(found, codec="brotli"), stored, "it")


@given(st.binary(max_size=300))
def test_well_summed_nonsense_does_not_unpack(stored: bytes) -> None:
    """Bytes whose sum is right and that are no zstd end in an error of ours."""
    packer = Packer("a")
    list(packer.pack([]))
    found = msgspec.structs.replace(packer.section, stored_bytes=len(stored), raw_bytes=7)
    found = msgspec.structs.replace(found, sha256=hashlib.sha256(stored).hexdigest())
    with pytest.raises(SnapshotCorruptError):
        unpack(found, stored, "it")
