"""One kind followed by itself: when it is listed anew."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from support.fakecluster import FakeCluster
from support.following import PACE, clock, pod, populate, until
from suture.app.follow import Follower
from suture.app.intake import Intake
from suture.app.watches import Want
from suture.model import names
from suture.model.graph import Graph
from suture.model.objects import ClusterObject, PodState
from suture.wire.trim import Trimmer

UNHURRIED = replace(PACE, watch_s=3600, fresh_watch_s=3600)
"""Watches that do not end while a test lasts."""


class Doubting:
    """An observer in whose eyes the first change shows that all is wrong."""

    def __init__(self) -> None:
        self.follower: Follower | None = None
        self.heeds = frozenset({names.PODS})

    def began(self, thing: ClusterObject) -> None:
        """Let it go by."""

    def changed(self, thing: ClusterObject, *, terminates: bool) -> None:
        """Ask for a new list in the midst of what the stream tells."""
        follower, self.follower = self.follower, None
        if follower is not None:
            follower.relist()

    def restated(self, state: PodState) -> None:
        """Let it go by."""

    def ended(self, thing: ClusterObject) -> None:
        """Let it go by."""


@pytest.mark.parametrize("busy", [True, False], ids=["in the midst of a block", "while it waits"])
async def test_a_new_list_does_not_wait_for_the_end_of_the_watch(*, busy: bool) -> None:
    """What was found wrong is put right at once, also where the stream is telling something."""
    cluster = FakeCluster()
    populate(cluster)
    doubting = Doubting()
    intake = Intake(Graph(), clock, [doubting])
    api = cluster.apis[cluster.path(names.PODS)]
    follower = Follower(
        api,
        Want(full=True),
        Trimmer().reader(api.resource, api.gvk, full=True),
        cluster=cluster,
        intake=intake,
        lists=asyncio.Semaphore(1),
        pace=UNHURRIED,
        clock=clock,
        chance=lambda: 0.5,
        serving=lambda: True,
    )
    task = asyncio.create_task(follower.run())
    try:
        await until(lambda: follower.listed)
        if busy:
            doubting.follower = follower
            cluster.write(names.PODS, "web-0", "shop", **pod(ready=False))
        else:
            follower.relist()
        assert busy or not follower.reflector.sound
        await until(lambda: follower.reflector.counts["relists"] == 2, within_s=10)
        await until(lambda: follower.reflector.sound, within_s=10)
    finally:
        task.cancel()
        await asyncio.wait([task])
