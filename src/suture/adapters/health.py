"""Health and metrics over plain HTTP, for kubelets and scrapers: the second port.

A server of its own, in the same loop on purpose: when the loop hangs this hangs too, and the
liveness probe ends the process. Knows nothing of reviews; it asks two callables and a registry.
A bare ASGI callable on uvicorn: no client certificate, no body, nothing worth a protocol of ours.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Self

import msgspec
import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from suture.errors import InputError

MAX_CONNECTIONS = 512
"""LIMIT: a kubelet, two scrapers and a person need 5; the rest is for strangers, who must not keep
the kubelet out. With `MAX_REQUEST_BYTES` each they hold 8 MiB."""

MAX_REQUEST_BYTES = 16 << 10
"""LIMIT: a whole request; kubelets send 200 bytes, scrapers 500."""

LIFE_S = 3.0
"""LIMIT: a whole connection, which has one request: kubelets give a probe 1 s by default, and a
scrape takes 20 ms."""

STOP_S = 1.0
"""LIMIT: probes under way when the process ends; they take milliseconds."""

Alive = Callable[[], bool]
Ready = Callable[[], tuple[bool, Mapping[str, str]]]

_Scope = MutableMapping[str, Any]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class _Connection(HttpToolsProtocol):
    """uvicorn's connection, bounded: it would read a head for ever and of any size."""

    _ends: asyncio.TimerHandle | None = None
    _read_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as there
        super().connection_made(transport)
        self._ends = self.loop.call_later(LIFE_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ends is not None:
            self._ends.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._read_bytes += len(data)
        if self._read_bytes > MAX_REQUEST_BYTES:
            self.transport.abort()
        else:
            super().data_received(data)


class HealthServer:
    """Answers `/healthz`, `/readyz` and `/metrics` from `async with` to its end.

    `/healthz` is 200 as long as the loop turns and `alive()` says so, else 503. `/readyz` is 200
    or 503 with what `ready()` says, by part. Errors: `InputError` for an address that is taken.
    """

    def __init__(
        self, host: str, port: int, alive: Alive, ready: Ready, registry: CollectorRegistry
    ) -> None:
        self._host = host
        self._port = port
        self._alive = alive
        self._ready = ready
        self._registry = registry
        self._server: uvicorn.Server | None = None
        self._socket: socket.socket | None = None

    async def __aenter__(self) -> Self:
        """Listen."""
        config = uvicorn.Config(
            self._app,
            http=_Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=int(STOP_S),
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        try:
            family, _, _, _, address = socket.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            self._socket = socket.create_server(address[:2], family=family, backlog=MAX_CONNECTIONS)
        except OSError as error:
            raise InputError(
                f"`{self._host}:{self._port}` cannot be listened on: {error}"
            ) from error
        # WHY its parts and not `serve()`: that one takes the process's signals, which are the
        # wiring's. What is left out besides is the tick that refreshes a Date header.
        await self._server.startup(sockets=[self._socket])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        if self._server is not None and self._socket is not None:
            await self._server.shutdown(sockets=[self._socket])

    @property
    def port(self) -> int:
        """The port that is listened on, also when 0 was asked for."""
        if self._socket is None:
            raise RuntimeError("the server is not listening")
        return int(self._socket.getsockname()[1])

    async def _app(self, scope: _Scope, receive: _Receive, send: _Send) -> None:  # noqa: ARG002
        status, kind, body = await self._answer(scope["method"], scope["path"])
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    (b"content-type", kind.encode()),
                    (b"content-length", str(len(body)).encode()),
                    (b"connection", b"close"),
                ],
            }
        )
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, method: str, path: str) -> tuple[int, str, bytes]:
        text = "text/plain; charset=utf-8"
        if method not in {"GET", "HEAD"}:
            return 405, text, b"ask with GET\n"
        match path:
            case "/healthz":
                alive = self._alive()
                return (200, text, b"ok\n") if alive else (503, text, b"webhook is not alive\n")
            case "/readyz":
                ready, reasons = self._ready()
                answer = {"ready": ready, "reasons": dict(reasons)}
                return 200 if ready else 503, "application/json", msgspec.json.encode(answer)
            case "/metrics":
                # WHY a thread: 300 series take 5 ms, which reviews should not have to wait for.
                body = await asyncio.to_thread(generate_latest, self._registry)
                return 200, CONTENT_TYPE_LATEST, body
            case _:
                return 404, text, b"known are /healthz, /readyz and /metrics\n"
