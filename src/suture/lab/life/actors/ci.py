"""A CI system: a namespace with workloads for each run, deleted when the run is over."""

from __future__ import annotations

from collections import deque

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Hand
from suture.lab.scenarios.shapes import parts

KEPT = 2
"""Namespaces of earlier runs that are kept for whoever wants to look."""


class Pipeline(Actor):
    """Makes namespaces with workloads, and deletes its own."""

    every_s = 25.0

    def __init__(self, hand: Hand) -> None:
        """Begin with nothing."""
        super().__init__(hand)
        self._runs = 0
        self._standing: deque[str] = deque()

    async def turn(self) -> None:
        """Run one build in a namespace of its own; delete the oldest ones."""
        self._runs += 1
        space = f"build-{self._runs}"
        await self.hand.create(parts.namespace(space, {"ci": "true"}))
        self._standing.append(space)
        labels = {"app": "subject"}
        await self.hand.create(parts.config("Secret", space, "token", {}, {"value": "x"}))
        await self.hand.create(parts.config("ConfigMap", space, "settings", {}, {"value": "x"}))
        mounts = [
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "token", "secret": {"secretName": "token"}},
        ]
        pods = parts.template(labels, volumes=mounts)
        await self.hand.create(
            parts.workload("Deployment", space, "subject", labels, pods, replicas=2)
        )
        await self.hand.create(parts.service(space, "subject", labels, selector=labels))
        tests = parts.template({"app": "tests"}, restart="Never")
        await self.hand.create(
            parts.thing("batch/v1", "Job", "tests", space, spec={"template": tests})
        )
        await self.hand.until(lambda: self._tested(space))
        while len(self._standing) > KEPT:
            await self.hand.delete("Namespace", "", self._standing.popleft())

    async def _tested(self, space: str) -> bool:
        one = await self.hand.get("Job", space, "tests")
        return one is not None and bool(one["status"].get("completionTime"))
