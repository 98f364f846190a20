"""A node autoscaler: empties the node that does least, deletes it, and has another one join."""

from __future__ import annotations

from collections import Counter

from suture.lab import nodes
from suture.lab.life.actor import Actor
from suture.lab.life.hand import Object
from suture.lab.life.rollout import emptied

DISRUPTED: Object = {"key": "autoscaler.example.com/disrupted", "effect": "NoSchedule"}


class Consolidator(Actor):
    """Taints, evicts, deletes; then a new node joins."""

    every_s = 90.0
    _joined = 0

    async def turn(self) -> None:
        """Consolidate one node; where a pod does not move it is left, and opened again."""
        node = await self._least_used()
        if node is None:
            return
        if await self._taint(node, [DISRUPTED]) is None:
            return
        if not await emptied(self.hand, node):
            await self._taint(node, None)
            return
        await self.hand.delete("Node", "", node)
        await self.hand.pause(5.0)
        self._joined += 1
        zone = f"zone-{'abc'[self._joined % 3]}"
        await self.hand.create(_with_kind(nodes.node(f"joined-{self._joined}", zone=zone)))

    async def _taint(self, node: str, taints: list[Object] | None) -> Object | None:
        return await self.hand.patch("Node", "", node, {"spec": {"taints": taints}})

    async def _least_used(self) -> str | None:
        pods = await self.hand.listed("Pod")
        load = Counter(one["spec"].get("nodeName", "") for one in pods)
        open_nodes = [
            one["metadata"]["name"]
            for one in await self.hand.listed("Node")
            if not one["spec"].get("unschedulable") and not one["spec"].get("taints")
        ]
        return min(open_nodes, key=lambda name: load[name], default=None)


def _with_kind(body: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Node", **body}
