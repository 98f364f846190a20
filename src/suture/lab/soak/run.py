"""One seed of a soak: writers write, the API server is disturbed, and then all is compared."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from suture.lab.clusters.chance import dice as chance
from suture.lab.plane import Plane
from suture.lab.soak.compare import check_indexes
from suture.lab.soak.follow import following
from suture.lab.soak.writers import Writers

WRITERS = 6

RESTART_EVERY = 1000
"""Steps between two disturbances of the API server."""

FROZEN_S = 2.0
"""How long it is frozen, every other time: long enough that a client feels it."""

SETTLE_S = 90.0
"""LIMIT: until controllers have come to rest and the model is the cluster: a namespace takes 12 s
to go, and one whose kinds were away is looked at again after 15 s."""

Say = Callable[[str], None]


class Outcome(msgspec.Struct, frozen=True):
    """What came of one seed; `differences` is empty where the model held."""

    seed: int
    steps: int
    answers: Mapping[str, int]
    counts: Mapping[str, int]
    """What the mirror went through: relists, duplicates and the like, over all kinds."""
    objects: int
    wrote_s: float
    settled_s: float
    differences: tuple[str, ...]

    @property
    def held(self) -> bool:
        """Whether the model was the cluster at the end."""
        return not self.differences

    def __str__(self) -> str:
        """Return one line for people."""
        refused = {reason: count for reason, count in self.answers.items() if reason != "ok"}
        verdict = "equal" if self.held else f"{len(self.differences)} DIFFERENCES"
        relists = self.counts.get("relists", 0)
        return (
            f"seed {self.seed}: {verdict}; {self.steps} steps in {self.wrote_s:.0f} s"
            f" (refused: {refused}), settled in {self.settled_s:.1f} s,"
            f" {self.objects} objects, {relists} relists"
        )


async def soak(plane: Plane, seed: int, steps: int, say: Say) -> Outcome:
    """Write `steps` random steps and tell whether the model followed.

    Leaves nothing behind but what the cluster is still deleting.
    Errors: UnavailableError when the control plane does not come back.
    """
    done = 0
    disturbances: list[asyncio.Task[None]] = []

    def told() -> None:
        nonlocal done
        done += 1
        if done % RESTART_EVERY == RESTART_EVERY // 2:
            say(f"seed {seed}: {done} of {steps} steps; disturbing the API server")
            check_indexes(follower.graph)
            disturbances.append(asyncio.create_task(_disturb(plane, len(disturbances))))

    async with following(plane.kubeconfig()) as follower:
        writers = Writers(follower.client, seed, told)
        await writers.begin()
        began = time.monotonic()
        share, rest = divmod(steps, WRITERS)
        async with asyncio.TaskGroup() as group:
            for number in range(WRITERS):
                group.create_task(writers.write(number, share + (number < rest)))
        await asyncio.gather(*disturbances)
        wrote_s = time.monotonic() - began
        say(f"seed {seed}: all written; comparing")
        found = await follower.equal(SETTLE_S, chance(seed, "sample"))
        outcome = Outcome(
            seed=seed,
            steps=steps,
            answers=dict(writers.answers),
            counts=_summed(follower.mirror.counts()),
            objects=len(follower.graph),
            wrote_s=wrote_s,
            settled_s=time.monotonic() - began - wrote_s,
            differences=tuple(found),
        )
        await writers.tidy()
    return outcome


async def _disturb(plane: Plane, number: int) -> None:
    """Restart the API server, or freeze it for a while."""
    if number % 2 == 0:
        await asyncio.to_thread(plane.restart, "kube-apiserver")
        return
    await asyncio.to_thread(plane.pause, "kube-apiserver")
    try:
        await asyncio.sleep(FROZEN_S)
    finally:
        await asyncio.to_thread(plane.resume, "kube-apiserver")


def _summed(counts: Mapping[tuple[str, str], Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for (_, name), count in counts.items():
        found[name] = found.get(name, 0) + count
    return found
