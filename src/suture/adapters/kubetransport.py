"""The way to the API server: connections of our own to one address, below the HTTP library.

Put under its client, so that all above (credentials, headers, redirects, errors) stays the
library's. Its own transport parses HTTP in Python, one event per chunk, and a watch sends a chunk
per event: that cost more than keeping the model. Here an `asyncio.Protocol` hands out what came
in one turn of the loop as one block.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from suture.adapters.kubehttp import Answer, request_bytes

HELD_BYTES = 64 << 10
"""LIMIT: body that came and was not taken; past it the socket is not read. As much as is read at
a time, so a block is at most twice this: 16 events of 8 KB, 1 ms of the model's work."""

READ_BYTES = 64 << 10
"""LIMIT: what is read at a time. One buffer for all connections: what is in it is parsed before
the next read. WHY our own: the loop's would be 256 KiB anew for each read. Those the allocator
takes from the system at first; once used to the size it cuts them out of the heap, in whose holes
20 MB stayed."""

WRITE_BYTES = 64 << 10
"""LIMIT: what is written at a time. TLS takes any amount in one go, and tells only of the next
that the socket is full."""

_SAFE = frozenset({"GET", "HEAD"})
_PORTS = {"https": 443, "http": 80}


def proxied(server: str) -> bool:
    """Tell whether the environment puts a proxy between us and this server.

    Those are left to the HTTP library, which knows every kind of them.
    """
    parts = urlsplit(server)
    proxies = getproxies()
    applies = parts.scheme in proxies or "all" in proxies
    return applies and not proxy_bypass(parts.netloc)


