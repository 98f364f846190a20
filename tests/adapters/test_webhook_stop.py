"""A stop of the webhook server loses no request, whatever is under way."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from support.serving import Client, Pki, Running, Serve, eventually, request
from suture.adapters.webhook import Peer, WebhookServer

Server = Running[WebhookServer]


@dataclass
class Load:
    """Clients that ask on and on, each over its own connection, until nobody listens."""

    port: int
    context: ssl.SSLContext
    pause_s: float = 0.0
    seen: Counter[str] = field(default_factory=Counter)
    stopping: threading.Event = field(default_factory=threading.Event)

    def ask_on(self) -> None:
        """Keep a connection as an API server does: until an answer says it closes."""
        while not self.stopping.is_set():
            try:
                with Client(self.port, self.context) as client:
                    self._ask_over(client)
            except (OSError, ssl.SSLError):
                self.seen["not connected"] += 1  # an API server would ask another replica
                time.sleep(0.02)

    def _ask_over(self, client: Client) -> None:
        while not self.stopping.is_set():
            try:
                answer = client.post(body=b"[1]")
            except (OSError, ssl.SSLError) as error:
                self.seen[f"failed: {error!r}"] += 1
                return
            self.seen[str(answer.status)] += 1
            if answer.closes:
                self.seen["closes"] += 1
                return
            time.sleep(self.pause_s)

    def begin(self, clients: int) -> list[threading.Thread]:
        """Start the clients."""
        threads = [threading.Thread(target=self.ask_on, daemon=True) for _ in range(clients)]
        for thread in threads:
            thread.start()
        return threads

    def failures(self) -> dict[str, int]:
        """Return requests that were sent and got no 200."""
        good = {"200", "closes", "not connected"}
        return {what: count for what, count in self.seen.items() if what not in good}


def test_a_stop_under_load_fails_no_request(serve: Serve, pki: Pki) -> None:
    """Every request that was sent is answered; connections end after an answer that says so."""

    async def handle(_: str, body: bytes, __: Peer) -> bytes:
        await asyncio.sleep(0.005)
        return body

    with serve(handle, drain_s=0.5) as server:
        load = Load(server.server.port, pki.context(pki.client))
        threads = load.begin(6)
        eventually(lambda: load.seen["200"] > 100)
        assert load.seen["closes"] == 0
        assert server.call(server.server.ready)
        server.stop()
        eventually(lambda: not server.call(server.server.ready))
        assert server.call(server.server.alive)
    load.stopping.set()
    for thread in threads:
        thread.join(5)
    assert load.failures() == {}
    assert load.seen["closes"] >= 6


def test_what_was_asked_before_the_end_is_answered(serve: Serve, pki: Pki) -> None:
    """A decision under way when the listener closes is waited for."""
    begun = threading.Event()

    async def handle(_: str, body: bytes, __: Peer) -> bytes:
        begun.set()
        await asyncio.sleep(0.6)
        return body

    with serve(handle) as server, Client(server.server.port, pki.context(pki.client)) as client:
        client.send(request(body=b"[7]"))
        assert begun.wait(5)
        server.stop()
        answer = client.answer()
        assert (answer.status, answer.body, answer.closes) == (200, b"[7]", True)
        assert client.ends()


def test_new_connections_are_served_while_draining(serve: Serve, pki: Pki) -> None:
    """Until endpoints have forgotten us, who comes is served, once per connection."""
    with serve(drain_s=1.0) as server:
        port, context = server.server.port, pki.context(pki.client)
        with Client(port, context) as idle:
            server.stop()
            eventually(lambda: not server.call(server.server.ready))
            with Client(port, context) as late:
                answer = late.post()
                assert (answer.status, answer.closes) == (200, True)
            # An idle connection is not cut while somebody may be writing into it.
            answer = idle.post()
            assert (answer.status, answer.closes) == (200, True)


def test_idle_connections_do_not_hold_up_the_end(serve: Serve, pki: Pki) -> None:
    """Open connections on which nothing is asked are closed soon after the listener."""
    with serve() as server:
        clients = [Client(server.server.port, pki.context(pki.client)) for _ in range(5)]
        for client in clients:
            client.__enter__()
            client.post()
        start = time.monotonic()
        server.stop()
        for client in clients:
            assert client.ends()
            client.__exit__()
        assert time.monotonic() - start < 3


SERVE = """
import asyncio, signal, sys
from pathlib import Path
from suture.adapters.webhook import MutualTls, WebhookServer, WebhookSettings

async def handle(path, body, peer):
    await asyncio.sleep(0.005)
    return body

async def main():
    certificate, key, ca = map(Path, sys.argv[1:])
    settings = WebhookSettings(host="127.0.0.1", port=0, certificate=certificate, key=key,
                               client_auth=MutualTls(ca), paths=frozenset({"/admit"}), drain_s=0.5)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with WebhookServer(settings, handle) as server:
        print(server.port, flush=True)
        await stop.wait()

asyncio.run(main())
"""


def test_a_terminated_process_fails_no_request(pki: Pki, tmp_path: Path) -> None:
    """SIGTERM to a process under load: it ends with 0, soon, and every request was answered."""
    program = tmp_path / "serve.py"
    program.write_text(SERVE)
    files = [pki.server.certificate, pki.server.key, pki.clients.certificate]
    with subprocess.Popen([sys.executable, program, *files], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        load = Load(int(process.stdout.readline()), pki.context(pki.client), pause_s=0.001)
        threads = load.begin(4)
        try:
            eventually(lambda: load.seen["200"] > 100)
            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
            assert time.monotonic() - start < 5
        finally:
            process.kill()
            load.stopping.set()
            for thread in threads:
                thread.join(5)
    assert load.failures() == {}


def test_a_server_that_is_not_up_is_neither_alive_nor_ready(serve: Serve) -> None:
    """Health tells before, during and after."""
    with serve() as server:
        assert server.call(server.server.alive)
        assert server.call(server.server.ready)
        port = server.server.port
        kept = server.server
    assert not kept.ready()
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0
