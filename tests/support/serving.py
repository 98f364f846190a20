"""Real servers in a thread of their own, and blocking clients that can misbehave."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_connection
from typing import Any, BinaryIO, Generic, Self, TypeVar

from suture.adapters.webhook import MutualTls, Peer, WebhookServer, WebhookSettings
from suture.lab.certificates import Authority, KeyPair, client_context

T = TypeVar("T")
LoopFactory = Callable[[], asyncio.AbstractEventLoop]
Serve = Callable[..., AbstractContextManager["Running[WebhookServer]"]]


@dataclass
class Running(Generic[T]):
    """A server whose loop turns in another thread."""

    server: T
    loop: asyncio.AbstractEventLoop
    stopping: asyncio.Event

    def call(self, function: Callable[[], Any]) -> Any:
        """Run a function on the server's loop and return what it returns."""

        async def on_loop() -> Any:
            return function()

        return asyncio.run_coroutine_threadsafe(on_loop(), self.loop).result(5)

    def stop(self) -> None:
        """Ask the server to leave its `async with`; returns at once."""
        with suppress(RuntimeError):  # it has stopped, and its loop is closed
            self.loop.call_soon_threadsafe(self.stopping.set)


@contextmanager
def running(
    make: Callable[[], AbstractAsyncContextManager[T]],
    loop_factory: LoopFactory = asyncio.new_event_loop,
) -> Iterator[Running[T]]:
    """Run a server beside the test until the block ends, then stop it and wait."""
    started = threading.Event()
    box: list[Running[T]] = []
    failed: list[BaseException] = []

    async def main() -> None:
        async with make() as server:
            box.append(Running(server, asyncio.get_running_loop(), asyncio.Event()))
            started.set()
            await box[0].stopping.wait()

    def thread() -> None:
        try:
            with asyncio.Runner(loop_factory=loop_factory) as runner:
                runner.run(main())
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            failed.append(error)
        finally:
            started.set()

    beside = threading.Thread(target=thread, daemon=True)
    beside.start()
    assert started.wait(10)
    if failed:
        raise failed[0]
    try:
        yield box[0]
    finally:
        box[0].stop()
        beside.join(20)
        assert not beside.is_alive()
        if failed:
            raise failed[0]


class Pki:
    """An authority for the server, one for its clients, and one that nobody trusts."""

    def __init__(self, folder: Path) -> None:
        self.serving = Authority.create(folder, "serving")
        self.clients = Authority.create(folder, "clients")
        self.strangers = Authority.create(folder, "strangers")
        self.server = self.serving.server("server", ["127.0.0.1", "localhost"])
        self.client = self.clients.client("client", "kube-apiserver", ["system:apiservers"])
        self.stranger = self.strangers.client("stranger", "kube-apiserver")

    def context(self, pair: KeyPair | None) -> ssl.SSLContext:
        """Return what a client needs that shows `pair`, or nothing."""
        return client_context(self.serving.certificate, pair)


@dataclass
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        """Whether it announces the connection's end."""
        return self.headers.get("connection", "").lower() == "close"

    def json(self) -> Any:
        """Return the body's value."""
        return json.loads(self.body)


@dataclass
class Client:
    """A blocking HTTPS client that sends any bytes it is told to."""

    port: int
    context: ssl.SSLContext
    timeout_s: float = 5.0
    socket: ssl.SSLSocket = field(init=False)
    file: BinaryIO = field(init=False)

    def __enter__(self) -> Self:
        raw = create_connection(("127.0.0.1", self.port), timeout=self.timeout_s)
        try:
            self.socket = self.context.wrap_socket(raw, server_hostname="127.0.0.1")
        except BaseException:
            raw.close()
            raise
        self.file = self.socket.makefile("rb")
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def answer(self) -> Answer:
        """Read one answer, and not a byte of the next."""
        line = self.file.readline()
        if not line:
            raise ConnectionError("the connection ended without an answer")
        headers = http.client.parse_headers(self.file)
        body = self.file.read(int(headers["Content-Length"]))
        return Answer(
            int(line.split()[1]), {key.lower(): value for key, value in headers.items()}, body
        )

    def ends(self) -> bool:
        """Tell whether the server closes the connection without another byte."""
        try:
            return self.file.read(1) == b""
        except (ConnectionError, ssl.SSLError):
            return True

    def post(self, path: str = "/admit", body: bytes = b"{}", headers: str = "") -> Answer:
        """Post as an API server would."""
        self.send(request(path, body, headers))
        return self.answer()


def request(path: str = "/admit", body: bytes = b"{}", headers: str = "") -> bytes:
    """Return the bytes of a post; `headers` are whole lines."""
    head = f"POST {path} HTTP/1.1\r\nHost: webhook\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def echo(path: str, body: bytes, peer: Peer) -> bytes:
    """Answer what was heard, so that tests can see it."""
    return json.dumps({"path": path, "bytes": len(body), "name": peer.common_name}).encode()


def webhook_settings(pki: Pki, **changed: Any) -> WebhookSettings:
    """Return settings for a free port on loopback and nearly no drain."""
    given: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": 0,
        "certificate": pki.server.certificate,
        "key": pki.server.key,
        "client_auth": MutualTls(pki.clients.certificate),
        "paths": frozenset({"/admit", "/authorize"}),
        "drain_s": 0.0,
    }
    return WebhookSettings(**(given | changed))


def eventually(holds: Callable[[], object], within_s: float = 30.0) -> None:
    """Wait until something holds, and fail when it does not in time."""
    deadline = time.monotonic() + within_s
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()