class Connection(asyncio.BufferedProtocol):
    """One connection: a request out, its answer in, then the next."""

    def __init__(self, buffer: memoryview, lost: Callable[[Connection], None]) -> None:
        self._buffer = buffer
        self._loop = asyncio.get_running_loop()
        self._lost = lost
        self._transport: Any = None  # asyncio.Transport, or uvloop's twin of it
        self._answer: Answer | None = None
        self._failure: httpx2.TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._sent = False
        self._writable = True
        self._reading = True
        self.dead = False
        """Whether it carries nothing any more."""

    # What the caller does.

    async def ask(self, request: httpx2.Request) -> Answer:
        """Send a request and wait for the head of its answer."""
        timeouts = request.extensions["timeout"]
        sent = request_bytes(request)
        answer = self._answer = Answer(bodiless=request.method == "HEAD")
        self._sent = False
        for start in range(0, len(sent), WRITE_BYTES):
            self._transport.write(sent[start : start + WRITE_BYTES])
            while not (self._writable or answer.headed or self._failure):
                await self._wait(timeouts["write"], httpx2.WriteTimeout)
            if answer.headed or self._failure:
                break  # a refusal, say, of what is too large
        else:
            self._sent = True
        while not answer.headed:
            if self._failure is not None:
                raise self._failure
            await self._wait(timeouts["read"], httpx2.ReadTimeout)
        return answer

    @property
    def heard(self) -> bool:
        """Whether any byte came of the answer to the last request."""
        return self._answer is not None and self._answer.begun

    async def block(self, answer: Answer, timeout_s: float | None) -> bytes:
        """Return what has come of the body, waiting for the first of it; empty at the end."""
        if answer.held_bytes:
            # WHY: a server that sends faster than we read must not keep the loop from turning.
            await asyncio.sleep(0)
        while True:
            block = answer.take()
            if not self._reading:
                self._reading = True
                self._transport.resume_reading()
            if block or answer.ended:
                return block
            if self._failure is not None:
                raise self._failure
            await self._wait(timeout_s, httpx2.ReadTimeout)

    def reusable(self) -> bool:
        """Tell whether the connection may be kept for another request."""
        answer = self._answer
        return (
            not self.dead
            and answer is not None
            and answer.ended
            and answer.reusable
            and self._reading
            and self._sent
        )

    def quiet(self) -> bool:
        """Tell whether an idle connection has nothing to say.

        WHY: that could only be its end, or the reason for it, not yet heard by the loop; a write
        into it would be lost, and no write is tried twice.
        """
        if self.dead or self._transport.is_closing():
            return False
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def abort(self) -> None:
        """Hang up at once; the socket is closed within the next turns of the loop."""
        self.dead = True
        if self._transport is not None:
            self._transport.abort()

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, unless nobody wants it any more."""
        self._transport = transport
        if self.dead:
            self._transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the loop's own word
        """Return where the next bytes go."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Read on in the answer."""
        answer = self._answer
        if self.dead:
            return
        if answer is None or answer.ended:
            self.abort()  # nothing was asked
            return
        try:
            answer.feed(self._buffer[:nbytes])
        except httpx2.RemoteProtocolError as error:
            self._failure = error
            self.abort()
        else:
            if answer.held_bytes >= HELD_BYTES and self._reading:
                self._reading = False
                self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Hang up on a server that has hung up."""
        self.abort()

    def pause_writing(self) -> None:
        """Hear that the socket is full."""
        self._writable = False

    def resume_writing(self) -> None:
        """Hear that it takes more."""
        self._writable = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """End the answer, or what waits for it."""
        self.dead = True
        answer = self._answer
        if answer is not None and not answer.ended and self._failure is None:
            if error is not None:
                self._failure = httpx2.ReadError(str(error))
            else:
                try:
                    answer.close()
                except httpx2.RemoteProtocolError as cut:
                    self._failure = cut
        self._lost(self)
        self._wake()

    async def _wait(self, timeout_s: float | None, late: type[httpx2.TimeoutException]) -> None:
        """Wait for anything to happen."""
        waiter = self._waiter = self._loop.create_future()
        timer = None
        if timeout_s is not None:
            timer = self._loop.call_later(timeout_s, _expire, waiter, late)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _expire(waiter: asyncio.Future[None], late: type[httpx2.TimeoutException]) -> None:
    if not waiter.done():
        waiter.set_exception(late(""))


async def _ask(connection: Connection, request: httpx2.Request) -> Answer:
    """Ask over a connection; hang up where no answer comes, or is not waited for."""
    try:
        return await connection.ask(request)
    except BaseException:
        connection.abort()
        raise


class _Body(httpx2.AsyncByteStream):
    """The body of an answer; closing it gives the connection back, or hangs up."""

    def __init__(
        self,
        connection: Connection,
        answer: Answer,
        timeout_s: float | None,
        give_back: Callable[[Connection], None],
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._timeout_s = timeout_s
        self._give_back = give_back
        self._closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while block := await self._connection.block(self._answer, self._timeout_s):
            yield block

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            self._give_back(self._connection)


class KubeTransport(httpx2.AsyncBaseTransport):
    """Connections to one API server, kept while they are of use."""

    def __init__(
        self, server: str, tls: ssl.SSLContext, *, size: int, keep: int, keep_s: float
    ) -> None:
        parts = urlsplit(server)
        self._origin = (parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme])
        self._tls = tls if parts.scheme == "https" else None
        tls.set_alpn_protocols(["http/1.1"])
        self._slots = asyncio.Semaphore(size)
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._keep = keep
        self._keep_s = keep_s
        self._open: set[Connection] = set()
        self._idle: dict[Connection, float] = {}  # until when; the longest idle first
        self._closed = False
        self._all_lost: asyncio.Future[None] | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return its answer once the head has come."""
        url = request.url
        # WHY: what is sent carries our credentials.
        if (url.scheme, url.host, url.port or _PORTS.get(url.scheme)) != self._origin:
            raise httpx2.UnsupportedProtocol(f"`{url}` is not of the API server we log in to")
        timeouts = request.extensions["timeout"]
        await self._slot(timeouts["pool"])
        try:
            connection, answer = await self._answered(request)
        except BaseException:
            self._slots.release()
            raise
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(connection, answer, timeouts["read"], self._give_back),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": answer.reason},
        )

    async def aclose(self) -> None:
        """Hang up on all connections, and wait until their sockets are closed."""
        self._closed = True
        for connection in tuple(self._open):
            connection.abort()
        if self._open:
            self._all_lost = asyncio.get_running_loop().create_future()
            await self._all_lost

    async def _slot(self, timeout_s: float | None) -> None:
        """Wait for the turn of one more request."""
        if not self._slots.locked():
            await self._slots.acquire()  # at once
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._slots.acquire()
        except TimeoutError as error:
            raise httpx2.PoolTimeout("") from error

    async def _answered(self, request: httpx2.Request) -> tuple[Connection, Answer]:
        kept = self._kept()
        if kept is not None:
            try:
                return kept, await _ask(kept, request)
            except (httpx2.RemoteProtocolError, httpx2.ReadError):
                # WHY: a server may hang up on an idle connection just as we write into it, and has
                # most likely not heard us then; but only what changes nothing may be said twice.
                if kept.heard or request.method not in _SAFE:
                    raise
        connection = await self._connect(request.extensions["timeout"]["connect"])
        return connection, await _ask(connection, request)

    def _kept(self) -> Connection | None:
        """Return the idle connection that was used last, if one is still good."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection, until = self._idle.popitem()
            if until > now and connection.quiet():
                return connection
            connection.abort()
        return None

    async def _connect(self, timeout_s: float | None) -> Connection:
        _, host, port = self._origin
        connection = Connection(self._buffer, self._gone)
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.get_running_loop().create_connection(
                    lambda: connection, host, port, ssl=self._tls
                )
        except TimeoutError as error:
            connection.abort()
            raise httpx2.ConnectTimeout("") from error
        except OSError as error:
            connection.abort()
            raise httpx2.ConnectError(str(error)) from error
        except BaseException:
            connection.abort()
            raise
        if self._closed or connection.dead:
            connection.abort()
            raise httpx2.ConnectError("the connection was closed as soon as it was made")
        self._open.add(connection)
        return connection

    def _give_back(self, connection: Connection) -> None:
        """Keep a connection whose answer is whole; hang up where it is not."""
        self._slots.release()
        if not connection.reusable():
            connection.abort()
            return
        now = asyncio.get_running_loop().time()
        while self._idle:
            oldest, until = next(iter(self._idle.items()))
            if until > now and len(self._idle) < self._keep:
                break
            del self._idle[oldest]
            oldest.abort()
        self._idle[connection] = now + self._keep_s

    def _gone(self, connection: Connection) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)
        if self._all_lost is not None and not self._open and not self._all_lost.done():
            self._all_lost.set_result(None)
