"""What the connections of one webhook server share: its limits, who is there, what was answered.

Beside `webhookhttp`, where one connection speaks HTTP, and `webhook`, which owns the sockets.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from suture.adapters.webhookheads import Heads
from suture.adapters.webhooktls import Peer

MAX_BODY_BYTES = 12 << 20
"""LIMIT: an API server takes bodies of 3 MiB. A review holds two of them, as JSON, where binary
data is a third longer: 8 MiB, and half as much again for managed fields and envelope."""

MAX_HEAD_BYTES = 16 << 10
"""LIMIT: request line and headers. API servers send under 1 KiB; a trace context adds 0.5."""

MAX_PIPELINED = 16
"""LIMIT: requests that wait on one connection. API servers wait for each answer, so there is
none; what is sent in one go after 17 is closed."""

LINGER_S = 0.5
"""LIMIT: how long what is still being sent is read and dropped after a refusal, which a sender
that is cut off would not see."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What bounds connections in time and together; the defaults are for API servers."""

    held_bytes: int = 256 << 20
    """LIMIT: bodies of all connections, announced and not yet answered: 20 of the largest, or
    16,000 ordinary ones of 16 KiB; half of a small pod's memory."""

    connections: int = 1024
    """LIMIT: 5 API servers with 200 writes in flight each; 100 KiB of TLS buffers apiece."""

    handshake_s: float = 5.0
    """LIMIT: TLS takes 2 round trips and 1 ms; who needs longer does not mean it."""

    read_s: float = 0.5
    """LIMIT: from a request's first byte to its last. 12 MiB take 0.1 s on 1 Gbit/s; what is
    slower would have used up the deadline that its answer needs."""

    idle_s: float = 120.0
    """LIMIT: silence between requests. API servers leave after 90 s; leaving later than they do
    means never to close a connection into which a review is just being written."""

    handle_s: float = 35.0
    """LIMIT: one decision. Kubernetes lets no webhook take longer than 30 s: nobody waits any
    more. The deadline that decides is the handler's own, and far shorter."""


Answered = bytes | Awaitable["Answered"]
"""An answer, or what to wait for until there is one, or more is known of what to wait for."""

Handle = Callable[[str, bytes, Peer], Answered]
"""From path, body and peer to the answer."""


class Guest(Protocol):
    """A connection, as its site sees it."""

    known: bool
    """Whether it has shown who it is."""

    def sweep(self, now: float) -> None:
        """Close it where it has been idle or undecided for too long."""
        ...

    def close_if_quiet(self, now: float, quiet_s: float) -> None:
        """Close it where nothing has come for a while."""
        ...

    def abort(self) -> None:
        """Close it now, whatever is under way."""
        ...

    def send(self) -> None:
        """Write the answers that are there."""
        ...


class Site:
    """What the connections of one server share."""

    def __init__(
        self,
        handle: Handle,
        paths: frozenset[str],
        secret: str | None,
        admit: Callable[[asyncio.Transport], Peer | None],
        limits: Limits,
    ) -> None:
        self.handle = handle
        self.paths: Mapping[bytes, str] = {path.encode(): path for path in paths}
        self.secret = None if secret is None else secret.encode()
        self.admit = admit
        self.limits = limits
        self.draining = False
        self.connections: dict[Guest, None] = {}  # oldest first
        self.held_bytes = 0
        self.answers: Counter[int] = Counter()
        """How many answers of each HTTP status were written."""
        self.strangers = 0
        """How many connections were closed without an answer."""
        self.heads = Heads()
        self._answered: list[Guest] = []

    def has_room(self) -> bool:
        """Tell whether one more may come in, at the cost of a stranger when all is full."""
        if len(self.connections) < self.limits.connections:
            return True
        # WHY: where a secret is the proof anyone can connect, and must not keep API servers out.
        stranger = next((one for one in self.connections if not one.known), None)
        if stranger is None:
            return False
        stranger.abort()
        del self.connections[stranger]
        return True

    def has_room_for(self, size_bytes: int) -> bool:
        """Tell whether a body of that size may be read beside those that are held."""
        return size_bytes <= MAX_BODY_BYTES and (
            self.held_bytes + size_bytes <= self.limits.held_bytes
        )

    def path_of(self, target: bytes) -> bytes | None:
        """Return the path of a target behind the secret; None of one who does not know it."""
        path = target.split(b"?", 1)[0]  # API servers append `?timeout=10s`
        if self.secret is None:
            return path
        _, given, rest = [*path.split(b"/", 2), b"", b""][:3]
        return b"/" + rest if hmac.compare_digest(given, self.secret) else None

    def answered(self, connection: Guest, loop: asyncio.AbstractEventLoop) -> None:
        """Have a connection send its answers once all that came with its request is decided.

        WHY not at once: a decision walks more memory than the processor's caches hold, and TLS and
        sockets throw it out of them; one by one, either costs a fifth more. What is decided in one
        turn of the loop is bounded by its slice, and so is this wait.
        """
        if not self._answered:
            loop.call_soon(self._send)
        self._answered.append(connection)

    def _send(self) -> None:
        answered, self._answered = self._answered, []
        for connection in answered:
            connection.send()

    def sweep(self, now: float) -> None:
        """Close what has been idle or undecided for too long."""
        for connection in list(self.connections):
            connection.sweep(now)
