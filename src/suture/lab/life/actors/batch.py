"""A batch platform: Jobs that end and are collected, some cancelled; a CronJob that pauses."""

from __future__ import annotations

from suture.lab import nodes
from suture.lab.life.actor import Actor
from suture.lab.scenarios.shapes import parts
from suture.model.names import Propagation

SPACE = "batch"
NIGHTLY = "report"
CANCEL_EACH = 6
"""One of so many Jobs is cancelled while it runs."""
PAUSE_EACH = 60
"""After one of so many the CronJob is paused or goes on: twice in ten minutes. Whoever does so
thirteen times in ten minutes is a loop."""


class Batch(Actor):
    """Submits Jobs with a time to live, cancels some, edits its CronJob."""

    every_s = 5.0
    _submitted = 0

    async def prepare(self) -> None:
        """Make the namespace and the CronJob that runs each minute."""
        await self.hand.create(parts.namespace(SPACE))
        pods = parts.template({"app": NIGHTLY}, restart="Never")
        spec = {
            "schedule": "* * * * *",
            "successfulJobsHistoryLimit": 2,
            "jobTemplate": {"spec": {"template": pods}},
        }
        await self.hand.create(parts.thing("batch/v1", "CronJob", NIGHTLY, SPACE, spec=spec))

    async def turn(self) -> None:
        """Submit a Job, and now and then do something about an older one."""
        dice = self.hand.dice
        self._submitted += 1
        name = f"job-{self._submitted}"
        cancelled = dice.randrange(CANCEL_EACH) == 0
        took = "10m" if cancelled else f"{dice.randrange(1, 8)}s"
        pods = parts.template(
            {"app": name}, annotations={nodes.COMPLETES_AFTER: took}, restart="Never"
        )
        size = dice.choice((1, 1, 2, 4))
        spec = {
            "template": pods,
            "parallelism": size,
            "completions": size,
            "ttlSecondsAfterFinished": dice.choice((0, 5, 20, 60)),
            "backoffLimit": 1,
        }
        await self.hand.create(parts.thing("batch/v1", "Job", name, SPACE, spec=spec))
        if cancelled:
            await self.hand.pause(4.0)
            # WHY: what the command line and most clients send; the pods go after their Job.
            await self.hand.delete("Job", SPACE, name, propagation=Propagation.BACKGROUND)
        if dice.randrange(PAUSE_EACH) == 0:
            await self._pause_cron()
        if dice.randrange(10) == 0:
            await self._tidy()

    async def _pause_cron(self) -> None:
        one = await self.hand.get("CronJob", SPACE, NIGHTLY)
        if one:
            suspend = {"spec": {"suspend": not one["spec"].get("suspend", False)}}
            await self.hand.patch("CronJob", SPACE, NIGHTLY, suspend)

    async def _tidy(self) -> None:
        """Delete finished Jobs before their time."""
        for one in await self.hand.listed("Job", SPACE):
            owned = one["metadata"].get("ownerReferences")
            if one["status"].get("completionTime") and not owned:
                name = one["metadata"]["name"]
                await self.hand.delete("Job", SPACE, name, propagation=Propagation.BACKGROUND)
