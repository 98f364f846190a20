"""The health port: what kubelets and scrapers are told."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from prometheus_client import CollectorRegistry, Gauge

from support.serving import LoopFactory, Running, running
from suture.adapters.health import LIFE_S, HealthServer
from suture.errors import InputError


class World:
    """What the two callables and the registry say."""

    def __init__(self) -> None:
        self.alive = True
        self.reasons: dict[str, str] = {}
        self.registry = CollectorRegistry()

    @contextmanager
    def served(self, loop_factory: LoopFactory, port: int = 0) -> Iterator[Running[HealthServer]]:
        def make() -> HealthServer:
            return HealthServer(
                "127.0.0.1",
                port,
                lambda: self.alive,
                lambda: (not self.reasons, self.reasons),
                self.registry,
            )

        with running(make, loop_factory) as server:
            yield server


def get(port: int, path: str, method: str = "GET") -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.headers["content-type"], response.read()
    finally:
        connection.close()


def test_probes_are_answered(loop_factory: LoopFactory) -> None:
    """Alive and ready are 200, else 503 with the reasons by part; the rest is not found."""
    world = World()
    with world.served(loop_factory) as server:
        port = server.server.port
        assert get(port, "/healthz")[0] == 200
        assert json.loads(get(port, "/readyz")[2]) == {"ready": True, "reasons": {}}
        world.alive = False
        world.reasons = {"mirror": "12 of 40 kinds listed"}
        assert get(port, "/healthz")[0] == 503
        status, kind, body = get(port, "/readyz?verbose")
        assert (status, kind) == (503, "application/json")
        assert json.loads(body) == {"ready": False, "reasons": world.reasons}
        assert get(port, "/")[0] == 404
        assert get(port, "/healthz", "POST")[0] == 405
        status, _, body = get(port, "/readyz", "HEAD")
        assert (status, body) == (503, b"")


def test_metrics_are_exposed(loop_factory: LoopFactory) -> None:
    """The registry is rendered in the exposition format, as it is now."""
    world = World()
    gauge = Gauge("suture_example", "An example.", registry=world.registry)
    with world.served(loop_factory) as server:
        for value in (1, 2):
            gauge.set(value)
            status, kind, body = get(server.server.port, "/metrics")
            assert status == 200
            assert kind.startswith("text/plain; version=")
            assert f"suture_example {value}.0".encode() in body


def test_a_failing_callable_is_a_failed_probe(loop_factory: LoopFactory) -> None:
    """When readiness cannot be told the probe fails, and the next one is answered again."""
    world = World()

    def make() -> HealthServer:
        def ready() -> tuple[bool, dict[str, str]]:
            raise ZeroDivisionError

        return HealthServer("127.0.0.1", 0, lambda: True, ready, world.registry)

    with running(make, loop_factory) as server:
        assert get(server.server.port, "/readyz")[0] == 500
        assert get(server.server.port, "/healthz")[0] == 200


def test_a_loop_that_hangs_fails_its_probe(loop_factory: LoopFactory) -> None:
    """Health shares the loop with reviews: while that is stuck, no probe is answered."""
    world = World()
    with world.served(loop_factory) as server:
        stuck = threading.Thread(target=server.call, args=(lambda: time.sleep(1.0),))
        stuck.start()
        time.sleep(0.1)
        start = time.monotonic()
        assert get(server.server.port, "/healthz")[0] == 200
        assert time.monotonic() - start > 0.5
        stuck.join()


def test_a_taken_port_is_said(loop_factory: LoopFactory) -> None:
    """An address that cannot be listened on is an error of the input."""
    world = World()
    with world.served(loop_factory) as server:
        taken = world.served(loop_factory, server.server.port)
        with pytest.raises(InputError, match="cannot be listened on"):
            taken.__enter__()


def test_strangers_cannot_fill_it(loop_factory: LoopFactory) -> None:
    """A head without end is cut, and many open connections leave room for the kubelet's probe."""
    with World().served(loop_factory) as server:
        address = ("127.0.0.1", server.server.port)
        with socket.create_connection(address, timeout=5) as endless:
            endless.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
            with pytest.raises(ConnectionError):  # noqa: PT012 - some send hits the cut
                for _ in range(1000):
                    endless.sendall(b"a" * 1024)
                    time.sleep(0.001)
        idle = [socket.create_connection(address, timeout=5) for _ in range(200)]
        try:
            assert get(server.server.port, "/healthz")[0] == 200
        finally:
            for one in idle:
                one.close()


def test_silent_connections_end(loop_factory: LoopFactory) -> None:
    """Who connects and says nothing, or half of something, is hung up on."""
    with World().served(loop_factory) as server:
        address = ("127.0.0.1", server.server.port)
        with (
            socket.create_connection(address, timeout=LIFE_S + 3) as mute,
            socket.create_connection(address, timeout=LIFE_S + 3) as slow,
        ):
            slow.sendall(b"GET /hea")
            for one in (mute, slow):
                with suppress(ConnectionResetError):
                    assert one.recv(1) == b""
