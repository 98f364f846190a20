"""The keyed hash by which names, uids and values are found.

Keyed, because names are chosen by whoever may create objects: who does not know the key cannot
choose names that all meet in one slot. Not the interpreter's own hash, whose key is another in each
process, and snapshots keep the tables.

Machine code has SipHash-1-3, which takes it 50 ns; plain Python would take 20 µs for that, and has
BLAKE2b, which is the interpreter's own and takes it one. So a snapshot says by which it was made.
Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF" (2012); one round for
each word and three at the end, as CPython and Rust have it for their tables.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from librt.strings import read_i64_le
from mypy_extensions import i64

from suture.model.graph.columns import COMPILED
from suture.model.graph.hashtable import HASH

HASHING: Final = "siphash-1-3" if COMPILED else "blake2b"
"""What hashes here: tables that were made by another are made anew."""

_V0: Final = 0x736F6D6570736575
_V1: Final = 0x646F72616E646F6D
_V2: Final = 0x6C7967656E657261
_V3: Final = 0x7465646279746573


class KeyedHash:
    """A hash of bytes, 31 bits of it, under one secret."""

    __slots__ = ("_first", "_hasher", "_second")

    def __init__(self, secret: bytes) -> None:
        self._hasher = blake2b(digest_size=16, key=secret)
        key = self._hasher.digest()
        self._first: i64 = read_i64_le(key, 0)
        self._second: i64 = read_i64_le(key, 8)

    def of(self, data: bytes) -> int:
        """Return the hash of some bytes."""
        if COMPILED:
            return int(siphash(data, self._first, self._second) & HASH)
        hasher = self._hasher.copy()
        hasher.update(data)
        return int.from_bytes(hasher.digest()[:4], "little") & HASH


def siphash(data: bytes, first: i64, second: i64) -> i64:
    """Return the hash in 64 bits; in machine code alone, whose sums wrap around."""
    v0: i64 = first ^ _V0
    v1: i64 = second ^ _V1
    v2: i64 = first ^ _V2
    v3: i64 = second ^ _V3
    size: i64 = len(data)
    at: i64 = 0
    rounds: i64 = 0
    word: i64 = 0
    # The words of the data, one that holds its rest and its size, and three rounds more.
    while rounds < 4:
        if at + 8 <= size:
            word = read_i64_le(data, at)
            at += 8
        elif rounds == 0:
            word = size << 56
            shift: i64 = 0
            while at < size:
                word |= i64(data[at]) << shift
                at += 1
                shift += 8
            rounds = 1
        else:
            if rounds == 1:
                v2 ^= 0xFF
            word = 0
            rounds += 1
        v3 ^= word
        v0 += v1
        v1 = (v1 << 13 | (v1 >> 51 & 0x1FFF)) ^ v0
        v0 = v0 << 32 | (v0 >> 32 & 0xFFFFFFFF)
        v2 += v3
        v3 = (v3 << 16 | (v3 >> 48 & 0xFFFF)) ^ v2
        v0 += v3
        v3 = (v3 << 21 | (v3 >> 43 & 0x1FFFFF)) ^ v0
        v2 += v1
        v1 = (v1 << 17 | (v1 >> 47 & 0x1FFFF)) ^ v2
        v2 = v2 << 32 | (v2 >> 32 & 0xFFFFFFFF)
        v0 ^= word
    return v0 ^ v1 ^ v2 ^ v3
