"""Settings become adapters become running tasks; the one place that knows everything.

Starts in the order in which things can go wrong: policies, then the socket (not ready), then the
model. Stops in the reverse.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import resource
import secrets
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import structlog
import uvloop

from suture.adapters.allocator import give_back, in_large_pages, map_columns
from suture.adapters.collector import Collector
from suture.adapters.files import read_policies
from suture.adapters.health import HealthServer
from suture.adapters.kube import KubeClient
from suture.adapters.kubeconfig import Login
from suture.adapters.labclock import LabClock
from suture.adapters.memory import MemoryJournal
from suture.adapters.metrics import Metrics
from suture.adapters.snapshotter import Snapshotter
from suture.adapters.sqlite import SqliteJournal
from suture.adapters.statefile import StateFile
from suture.adapters.warming import Warm, warmed
from suture.adapters.webhook import MutualTls, Peer, SecretPath, WebhookServer, WebhookSettings
from suture.app.admit import Answered, Lane, Rim, answer
from suture.app.authorize import authorize
from suture.app.clusterpolicies import ClusterPolicies
from suture.app.enforce import Enforcer
from suture.app.follow import Pace
from suture.app.grants import ClusterMarks
from suture.app.mirror import Mirror
from suture.app.ports import Journal
from suture.app.rules import Rules
from suture.app.settle import Settler
from suture.app.slices import Slices
from suture.app.watches import Want, Watches
from suture.errors import InputError
from suture.journal.entry import decision_id
from suture.judge import World
from suture.model.clock import Now
from suture.model.documents import Document
from suture.model.graph import Graph
from suture.model.names import SECRETS
from suture.policy.compile import PolicySet, compile_policies
from suture.policy.rules import ClusterFacts
from suture.wire.trim import Trimmer

log = structlog.get_logger(__name__)

TICK_S = 1.0
"""LIMIT: how late a refund may be; horizons are a minute."""

AUTHORIZE = "/authorize"
ADMIT = {f"/admit/{lane}": lane for lane in Lane}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `suture serve` was told; see its help for what each means."""

    kubeconfig: Path | None
    in_cluster: bool
    host: str
    port: int
    health_host: str
    health_port: int
    certificate: Path
    key: Path
    client_ca: Path | None
    client_names: frozenset[str]
    secret_path: str | None
    policies: tuple[Path, ...]
    journal: Path | None
    snapshot: Path | None
    state: Path | None
    secret_keys: bool
    namespace: str
    cluster: str
    authorizer: bool
    break_glass: tuple[str, ...]
    speed: float
    lab_clock: Path | None
    drain_s: float
    log_level: str

    def client_auth(self) -> MutualTls | SecretPath:
        """Return how callers prove who they are. Errors: InputError when they need not at all."""
        if self.client_ca is not None:
            return MutualTls(self.client_ca, self.client_names)
        if self.secret_path is not None:
            return SecretPath(self.secret_path)
        raise InputError("nobody is kept out: give --client-ca FILE, or --secret-path where the "
                         "API server presents no client certificate")  # fmt: skip


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    configure_logs(settings.log_level)
    map_columns()
    uvloop.run(serve(settings))


def configure_logs(level: str) -> None:
    """Write structured lines to standard error, one JSON object each."""
    levels = logging.getLevelNamesMapping()
    if level.upper() not in levels:
        raise InputError(f"log level `{level}` is none of debug, info, warning, error")
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(levels[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=os.fdopen(2, "w", buffering=1)),
        cache_logger_on_first_use=True,
    )


