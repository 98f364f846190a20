"""Who waits for what: requests that were asked to come again, and did, and were refused again.

Pure and in memory, with one caller, who tells it the time. Bounded: what falls out waits anew.
A client that is answered 429 with a time sleeps and asks again, mostly without a word to whoever
started it. So nobody is sent away like that for longer than `PATIENCE_S` for one intent; and once
one waited in vain, the others of its kind from the same hand do not have to find out each for
itself, until one of them is let through.
Source: client-go `rest.withRetry`: ten times, after `Retry-After` each; kubectl prints nothing.
"""

from __future__ import annotations

from typing import Final, TypeVar

from suture.model.bounded import oldest
from suture.model.clock import Now
from suture.model.names import Operation, Resource
from suture.model.request import Intent

PATIENCE_S: Final = 180
"""LIMIT: how long one intent is asked to come again: eighteen times ten seconds, in which a pod
has become Ready or does not."""

SERIES_S: Final = 600
"""LIMIT: how long after a refusal the next is one of the same series; twenty times what policies
ask to wait. What comes later waits anew."""

INTENTS_KEPT: Final = 16_384
"""LIMIT: intents that wait at a time: all pods of the busiest operator; 0.5 kB each, 8 MB."""

_NS: Final = 1_000_000_000

Kind = tuple[str, Operation, Resource, str]
K = TypeVar("K")
V = TypeVar("V")


class Patience:
    """Since when intents wait, and which kinds of them waited in vain lately."""

    __slots__ = ("_vain", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[Intent, tuple[int, int]] = {}  # first and last refusal
        self._vain: dict[Kind, int] = {}

    @property
    def asked(self) -> bool:
        """Whether anybody waits for anything: nearly always nobody does, and every write asks."""
        return bool(self._waiting or self._vain)

    def note_waiting(self, intent: Intent, now: Now) -> None:
        """Remember that an intent was asked to come again."""
        first, last = self._waiting.pop(intent, (now.mono_ns, now.mono_ns))
        if now.mono_ns - last > SERIES_S * _NS:
            first = now.mono_ns
        self._waiting[intent] = (first, now.mono_ns)
        _bound(self._waiting)
        if now.mono_ns - first >= PATIENCE_S * _NS:
            kind = kind_of(intent)
            self._vain.pop(kind, None)
            self._vain[kind] = now.mono_ns
            _bound(self._vain)

    def is_over(self, intent: Intent, now: Now) -> bool:
        """Whether an intent, or one of its kind, has waited long enough for nothing."""
        vain = self._vain.get(kind_of(intent))
        if vain is not None and now.mono_ns - vain <= SERIES_S * _NS:
            return True
        first, last = self._waiting.get(intent, (now.mono_ns, now.mono_ns))
        waited = now.mono_ns - last <= SERIES_S * _NS
        return waited and now.mono_ns - first >= PATIENCE_S * _NS

    def note_passed(self, intent: Intent) -> None:
        """Remember that an intent was let through: waiting helps those of its kind."""
        self._waiting.pop(intent, None)
        self._vain.pop(kind_of(intent), None)


def kind_of(intent: Intent) -> Kind:
    """Return what intents of one hand have in common: what is done to which type, and where."""
    return intent.identity, intent.operation, intent.key.resource, intent.key.namespace


def _bound(kept: dict[K, V]) -> None:
    for one in oldest(kept, INTENTS_KEPT):
        del kept[one]
