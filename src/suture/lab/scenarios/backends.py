"""Real backends for the webhooks of a scenario: an HTTPS server on loopback that answers reviews.

Lives in the scenarios because their webhooks must really block when their Service or its last
ready pod is gone. One server stands behind all of them; the lab's proxy leads each Service's
address here for as long as the Service exists and has a ready endpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec

from suture.lab.plane import Plane
from suture.lab.scenarios.cluster import Object

CONFIGURATIONS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
NONE = "lab.suture.dev/backend"
"""Annotation of a configuration: with the value `none` nothing answers behind it."""

# LIMIT: the API server sends objects of 3 MiB at most, old and new in one review.
MOST_BYTES = 8 << 20
HEAD_BYTES = 64 << 10


class _Uid(msgspec.Struct):
    uid: str = ""


class _Review(msgspec.Struct):
    request: _Uid = msgspec.field(default_factory=_Uid)


class Backends:
    """The server, and the Services that lead to it."""

    def __init__(self, plane: Plane) -> None:
        """Take the lab; nothing listens yet."""
        self._plane = plane
        self._server: asyncio.Server | None = None
        self._port = 0
        self._services: set[tuple[str, str]] = set()
        self._ca = b64encode(plane.webhook_server_ca.read_bytes()).decode()
        self._open: set[asyncio.StreamWriter] = set()
        self.reviews = 0

    async def answer_for(self, things: Sequence[Object]) -> list[Object]:
        """Return the objects with working webhooks: a backend runs, and its CA is written in."""
        configurations = [one for one in things if self._wants_backend(one)]
        new = {name for one in configurations for name in _services(one)} - self._services
        if new:
            self._services |= new
            await self._listen()
            for namespace, name in sorted(new):
                await asyncio.to_thread(
                    self._plane.route, namespace, name, self._port, needs_endpoints=True
                )
        return [self._with_ca(one) if one in configurations else one for one in things]

    def _wants_backend(self, thing: Mapping[str, Any]) -> bool:
        annotations = thing["metadata"].get("annotations") or {}
        return thing.get("kind") in CONFIGURATIONS and annotations.get(NONE) != "none"

    def _with_ca(self, configuration: Object) -> Object:
        found = deepcopy(configuration)
        for webhook in found.get("webhooks") or ():
            if "service" in (webhook.get("clientConfig") or {}):
                webhook["clientConfig"]["caBundle"] = self._ca
        return found

    async def _listen(self) -> None:
        """Serve under a certificate that names every Service known by now."""
        names = [f"{name}.{namespace}.svc" for namespace, name in sorted(self._services)]
        pair = await asyncio.to_thread(self._plane.issue_server, "scenario", names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        await self._stop_server()
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self._port, ssl=context, limit=HEAD_BYTES
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with contextlib.suppress(
                asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError
            ):
                while await self._answer(reader, writer):
                    pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the other side has closed."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = _content_length(head)
        if not 0 <= length <= MOST_BYTES:
            return False
        body = await reader.readexactly(length)
        self.reviews += 1
        uid = msgspec.json.decode(body, type=_Review).request.uid
        answer = msgspec.json.encode(
            {
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": {"uid": uid, "allowed": True},
            }
        )
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            + str(len(answer)).encode()
            + b"\r\n\r\n"
            + answer
        )
        await writer.drain()
        return True

    async def _stop_server(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._open):
            writer.close()
        await self._server.wait_closed()
        self._server = None

    async def stop(self) -> None:
        """Stop answering, and take the routes back."""
        await self._stop_server()
        for namespace, name in sorted(self._services):
            await asyncio.to_thread(self._plane.unroute, namespace, name)
        self._services.clear()


def _services(configuration: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for webhook in configuration.get("webhooks") or ():
        service = (webhook.get("clientConfig") or {}).get("service")
        if service:
            yield str(service.get("namespace", "")), str(service.get("name", ""))


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == b"content-length":
            return int(value)
    return 0
