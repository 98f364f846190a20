"""A person with kubectl: looks into things, restarts, scales, tries something out and tidies up."""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Hand, Object
from suture.lab.life.rollout import restart_change, rolled
from suture.lab.life.town import TEAMS
from suture.lab.scenarios.shapes import parts

SPACE = "sandbox"
TRIED_EVERY = 40
"""Turns from one thing tried out and deleted to the next: about three in an hour."""


class Person(Actor):
    """Does by hand what nobody automated."""

    every_s = 20.0

    def __init__(self, hand: Hand) -> None:
        """Begin the day."""
        super().__init__(hand)
        self._turns = 0

    async def prepare(self) -> None:
        """Make a place to try things out."""
        await self.hand.create(parts.namespace(SPACE))

    async def turn(self) -> None:
        """Do one of the things that people do."""
        self._turns += 1
        if self._turns % TRIED_EVERY == 3:
            await self._try_out()
            return
        work = self.hand.dice.choice(
            (self._restart, self._delete_pod, self._label, self._scale, self._debug, self._edit)
        )
        await work()

    async def _app(self) -> tuple[str, Object] | None:
        space = self.hand.dice.choice(TEAMS)
        found = await self.hand.listed("Deployment", space)
        return (space, self.hand.dice.choice(found)) if found else None

    async def _restart(self) -> None:
        if found := await self._app():
            space, one = found
            name = one["metadata"]["name"]
            stamp = str(self.hand.dice.random())
            await self.hand.amend("Deployment", space, name, restart_change(stamp))
            await rolled(self.hand, "Deployment", space, name)

    async def _delete_pod(self) -> None:
        """Delete one pod of several, which comes back."""
        if found := await self._app():
            space, one = found
            app = one["metadata"]["name"]
            pods = await self.hand.listed("Pod", space, labelSelector=f"app={app}")
            if len(pods) > 1:
                name = self.hand.dice.choice(pods)["metadata"]["name"]
                await self.hand.delete("Pod", space, name)

    async def _label(self) -> None:
        if found := await self._app():
            space, one = found
            labels = {"reviewed": str(self._turns)}
            change = {"metadata": {"labels": labels, "annotations": {"note": "looked at"}}}
            await self.hand.patch("Deployment", space, one["metadata"]["name"], change)

    async def _scale(self) -> None:
        """One more for a while, then back to what it was."""
        if found := await self._app():
            space, one = found
            name, size = one["metadata"]["name"], one["spec"].get("replicas", 1)
            for replicas in (size + 1, size):
                scale = {"spec": {"replicas": replicas}}
                await self.hand.patch("Deployment", space, name, scale, "scale")
                await rolled(self.hand, "Deployment", space, name)

    async def _debug(self) -> None:
        name = f"debug-{self._turns}"
        pods = parts.template({"run": name}, restart="Never")
        await self.hand.create(parts.pod(SPACE, name, pods))
        await self.hand.pause(5.0)
        await self.hand.delete("Pod", SPACE, name)

    async def _edit(self) -> None:
        """Keep notes in a ConfigMap: made, edited, made anew."""
        body = parts.config("ConfigMap", SPACE, "notes", {}, {"turn": str(self._turns)})
        if self.hand.dice.randrange(3):
            await self.hand.apply(body)
        elif await self.hand.get("ConfigMap", SPACE, "notes") is not None:
            await self.hand.delete("ConfigMap", SPACE, "notes")

    async def _try_out(self) -> None:
        """Run an application for a moment, and delete it with its Service."""
        name = f"trial-{self._turns}"
        labels = {"app": name}
        pods = parts.template(labels)
        await self.hand.create(parts.workload("Deployment", SPACE, name, labels, pods, replicas=2))
        await self.hand.create(parts.service(SPACE, name, labels, selector=labels))
        await rolled(self.hand, "Deployment", SPACE, name)
        await self.hand.pause(5.0)
        # WHY not to nothing first: a Service that stays and serves keeps its pods, whoever made it.
        await self.hand.delete("Service", SPACE, name)
        await self.hand.delete("Deployment", SPACE, name)
