"""The way to Service addresses on a machine that routes none: a CONNECT proxy for the API server.

Lives in the lab because on a cluster kube-proxy and the network do this. The API server's egress
selector sends every connection to a Service's ClusterIP here; a table, kept by watching Services
and EndpointSlices, says which loopback port stands behind it. As a network would, it refuses what
has no backend and cuts what loses it: when the Service goes, changes its route, or loses its last
ready endpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suture.errors import InputError

log = logging.getLogger(__name__)

LOOPBACK_PORT = "lab.suture.dev/loopback-port"

# LIMIT: a CONNECT request of the API server is under 200 bytes.
HEAD_LIMIT_BYTES = 8 * 1024
HEAD_LIMIT_S = 5.0
DIAL_LIMIT_S = 5.0
# LIMIT: one TLS record is at most 16 KiB; four per read keep wake-ups few.
CHUNK_BYTES = 64 * 1024

ServiceName = tuple[str, str]
Backend = tuple[str, int]


@dataclass(frozen=True)
class Route:
    """Where connections to a Service go: a loopback port per Service port; None is every other."""

    ports: Mapping[int | None, int]
    needs_endpoints: bool

    def to(self, port: int) -> int | None:
        """Return the loopback port behind a Service port."""
        return self.ports.get(port, self.ports.get(None))


@dataclass
class _Service:
    """What of a Service matters to connections."""

    addresses: tuple[str, ...] = ()
    annotated: Route | None = None


@dataclass(eq=False)
class _Connection:
    """One open tunnel, kept to be cut."""

    service: ServiceName
    target: int
    writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]

    def cut(self) -> None:
        for writer in self.writers:
            writer.transport.abort()


@dataclass
class RouteTable:
    """Which loopback port is behind which Service address, and who is connected."""

    services: dict[ServiceName, _Service] = field(default_factory=dict)
    by_address: dict[str, ServiceName] = field(default_factory=dict)
    registered: dict[ServiceName, Route] = field(default_factory=dict)
    # Ready endpoints of each EndpointSlice, by the slice's own namespace and name.
    slices: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    connections: set[_Connection] = field(default_factory=set)

    def register(
        self, service: ServiceName, port: int | None, loopback_port: int, *, needs_endpoints: bool
    ) -> None:
        """Route a Service by name, whatever address it has now or later."""
        known = self.registered.get(service)
        ports = dict(known.ports) if known else {}
        ports[port] = loopback_port
        self.registered[service] = Route(ports, needs_endpoints)
        self._recheck(service)

    def unregister(self, service: ServiceName) -> None:
        """Forget a registration; connections that relied on it are cut."""
        self.registered.pop(service, None)
        self._recheck(service)

    def service_seen(self, service: Mapping[str, Any]) -> None:
        """Take in a Service as it is now."""
        metadata, spec = service["metadata"], service.get("spec", {})
        name = (metadata["namespace"], metadata["name"])
        addresses = tuple(ip for ip in spec.get("clusterIPs", ()) if ip and ip != "None")
        self._forget_addresses(name)
        self.services[name] = _Service(
            addresses,
            route_of(metadata.get("annotations") or {}, selects=bool(spec.get("selector"))),
        )
        self.by_address |= dict.fromkeys(addresses, name)
        self._recheck(name)

    def service_gone(self, name: ServiceName) -> None:
        """Take in that a Service is no more: nothing reaches it, and what did is cut."""
        self._forget_addresses(name)
        self.services.pop(name, None)
        self._recheck(name)

    def slice_seen(self, endpoint_slice: Mapping[str, Any]) -> None:
        """Take in an EndpointSlice as it is now."""
        metadata = endpoint_slice["metadata"]
        owner = (metadata.get("labels") or {}).get("kubernetes.io/service-name")
        if owner is None:
            return
        # WHY: an absent `ready` means unknown, which consumers are to read as ready (API docs).
        ready = sum(
            (endpoint.get("conditions") or {}).get("ready") is not False
            for endpoint in endpoint_slice.get("endpoints") or ()
        )
        namespace = metadata["namespace"]
        self.slices[namespace, metadata["name"]] = (owner, ready)
        self._recheck((namespace, owner))

    def slice_gone(self, key: tuple[str, str]) -> None:
        """Take in that an EndpointSlice is no more."""
        owner, _ready = self.slices.pop(key, ("", 0))
        self._recheck((key[0], owner))

    def names(self) -> tuple[set[ServiceName], set[tuple[str, str]]]:
        """Return the known Services and slices, to find after a relist what has gone."""
        return set(self.services), set(self.slices)

    def ready_endpoints(self, service: ServiceName) -> int:
        """Return how many ready endpoints a Service has in all its slices."""
        return sum(
            ready
            for (namespace, _), (owner, ready) in self.slices.items()
            if (namespace, owner) == service
        )

    def route(self, service: ServiceName) -> Route | None:
        """Return where connections to a Service may go now, or None to refuse them."""
        known = self.services.get(service)
        if known is None:
            return None
        route = self.registered.get(service, known.annotated)
        if route is None or (route.needs_endpoints and not self.ready_endpoints(service)):
            return None
        return route

    def lookup(self, address: str, port: int) -> tuple[ServiceName, int] | None:
        """Return Service and loopback port behind an address, or None to refuse."""
        service = self.by_address.get(address)
        if service is None:
            return None
        route = self.route(service)
        target = None if route is None else route.to(port)
        return None if target is None else (service, target)

    def _forget_addresses(self, name: ServiceName) -> None:
        known = self.services.get(name)
        for address in () if known is None else known.addresses:
            if self.by_address.get(address) == name:
                del self.by_address[address]

    def _recheck(self, service: ServiceName) -> None:
        """Cut the connections that a network would no longer carry."""
        if not self.connections:
            return
        route = self.route(service)
        allowed = set() if route is None else set(route.ports.values())
        for connection in [c for c in self.connections if c.service == service]:
            if connection.target not in allowed:
                connection.cut()
                self.connections.discard(connection)


def route_of(annotations: Mapping[str, str], *, selects: bool) -> Route | None:
    """Return the route that a Service's annotation asks for: `12345`, or `443=12345,8443=12346`.

    An annotation that cannot be read routes nothing: anybody may write one, the proxy must go on.
    """
    text = annotations.get(LOOPBACK_PORT)
    if text is None:
        return None
    try:
        return Route(parse_ports(text), needs_endpoints=selects)
    except InputError as error:
        log.warning("annotation ignored: %s", error)
        return None


def parse_ports(text: str) -> dict[int | None, int]:
    """Read `12345` or `443=12345,8443=12346`."""
    ports: dict[int | None, int] = {}
    for part in text.split(","):
        service_port, _, loopback_port = part.strip().rpartition("=")
        try:
            ports[int(service_port) if service_port else None] = int(loopback_port)
        except ValueError:
            raise InputError(
                f"`{LOOPBACK_PORT}: {text}` must be a port or a list like `443=12345,8443=12346`"
            ) from None
    return ports


async def serve(path: Path, table: RouteTable) -> asyncio.Server:
    """Listen on the unix socket at `path` for the API server's CONNECT requests."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _tunnel(reader, writer, table)
        finally:
            writer.close()

    return await asyncio.start_unix_server(handle, path=path, limit=CHUNK_BYTES)


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, table: RouteTable
) -> None:
    target = await _read_target(reader)
    if target is None:
        await _refuse(writer, "400 Bad Request")
        return
    found = table.lookup(*target)
    if found is None:
        await _refuse(writer, "503 Service Unavailable")
        return
    service, port = found
    try:
        backend_reader, backend_writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port), DIAL_LIMIT_S
        )
    except (OSError, TimeoutError):
        await _refuse(writer, "502 Bad Gateway")
        return
    connection = _Connection(service, port, (writer, backend_writer))
    table.connections.add(connection)
    # WHY: the table may have changed while the backend was dialled.
    if table.lookup(*target) != found:
        connection.cut()
        table.connections.discard(connection)
        return
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    try:
        await _pump_both(reader, writer, backend_reader, backend_writer)
    finally:
        table.connections.discard(connection)
        connection.cut()


async def _read_target(reader: asyncio.StreamReader) -> Backend | None:
    """Read `CONNECT address:port HTTP/1.1` and its headers; None when it is something else."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_LIMIT_S)
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        return None
    if len(head) > HEAD_LIMIT_BYTES:
        return None
    words = head.split(b"\r\n", 1)[0].decode("ascii", errors="replace").split()
    if len(words) != len(("CONNECT", "target", "version")) or words[0] != "CONNECT":
        return None
    address, _, port = words[1].rpartition(":")
    if not port.isdigit():
        return None
    return address.strip("[]"), int(port)


async def _refuse(writer: asyncio.StreamWriter, status: str) -> None:
    with contextlib.suppress(OSError):
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        await writer.drain()


async def _pump_both(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    backend_reader: asyncio.StreamReader,
    backend_writer: asyncio.StreamWriter,
) -> None:
    """Copy both ways until one side ends; TLS has no half-open state worth keeping."""
    there = asyncio.ensure_future(_pump(reader, backend_writer))
    back = asyncio.ensure_future(_pump(backend_reader, writer))
    try:
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for copy in (there, back):
            copy.cancel()
        await asyncio.gather(there, back, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
