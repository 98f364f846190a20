"""A small TLS server that plays an API server: every byte of its answers is the test's."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.serving import Pki
from suture.adapters.kube import KubeClient, resource_path

PODS = resource_path("", "v1", "pods")


class Script:
    """A small HTTPS server that plays an API server: answers are written by the test, raw."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.context = context
        self.port = 0
        self.seen: list[tuple[str, str, dict[str, list[str]], bytes]] = []
        self.play: Callable[[Script, asyncio.StreamWriter, str, str], Awaitable[None]]

    @property
    def url(self) -> str:
        """Return its address."""
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers: dict[str, list[str]] = {}
                for line in head[1:-2]:
                    name, _, value = line.partition(": ")
                    headers.setdefault(name.lower(), []).append(value)
                length = int(headers.get("content-length", ["0"])[0])
                body = await reader.readexactly(length)
                self.seen.append((method, target, headers, body))
                await self.play(self, writer, method, target)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def up(self) -> AsyncIterator[Script]:
        """Listen until the block ends."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self.context)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    @staticmethod
    def reply(writer: asyncio.StreamWriter, status: int, body: object, headers: str = "") -> None:
        """Write one whole answer; what is not bytes is sent as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{headers}\r\n"
        writer.write(head.encode() + content)


Play = Callable[[Script, asyncio.StreamWriter, str, str], Awaitable[None]]
ClientOf = Callable[..., KubeClient]


def kubeconfig(url: str, pki: Pki, user: dict[str, Any] | None = None) -> str:
    """Return a kubeconfig; JSON is YAML."""
    credentials = user or {
        "client-certificate": str(pki.client.certificate),
        "client-key": str(pki.client.key),
    }
    return json.dumps(
        {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
            "clusters": [
                {
                    "name": "one",
                    "cluster": {
                        "server": url,
                        "certificate-authority": str(pki.serving.certificate),
                    },
                }
            ],
            "users": [{"name": "me", "user": credentials}],
        }
    )


@asynccontextmanager
async def api_server(
    pki: Pki, play: Play, *, ask_certificate: bool = True
) -> AsyncIterator[Script]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pki.server.certificate, pki.server.key)
    if ask_certificate:
        context.load_verify_locations(pki.clients.certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
    script = Script(context)
    script.play = play
    async with script.up():
        yield script


def always(status: int, body: object, headers: str = "") -> Play:
    async def play(script: Script, writer: asyncio.StreamWriter, _: str, __: str) -> None:
        script.reply(writer, status, body, headers)

    return play


def query_of(script: Script, index: int = -1) -> dict[str, list[str]]:
    return parse_qs(urlsplit(script.seen[index][1]).query, keep_blank_values=True)


def status(code: int, reason: str, message: str, **details: object) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }


def streamed(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> Play:
    async def play(_: Script, writer: asyncio.StreamWriter, __: str, ___: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(end)
        await writer.drain()
        if not end:
            writer.close()

    return play
