"""One row a name: what the columns say of an object by itself, before anything is linked.

A row begins with a name and stays as long as an object lives there or somebody refers to it. What
does not fit a column (a uid that is no UUID, a version that is no number) stands beside it.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import ClassVar, Final

from suture.model.graph.column import CHUNK, Column
from suture.model.graph.columns import NONE, flags, integers
from suture.model.graph.hashing import KeyedHash
from suture.model.graph.hashtable import HASH, SEGMENT_SHIFT, HashTable
from suture.model.graph.names import Names

ALIVE: Final = 1
"""The cluster has this object; else the row stands for a name or a life that others refer to."""
READY: Final = 2
FINISHED: Final = 4
TERMINATING: Final = 8
LEAVING: Final = 16
"""Its removal was admitted and not yet seen."""
WHOLE: Final = 32
"""A pod that was read whole, not by its metadata alone."""
POD_CLASS: Final = 64
"""Not an object: a class of pods."""
NEED_SET: Final = 128
"""Not an object: what several objects need alike."""

NO_UID: Final = bytes(16)
TEXTS: Final = 64
"""LIMIT: uids kept as they are written, 0.2 kB each: a judgement asks for those of its few objects
again and again."""
_SPREAD: Final = 0x9E3779B1  # any odd number: places are small numbers, hashes are not
_LOW_BITS: Final = 31
_LOW: Final = (1 << _LOW_BITS) - 1
_VERSION_DIGITS: Final = len(str(1 << 39)) - 1
_MIDDLE_S: Final = 1 << 31
"""When columns of times begin: in 2038, so that they reach from 1970 to 2106."""


class Rows:
    """The columns, and the two tables that find a row by name and by uid."""

    __slots__ = (
        "_free", "_hash", "_next", "by_name", "by_uid", "created", "deleted",
        "epochs", "extra", "flags", "hashes", "labels", "names", "odd_times", "odd_uids",
        "odd_versions", "place", "secret", "texts", "traits", "uids", "versions",
    )  # fmt: skip

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "place",
        "hashes",
        "versions",
        "epochs",
        "created",
        "flags",
        "labels",
        "extra",
        "traits",
    )

    def __init__(self, secret: bytes) -> None:
        self._hash = KeyedHash(secret)
        self.secret = secret
        self.names = Names()
        self.place = integers()
        self.hashes = integers()
        self.uids = bytearray()
        self.versions = integers()
        self.epochs = flags()
        """What is above the 31 bits of a version. LIMIT: 2^39, 1,000 writes a second for 17 years;
        later ones are kept beside."""
        self.created = integers()
        self.flags = flags()
        self.labels = integers()
        self.extra = integers()
        """An object's facts, by number; a pod's class, by row; of a class its number."""
        self.traits = integers()
        self.deleted: dict[int, float] = {}
        self.odd_uids: dict[int, str] = {}
        self.texts: dict[int, str] = {}
        """Some uids by row, as they are written. INVARIANT: `set_uid` alone gives a row another."""
        self.odd_versions: dict[int, str] = {}
        self.odd_times: dict[int, float] = {}
        self.by_name = HashTable(self.hashes.__getitem__)
        self.by_uid = HashTable(self._uid_hash_of)
        self._free = integers()
        self._next = 0

    def __len__(self) -> int:
        """How many rows there are, free ones included."""
        return self._next

    # ---- rows come and go

    def new(self) -> int:
        """Return an empty row; NONE where `grow` is needed first."""
        if len(self._free):
            return self._free.pop()
        row = self._next
        if row == len(self.place):
            return NONE
        self._next = row + 1
        return row

    def grow(self) -> None:
        """Make room for CHUNK more rows."""
        self.place.grow(NONE)
        for column in (
            self.hashes, self.versions, self.created, self.labels, self.extra, self.traits,
        ):  # fmt: skip
            column.grow(0)
        self.epochs.grow()
        self.flags.grow()
        self.uids += bytes(16 * CHUNK)
        self.names.grow()

    def free(self, row: int) -> None:
        """Give a row back; it has no name and no uid any more."""
        self.flags[row] = 0
        self.place[row] = NONE
        self._free.append(row)

    @property
    def free_rows(self) -> bytes:
        """The rows that are free, as the bytes of a column."""
        return self._free.tobytes()

    def restored(self, rows: int, free: Column) -> None:
        """Take note of how many rows the columns hold, and which of them are free."""
        self._next, self._free = rows, free

    def reserve(self, share: float) -> None:
        """Make room for a share more of names and uids; columns grow without being moved."""
        self.names.reserve(share)
        length = len(self.uids)
        self.uids += bytes(int(length * share))
        del self.uids[length:]

    # ---- by name

    def hash_name(self, place: int, name: bytes) -> int:
        """Return the hash of a name in a place."""
        return (self._hash.of(name) ^ place * _SPREAD) & HASH

    def namesake(self, row: int, place: int) -> int:
        """Return the row that has a row's name in another place; NONE where nobody knows it."""
        # The name's own hash is in the row's, so that it need not be made again.
        hashed = self.hashes[row] ^ ((self.place[row] * _SPREAD ^ place * _SPREAD) & HASH)
        return self.find_hashed(place, self.names.get(row), hashed)

    def find(self, place: int, name: bytes) -> int:
        """Return the row of a name, whatever is there; NONE where nobody knows the name."""
        return self.find_hashed(place, name, self.hash_name(place, name))

    def find_hashed(self, place: int, name: bytes, hashed: int) -> int:
        """Return the row of a name of which the hash is known."""
        segment = self.by_name.segments[hashed >> SEGMENT_SHIFT]
        if segment is None:
            return NONE
        # The table's `candidates`, written out: this is asked of every request and every event.
        hashes, places = self.hashes, self.place
        mask = len(segment) - 1
        slot = hashed & mask
        while (row := segment[slot]) >= 0:
            if hashes[row] == hashed and places[row] == place and self.names.same(row, name):
                return row
            slot = (slot + 1) & mask
        return NONE

    def name(self, row: int, place: int, name: bytes, hashed: int) -> None:
        """Name a row and note it in the table."""
        self.place[row] = place
        self.names.set(row, name)
        self.hashes[row] = hashed
        # The table's `insert`, written out.
        table, number = self.by_name, hashed >> SEGMENT_SHIFT
        segment = table.room(number)
        mask = len(segment) - 1
        slot = hashed & mask
        while segment[slot] >= 0:
            slot = (slot + 1) & mask
        segment[slot] = row
        table.held[number] += 1

    def unname(self, row: int) -> None:
        """Take a row's name away."""
        self.by_name.remove(self.hashes[row], row)
        self.names.clear(row)

    def rehash(self) -> None:
        """Make both tables anew, where they were made by another hash."""
        for row in range(self._next):
            # WHY not of place 0: what stands there is found by its uid alone.
            if self.place[row] > 0:
                self.hashes[row] = self.hash_name(self.place[row], self.names.get(row))
        self.by_name.rehash()
        self.by_uid.rehash()

    # ---- by uid

    def find_uid(self, uid: bytes) -> int:
        """Return the row of a uid as 16 bytes; NONE where it is not known."""
        return self.find_uid_hashed(uid, self.hash_uid(uid))

    def find_uid_hashed(self, uid: bytes, hashed: int) -> int:
        """Return the row of a uid of which the hash is known."""
        segment = self.by_uid.segments[hashed >> SEGMENT_SHIFT]
        if segment is None:
            return NONE
        uids, mask = self.uids, len(segment) - 1
        slot = hashed & mask
        while (row := segment[slot]) >= 0:
            if uids[row << 4 : (row << 4) + 16] == uid:
                return row
            slot = (slot + 1) & mask
        return NONE

    def enter_uid(self, row: int, uid: bytes) -> int:
        """Give a row a uid by which no row is found yet, and let it be found by that.

        Returns NONE, or the row that is found by it already, and then does nothing.
        """
        # `find_uid` and the table's `insert` in one search: each new object comes by here.
        hashed = self._hash.of(uid)
        table, number, uids = self.by_uid, hashed >> SEGMENT_SHIFT, self.uids
        segment = table.room(number)
        mask = len(segment) - 1
        slot = hashed & mask
        while (other := segment[slot]) >= 0:
            if uids[other << 4 : (other << 4) + 16] == uid:
                return other
            slot = (slot + 1) & mask
        segment[slot] = row
        table.held[number] += 1
        uids[row << 4 : (row << 4) + 16] = uid
        return NONE

    def uid_bytes(self, row: int) -> bytes:
        """Return a row's uid as 16 bytes."""
        at = row << 4
        return bytes(self.uids[at : at + 16])

    def uid(self, row: int) -> str:
        """Return a row's uid as it is written."""
        known = self.texts.get(row)
        if known is None:
            if len(self.texts) >= TEXTS:
                self.texts.clear()
            known = self.texts[row] = self._uid_text(row)
        return known

    def _uid_text(self, row: int) -> str:
        text = self.uids[row << 4 : (row << 4) + 16].hex()
        if self.odd_uids and row in self.odd_uids:
            return self.odd_uids[row]
        if text == _NO_UID_TEXT:
            return ""
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def set_uid(self, row: int, uid: bytes, odd: str) -> None:
        """Give a row a uid; whether the table finds the row by it is another step.

        `odd` is its text where that cannot be had back from its bytes.
        """
        self.uids[row << 4 : (row << 4) + 16] = uid
        self.texts.pop(row, None)
        if odd:
            self.odd_uids[row] = odd
        elif self.odd_uids:
            self.odd_uids.pop(row, None)

    def hash_uid(self, uid: bytes) -> int:
        """Return the hash of a uid.

        WHY not its own bits, which are random: whoever writes an ownerReference chooses them.
        """
        return self._hash.of(uid)

    def _uid_hash_of(self, row: int) -> int:
        return self._hash.of(bytes(self.uids[row << 4 : (row << 4) + 16]))

    # ---- versions

    def version(self, row: int) -> str:
        """Return a row's resourceVersion as it is written."""
        if self.odd_versions and row in self.odd_versions:
            return self.odd_versions[row]
        number = self.epochs[row] << _LOW_BITS | self.versions[row]
        return str(number) if number else ""

    def set_version(self, row: int, text: str) -> None:
        """Give a row a resourceVersion."""
        number = 0
        if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= _VERSION_DIGITS:
            number = int(text)
        self.versions[row] = number & _LOW
        self.epochs[row] = number >> _LOW_BITS
        if text and not number:
            self.odd_versions[row] = text
        elif self.odd_versions:
            self.odd_versions.pop(row, None)

    # ---- when it was made

    def created_s(self, row: int) -> float:
        """Return when a row's object was made, in seconds since the epoch."""
        if self.odd_times and row in self.odd_times:
            return self.odd_times[row]
        return float(self.created[row] + _MIDDLE_S)

    def set_created(self, row: int, seconds: float) -> None:
        """Note when a row's object was made; whole seconds from 1970 to 2106 cost least."""
        if 0 <= seconds < 2 * _MIDDLE_S and seconds.is_integer():
            self.created[row] = int(seconds) - _MIDDLE_S
            if self.odd_times:
                self.odd_times.pop(row, None)
        else:
            self.created[row] = -_MIDDLE_S
            self.odd_times[row] = seconds

    @property
    def size_bytes(self) -> int:
        """How much memory the columns take, names and tables left out."""
        sizes: list[int] = [getattr(self, name).size_bytes for name in self.COLUMNS]
        return len(self.uids) + sum(sizes)


_NO_UID_TEXT: Final = NO_UID.hex()


def pack_uid(text: str) -> bytes:
    """Return a uid as 16 bytes: a UUID's own, a hash of any other text, zeros for none."""
    return packed_uid(text)[0]


def packed_uid(text: str) -> tuple[bytes, str]:
    """Return a uid as 16 bytes, and its text where that cannot be had back from them."""
    if len(text) == 36 and text[8:24:5] == "----" and text == text.lower():
        try:
            found = bytes.fromhex(text.replace("-", ""))
        except ValueError:
            found = NO_UID
        if len(found) == 16 and found != NO_UID:
            return found, ""
    if not text:
        return NO_UID, ""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), text
