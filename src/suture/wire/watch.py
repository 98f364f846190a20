"""The reflector without its socket: what to ask the API server, and what its answers mean.

Pure: pages and watch lines in, changes of the model out. Knows nothing of time, of connections or
of who wants the objects.
Source: the Kubernetes API concepts page on lists and watches; KEP-3157 for lists as streams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import assert_never

import msgspec

from suture.model.bounded import oldest
from suture.model.names import ObjectKey
from suture.model.objects import ClusterObject
from suture.wire.pages import Bookmark, Decoders, EventType, Failure, Restated, Seen
from suture.wire.podstates import PodEnd
from suture.wire.trim import Reader

RECENT = 1024
"""LIMIT: events remembered by version, to tell a repeated one from one that comes out of order;
a server that repeats does so from its last few, and 1,024 numbers are 60 KB for each busy type."""

RESUMES = 8
"""LIMIT: attempts to resume at one version before listing anew: with backoff between them half a
minute, longer than an API server takes to start; a version it will never know (its database was
restored) must not be asked for ever."""

# ---------------------------------------------------------------- what goes out


class Upsert(msgspec.Struct, frozen=True, gc=False):
    """The object is now like this."""

    thing: ClusterObject


class Removal(msgspec.Struct, frozen=True, gc=False):
    """A life of an object is over; `last` was its last state, where the line was read whole."""

    key: ObjectKey
    uid: str
    resource_version: str
    last: ClusterObject | None = None


class Listed(msgspec.Struct, frozen=True, gc=False):
    """The list is complete: whatever was not told since it was asked for is gone."""


class Lost(msgspec.Struct, frozen=True, gc=False):
    """The server refused to go on, in the middle of a stream."""

    status: int
    why: str


Delta = Upsert | Restated | Removal | Listed | Lost


class AskPages(msgspec.Struct, frozen=True):
    """List everything, page by page."""


class AskStream(msgspec.Struct, frozen=True):
    """Watch, with everything there is as the first events."""


class AskWatch(msgspec.Struct, frozen=True):
    """Watch on from a version."""

    resource_version: str


Ask = AskPages | AskStream | AskWatch


# ---------------------------------------------------------------- the machine


class Phase(StrEnum):
    """Where a type stands."""

    UNLISTED = "unlisted"
    """Nothing to build on: a list must come first."""
    PAGING = "paging"
    STREAMING = "streaming"
    WATCHING = "watching"


class Signal(StrEnum):
    """What happened to the list or stream that was asked for."""

    PAGES = "pages asked for"
    STREAM = "stream asked for"
    COMPLETE = "list complete"
    ENDED = "ended by the server, in order"
    BROKEN = "broken on the way"
    REFUSED = "refused"
    GONE = "version gone"
    GARBLED = "garbled"


_TABLE: Mapping[tuple[Phase, Signal], Phase] = {
    (Phase.UNLISTED, Signal.PAGES): Phase.PAGING,
    (Phase.UNLISTED, Signal.STREAM): Phase.STREAMING,
    (Phase.UNLISTED, Signal.ENDED): Phase.UNLISTED,
    (Phase.UNLISTED, Signal.BROKEN): Phase.UNLISTED,
    (Phase.UNLISTED, Signal.REFUSED): Phase.UNLISTED,
    (Phase.UNLISTED, Signal.GONE): Phase.UNLISTED,
    (Phase.UNLISTED, Signal.GARBLED): Phase.UNLISTED,
    (Phase.PAGING, Signal.COMPLETE): Phase.WATCHING,
    # A list that did not come to its end proves nothing of what is not in it.
    (Phase.PAGING, Signal.ENDED): Phase.UNLISTED,
    (Phase.PAGING, Signal.BROKEN): Phase.UNLISTED,
    (Phase.PAGING, Signal.REFUSED): Phase.UNLISTED,
    (Phase.PAGING, Signal.GONE): Phase.UNLISTED,
    (Phase.PAGING, Signal.GARBLED): Phase.UNLISTED,
    (Phase.STREAMING, Signal.COMPLETE): Phase.WATCHING,
    (Phase.STREAMING, Signal.ENDED): Phase.UNLISTED,
    (Phase.STREAMING, Signal.BROKEN): Phase.UNLISTED,
    (Phase.STREAMING, Signal.REFUSED): Phase.UNLISTED,
    (Phase.STREAMING, Signal.GONE): Phase.UNLISTED,
    (Phase.STREAMING, Signal.GARBLED): Phase.UNLISTED,
    (Phase.WATCHING, Signal.ENDED): Phase.WATCHING,
    (Phase.WATCHING, Signal.BROKEN): Phase.WATCHING,
    (Phase.WATCHING, Signal.REFUSED): Phase.WATCHING,
    (Phase.WATCHING, Signal.GONE): Phase.UNLISTED,
    (Phase.WATCHING, Signal.GARBLED): Phase.UNLISTED,
}
"""Every transition. A pair that is missing cannot happen: it would be our own mistake."""


class Reflector:
    """Follows one type: asks, takes what comes, and says what it means for the model.

    Ask with `ask`, feed the answer to `page` or `lines`, and report its end with `ended`.
    INVARIANT: after `Listed` the model equals the list, and after each event the cluster at its
    version, however much was repeated, lost with a connection, or out of order before.
    """

    def __init__(self, reader: Reader, *, streams: bool = True) -> None:
        self.phase = Phase.UNLISTED
        self.resource_version = ""
        self.streams = streams
        """Whether lists are asked for as streams; false once the server declined."""
        self.ordered = True
        """Whether numeric versions of the type rise with time. Those of an aggregated API server
        may not: its events are taken as they come."""
        self.counts: Counter[str] = Counter()
        """`relists`, `duplicates`, `regressions`: how it went so far."""
        self._decoders = Decoders(reader)
        self._newest = 0
        self._recent: dict[int, None] = {}
        self._resumes = 0
        self._disordered = False

    @property
    def listed(self) -> bool:
        """Whether a list was completed and what came since can be built on it."""
        return self.phase is Phase.WATCHING

    @property
    def sound(self) -> bool:
        """Whether what was listed is in order, and no list is due in its place."""
        return self.listed and self.ordered and not self._disordered

    def resume(self, version: str) -> None:
        """Begin with a watch from `version`: up to there the model has all, as a file says."""
        self.phase = Phase.WATCHING
        self._advance(version)

    def distrust(self) -> None:
        """Have the type listed anew, once the stream that is open, if any, has ended."""
        self._disordered = True

    def ask(self) -> Ask:
        """Say what to ask the server for now, and be ready for the answer."""
        if self.phase is Phase.WATCHING and not self._disordered:
            return AskWatch(self.resource_version)
        self.phase = Phase.UNLISTED
        self.counts["relists"] += 1
        if self.streams:
            self._move(Signal.STREAM)
            return AskStream()
        self._move(Signal.PAGES)
        return AskPages()

    def page(self, body: bytes) -> list[Delta]:
        """Take one page of the list that was asked for. Errors: `WatchError`."""
        page = self._decoders.page(body)
        deltas: list[Delta] = [Upsert(thing) for thing in page.objects]
        if page.last:
            deltas.append(self._complete(page.resource_version))
        return deltas

    def lines(self, block: bytes) -> list[Delta]:
        """Take a block of whole watch lines. Errors: `WatchError`. Nothing counts after `Lost`."""
        deltas: list[Delta] = []
        decoders, deleted = self._decoders, EventType.DELETED
        # The list part of a stream has nothing yet that could be as it was.
        streaming = self.phase is Phase.STREAMING
        events = decoders.events(block) if streaming else decoders.news(block)
        for event in events:
            # WHY not a case of the match: nearly all events are this.
            if isinstance(event, Seen):
                thing = event.thing
                # The list part of a stream comes in no order of versions.
                if self.phase is Phase.STREAMING or self._in_order(thing.resource_version):
                    deltas.append(_removal(thing) if event.type is deleted else Upsert(thing))
                continue
            match event:
                case Restated(state=state):
                    if self._in_order(state.resource_version):
                        deltas.append(event)
                case PodEnd(key=key, uid=uid, resource_version=version):
                    if self._in_order(version):
                        deltas.append(Removal(key, uid, version))
                case Bookmark(resource_version=version, initial=initial):
                    if self.phase is not Phase.STREAMING:
                        self._marked(version)
                    elif initial:
                        deltas.append(self._complete(version))
                case Failure(status=status, reason=reason, message=message):
                    deltas.append(Lost(status, f"{reason}: {message}"))
                    return deltas
                case _:
                    assert_never(event)
        return deltas

    def ended(self, signal: Signal) -> None:
        """Note how the list or stream that was asked for came to its end."""
        if self.phase is Phase.WATCHING:
            if signal in (Signal.BROKEN, Signal.REFUSED):
                self._resumes += 1
            # WHY at the end of a stream: that paces relists even where disorder is the rule.
            if self._disordered or self._resumes >= RESUMES:
                signal = Signal.GONE
        self._move(signal)

    def _move(self, signal: Signal) -> None:
        self.phase = _TABLE[self.phase, signal]

    def _complete(self, version: str) -> Listed:
        self._move(Signal.COMPLETE)
        self._recent.clear()
        self._newest = 0
        self._resumes = 0
        self._disordered = False
        self._advance(version)
        return Listed()

    def _marked(self, version: str) -> None:
        """Take a bookmark: nothing up to its version is still to come."""
        if self.ordered and version.isdecimal() and int(version) < self._newest:
            self.counts["regressions"] += 1
        elif version:
            self._advance(version)

    def _advance(self, version: str) -> None:
        self.resource_version = version
        self._resumes = 0
        if version.isdecimal():
            self._newest = max(self._newest, int(version))

    def _in_order(self, version: str) -> bool:
        """Whether an event is news. One that is not is counted, and may ask for a new list."""
        if not (self.ordered and version.isdecimal()):
            self._advance(version)
            return True
        number = int(version)
        if number > self._newest:
            self._newest = number
            self.resource_version = version
            self._resumes = 0
            recent = self._recent
            recent[number] = None
            for one in oldest(recent, RECENT) if len(recent) > RECENT else ():
                del recent[one]
            return True
        if number in self._recent:
            self.counts["duplicates"] += 1
        else:
            # WHY a new list: whether it is old news or came late cannot be told from here.
            self.counts["regressions"] += 1
            self._disordered = True
        return False


def _removal(last: ClusterObject) -> Removal:
    return Removal(last.key, last.uid, last.resource_version, last)
