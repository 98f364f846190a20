"""A pipeline that deploys the teams' applications: new images, sizes, autoscalers, ways back."""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Object
from suture.lab.life.rollout import image_change, restart_change, rolled
from suture.lab.life.town import AGENTS, TEAMS

MOST = 6
LEAST = 2


class Deployer(Actor):
    """Rolls out, scales within reason, edits autoscalers; waits for each rollout."""

    every_s = 8.0

    async def turn(self) -> None:
        """Do one of the things that pipelines do, the common ones more often."""
        dice = self.hand.dice
        work = dice.choices(
            (
                self._new_image,
                self._resize,
                self._bounds,
                self._undo,
                self._database,
                self._agent,
                self._reconfigure,
            ),
            weights=(8, 6, 3, 2, 2, 1, 3),
        )[0]
        await work()

    async def _some(self, kind: str, space: str) -> Object | None:
        found = await self.hand.listed(kind, space)
        return self.hand.dice.choice(found) if found else None

    async def _app(self) -> tuple[str, Object] | None:
        space = self.hand.dice.choice(TEAMS)
        one = await self._some("Deployment", space)
        return (space, one) if one else None

    async def _new_image(self) -> None:
        found = await self._app()
        if found:
            space, one = found
            name = one["metadata"]["name"]
            await self.hand.amend(
                "Deployment", space, name, image_change(self.hand.dice.randrange(2, 1000))
            )
            await rolled(self.hand, "Deployment", space, name)

    async def _undo(self) -> None:
        """Roll out something that is wrong, and go back before it is through."""
        found = await self._app()
        if found:
            space, one = found
            name = one["metadata"]["name"]
            before = one["spec"]["template"]["spec"]["containers"][0]["image"]
            number = int(before.rpartition(":")[2])
            await self.hand.amend("Deployment", space, name, image_change(number + 1000))
            await self.hand.pause(1.0)
            await self.hand.amend("Deployment", space, name, image_change(number))
            await rolled(self.hand, "Deployment", space, name)

    async def _resize(self) -> None:
        """One more or one fewer, never fewer than two."""
        found = await self._app()
        if found:
            space, one = found
            size = one["spec"].get("replicas", 1)
            if size < LEAST:
                return
            after = min(MOST, max(LEAST, size + self.hand.dice.choice((-1, 1, 1, 2))))
            scale = {"spec": {"replicas": after}}
            name = one["metadata"]["name"]
            await self.hand.patch("Deployment", space, name, scale, "scale")
            await rolled(self.hand, "Deployment", space, name)

    async def _bounds(self) -> None:
        space = self.hand.dice.choice(TEAMS)
        one = await self._some("HorizontalPodAutoscaler", space)
        if one:
            least = self.hand.dice.choice((2, 2, 3))
            bounds = {"minReplicas": least, "maxReplicas": least + self.hand.dice.randrange(2, 6)}
            await self.hand.patch(
                "HorizontalPodAutoscaler", space, one["metadata"]["name"], {"spec": bounds}
            )

    async def _database(self) -> None:
        space = self.hand.dice.choice(TEAMS)
        one = await self._some("StatefulSet", space)
        if one:
            name = one["metadata"]["name"]
            stamp = str(self.hand.dice.random())
            await self.hand.amend("StatefulSet", space, name, restart_change(stamp))
            await rolled(self.hand, "StatefulSet", space, name)

    async def _agent(self) -> None:
        one = await self._some("DaemonSet", AGENTS)
        if one:
            name = one["metadata"]["name"]
            await self.hand.amend(
                "DaemonSet", AGENTS, name, image_change(self.hand.dice.randrange(2, 1000))
            )
            await rolled(self.hand, "DaemonSet", AGENTS, name)

    async def _reconfigure(self) -> None:
        """Change an environment variable, which is a rollout too."""
        found = await self._app()
        if found:
            space, one = found
            name = one["metadata"]["name"]
            value = str(self.hand.dice.randrange(1000))
            container = {"name": "app", "env": [{"name": "LEVEL", "value": value}]}
            change = {"spec": {"template": {"spec": {"containers": [container]}}}}
            await self.hand.amend("Deployment", space, name, change)
            await rolled(self.hand, "Deployment", space, name)
