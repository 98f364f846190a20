"""A backup: snapshots of claims with retention, and copies of claims that are read and let go."""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Hand, Object
from suture.lab.life.town import TEAMS
from suture.lab.scenarios.shapes import parts
from suture.lab.scenarios.shapes.custom import definition
from suture.lab.scenarios.shapes.workloads import claim_spec, storage_class, volume
from suture.model.names import Propagation

GROUP = "snapshot.storage.k8s.io"
SPACE = "backup"
STORAGE = "backup-copies"
KEPT = 3
COPIED_EVERY = 16
"""Turns from one copy to the next: four in an hour."""


class Backup(Actor):
    """Takes snapshots of the teams' claims, keeps the last few, reads copies of some."""

    every_s = 45.0

    def __init__(self, hand: Hand) -> None:
        """Begin with nothing backed up."""
        super().__init__(hand)
        self._taken = 0

    async def prepare(self) -> None:
        """Define snapshots, and make the place for copies."""
        body = definition(GROUP, "v1", "VolumeSnapshot", "volumesnapshots", "Namespaced")
        await self.hand.apply(body)
        await self.hand.create(parts.namespace(SPACE))
        await self.hand.create(storage_class(STORAGE, "Delete"))

    async def turn(self) -> None:
        """Take a snapshot of one claim and let the oldest of it go."""
        space = self.hand.dice.choice(TEAMS)
        claims = await self.hand.listed("PersistentVolumeClaim", space)
        if not claims:
            return
        self._taken += 1
        claim = self.hand.dice.choice(claims)["metadata"]["name"]
        await self.hand.create(_snapshot(space, claim, self._taken))
        mine = await self.hand.listed("VolumeSnapshot", space, labelSelector=f"backup={claim}")
        mine.sort(key=lambda one: int(one["metadata"]["name"].rpartition("-")[2]))
        for one in mine[:-KEPT]:
            await self.hand.delete("VolumeSnapshot", space, one["metadata"]["name"])
        if self._taken % COPIED_EVERY == 2:
            await self._copy(f"copy-{self._taken}")

    async def _copy(self, name: str) -> None:
        """Restore into a claim of its own, read it, and delete it."""
        await self.hand.create(volume(name, STORAGE, "Delete"))
        spec = claim_spec(STORAGE)
        await self.hand.create(
            parts.thing("v1", "PersistentVolumeClaim", name, SPACE, {"app": name}, spec=spec)
        )

        async def bound() -> bool:
            one = await self.hand.get("PersistentVolumeClaim", SPACE, name)
            return one is not None and one["status"].get("phase") == "Bound"

        await self.hand.until(bound)
        mount = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
        pods = parts.template({"app": name}, volumes=[mount], restart="Never")
        job = {"template": pods, "backoffLimit": 0}
        await self.hand.create(parts.thing("batch/v1", "Job", name, SPACE, spec=job))

        async def read() -> bool:
            one = await self.hand.get("Job", SPACE, name)
            return one is not None and bool(one["status"].get("completionTime"))

        async def released() -> bool:
            one = await self.hand.get("PersistentVolume", "", name)
            return one is not None and one["status"].get("phase") in ("Released", "Failed")

        if await self.hand.until(read):
            await self.hand.delete("Job", SPACE, name, propagation=Propagation.BACKGROUND)
            await self.hand.delete("PersistentVolumeClaim", SPACE, name)
            # WHY wait: whoever provisions volumes deletes one when it is released, never before.
            if await self.hand.until(released):
                await self.hand.delete("PersistentVolume", "", name)


def _snapshot(space: str, claim: str, number: int) -> Object:
    source = {"persistentVolumeClaimName": claim}
    return parts.thing(
        f"{GROUP}/v1",
        "VolumeSnapshot",
        f"{claim}-{number}",
        space,
        {"backup": claim},
        spec={"source": source},
    )
