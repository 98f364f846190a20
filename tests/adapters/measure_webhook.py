"""Measure the webhook server: requests per second and its CPU per request, with mutual TLS.

    python tests/adapters/measure_webhook.py [--connections 8] [--body 16384] [--seconds 5]

The server answers a constant; its process is separate from the load's, so that CPU is its own.
Prints one line per run; take the CPU figure of a shared machine, not its wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import cast

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.serving import Pki, request, webhook_settings
from suture.adapters.webhook import Peer, WebhookServer

ANSWER = json.dumps({"response": {"uid": "0" * 36, "allowed": True}, "pad": "x" * 170}).encode()


def review(size_bytes: int) -> bytes:
    """Return the review of a pod's delete, padded in its environment variables."""
    fields: dict[str, object] = {
        f'k:{{"name":"c{container}"}}': {".": {}}
        | {f"f:{name}": {} for name in ("image", "name", "resources", "imagePullPolicy")}
        | {"f:env": {f'k:{{"name":"E{env}"}}': {".": {}, "f:value": {}} for env in range(6)}}
        for container in range(2)
    }
    pod = {
        "metadata": {
            "name": "checkout-7d4b9c6f5-x2x7q",
            "labels": {"app": "checkout", "pod-template-hash": "7d4b9c6f5"},
            "managedFields": [{"manager": "kcm", "fieldsV1": {"f:spec": {"f:containers": fields}}}],
        },
        "spec": {
            "containers": [
                {
                    "name": f"c{container}",
                    "image": "registry.example/checkout:1",
                    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
                    "env": [{"name": f"E{env}", "value": ""} for env in range(6)],
                }
                for container in range(2)
            ]
        },
        "status": {"conditions": [{"type": kind, "status": "True"} for kind in "abcd"]},
    }
    body = json.dumps({"kind": "AdmissionReview", "request": {"oldObject": pod}})
    pad = max(0, size_bytes - len(body)) // 12
    return body.replace('"value": ""', f'"value": "{"v" * pad}"').encode()


async def constant(_: str, __: bytes, ___: Peer) -> bytes:
    return ANSWER


def serve(folder: str, pipe: Pipe) -> None:
    """Serve in this process; tell port, then the CPU seconds used whenever asked."""
    pki = Pki(Path(folder))

    async def main() -> None:
        async with WebhookServer(webhook_settings(pki), constant) as server:
            pipe.send(server.port)
            loop = asyncio.get_running_loop()
            while await loop.run_in_executor(None, pipe.recv):
                used = resource.getrusage(resource.RUSAGE_SELF)
                pipe.send((used.ru_utime + used.ru_stime, used.ru_maxrss))

    uvloop.run(main())


class Asker(asyncio.Protocol):
    """Asks again as soon as it is answered."""

    def __init__(self, sent: bytes, times: list[float]) -> None:
        self._sent = sent
        self._times = times
        self._since = 0.0
        self._got = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # or uvloop's twin of it
        self._ask()

    def _ask(self) -> None:
        self._since = time.perf_counter()
        self.transport.write(self._sent)

    def data_received(self, data: bytes) -> None:
        self._got += data
        if self._got.endswith(ANSWER):
            assert self._got.startswith(b"HTTP/1.1 200")
            self._got = b""
            self._times.append(time.perf_counter() - self._since)
            self._ask()


async def load(pki: Pki, port: int, connections: int, body: bytes, seconds: float) -> list[float]:
    """Keep `connections` busy and return the time of each request."""
    times: list[float] = []
    context = pki.context(pki.client)
    loop = asyncio.get_running_loop()
    asked = [
        await loop.create_connection(
            lambda: Asker(request(body=body), times), "127.0.0.1", port, ssl=context
        )
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    for transport, _ in asked:
        transport.abort()
    return times


class _Trust(Pki):
    """The certificates that the server's process has made."""

    def __init__(self, folder: Path) -> None:
        from suture.lab.certificates import Authority, KeyPair

        self.serving = Authority(folder, "serving")
        self.client = KeyPair(folder / "client.crt", folder / "client.key")


def main() -> None:
    """Run the measurement three times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--body", type=int, default=16384)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        server = multiprocessing.get_context("spawn").Process(
            target=serve, args=(folder, theirs), daemon=True
        )
        server.start()
        port = ours.recv()
        body = review(options.body)
        for _ in range(3):
            ours.send(True)
            before, _rss = ours.recv()
            times = sorted(
                uvloop.run(
                    load(_Trust(Path(folder)), port, options.connections, body, options.seconds)
                )
            )
            ours.send(True)
            after, rss = ours.recv()
            print(  # noqa: T201
                f"{options.connections} connections, {len(body)} bytes: "
                f"{len(times) / options.seconds:,.0f} requests/s, "
                f"{(after - before) / len(times) * 1e6:.0f} us CPU per request, "
                f"p50 {times[len(times) // 2] * 1e3:.2f} ms, "
                f"p99 {times[len(times) * 99 // 100] * 1e3:.2f} ms, RSS {rss // 1024} MiB"
            )
        ours.send(False)
        server.join(10)


if __name__ == "__main__":
    main()