def _json(event: object, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


def clock() -> Now:
    """Return the time: monotonic for arithmetic, wall for stamps."""
    return Now(time.monotonic_ns(), time.time())


def story_clock(settings: Settings) -> Callable[[], Now]:
    """Return the clock of what is remembered: the machine's, or on a lab one that can be moved.

    Errors: InputError where the API server is not on this machine: nowhere but on a lab may
    budgets and grants run out before their time.
    """
    if settings.lab_clock is None:
        return clock
    if settings.in_cluster or not Login.from_kubeconfig(settings.kubeconfig).local:
        raise InputError(
            "--lab-clock is for a lab: the API server must be on this machine, at a loopback "
            "address; leave it out"
        )
    log.warning("the clock can be moved from outside: this is a lab", file=str(settings.lab_clock))
    return LabClock(settings.lab_clock)


class Ids:
    """Decision ids of this process: a random start, counted up."""

    def __init__(self) -> None:
        self._next = secrets.randbits(25)

    def __call__(self, now: Now) -> str:
        """Return the next id."""
        self._next += 1
        return decision_id(now, self._next)


async def serve(settings: Settings) -> None:
    """Run every task of one replica until a signal comes; then stop gracefully."""
    story = story_clock(settings)
    base = read_policies(settings.policies, pack=not settings.policies)
    policies = compile_policies(base).at_speed(settings.speed)
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(_client(settings))
        journal = await stack.enter_async_context(_journal(settings))
        watches, warm = Watches(), None
        if settings.secret_keys:
            watches.register("secret keys", {SECRETS: Want(full=True)})
        if settings.snapshot is not None and settings.snapshot.exists():
            warm = await warmed(
                settings.snapshot, client, watches, pace=Pace(), chance=random.random
            )
        if warm is not None:
            stack.push_async_callback(warm.head_start.close)
        replica = Replica(
            settings, policies, client, journal, story, base=base, watches=watches, warm=warm
        )
        await replica.run(_stopping())


def _client(settings: Settings) -> KubeClient:
    if settings.in_cluster:
        return KubeClient.in_cluster()
    return KubeClient.from_kubeconfig(settings.kubeconfig)


@contextlib.asynccontextmanager
async def _journal(settings: Settings) -> AsyncIterator[Journal]:
    journal: Journal
    if settings.journal is None:
        log.warning("decisions are kept in memory only: no journal file was named")
        journal = MemoryJournal()
    else:
        journal = SqliteJournal(settings.journal)
    try:
        yield journal
    finally:
        await journal.close()


def _stopping() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping


class Replica:
    """One replica: its world, the tasks that keep it fresh, and the servers that ask it."""

    def __init__(
        self,
        settings: Settings,
        policies: PolicySet,
        client: KubeClient,
        journal: Journal,
        story: Callable[[], Now],
        *,
        base: Sequence[Document],
        watches: Watches,
        warm: Warm | None,
    ) -> None:
        graph = Graph(secrets.token_bytes(16)) if warm is None else warm.graph
        self._settings = settings
        self._story = story
        self._metrics = Metrics()
        self._collector = Collector(self._metrics.paused)
        own = (f"system:serviceaccount:{settings.namespace}:suture",)
        self._world = World(
            policies,
            graph=graph,
            cluster=ClusterFacts(settings.cluster, authorizer=settings.authorizer),
        )
        # WHY with keys, whatever the setting: a review shows a Secret whole. What is watched is
        # metadata alone, unless the setting asks for more.
        trimmer = Trimmer(secret_keys=True)
        rules = Rules(trimmer, watches, graph)
        rules.load(graph)
        self._settler = Settler(self._world, self._metrics, story)
        self._mirror = Mirror(
            client,
            self._world.graph,
            trimmer,
            # WHY not the story's: how old the model is does not change with what is told of it.
            clock=clock,
            chance=random.random,
            observers=[self._settler, rules],
            watches=watches,
            head_start=None if warm is None else warm.head_start,
        )
        self._enforcer = Enforcer(
            client, self._world, settings.namespace, own, settings.break_glass
        )
        self._policies = ClusterPolicies(client, base, self._put)
        self._rim = Rim(
            self._mirror,
            journal,
            self._metrics,
            story,
            Ids(),
            trimmer,
            Slices(clock),
            ClusterMarks(client),
        )
        self._frozen = False
        self._state = None
        if settings.state is not None:
            self._state = StateFile(settings.state, self._world, story)
            self._state.load()

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until `stopping` is set."""
        settings = self._settings
        self._metrics.watch_model(
            objects=lambda: len(self._world.graph),
            resident_bytes=resident_bytes,
            unknown=self._unknown,
            overlay=lambda: len(self._world.overlay.gone_uids),
            uncollected=lambda: self._collector.uncollected,
        )
        self._metrics.watch_freshness(self._mirror)
        self._metrics.watch_policies(broken=lambda: len(self._policies.problems))
        webhook = WebhookServer(
            WebhookSettings(
                host=settings.host,
                port=settings.port,
                certificate=settings.certificate,
                key=settings.key,
                client_auth=settings.client_auth(),
                paths=frozenset([*ADMIT, AUTHORIZE]),
                drain_s=settings.drain_s,
            ),
            self._handle,
        )
        self._metrics.watch_server(
            connections=lambda: webhook.connections,
            expires=lambda: webhook.certificate_expires,
        )
        health = HealthServer(
            settings.health_host,
            settings.health_port,
            webhook.alive,
            lambda: self._ready(stopping),
            self._metrics.registry,
        )
        self._collector.start()
        saving = self._saving()
        async with asyncio.TaskGroup() as tasks:
            running = [
                tasks.create_task(self._mirror.run(), name="mirror"),
                tasks.create_task(self._enforcer.run(), name="enforce"),
                tasks.create_task(self._policies.run(), name="policies"),
                tasks.create_task(self._tick(), name="tick"),
                tasks.create_task(self._collector.run(self._mirror.breathe), name="collect"),
            ]
            if saving is not None:
                running.append(tasks.create_task(saving.run(), name="save"))
            if self._state is not None:
                running.append(tasks.create_task(self._state.run(), name="state"))
            async with health, webhook:
                log.info("listening", port=webhook.port, health_port=settings.health_port)
                await stopping.wait()
                log.info("stopping")
            for task in running:
                task.cancel()
        if self._state is not None:
            self._state.save_here()
        if saving is not None and self._frozen:
            saving.save_here()

    def _put(self, policies: PolicySet) -> None:
        """Put policies in force from the next review on; what was spent of a budget stays spent."""
        self._world.policies = policies.at_speed(self._settings.speed)

    def _saving(self) -> Snapshotter | None:
        if self._settings.snapshot is None:
            return None
        return Snapshotter(
            self._world.graph,
            self._settings.snapshot,
            lambda: self._mirror.ready()[0],
            self._metrics.forked,
        )

    def _handle(self, path: str, body: bytes, peer: Peer) -> Answered:  # noqa: ARG002 TLS checked it
        if path == AUTHORIZE:
            return authorize(body, self._world, self._rim)
        return answer(body, ADMIT[path], self._world, self._rim)

    def _ready(self, stopping: asyncio.Event) -> tuple[bool, Mapping[str, str]]:
        """Ready when every wanted type was listed and our own kinds were read; revocable."""
        ready, parts = self._mirror.ready()
        reasons = dict(parts)
        if not self._enforcer.read:
            ready, reasons["profiles"] = False, "not read yet"
        if not self._policies.read:
            ready, reasons["policies"] = False, "not read yet"
        if stopping.is_set():
            ready, reasons["stopping"] = False, "asked to stop"
        return ready, reasons

    def _unknown(self) -> Mapping[str, str]:
        graph = self._world.graph
        return {
            str(kind): fresh.unknown for kind, fresh in graph.freshness.items() if fresh.unknown
        }

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._settler.tick(self._story())
            if not self._frozen and self._mirror.ready()[0]:
                self._freeze()
                # WHY: a review looks at places all over the model; to find their pages, where these
                # are small, is a seventh of what it costs.
                await asyncio.to_thread(in_large_pages)

    def _freeze(self) -> None:
        """Make room for the model's growth, and take it out of the collector's sight.

        WHY room: a column that grows at two million rows is copied whole, 20 ms in the midst of
        reviews.
        """
        self._world.graph.reserve()
        self._collector.freeze()
        give_back()
        self._frozen = True
        log.info("model ready", objects=len(self._world.graph), resident_bytes=resident_bytes())


def resident_bytes() -> int:
    """Return the resident set of this process, in bytes; Linux's own count where there is one."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
