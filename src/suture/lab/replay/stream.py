"""One watch: everything there is if that is asked for, then what happens, until its time is over.

Apart from `server` because this is where time passes; what goes wrong on purpose goes wrong here.
Source: k8s.io/apiserver cacher and its cache_watcher, for bookmarks and too old versions.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from suture.lab.replay.answers import Asked, RefusalError
from suture.lab.replay.shelf import Change, Shelf
from suture.lab.replay.store import Store
from suture.model.names import Resource

if TYPE_CHECKING:
    from suture.lab.replay.server import Handler

BOOKMARK_S = 60.0
"""Between bookmarks, and one BEFORE_END_S before the end. SOURCE: cacher, nextBookmarkTime."""

BEFORE_END_S = 2.0

BATCH_EVENTS = 500
"""LIMIT: events that are sent at once: 4.5 MB of pods."""

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    b"Cache-Control: no-cache, private\r\n\r\n"
)


class Stream:
    """A watch on one connection."""

    def __init__(self, handler: Handler, store: Store, resource: Resource, asked: Asked) -> None:
        self._handler = handler
        self._store = store
        self._resource = resource
        self._asked = asked
        self._shelf: Shelf = store.shelves[resource]
        self._trouble = store.troubles[resource]
        self._cuts = self._trouble.cuts
        self._told = 0
        began = time.monotonic()
        self._end = began + asked.timeout_s
        self._next_mark = _next_mark(began, self._end)

    def run(self) -> None:
        """Stream to the end."""
        server = self._handler.server
        self._handler.connection.sendall(HEAD)
        server.used(streams=1)
        try:
            self._stream()
        finally:
            server.used(streams=-1)

    def _stream(self) -> None:
        cursor = self._begin()
        while cursor is not None:
            if self._trouble.cuts != self._cuts:
                self._tear()
                return
            news = self._store.news[self._resource]
            with news:
                changes = self._shelf.since(cursor)
                if changes == [] or self._stalled():
                    news.wait(self._wait_s())
                    changes = [] if self._stalled() else self._shelf.since(cursor)
                changes = changes if changes is None else changes[:BATCH_EVENTS]
                sent = self._trouble.disturbed(changes or [])
                version = self._store.version
            now = time.monotonic()
            if changes is None:
                self._send(_gone())
                break
            if changes:
                cursor += len(changes)
                self._send_text(b"".join(map(self._line, sent)))
                self._told = changes[-1].version
            elif not self._stalled() and self._mark_due(now) and version > self._told:
                # WHY the version over all types: a bookmark of a quiet one says that nothing came.
                self._send(self._bookmark(version, initial=False))
                self._told = version
            if now >= self._end and not self._stalled():
                break
        self._handler.connection.sendall(b"0\r\n\r\n")

    def _begin(self) -> int | None:
        """Send what the watch begins with; return the cursor into the history, None: it ends."""
        asked, shelf, partial = self._asked, self._shelf, self._asked.partial
        if not asked.initial and asked.version not in ("", "0"):
            self._told = int(asked.version) if asked.version.isdecimal() else 0
            with self._store.lock:
                cursor = shelf.after(self._told)
            if cursor is None:
                self._send(_gone())
            return cursor
        with self._store.lock:
            version, added = self._store.begin(self._resource)
            cursor = shelf.after(version)
        for page in range(shelf.pages(added)):
            self._send_text(shelf.beginning(page, added, partial=partial))
        if asked.initial:
            self._send(self._bookmark(version, initial=True))
        self._told = version
        return cursor

    def _line(self, change: Change) -> bytes:
        head, whole = b'{"type":"%s","object":' % change.type, self._asked.form(change.made())
        size = len(head) + len(whole) + 2
        return b"".join((b"%x\r\n" % size, head, whole, b"}\n\r\n"))

    def _bookmark(self, version: int, *, initial: bool) -> bytes:
        return self._shelf.bookmark(version, partial=self._asked.partial, initial=initial)

    def _send(self, line: bytes) -> None:
        self._send_text(b"%x\r\n%s\r\n" % (len(line), line))

    def _send_text(self, text: bytes) -> None:
        """Send events, a chunk each, as Go's server does with anything over 2 KB."""
        self._handler.connection.sendall(text)
        self._handler.server.used(sent_bytes=len(text))

    def _tear(self) -> None:
        """End in the middle of a line, as a server does that dies."""
        self._handler.connection.sendall(b'14\r\n{"type":"MODIFIED","o')
        self._handler.close_connection = True

    def _stalled(self) -> bool:
        return time.monotonic() < self._trouble.stalled_until

    def _wait_s(self) -> float:
        now = time.monotonic()
        next_thing = min(self._end, self._next_mark)
        if self._stalled():
            next_thing = self._trouble.stalled_until
        return max(0.0, next_thing - now)

    def _mark_due(self, now: float) -> bool:
        if now < self._next_mark:
            return False
        self._next_mark = _next_mark(now, self._end)
        return self._asked.bookmarks


def _next_mark(now: float, end: float) -> float:
    before_end = end - BEFORE_END_S
    return min(now + BOOKMARK_S, before_end) if before_end > now else now + BOOKMARK_S


def _gone() -> bytes:
    return msgspec.json.encode({"type": "ERROR", "object": RefusalError.gone().body()}) + b"\n"
