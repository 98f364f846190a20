"""Pages of a list and lines of a watch, as bytes, to what they say.

Beside `watch` because decoding is one thing and what follows from it another: these know bytes
and no state. Pure. The usual block is decoded in one pass, by the projection of its kind; only
one that does not fit is taken apart line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from suture.errors import InputError
from suture.model.objects import ClusterObject, PodState
from suture.wire.mend import mended
from suture.wire.oddities import UNREADABLE, TrimError
from suture.wire.podstates import DELETED, MODIFIED, PodEnd, pod_end, pod_state
from suture.wire.shapes import ABSENT, Document, Meta
from suture.wire.trim import Reader

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""The annotation of the bookmark that ends the list part of a stream."""

FULL_OBJECT = "application/json"
PARTIAL_OBJECT = f"{FULL_OBJECT};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Media types of one object, whole and without anything but its metadata."""

D = TypeVar("D")
T = TypeVar("T")


class WatchError(InputError):
    """What came is neither a page nor watch lines."""

    code = "watch_malformed"


class _ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "more": "continue"}):
    version: str = ""
    more: str = ""


class _Page(msgspec.Struct, Generic[D]):
    metadata: _ListMeta
    items: list[D] | None = None


class _Line(msgspec.Struct, Generic[D], gc=False):
    type: str
    object: D


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


_raw_page = msgspec.json.Decoder(_Page[msgspec.Raw])
_raw_line = msgspec.json.Decoder(_Line[msgspec.Raw])
_status_decoder = msgspec.json.Decoder(_Status)
_annotations_decoder = msgspec.json.Decoder(dict[str, str] | None)
_document_decoder = msgspec.json.Decoder(Document)


class Page(msgspec.Struct, frozen=True):
    """One page of a list, trimmed; `last` when nothing follows."""

    objects: list[ClusterObject]
    resource_version: str
    last: bool


