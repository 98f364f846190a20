"""HTTP/1.1 of the webhook: one connection, its limits, and when it is answered.

Beside `webhook`, which owns sockets and lifetimes. An `asyncio.Protocol` on httptools rather than
a framework because what matters here is below where frameworks begin: a head that grows, a body
that is slow, lies about its length or is not wanted, a stranger who gets no answer at all.
Knows nothing of reviews.
"""

from __future__ import annotations

import asyncio
from collections import deque
from enum import Enum, auto
from functools import partial
from typing import Any, NamedTuple

import httptools
import structlog

from suture.adapters.webhookanswers import failed, problem, written
from suture.adapters.webhookheads import Begun, Head, begun
from suture.adapters.webhooksite import (
    LINGER_S,
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    MAX_PIPELINED,
    Answered,
    Site,
)
from suture.adapters.webhooktls import Peer
from suture.wire.limits import check_depth

log = structlog.get_logger(__name__)


class _Request(NamedTuple):
    path: str
    body: bytes
    keep_alive: bool


class _Phase(Enum):
    IDLE = auto()  # between requests, or before the first
    HEAD = auto()
    BODY = auto()
    CLOSING = auto()  # refused or closed: what still comes is dropped


class Connection(asyncio.Protocol):
    """One connection: reads a request as a whole, asks for its answer, writes it in one go."""

    def __init__(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        self._site = site
        self._loop = loop
        self._transport: Any = None  # asyncio.Transport, or uvloop's twin of it
        self._parser: Any = httptools.HttpRequestParser(self)
        self._peer = Peer("")
        self.known = site.secret is None
        """Whether who asks has proved to be an API server, by certificate or by secret."""
        self._phase = _Phase.IDLE
        self._open = True  # may be written to
        self._since = loop.time()
        self._read_timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Future[Answered] | None = None  # what is waited for
        self._waiting: deque[_Request] = deque()
        self._unsent: list[bytes] = []  # answers that leave at the end of this turn
        self._blocked = False
        self._paused = False  # nothing more is read for now
        # the request that is being read
        self._url = b""
        self._head_bytes = 0  # as the parser has counted it
        self._unparsed_bytes = 0  # of chunks in which the head did not end
        self._length: int | None = None
        self._chunked = False
        self._expects = False
        self._unmet: Head | None = None  # its head, where none like it was read before
        self._missing = 0  # of a body whose head was
        self._path = ""
        self._parts: list[bytes] = []
        self._held = 0

    # ------------------------------------------------------------- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let in whom TLS has verified and the site admits; abort others."""
        self._transport = transport
        peer = self._site.admit(self._transport)
        if peer is None or not self._site.has_room():
            self._vanish()
            return
        self._peer = peer
        self._site.connections[self] = None

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Forget the connection; a decision under way goes on, its journal line is wanted."""
        self._site.connections.pop(self, None)
        self._open = False
        self._stop_reading_requests()
        self._parser = None  # it refers to us: neither would go before a collection

    def data_received(self, data: bytes) -> None:
        """Take what came: by the parser, save where it has read this head before."""
        if self._phase is _Phase.CLOSING:
            return
        if self._missing:
            self._go_on_with(data)
            return
        # WHY known: a secret is looked for in each head of whoever has not shown it yet.
        alone = self._phase is _Phase.IDLE and self.known
        request = begun(data, MAX_HEAD_BYTES) if alone else None
        path = self._site.heads.path(request.head) if request is not None else None
        if request is not None and path is not None and self._site.has_room_for(request.length):
            self._begin(request, path)
            return
        if alone:
            self._unmet = request.head if request is not None else None
        self._parse(data)

    def _begin(self, request: Begun, path: str) -> None:
        """Begin a request whose head was read before; the parser is not asked again."""
        self._path = path
        self._hold(request.length)
        if request.length == len(request.body):
            self._queue(_Request(path, request.body, keep_alive=True))
            return
        self._phase = _Phase.BODY
        self._parts, self._missing = [request.body], request.length - len(request.body)
        self._limit_time()

    def _go_on_with(self, data: bytes) -> None:
        """Take more of the body of such a request; what comes after it is another."""
        part, rest = data[: self._missing], data[self._missing :]
        self._parts.append(part)
        self._missing -= len(part)
        if not self._missing:
            self._complete(keep_alive=True)
        if rest:
            self.data_received(rest)

    def _parse(self, data: bytes) -> None:
        """Feed the parser; whatever it cannot read is answered 400 and closed."""
        try:
            # The parser copies what it hands on.
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, "upgrade_refused", "this server speaks HTTP/1.1 only")
        except httptools.HttpParserError as error:
            words = str(error).strip().lower() or "unreadable"
            self._refuse(400, "http_malformed", f"the request is not HTTP/1.1: {words}")
        if self._phase is _Phase.HEAD:
            # WHY here too: a single header that never ends does not reach `on_header`.
            self._unparsed_bytes += len(data)
            self._limit_head()
        self._limit_time()

    def _limit_time(self) -> None:
        """Have a request that is being read be there within its time."""
        reading = self._phase is _Phase.HEAD or self._phase is _Phase.BODY
        if reading and self._read_timer is None:
            self._read_timer = self._loop.call_later(
                self._site.limits.read_s, self._read_too_slowly
            )

    def pause_writing(self) -> None:
        """Stop reading from one who does not read our answers, and answering what was read."""
        self._blocked = True
        self._pause()

    def resume_writing(self) -> None:
        """Go on when the answers have left."""
        self._blocked = False
        self.go_on()

    def go_on(self) -> None:
        """Answer the next that waits; read on when none does. Neither while answers pile up."""
        while not (self._blocked or self._task is not None or self._phase is _Phase.CLOSING):
            if not self._waiting:
                if self._paused and self._open:
                    self._paused = False
                    self._transport.resume_reading()
                return
            self._answer(self._waiting.popleft())

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    # ---------------------------------------------------------- the parser's side

    def on_message_begin(self) -> None:
        """Start a request."""
        if self._phase is _Phase.CLOSING:
            return
        self._phase = _Phase.HEAD
        self._url = b""
        self._head_bytes = self._unparsed_bytes = 0
        self._length = None
        self._chunked = self._expects = False
        self._parts = []

    def on_url(self, url: bytes) -> None:
        """Collect the target, which may come in pieces."""
        self._url += url
        self._head_bytes += len(url)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._limit_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note the few headers that matter."""
        match name.lower():
            case b"content-length":
                self._length = int(value)  # digits only: the parser has seen to that
            case b"transfer-encoding":
                self._chunked = True
            case b"expect":
                self._expects = value.lower() == b"100-continue"
        self._head_bytes += len(name) + len(value) + len(": \r\n")
        if self._head_bytes > MAX_HEAD_BYTES:
            self._limit_head()

    def on_headers_complete(self) -> None:
        """Decide by the head whether the body is wanted."""
        if self._phase is _Phase.CLOSING:
            return
        path = self._site.path_of(self._url)
        if path is None:
            self._vanish()
            return
        self.known = True
        known_path = self._site.paths.get(path)
        if known_path is None:
            self._refuse(404, "path_unknown", "nothing is answered at this path")
        elif self._parser.get_method() != b"POST":
            self._refuse(405, "method_refused", "reviews are posted")
        elif self._parser.should_upgrade():
            self._refuse(400, "upgrade_refused", "this server speaks HTTP/1.1 only")
        elif self._chunked:
            self._refuse(411, "chunked_refused", "send a Content-Length, not chunks")
        elif self._length is None:
            self._refuse(411, "length_missing", "send a Content-Length")
        elif self._length > MAX_BODY_BYTES:
            self._refuse(413, "body_too_large", f"a body has at most {MAX_BODY_BYTES} bytes")
        elif not self._site.has_room_for(self._length):
            self._refuse(503, "overloaded", "too many bodies are waiting; come again")
        else:
            self._path = known_path
            self._hold(self._length)
            self._phase = _Phase.BODY
            if self._expects:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, part: bytes) -> None:
        """Keep a piece of the body; never more in all than its head announced."""
        if self._phase is _Phase.BODY:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        """Queue the request, to be answered in this turn, or after those that came before it."""
        if self._phase is not _Phase.BODY:
            return
        keep_alive = self._parser.should_keep_alive()
        if self._unmet is not None and keep_alive and not self._expects:
            self._site.heads.remember(self._unmet, self._path)
        self._unmet = None
        self._complete(keep_alive=keep_alive)

    def _complete(self, *, keep_alive: bool) -> None:
        """Queue the request that was being read."""
        self._phase = _Phase.IDLE
        self._cancel_read_timer()
        parts, self._parts = self._parts, []
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        self._queue(_Request(self._path, body, keep_alive))

    def _queue(self, request: _Request) -> None:
        """Have a request answered, once it is there as a whole."""
        self._since = self._loop.time()
        first = not self._waiting and self._task is None
        if len(self._waiting) < MAX_PIPELINED + (self._task is None):
            self._waiting.append(request)
        else:
            self._refuse(400, "pipeline_too_long", "wait for answers before asking on")
            return
        if first:
            # WHY not at once: what reads and what decides would push each other out of the
            # processor's caches with every request; so all that came is read, and then answered.
            self._loop.call_soon(self.go_on)
        else:
            self._pause()

    # ------------------------------------------------------------------- answers

    def _answer(self, request: _Request) -> None:
        """Answer at once what can be; let a task wait for the rest.

        WHY at once: a task costs as much as a usual decision, and a turn of the loop of waiting.
        """
        try:
            check_depth(request.body)
            answer = self._site.handle(request.path, request.body, self._peer)
        except Exception as error:  # noqa: BLE001 each is answered, as what it is
            self._tell(request, *failed(error, request.path))
            return
        self._hand(request, answer)

    def _hand(self, request: _Request, answer: Answered) -> None:
        """Write an answer, or wait for it."""
        if isinstance(answer, bytes):
            self._tell(request, 200, answer)
        else:
            # WHY a future as it is: to be called back costs a third of what a task costs.
            self._task = asyncio.ensure_future(answer, loop=self._loop)
            self._task.add_done_callback(partial(self._come, request))

    def _come(self, request: _Request, answered: asyncio.Future[Answered]) -> None:
        """Go on with what was waited for."""
        if answered.cancelled():
            return
        self._task = None
        error = answered.exception()
        if error is None:
            self._hand(request, answered.result())
        elif isinstance(error, Exception):
            self._tell(request, *failed(error, request.path))
        else:
            raise error
        self.go_on()

    def _tell(self, request: _Request, status: int, body: bytes) -> None:
        """Write the answer to a request; close where it is the last."""
        if not self._open:
            self._release_body()
            return
        self._release_body(len(request.body))
        # CLOSING: something after this request was refused; this is the last answer.
        closing = self._phase is _Phase.CLOSING
        closes = closing or not request.keep_alive or self._site.draining
        self._write(status, body, closes=closes)
        self._since = self._loop.time()
        if closes:
            self._close()

    def _write(self, status: int, body: bytes, *, closes: bool) -> None:
        self._site.answers[status] += 1
        self._unsent.append(written(status, body, closes=closes))
        if closes:
            self.send()
        elif len(self._unsent) == 1:
            self._site.answered(self, self._loop)

    def send(self) -> None:
        """Write what was answered and has not left yet, in one go."""
        unsent, self._unsent = self._unsent, []
        if unsent and not self._transport.is_closing():
            self._transport.write(b"".join(unsent))

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer what is wrong and close; to one who is not known yet, only close."""
        if self._phase is not _Phase.CLOSING and self.known:
            self.go_on()  # what came before is answered before, and may have been the last
        if self._phase is _Phase.CLOSING:
            return
        if not self.known:
            self._vanish()
            return
        self._stop_reading_requests()
        if self._task is not None:
            # WHY no answer: it would be taken for that of the request before. That one's closes.
            return
        self._write(status, problem(code, message), closes=True)
        self._open = False
        # Not at once: what is unread in the socket would make the kernel drop our answer.
        self._loop.call_later(LINGER_S, self._transport.close)

    def _vanish(self) -> None:
        """Close without an answer."""
        self._site.strangers += 1
        self._open = False
        self._stop_reading_requests()
        self._transport.abort()

    def _close(self) -> None:
        self.send()
        self._open = False
        self._stop_reading_requests()
        self._transport.close()

    def _stop_reading_requests(self) -> None:
        self._phase = _Phase.CLOSING
        self._cancel_read_timer()
        self._parts = []
        self._waiting.clear()
        if self._task is None:
            self._release_body()

    # -------------------------------------------------------------------- limits

    def _limit_head(self) -> None:
        if max(self._head_bytes, self._unparsed_bytes) > MAX_HEAD_BYTES:
            self._refuse(431, "head_too_large", f"a head has at most {MAX_HEAD_BYTES} bytes")

    def _read_too_slowly(self) -> None:
        self._read_timer = None
        limit_s = self._site.limits.read_s
        self._refuse(408, "body_too_slow", f"a request is read for at most {limit_s} s")

    def _cancel_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _hold(self, size_bytes: int) -> None:
        self._held += size_bytes
        self._site.held_bytes += size_bytes

    def _release_body(self, size_bytes: int | None = None) -> None:
        released = self._held if size_bytes is None else min(size_bytes, self._held)
        self._held -= released
        self._site.held_bytes -= released

    def sweep(self, now: float) -> None:
        """Close when idle or undecided for too long."""
        waited_s = now - self._since
        limits = self._site.limits
        if self._task is not None:
            if waited_s > limits.handle_s:
                log.error("webhook handler gave no answer", path=self._path, waited_s=waited_s)
                self.abort()
        elif self._phase is _Phase.IDLE and waited_s > (
            limits.idle_s if self.known else limits.handshake_s
        ):
            self._close()

    def close_if_quiet(self, now: float, quiet_s: float) -> None:
        """Close a connection on which nothing has been asked for `quiet_s`; see `draining`."""
        if self._phase is _Phase.IDLE and self._task is None and now - self._since >= quiet_s:
            self._close()

    def abort(self) -> None:
        """Give up on the connection and on what is being decided for it."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._open = False
        self._stop_reading_requests()
        self._transport.abort()
