"""What history remembers, as bytes that another process reads: removals, creations, habits.

Pure. In parts, so that whoever encodes on an event loop may let others run between two of them: a
memory that is full takes twenty milliseconds in all. Times are shifted by the wall clock. The
memory of writes (`model.writes`) is larger and encodes itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from suture.errors import InputError
from suture.model.clock import Now
from suture.model.history import History
from suture.model.lives import Created, Removed
from suture.model.names import ObjectKey, Resource

VERSION = 1
PART = 2_048
"""LIMIT: entries of one part: encoded within half a millisecond."""

_NS = 1_000_000_000
_LENGTH = 4
T = TypeVar("T")


class HistoryError(InputError):
    """Bytes are no history, or one of another version."""

    code = "history_unreadable"


class _Head(msgspec.Struct, frozen=True, tag="head"):
    version: int
    mono_ns: int
    utc_s: float


class _Removals(msgspec.Struct, frozen=True, tag="removed"):
    items: Sequence[Removed]
    going: dict[str, str]


class _Creations(msgspec.Struct, frozen=True, tag="created"):
    items: Sequence[Created]


class _Renames(msgspec.Struct, frozen=True, tag="renames"):
    stand_ins: Sequence[tuple[str, str, int]]
    disbelieved: dict[str, int]


class _Habits(msgspec.Struct, frozen=True, tag="habits"):
    finalizers: Sequence[tuple[str, tuple[str, ...]]]
    kinds: Sequence[tuple[Resource, tuple[str, ...]]]
    works: Sequence[tuple[ObjectKey, tuple[str, ...]]]


_Part = _Head | _Removals | _Creations | _Renames | _Habits
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Part)


def parts_of(history: History, now: Now) -> Iterator[bytes]:
    """Yield a history, part after part; what changes meanwhile may be in it or not."""
    yield _framed(_Head(VERSION, now.mono_ns, now.utc_s))
    kept = history.kept()
    yield _framed(_Removals((), kept.removers))
    for removals in _sliced(kept.removed):
        yield _framed(_Removals(removals, {}))
    for creations in _sliced(kept.created):
        yield _framed(_Creations(creations))
    yield _framed(_Renames(kept.stand_ins, kept.disbelieved))
    habits = history.habits.kept()
    for finalizers in _sliced(habits.finalizers):
        yield _framed(_Habits(finalizers, (), ()))
    for kinds in _sliced(habits.kinds):
        yield _framed(_Habits((), kinds, ()))
    for works in _sliced(habits.works):
        yield _framed(_Habits((), (), works))


def recall(raw: bytes, history: History, now: Now) -> None:
    """Give a history that remembers nothing yet what `parts_of` wrote.

    What happened is as long ago as the wall clock says. Errors: HistoryError.
    """
    shift = 0
    for number, part in enumerate(_parts(raw)):
        match part:
            case _Head(version, mono_ns, utc_s):
                if version != VERSION:
                    raise HistoryError(
                        f"memory of history has version `{version}`, not `{VERSION}`; start without"
                    )
                # WHY not below zero: a wall clock that was set back tells nothing.
                away_ns = max(0, int((now.utc_s - utc_s) * _NS))
                shift = now.mono_ns - away_ns - mono_ns
            case _ if not number:
                raise HistoryError("memory of history begins in its middle; start without")
            case _Removals(items, going):
                history.recall_removed([_later(one, shift) for one in items], going)
            case _Creations(items):
                history.recall_created([_later(one, shift) for one in items])
            case _Renames(stand_ins, disbelieved):
                history.recall_renames(
                    [(identity, uid, at + shift) for identity, uid, at in stand_ins],
                    {identity: at + shift for identity, at in disbelieved.items()},
                )
            case _Habits(finalizers, kinds, works):
                history.habits.recall(finalizers, kinds, works)


Timed = TypeVar("Timed", Removed, Created)


def _later(one: Timed, shift: int) -> Timed:
    return msgspec.structs.replace(one, at_ns=one.at_ns + shift)


def _sliced(kept: Sequence[T]) -> Iterator[Sequence[T]]:
    for at in range(0, len(kept), PART):
        yield kept[at : at + PART]


def _framed(part: _Part) -> bytes:
    body = _encoder.encode(part)
    return len(body).to_bytes(_LENGTH, "big") + body


def _parts(raw: bytes) -> Iterator[_Part]:
    at, view = 0, memoryview(raw)
    while at < len(view):
        length = int.from_bytes(view[at : at + _LENGTH], "big")
        body = view[at + _LENGTH : at + _LENGTH + length]
        if len(body) < length or not length:
            raise HistoryError("memory of history is cut short; start without")
        try:
            yield _decoder.decode(body)
        except msgspec.MsgspecError as error:
            raise HistoryError(f"memory of history cannot be read: {error}") from error
        at += _LENGTH + length
