"""The place of an offline run: a predicted cluster of its own, furnished as a fresh lab is.

Lives apart from `scenarios.place` as its other half. Every run has a new one, and throws it away.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.clock import now_s
from suture.lab.scenarios.cluster import Cluster, Object
from suture.lab.scenarios.guard import Guard, NoGuard
from suture.lab.scenarios.offline.admission import Admission
from suture.lab.scenarios.offline.base import furnish
from suture.lab.scenarios.offline.client import OfflineClient
from suture.lab.scenarios.offline.controllers.ordered import daemon_set, job, stateful_set
from suture.lab.scenarios.offline.controllers.owners import Definitions, Owners, Spaces
from suture.lab.scenarios.offline.controllers.pods import Pods
from suture.lab.scenarios.offline.controllers.replicas import deployment, replica_set
from suture.lab.scenarios.offline.controllers.running import Manager
from suture.lab.scenarios.offline.controllers.serving import Serving, held_by_budget
from suture.lab.scenarios.offline.controllers.volumes import Volumes
from suture.lab.scenarios.offline.controllers.workloads import Shop, Workloads
from suture.lab.scenarios.offline.guard import OfflineGuard
from suture.lab.scenarios.offline.loop import run_jumping
from suture.lab.scenarios.offline.replay import Replay
from suture.lab.scenarios.offline.server import Server
from suture.lab.scenarios.offline.store import Store, Thing
from suture.lab.scenarios.place import Answering, Resting
from suture.lab.scenarios.quiet import MOST_S, POLL_S, QUIET_S, is_own, put_off_s
from suture.lab.scenarios.reading import Loaded
from suture.lab.scenarios.recording import Recording, beside, read
from suture.lab.scenarios.report import Controllers, GuardMode, Latency, PlaceName, Report
from suture.lab.scenarios.run import Runner
from suture.lab.scenarios.world import World
from suture.lab.scenarios.written import Written
from suture.model.names import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)

Say = Callable[[str], None]


class Offline:
    """A predicted cluster."""

    name: PlaceName = "offline"
    lasting = False

    def __init__(self, recording: Recording | None = None) -> None:
        """Make an empty cluster; `reached` furnishes it, from the recording where there is one."""
        self.store = Store()
        self.admission = Admission(self.store)
        self.manager = Manager(self.store)
        self.server = Server(self.store, self.admission, self.manager.settle)
        self.server.evictable = lambda pod: held_by_budget(self.store, pod)
        self._employ()
        self._replay: Replay | None = None
        if recording is not None:
            self._replay = Replay(recording, self.store, self._diverged)
            self.manager.stopped = True

    def _diverged(self) -> None:
        self.manager.stopped = False
        self.manager.settle()

    def _employ(self) -> None:
        later = self.manager.later
        pods = Pods(self.store, self.admission, later)
        self.manager.employ(
            Owners(self.store),
            Spaces(self.store),
            Definitions(self.store),
            Volumes(self.store),
            pods,
            Workloads(
                Shop(self.store, pods, later),
                {
                    DEPLOYMENTS: deployment,
                    REPLICA_SETS: replica_set,
                    REPLICATION_CONTROLLERS: replica_set,
                    STATEFUL_SETS: stateful_set,
                    DAEMON_SETS: daemon_set,
                    JOBS: job,
                },
            ),
            Serving(self.store),
        )

    @property
    def controllers(self) -> Controllers:
        """What carried out the consequences of writes."""
        return "recorded" if self._replay is not None and not self._replay.ended else "predicted"

    @property
    def stands(self) -> bool:
        """Whether the scenario's world is there already: a recording brings it along."""
        return self._replay is not None

    @property
    def remarks(self) -> Sequence[str]:
        """What is worth saying of how the cluster behaved."""
        ended = self._replay.ended if self._replay is not None else ""
        return (f"recording left: {ended}",) if ended else ()

    def wrote(self, one: Written) -> None:
        """Follow the recording by one write."""
        if self._replay is not None:
            self._replay.wrote(one)

    @contextlib.asynccontextmanager
    async def reached(self) -> AsyncIterator[Cluster]:
        """Furnish the cluster, and speak as its administrator."""
        if self._replay is None:
            furnish(self.store)
        else:
            self._replay.furnish()
        self.manager.settle()
        yield await Cluster.reach(OfflineClient(self.server))

    def backends(self) -> Answering:
        """Return nothing to start: whether a webhook answers is worked out where it is asked."""
        return _NoBackends()

    @contextlib.asynccontextmanager
    async def resting(self, cluster: Cluster) -> AsyncIterator[Resting]:  # noqa: ARG002 - one store
        """Follow the store."""
        rest = _Rest()
        self.store.observers.append(rest.told)
        if self._replay is not None:
            self._replay.begin()
        try:
            yield rest
        finally:
            self.store.observers.remove(rest.told)

    async def latency(self, cluster: Cluster, world: World, voice: Voice) -> Latency | None:  # noqa: ARG002 - the protocol's
        """Return none: nothing takes time here."""
        return None


class _NoBackends:
    async def answer_for(self, things: Sequence[Object]) -> list[Object]:
        """Return the objects as they are."""
        return list(things)

    async def stop(self) -> None:
        """Stop nothing."""


class _Rest:
    """Knows when the last write was, as `quiet.Rest` does on the lab."""

    def __init__(self) -> None:
        self._last_write_s = now_s()

    def told(self, before: Thing | None, after: Thing | None) -> None:
        """Take note of a write."""
        thing = after or before
        if thing is None or is_own(thing.api, thing.body):
            return
        change = "DELETED" if after is None else "MODIFIED" if before is not None else "ADDED"
        put_off = put_off_s(thing.api, change, thing.body)
        self._last_write_s = max(self._last_write_s, now_s() + put_off)

    async def quiet(self, quiet_s: float = QUIET_S, most_s: float = MOST_S) -> bool:
        """Wait until nothing was written for `quiet_s`; False when `most_s` passed first."""
        began = now_s()
        while True:
            now = now_s()
            if now - max(self._last_write_s, began) >= quiet_s:
                return True
            if now - began >= most_s:
                return False
            await asyncio.sleep(POLL_S)


def judge_offline(
    loaded: Loaded,
    mode: GuardMode,
    *,
    authorizer: bool = True,
    policies: Sequence[Path] = (),
    speed: float = 1.0,
    replayed: bool = True,
    say: Say = lambda _words: None,
) -> Report:
    """Run a scenario without a control plane, on a clock that jumps; seconds become none.

    A recording beside the file, of this scenario and guard, is followed unless `replayed` is False.
    Errors: InputError for a file that the cluster cannot take; else none.
    """
    recording = recording_of(loaded, mode) if replayed else None

    async def run() -> Report:
        place = Offline(recording)
        guard: Guard = NoGuard()
        if mode != "off":
            guard = OfflineGuard(
                place.server, mode, speed=speed, authorizer=authorizer, policies=policies
            )
        return await Runner(loaded, place, guard, speed=speed, say=say).run()

    return run_jumping(run())


def recording_of(loaded: Loaded, mode: GuardMode) -> Recording | None:
    """Return the recording of a scenario as it is now; None where there is none, or of another."""
    path = beside(loaded.path, mode)
    if not path.is_file():
        return None
    found = read(path)
    return found if found.header.digest == loaded.digest else None