class EventType(StrEnum):
    """What a watch line says."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Seen(msgspec.Struct, frozen=True, gc=False):
    """An object was added, changed or deleted; of a deleted one this is its last state."""

    type: EventType
    thing: ClusterObject


class Bookmark(msgspec.Struct, frozen=True, gc=False):
    """Everything up to a version was told. `initial`: it ends the list part of a stream."""

    resource_version: str
    initial: bool = False


class Failure(msgspec.Struct, frozen=True, gc=False):
    """The server ends the watch, with the HTTP status that a list would have had."""

    status: int
    reason: str
    message: str


class Restated(msgspec.Struct, frozen=True, gc=False):
    """A pod changed, and mostly no more than its state; `whole` reads all that its line says."""

    state: PodState
    line: bytes
    read: Callable[[bytes], ClusterObject | None]

    def whole(self) -> ClusterObject | None:
        """Read the object; None where it is odd past being named. Errors: `WatchError`."""
        return self.read(self.line)


Event = Seen | Restated | PodEnd | Bookmark | Failure

_TYPES: Mapping[str, EventType] = {one.value: one for one in EventType}


_ODD = (*UNREADABLE, TrimError)
"""What is thrown at a block of which one object, or more, is odd."""


class Decoders:
    """The decoders of one kind in one form, made once; each reads page or lines in one pass."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        # Any: a type made at run time, of the projection that the reader's kind has.
        document: Any = reader.document
        self._page: msgspec.json.Decoder[_Page[Document]] = msgspec.json.Decoder(_Page[document])
        self._lines: msgspec.json.Decoder[_Line[Document]] = msgspec.json.Decoder(_Line[document])
        self._states = reader.shape is not None and reader.shape.states

    def page(self, body: bytes) -> Page:
        """Read one page of a list. Errors: `WatchError` when it is none.

        An object that cannot be named (and so cannot be kept) is left out and counted.
        """
        made = self.reader.made
        try:
            page = self._page.decode(body)
            things = [made(document) for document in page.items or ()]
            meta = page.metadata
        except _ODD:
            raw = self._taken_apart(_raw_page, body, "page")
            things = [thing for one in raw.items or () for thing in self._odd_one(one)]
            meta = raw.metadata
        return Page([one for one in things if self._named(one)], meta.version, not meta.more)

    def news(self, block: bytes) -> list[Event]:
        """Read a block as `events` does, of pods no more than their state where that will do.

        Errors: `WatchError` when a line is none.
        """
        if not (self._states and block.startswith((MODIFIED, DELETED))):
            return self.events(block)
        found: list[Event] = []
        for line in _lines_of(block):
            news = self._read_in_part(line)
            if news is not None:
                found.append(news)
            elif line:
                found += self.events(line)
        return found

    def _read_in_part(self, line: bytes) -> Restated | PodEnd | None:
        """Read of a pod's line what it says anew; None where the whole of it is to be read."""
        if line.startswith(MODIFIED):
            state = pod_state(line, self.reader.resource)
            return None if state is None else Restated(state, line, self._changed)
        return pod_end(line, self.reader.resource) if line.startswith(DELETED) else None

    def _changed(self, line: bytes) -> ClusterObject | None:
        """Read the object of a line of which the state was read before."""
        for event in self.events(line):
            if isinstance(event, Seen):
                return event.thing
        return None

    def events(self, block: bytes) -> list[Event]:
        """Read a block of whole watch lines. Errors: `WatchError` when a line is none."""
        try:
            return self._usual_events(block)
        except _ODD:
            return self._odd_events(block)

    def _usual_events(self, block: bytes) -> list[Event]:
        """Read a block in one pass. Errors: of `_ODD`, where that does not do."""
        events: list[Event] = []
        made, types = self.reader.made, _TYPES
        for line in self._lines.decode_lines(block):
            kind = types.get(line.type)
            if kind is not None:
                thing = made(line.object)
                # WHY not at once `_named`: nearly all are.
                if (thing.uid and thing.key.name) or self._named(thing):
                    events.append(Seen(kind, thing))
            elif line.type == "BOOKMARK":
                events.append(_bookmark(line.object.metadata or Meta()))
            else:
                # An ERROR whose Status happened to fit the kind's projection.
                return self._odd_events(block)
        return events

    def _odd_events(self, block: bytes) -> list[Event]:
        """Read lines one by one: one of them is an ERROR, or an object of odd shape."""
        events: list[Event] = []
        for text in block.splitlines():
            if not text.strip():
                continue
            line = self._taken_apart(_raw_line, text, "watch line")
            try:
                kind = _TYPES.get(line.type)
                if kind is not None:
                    events += [Seen(kind, thing) for thing in self._odd_one(line.object)]
                elif line.type == "BOOKMARK":
                    document = _document_decoder.decode(line.object)
                    events.append(_bookmark(document.metadata or Meta()))
                elif line.type == "ERROR":
                    status = _status_decoder.decode(line.object)
                    events.append(Failure(status.code, status.reason, status.message))
                else:
                    self._count("type")
            except UNREADABLE as error:
                where = self.reader.resource
                raise WatchError(f"watch line of {where} is malformed: {error}") from error
        return events

    def _taken_apart(self, decoder: msgspec.json.Decoder[T], body: bytes, what: str) -> T:
        """Read a page or line without its objects. Errors: `WatchError` when it is none."""
        try:
            return decoder.decode(body)
        except UNREADABLE:
            # WHY another attempt: one object, nested past all reason, must not hide all others.
            self._count("mended")
        try:
            return decoder.decode(mended(body))
        except UNREADABLE as error:
            where = self.reader.resource
            raise WatchError(f"{what} of {where} is malformed: {error}") from error

    def _odd_one(self, raw: msgspec.Raw) -> list[ClusterObject]:
        try:
            thing = self.reader.one(raw)
        except TrimError:
            self._count("unreadable")
            return []
        return [thing] if self._named(thing) else []

    def _named(self, thing: ClusterObject) -> bool:
        if thing.uid and thing.key.name:
            return True
        self._count("unnamed")
        return False

    def _count(self, part: str) -> None:
        self.reader.trimmer.odd[str(self.reader.resource), part] += 1


def _lines_of(block: bytes) -> Sequence[bytes]:
    """Return the lines of a block; one that is alone as it came, its end included.

    WHY not its own `split`, which looks at 8 KB byte by byte, nor a copy of what is one line.
    """
    start, end, last = 0, block.find(b"\n"), len(block) - 1
    if end in (-1, last):
        return (block,)
    found = []
    while end >= 0:
        found.append(block[start:end])
        start, end = end + 1, block.find(b"\n", end + 1)
    if start <= last:
        found.append(block[start:])
    return found


def _bookmark(meta: Meta) -> Bookmark:
    initial = False
    if meta.annotations is not ABSENT:
        try:
            found = _annotations_decoder.decode(meta.annotations) or {}
        except UNREADABLE:
            found = {}
        initial = found.get(INITIAL_EVENTS_END) == "true"
    return Bookmark(meta.resource_version, initial)
