"""What a decision costs over HTTPS: the real server in its own process, asked from this one."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import tempfile
from pathlib import Path

from suture.app.admit import Lane
from suture.bench import child
from suture.bench.load import Served, load, request
from suture.bench.measure import Measured, Sample, Say, Setting, quantile
from suture.bench.reviews import Case, reconcile, service_delete
from suture.bench.servant import Listening, Used
from suture.lab.certificates import Authority
from suture.lab.clusters import Cluster

CONNECTIONS = (1, 8)
"""How many an API server keeps: one when quiet, eight when a burst is under way."""

WARM = 10
"""A tenth as many requests as are timed go before, so that caches and TLS sessions are warm."""


def measure(setting: Setting, say: Say) -> Sample:
    """Return requests a second, latency and the server's CPU time, for each sort of request."""
    cluster = Cluster(setting.size, seed=setting.seed)
    cases = (reconcile(cluster), service_delete(cluster, dry_run=True))
    with tempfile.TemporaryDirectory(prefix="suture-bench-") as place:
        folder = Path(place)
        context = _certificates(folder)
        say("loading the cluster in the server's process")
        with child.start("suture.bench.servant", setting, str(folder)) as process:
            try:
                servant = _Servant(process, context)
                return _figures(servant, cases, setting, say)
            finally:
                child.end(process)


class _Servant:
    """The serving child, as seen from here."""

    def __init__(self, process: subprocess.Popen[bytes], context: ssl.SSLContext) -> None:
        self.context = context
        self._input, self._output = child.pipes(process)
        self.port = child.heard(self._output.readline(), Listening, "server").port

    def cpu_s(self) -> float:
        """Return the CPU time that the server has used."""
        self._input.write(b"\n")
        self._input.flush()
        return child.heard(self._output.readline(), Used, "server").cpu_s


def _figures(servant: _Servant, cases: tuple[Case, ...], setting: Setting, say: Say) -> Sample:
    found: dict[str, Measured] = {}
    for case in cases:
        lane = Lane.DESTRUCTIVE if case.destructive else Lane.OTHER
        requests = [request(f"/admit/{lane}", body) for body in case.reviews]
        for connections in CONNECTIONS:
            say(f"{case.name}, {connections} connections")
            name = f"{case.name}, c={connections}"
            found.update(
                _series(servant, requests, name, count=setting.calls, connections=connections)
            )
    return found


def _series(
    servant: _Servant, requests: list[bytes], name: str, *, count: int, connections: int
) -> Sample:
    async def asked(count: int) -> Served:
        return await load(
            servant.port, servant.context, requests, connections=connections, count=count
        )

    asyncio.run(asked(max(count // WARM, connections)))
    before = servant.cpu_s()
    served = asyncio.run(asked(count))
    cpu_s, times_us = servant.cpu_s() - before, served.times_us
    return {
        f"{name}: rate": Measured(len(times_us) / served.elapsed_s, "req/s"),
        f"{name}: p50": Measured(quantile(times_us, 0.5) / 1e3, "ms"),
        f"{name}: p99": Measured(quantile(times_us, 0.99) / 1e3, "ms"),
        f"{name}: server CPU": Measured(cpu_s / len(times_us) * 1e6, "µs/req"),
    }


def _certificates(folder: Path) -> ssl.SSLContext:
    """Make the server's certificate and a client's; return how the client connects."""
    servers, clients = Authority.create(folder, "servers"), Authority.create(folder, "clients")
    servers.server("server", ["localhost", "127.0.0.1"])
    pair = clients.client("apiserver", "kube-apiserver")
    context = ssl.create_default_context(cafile=str(servers.certificate))
    context.load_cert_chain(pair.certificate, pair.key)
    return context
