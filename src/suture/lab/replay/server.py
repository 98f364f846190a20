"""The replay server's HTTP: TLS, one thread a connection, paths and what answers them.

Threads and blocking sockets because that is the fastest that Python sends: a page goes from the
disk to the cipher in one call that holds no lock. Answers read-only calls of the Kubernetes API,
and orders below `/-/`; every write is refused.
"""

from __future__ import annotations

import ssl
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from suture.lab.replay.answers import Asked, RefusalError, page_of
from suture.lab.replay.churn import Churner
from suture.lab.replay.state import Break, Churn, OrderError, ReplayState
from suture.lab.replay.store import Store
from suture.lab.replay.stream import Stream
from suture.model.names import PODS, Resource

ORDER_BYTES = 1 << 16
"""LIMIT: an order, or a write that is refused anyway; larger ones end the connection."""

HUNG_UP = (ConnectionError, ssl.SSLError, TimeoutError)
"""What a client that goes away throws at whoever writes to it."""

VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.3", "platform": "replay"}


class Server(ThreadingHTTPServer):
    """Listens on loopback; `store` is what it answers from."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, store: Store, token: str, certificate: Path, key: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = store
        self.churner = Churner(store)
        self.token = token
        self.open = 0
        self.streams = 0
        self.sent_bytes = 0
        self.last_used = time.monotonic()
        self._counting = threading.Lock()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate, key)
        self._tls.set_alpn_protocols(["http/1.1"])

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        """Accept a connection; its own thread shakes hands."""
        plain, address = self.socket.accept()
        return (
            self._tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False),
            address,
        )

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, but not that a client hung up, which is for it to do."""
        if not isinstance(sys.exception(), HUNG_UP):
            super().handle_error(request, client_address)

    def used(self, *, opened: int = 0, streams: int = 0, sent_bytes: int = 0) -> None:
        """Count what goes on."""
        with self._counting:
            self.open += opened
            self.streams += streams
            self.sent_bytes += sent_bytes
            self.last_used = time.monotonic()

    @property
    def idle_s(self) -> float:
        """How long nobody has been connected and nothing has happened."""
        if self.open or self.churner.busy:
            return 0.0
        return time.monotonic() - self.last_used

    def state(self) -> ReplayState:
        """Return how it stands."""
        store = self.store
        with store.lock:
            return ReplayState(
                resource_version=str(store.version),
                objects=store.objects,
                pods=store.shelves[PODS].count,
                streams=self.streams,
                churning=self.churner.busy,
                events=dict(store.events),
                sent_bytes=self.sent_bytes,
                cpu_s=time.process_time(),
            )


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def handle(self) -> None:
        """Answer calls until the client goes."""
        self.server.used(opened=1)
        try:
            super().handle()
        except HUNG_UP:
            self.close_connection = True
        finally:
            self.server.used(opened=-1)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own word
        """Say nothing: a page each few milliseconds is no news."""

    def do_GET(self) -> None:
        """Answer a read."""
        self._answer(self._read)

    def do_POST(self) -> None:
        """Take an order, or refuse a write."""
        self._answer(self._order)

    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815 - the base's own words

    def _answer(self, how: Any) -> None:
        try:
            self._authenticate()
            how()
        except OrderError as error:
            self._refuse(RefusalError(400, "BadRequest", str(error)))
        except RefusalError as refusal:
            self._refuse(refusal)

    def _authenticate(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            raise RefusalError(401, "Unauthorized", "the bearer token is not this server's")

    def _refuse(self, refusal: RefusalError) -> None:
        self.send(msgspec.json.encode(refusal.body()), status=refusal.status)

    def send(self, *parts: bytes | memoryview, status: int = 200) -> None:
        """Send a whole answer."""
        size = sum(map(len, parts))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        for part in parts:
            self.connection.sendall(part)
        self.server.used(sent_bytes=size)

    # ---- reads

    def _read(self) -> None:
        where = urlsplit(self.path)
        query = dict(parse_qsl(where.query, keep_blank_values=True))
        match where.path.strip("/").split("/"):
            case ["api"] | ["apis"] as path:
                self.send((self.server.store.folder / "discovery" / f"{path[0]}.json").read_bytes())
            case ["version"]:
                self.send(msgspec.json.encode(VERSION))
            case ["readyz"] | ["livez"] | ["healthz"]:
                self.send(b"ok")
            case ["-", "state"]:
                self.send(msgspec.json.encode(self.server.state()))
            case ["api", version, *rest]:
                self._kind("", version, rest, query)
            case ["apis", group, version, *rest]:
                self._kind(group, version, rest, query)
            case _:
                raise RefusalError.of_path(where.path)

    def _kind(self, group: str, version: str, rest: list[str], query: Mapping[str, str]) -> None:
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces":
            namespace, rest = rest[1], rest[2:]
        resource = Resource(group, rest[0] if rest else "")
        shelf = self.server.store.shelves.get(resource)
        if shelf is None or shelf.listed.version != version or len(rest) > 2:
            raise RefusalError.of_path(self.path)
        asked = Asked.of(query, self.headers.get("Accept", ""), namespace)
        self._wait_out(resource)
        if len(rest) == 2:
            found = shelf.find(namespace, rest[1])
            if found is None:
                raise RefusalError(404, "NotFound", f'{resource} "{rest[1]}" not found')
            self.send(asked.form(found))
        elif asked.watch and namespace:
            raise RefusalError(400, "BadRequest", "a replay server watches whole types only")
        elif asked.watch:
            Stream(self, self.server.store, resource, asked).run()
        else:
            self.send(*page_of(self.server.store, shelf, asked))

    def _wait_out(self, resource: Resource) -> None:
        trouble = self.server.store.troubles[resource]
        while (left_s := trouble.stalled_until - time.monotonic()) > 0:
            time.sleep(min(left_s, 0.05))

    # ---- orders

    def _order(self) -> None:
        size = int(self.headers.get("Content-Length", "0"))
        if size > ORDER_BYTES:
            self.close_connection = True
            raise RefusalError(413, "RequestEntityTooLarge", f"more than {ORDER_BYTES} bytes")
        body = self.rfile.read(size)
        try:
            match (self.command, self.path):
                case ("POST", "/-/churn"):
                    self.server.churner.begin(msgspec.json.decode(body, type=Churn))
                case ("POST", "/-/break"):
                    self.server.store.break_(msgspec.json.decode(body, type=Break))
                case _:
                    raise RefusalError(403, "Forbidden", "a replay server takes no writes")
        except msgspec.DecodeError as error:
            raise OrderError(f"the order cannot be read: {error}") from error
        self.send(msgspec.json.encode(self.server.state()))
