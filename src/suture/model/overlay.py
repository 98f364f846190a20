"""What was admitted and not yet seen, laid over the graph so that every view counts it.

Pure and in memory, with one caller. Pessimistic: an admitted removal counts at once, an admitted
addition does not count until it is seen. Kept by intent, so that a retry of the same intent adds
nothing and its failure takes back all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from suture.model.clock import Now
from suture.model.request import Intent

HORIZON_S = 65
"""LIMIT: when an admitted write can no longer happen unseen: 60 s, the API server's default
RequestTimeout, and 5 s, the age at which the model stops being believed."""


class _Admitted(msgspec.Struct):
    """What one intent would remove and the one object that it writes, less what was seen of it."""

    removed: set[str]
    written: str = ""
    at_ns: int = 0


class Shaded(Protocol):
    """The graph, as far as the overlay tells it which objects to count as gone."""

    def leave(self, uid: str) -> None:
        """Count the object of this uid as gone."""

    def stay(self, uid: str) -> None:
        """Count it as there again."""


class Overlay:
    """Admitted and not yet seen: what `graph` is told to count as gone.

    LIMIT: bounded by what is admitted within one ledger horizon, 65 s: entries leave when their
    effect is seen, in practice within milliseconds, or with `expire`. A namespace of 10,000
    objects that goes is one entry of 1 MB.
    """

    __slots__ = ("_by_intent", "_graph", "_holders", "_writers", "gone_uids")

    def __init__(self, graph: Shaded | None = None) -> None:
        self._graph = graph
        self._by_intent: dict[Intent, _Admitted] = {}
        self._holders: dict[str, dict[Intent, None]] = {}  # who removes this uid
        self._writers: dict[str, dict[Intent, None]] = {}  # who writes this uid
        self.gone_uids: dict[str, int] = {}
        """How many intents remove this uid."""

    def gone(self, uid: str) -> bool:
        """Tell whether an admitted request removes the object of this uid."""
        return uid in self.gone_uids

    def holders(self, uid: str) -> tuple[Intent, ...]:
        """Return the admitted intents that take away the object of this uid."""
        return tuple(self._holders.get(uid, ()))

    def admit(
        self,
        intent: Intent,
        removed: Iterable[str],
        now: Now,
        *,
        written: str = "",
    ) -> None:
        """Count what `intent` would do. Admitted again, it counts once: the latest holds.

        `written`: the uid of an object that it writes and that stays; the next state of that
        which is seen proves the intent persisted.
        """
        self.expire(intent)
        entry = _Admitted(set(removed), written, now.mono_ns)
        if entry.removed or entry.written:
            self._by_intent[intent] = entry
            self._lay(intent, entry)

    def seen(self, uid: str) -> tuple[Intent, ...]:
        """Drop an object that the graph now shows gone or terminating; return whose doing it was.

        Any of an intent's effects seen proves that it was persisted: those returned are to settle.
        """
        found = tuple(self._holders.get(uid, ()))
        for intent in found:
            entry = self._by_intent[intent]
            entry.removed.remove(uid)
            self._lift(intent, _Admitted({uid}))
            self._forget_if_empty(intent, entry)
        return found

    def seen_written(self, uid: str) -> tuple[Intent, ...]:
        """Note that the graph shows another state of an object; return whose doing it was.

        WHY of whoever: another's write of the same object within milliseconds may prove one that
        failed. What that one is charged it keeps then, and is not charged for its retry.
        """
        found = tuple(self._writers.get(uid, ()))
        for intent in found:
            entry = self._by_intent[intent]
            entry.written = ""
            self._lift(intent, _Admitted(set(), uid))
            self._forget_if_empty(intent, entry)
        return found

    def due(self, now: Now) -> tuple[Intent, ...]:
        """Return the intents that are past the horizon, to be expired unless they happened."""
        late_ns = now.mono_ns - HORIZON_S * 1_000_000_000
        return tuple(one for one, entry in self._by_intent.items() if entry.at_ns <= late_ns)

    def expire(self, intent: Intent) -> bool:
        """Take back all that `intent` still holds: it did not happen. False: it holds nothing."""
        entry = self._by_intent.pop(intent, None)
        if entry is None:
            return False
        self._lift(intent, entry)
        return True

    def clear(self) -> None:
        """Take back everything."""
        for intent in tuple(self._by_intent):
            self.expire(intent)

    def holds(self, intent: Intent) -> bool:
        """Tell whether `intent` was admitted and not all of it was seen."""
        return intent in self._by_intent

    @contextmanager
    def without(self, intent: Intent) -> Iterator[None]:
        """Look at the world as if `intent` had not been admitted: how a retry of it is judged."""
        entry = self._by_intent.pop(intent, None)
        if entry is not None:
            self._lift(intent, entry)
        try:
            yield
        finally:
            # What was admitted anew inside stands; else the earlier attempt may still happen.
            if entry is not None and intent not in self._by_intent:
                self._by_intent[intent] = entry
                self._lay(intent, entry)

    def _forget_if_empty(self, intent: Intent, entry: _Admitted) -> None:
        if not (entry.removed or entry.written):
            del self._by_intent[intent]

    def _lay(self, intent: Intent, entry: _Admitted) -> None:
        for uid in entry.removed:
            self.gone_uids[uid] = self.gone_uids.get(uid, 0) + 1
            if self._graph is not None:
                self._graph.leave(uid)
            self._holders.setdefault(uid, {})[intent] = None
        if entry.written:
            self._writers.setdefault(entry.written, {})[intent] = None

    def _lift(self, intent: Intent, part: _Admitted) -> None:
        for uid in part.removed:
            self.gone_uids[uid] -= 1
            if not self.gone_uids[uid]:
                del self.gone_uids[uid]
                if self._graph is not None:
                    self._graph.stay(uid)
            _withdraw(self._holders, uid, intent)
        if part.written:
            _withdraw(self._writers, part.written, intent)

    def __len__(self) -> int:
        return len(self._by_intent)


def _withdraw(kept: dict[str, dict[Intent, None]], uid: str, intent: Intent) -> None:
    intents = kept[uid]
    del intents[intent]
    if not intents:
        del kept[uid]
