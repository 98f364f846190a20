"""The load generator: HTTP/1.1 over mutual TLS as an API server speaks it, as lean as can be.

Requests are made before the clock starts, answers are looked at only for their status and length,
so that the other core is the server's.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterator, Sequence
from itertools import cycle

import msgspec

from suture.errors import UnavailableError

ROUND_S = 60.0
"""LIMIT: one series of requests; a server that takes 30 ms for each of 2,000 is found broken."""

CLOSE_S = 2.0
"""LIMIT: for the server's goodbye."""


class Served(msgspec.Struct, frozen=True):
    """What a series of requests took: one time each in µs, and all together."""

    times_us: list[float]
    elapsed_s: float


def request(path: str, body: bytes) -> bytes:
    """Return a review as bytes on the wire."""
    head = (
        f"POST {path}?timeout=2s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "User-Agent: kube-apiserver-admission\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, */*\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Asking(asyncio.Protocol):
    """One connection: asks, waits for the answer, asks again, until nothing is left to ask."""

    def __init__(self, requests: Iterator[bytes], times_us: list[float]) -> None:
        self._requests = requests
        self._times_us = times_us
        self._transport: asyncio.WriteTransport | None = None
        self._buffer = b""
        self._asked_ns = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to write; asking begins with `ask`."""
        assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101 the loop's own promise
        self._transport = transport

    def ask(self) -> None:
        """Send the next request, or end."""
        following = next(self._requests, None)
        if following is None or self._transport is None:
            if not self.done.done():
                self.done.set_result(None)
            return
        self._asked_ns = time.perf_counter_ns()
        self._transport.write(following)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer; ask again once it is whole."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(self._buffer) < end + 4 + int(length or b"0"):
            return
        self._times_us.append((time.perf_counter_ns() - self._asked_ns) / 1e3)
        if not head.startswith(b"http/1.1 200"):
            self._fail(f"the server answered {head.splitlines()[0].decode()}")
            return
        self._buffer = b""
        self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; without an error only when nothing was left to ask."""
        self._fail(f"the server closed the connection: {exc}")
        if not self.closed.done():
            self.closed.set_result(None)

    def close(self) -> None:
        """Leave."""
        if self._transport is not None:
            self._transport.close()

    def _fail(self, why: str) -> None:
        if not self.done.done():
            self.done.set_exception(UnavailableError(why))


async def load(
    port: int, context: ssl.SSLContext, requests: Sequence[bytes], *, connections: int, count: int
) -> Served:
    """Send `count` requests over some connections, each waiting for its answer before the next.

    Errors: UnavailableError for any answer but 200, a connection that ends, or a server too slow.
    """
    loop = asyncio.get_running_loop()
    left = iter([one for one, _ in zip(cycle(requests), range(count), strict=False)])
    times: list[float] = []
    asking = []
    for _ in range(connections):
        _, one = await loop.create_connection(
            lambda: _Asking(left, times),
            "127.0.0.1",
            port,
            ssl=context,
            server_hostname="localhost",
        )
        asking.append(one)
    started = time.perf_counter()
    for one in asking:
        one.ask()
    try:
        async with asyncio.timeout(ROUND_S):
            await asyncio.gather(*(one.done for one in asking))
    except TimeoutError as error:
        raise UnavailableError(f"{count} requests took more than {ROUND_S:.0f} s") from error
    finally:
        for one in asking:
            one.close()
        await asyncio.wait([one.closed for one in asking], timeout=CLOSE_S)
    return Served(times, time.perf_counter() - started)
