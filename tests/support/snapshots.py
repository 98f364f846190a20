"""Snapshots taken apart: what a file says once nothing is compressed any more."""

from __future__ import annotations

from pathlib import Path

from suture.adapters.snapshots import read_snapshot_header
from suture.wire.snapshot import END_BYTES, PREAMBLE_BYTES, header_bytes, unpack


def raw_bytes(path: Path) -> bytes:
    """Return a snapshot's header and sections, unpacked."""
    file = path.read_bytes()
    start = PREAMBLE_BYTES + header_bytes(file[:PREAMBLE_BYTES], "it")
    whole = file[:start] + file[-END_BYTES:]
    for section in read_snapshot_header(path).sections:
        whole += unpack(section, file[start : start + section.stored_bytes], "it")
        start += section.stored_bytes
    return whole
