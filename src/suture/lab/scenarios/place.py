"""Where a scenario runs: the seam between the order of a run and a cluster, real or predicted.

Lives apart from `run`, which is the same line in both places, and from `offline`, which is the
other place.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from suture.adapters.kube import KubeClient
from suture.lab.plane import Plane
from suture.lab.scenarios.actors import Voice
from suture.lab.scenarios.backends import Backends
from suture.lab.scenarios.cluster import Cluster, Object
from suture.lab.scenarios.latency import measure
from suture.lab.scenarios.quiet import MOST_S, QUIET_S, Rest
from suture.lab.scenarios.recording import Recorder
from suture.lab.scenarios.report import Controllers, Latency, PlaceName
from suture.lab.scenarios.world import World
from suture.lab.scenarios.written import Written


class Answering(Protocol):
    """What answers behind the webhooks of a world."""

    async def answer_for(self, things: Sequence[Object]) -> list[Object]:
        """Return the objects with working webhooks."""

    async def stop(self) -> None:
        """Stop answering."""


class Resting(Protocol):
    """What knows when a cluster has come to rest."""

    async def quiet(self, quiet_s: float = QUIET_S, most_s: float = MOST_S) -> bool:
        """Wait until nothing was written for `quiet_s`; False when `most_s` passed first."""


class Place(Protocol):
    """A cluster to run on, and what only it can say."""

    name: PlaceName
    lasting: bool
    """Whether it outlives the run, so that what a run makes must be taken away again."""

    @property
    def controllers(self) -> Controllers:
        """What carried out the consequences of writes so far."""

    @property
    def stands(self) -> bool:
        """Whether the scenario's world is there already."""

    @property
    def remarks(self) -> Sequence[str]:
        """What is worth saying of how the cluster behaved."""

    def reached(self) -> AbstractAsyncContextManager[Cluster]:
        """Reach the cluster under an identity with all rights, for the length of a block."""

    def backends(self) -> Answering:
        """Return what answers behind webhooks."""

    def resting(self, cluster: Cluster) -> AbstractAsyncContextManager[Resting]:
        """Follow what is written, for the length of a block."""

    def wrote(self, one: Written) -> None:
        """Be told of a write and its answer."""

    async def latency(self, cluster: Cluster, world: World, voice: Voice) -> Latency | None:
        """Measure what the guard adds to a write; None where nothing takes time."""


class Lab:
    """A real control plane."""

    name: PlaceName = "lab"
    lasting: bool = True
    controllers: Controllers = "real"
    stands = False
    remarks: Sequence[str] = ()

    def __init__(self, plane: Plane, recorder: Recorder | None = None) -> None:
        """Take a lab that runs; with a recorder, what controllers do is taken down."""
        self._plane = plane
        self._recorder = recorder

    @contextlib.asynccontextmanager
    async def reached(self) -> AsyncIterator[Cluster]:
        """Log in as the lab's administrator."""
        async with KubeClient.from_kubeconfig(self._plane.kubeconfig()) as client:
            yield await Cluster.reach(client)

    def wrote(self, one: Written) -> None:
        """Need no telling: the cluster itself knows."""

    def backends(self) -> Answering:
        """Return a server on loopback, to which the lab's proxy leads."""
        return Backends(self._plane)

    @contextlib.asynccontextmanager
    async def resting(self, cluster: Cluster) -> AsyncIterator[Resting]:
        """Watch every kind."""
        recorder = self._recorder
        if recorder is None:
            async with Rest.watching(cluster) as rest:
                yield rest
            return
        async with Rest.watching(cluster, whole=True, on_event=recorder.on_event) as rest:
            await recorder.remember(cluster)
            yield rest

    async def latency(self, cluster: Cluster, world: World, voice: Voice) -> Latency | None:
        """Measure pairs of dry runs."""
        return await measure(cluster, world, voice)
