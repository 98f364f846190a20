"""The HTTPS server that API servers ask: sockets, lifetimes, and a stop that loses nothing.

One callable is behind it: `handle(path, body, peer)`, which answers at once or later. What a
connection may do is in `webhookhttp`, who may connect in `webhooktls`; health and metrics have a
port of their own.

    webhookhttp  an own protocol on httptools, not a framework: every limit above sits below where
                 frameworks begin, and it costs half of theirs per request
    stopping     1. not ready, answers say `Connection: close`, new connections are still served
                 2. after `drain_s`, when no endpoint names us any more, the listener closes
                 3. what was asked is answered, for at most `STOP_S`
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from suture.adapters.webhookhttp import Connection
from suture.adapters.webhooksite import Handle, Limits, Site
from suture.adapters.webhooktls import ClientAuth, Identity, MutualTls, Peer, SecretPath
from suture.errors import InputError

__all__ = [
    "Handle",
    "Limits",
    "MutualTls",
    "Peer",
    "SecretPath",
    "WebhookServer",
    "WebhookSettings",
]

BACKLOG = 1024
"""LIMIT: connections that the kernel holds until we accept: as many as may be open, at once."""

SHUTDOWN_S = 1.0
"""LIMIT: waiting for the other side's goodbye (close_notify) after ours."""

SWEEP_S = 0.25
"""LIMIT: how late the end of an idle connection may be noticed; walking 1,024 takes 0.2 ms."""

RELOAD_S = 10.0
"""LIMIT: between looks at the certificate files; kubelets update a mounted secret once a minute."""

QUIET_S = 1.0
"""LIMIT: a fresh connection is given that long for its first request while we stop; twice what a
request may take to be read."""

STOP_S = 10.0
"""LIMIT: answering what was asked before the listener closed; longer than webhook timeouts that
people set (Suture's own lanes have 1 and 2 s), and with `drain_s` within a pod's grace of 30 s."""

SETTLE_S = 0.1
"""LIMIT: TLS handshakes that are under way when the listener closes become connections by then."""

ALIVE_S = 5.0
"""LIMIT: the loop has not swept for that long: it hangs. A sweep is due each 0.25 s, the longest
known pause of the process is a garbage collection of 0.5 s."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """Where the server listens, who it is, and whom it answers."""

    host: str
    port: int
    certificate: Path
    key: Path
    client_auth: ClientAuth
    paths: frozenset[str] = field(default_factory=frozenset)
    """Paths that are answered, without the secret that `SecretPath` puts in front of them."""
    drain_s: float = 5.0
    """How long to go on serving after a stop was asked for: kube-proxy follows within 2 s."""
    reload_s: float = RELOAD_S
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for path in self.paths:
            if not path.startswith("/"):
                raise InputError(f"webhook path `{path}` does not start with `/`")


class WebhookServer:
    """Serves from `async with` to its end; leaving it is the graceful stop."""

    def __init__(self, settings: WebhookSettings, handle: Handle) -> None:
        self._settings = settings
        self._identity = Identity(settings.certificate, settings.key, settings.client_auth)
        auth = settings.client_auth
        secret = auth.secret if isinstance(auth, SecretPath) else None
        self._site = Site(handle, settings.paths, secret, self._admit, settings.limits)
        self._listener: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._swept_at = 0.0

    async def __aenter__(self) -> Self:
        """Listen.

        Errors: `InputError` for an address that cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        try:
            self._listener = await loop.create_server(
                lambda: Connection(self._site, loop),
                self._settings.host,
                self._settings.port,
                ssl=self._identity.context,
                backlog=BACKLOG,
                ssl_handshake_timeout=self._settings.limits.handshake_s,
                ssl_shutdown_timeout=SHUTDOWN_S,
            )
        except OSError as error:
            raise InputError(
                f"`{self._settings.host}:{self._settings.port}` cannot be listened on: {error}"
            ) from error
        self._swept_at = loop.time()
        # WHY two: certificate files on a volume that hangs must not look like a loop that hangs.
        self._tasks = [loop.create_task(self._sweep()), loop.create_task(self._reload())]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop gracefully."""
        await self.stop()

    @property
    def port(self) -> int:
        """The port that is listened on, also when 0 was asked for."""
        if self._listener is None:
            raise RuntimeError("the server is not listening")
        return int(self._listener.sockets[0].getsockname()[1])

    @property
    def certificate_expires(self) -> datetime:
        """When the certificate in use ends; for a metric and an alarm."""
        return self._identity.expires

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._site.connections)

    @property
    def answers(self) -> dict[int, int]:
        """How many answers of each HTTP status were written so far."""
        return dict(self._site.answers)

    @property
    def strangers(self) -> int:
        """How many connections were let in by TLS and closed without an answer."""
        return self._site.strangers

    def alive(self) -> bool:
        """Tell whether the loop turns and the listener listens, or is meant not to."""
        if self._listener is None or any(task.done() for task in self._tasks):
            return False
        late = asyncio.get_running_loop().time() - self._swept_at
        return late < ALIVE_S and (self._listener.is_serving() or self._site.draining)

    def ready(self) -> bool:
        """Tell whether reviews may be sent here: listening, and not about to stop."""
        listener = self._listener
        return listener is not None and listener.is_serving() and not self._site.draining

    def drain(self) -> None:
        """Begin to stop: not ready, and each answer asks for the connection's end."""
        self._site.draining = True

    async def stop(self) -> None:
        """Stop: drain, close the listener, answer what was asked, close the rest."""
        listener = self._listener
        if listener is None:
            return
        self.drain()
        await asyncio.sleep(self._settings.drain_s)
        listener.close()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + STOP_S
        await asyncio.sleep(SETTLE_S)
        while self._site.connections and loop.time() < deadline:
            for connection in list(self._site.connections):
                connection.close_if_quiet(loop.time(), QUIET_S)
            await asyncio.sleep(0.02)
        if self._site.connections:
            log.warning("stopped with requests unanswered", connections=self.connections)
        for connection in list(self._site.connections):
            connection.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._listener = None

    async def _sweep(self) -> None:
        """Close what has been idle or undecided for too long."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_S)
            self._swept_at = loop.time()
            self._site.sweep(self._swept_at)

    async def _reload(self) -> None:
        """Look at the certificate files every now and then."""
        while True:
            await asyncio.sleep(self._settings.reload_s)
            try:
                if await self._identity.reload():
                    log.info("webhook certificate reloaded", expires=str(self._identity.expires))
            except InputError as error:
                # What is in use stays; half-written pairs are whole at the next look.
                log.warning("webhook certificate not reloaded", error=str(error))

    def _admit(self, transport: asyncio.Transport) -> Peer | None:
        address = transport.get_extra_info("peername")
        return self._identity.peer(
            str(address[0]) if address else "", transport.get_extra_info("peercert")
        )
