"""Maintenance of nodes, one at a time: cordon, evict with respect for what holds, uncordon."""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.rollout import emptied


class Drainer(Actor):
    """Drains a node, leaves it empty for a while as a reboot would, opens it again."""

    every_s = 60.0

    async def turn(self) -> None:
        """Take one node that is open and give it back, however far its drain came."""
        found = [
            one["metadata"]["name"]
            for one in await self.hand.listed("Node")
            if not one["spec"].get("unschedulable") and not one["spec"].get("taints")
        ]
        if not found:
            return
        node = self.hand.dice.choice(found)
        if await self.hand.patch("Node", "", node, {"spec": {"unschedulable": True}}) is None:
            return
        await emptied(self.hand, node)
        await self.hand.pause(5.0)
        await self.hand.patch("Node", "", node, {"spec": {"unschedulable": None}})
