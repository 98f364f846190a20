"""An operator with a kind of its own, and the people who ask it for more and fewer members.

A Ring wants so many members. The operator keeps a StatefulSet and Services for each, and single
pods for its watchers, all owned and labelled; it scales down only where a Ring wants fewer.
"""

from __future__ import annotations

from suture.errors import ApiError
from suture.lab.life.actor import Actor
from suture.lab.life.hand import Hand, Object
from suture.lab.scenarios.shapes import parts

GROUP = "life.example.com"
SPACE = "rings"
OWNER = f"{GROUP}/ring"
RINGS = 4
RETIRED_EVERY = 80
"""Turns of the owner from one Ring that is given up to the next: two in an hour.
With the two Services of each that is most of what the pace of an hour allows one identity."""


def definition() -> Object:
    """Return the definition of Ring; its scale says which field holds the wanted count."""
    names = {"kind": "Ring", "plural": "rings", "singular": "ring"}
    scale = {"specReplicasPath": ".spec.members", "statusReplicasPath": ".status.members"}
    size = {"type": "object", "properties": {"members": {"type": "integer"}}}
    properties = {"spec": {**size, "x-kubernetes-preserve-unknown-fields": True}, "status": size}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}, "scale": scale},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    return parts.thing(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"rings.{GROUP}", spec=spec
    )


class RingOwner(Actor):
    """The team that uses Rings: asks for more, for fewer, for another one."""

    every_s = 20.0

    def __init__(self, hand: Hand) -> None:
        """Begin with no Ring."""
        super().__init__(hand)
        self._made = 0
        self._turns = 0

    async def prepare(self) -> None:
        """Make the namespace and the Rings."""
        await self.hand.create(parts.namespace(SPACE))
        for _ in range(RINGS):
            await self._ask()

    async def turn(self) -> None:
        """Change a size; give one Ring up at times, and ask for another in its place."""
        self._turns += 1
        rings = await self.hand.listed("Ring", SPACE)
        alive = [one for one in rings if "deletionTimestamp" not in one["metadata"]]
        if len(alive) < RINGS:
            await self._ask()
        elif self._turns % RETIRED_EVERY == 5:
            await self._give_up(self.hand.dice.choice(alive)["metadata"]["name"])
        else:
            one = self.hand.dice.choice(alive)
            members = min(6, max(1, one["spec"]["members"] + self.hand.dice.choice((-1, -1, 1, 2))))
            await self._resize(one["metadata"]["name"], members)

    async def _give_up(self, name: str) -> None:
        """Shrink a Ring step by step, and delete what is left of it."""

        async def shrunk() -> bool:
            # WHY the pods and not the operator's word: a step is done when they are gone.
            pods = await self.hand.listed("Pod", SPACE, labelSelector=f"{OWNER}={name}")
            return len(pods) <= 2 * wanted

        ring = await self.hand.get("Ring", SPACE, name)
        members = ring["spec"]["members"] if ring else 0
        for wanted in range(members - 1, 0, -1):
            await self._resize(name, wanted)
            await self.hand.until(shrunk)
        await self.hand.delete("Ring", SPACE, name)

    async def _resize(self, name: str, members: int) -> None:
        await self.hand.patch("Ring", SPACE, name, {"spec": {"members": members}})

    async def _ask(self) -> None:
        self._made += 1
        await self.hand.create(
            parts.thing(f"{GROUP}/v1", "Ring", f"ring-{self._made}", SPACE, spec={"members": 3})
        )


class RingOperator(Actor):
    """Reconciles each Ring into a StatefulSet with Services, and single pods."""

    every_s = 3.0

    async def prepare(self) -> None:
        """Define Ring, as an operator's installation does."""
        await self.hand.apply(definition())
        await self.hand.until(self._served)

    async def _served(self) -> bool:
        # WHY by asking: a type that was just defined answers 404, then 429, for a moment.
        try:
            await self.hand.listed("Ring", SPACE)
        except ApiError:
            return False
        return True

    async def turn(self) -> None:
        """Bring every Ring to what it wants."""
        for ring in await self.hand.listed("Ring", SPACE):
            if "deletionTimestamp" not in ring["metadata"]:
                await self._reconcile(ring)

    async def _reconcile(self, ring: Object) -> None:
        name, members = ring["metadata"]["name"], ring["spec"]["members"]
        owner = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Ring",
            "name": name,
            "uid": ring["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        labels = {"app": name, OWNER: name}
        for one in _children(name, members, labels, owner):
            live = await self.hand.get(one["kind"], SPACE, one["metadata"]["name"])
            if live is None or (
                one["kind"] == "StatefulSet" and live["spec"]["replicas"] != members
            ):
                await self.hand.apply(one)
        await self._watchers(name, members, owner)
        if ring.get("status", {}).get("members") != members:
            await self.hand.patch("Ring", SPACE, name, {"status": {"members": members}}, "status")

    async def _watchers(self, name: str, members: int, owner: Object) -> None:
        """Keep one pod of the operator's own for each member, the youngest goes first."""
        role = f"{name}-watcher"
        pods = await self.hand.listed("Pod", SPACE, labelSelector=f"app={role}")
        living = {
            one["metadata"]["name"]: one["metadata"]["uid"]
            for one in pods
            if "deletionTimestamp" not in one["metadata"]
        }
        for number in range(members):
            if f"{role}-{number}" not in {one["metadata"]["name"] for one in pods}:
                template = parts.template({"app": role, OWNER: name})
                await self.hand.create(
                    parts.pod(SPACE, f"{role}-{number}", template, owners=[owner])
                )
        for pod, uid in living.items():
            if int(pod.rpartition("-")[2]) >= members:
                await self.hand.delete("Pod", SPACE, pod, uid=uid)


def _children(name: str, members: int, labels: parts.Labels, owner: Object) -> list[Object]:
    owners = [owner]
    more = {"serviceName": name, "podManagementPolicy": "Parallel"}
    selector = {"app": name}
    return [
        parts.config("ConfigMap", SPACE, name, labels, {"ring": name}, owners=owners),
        parts.service(SPACE, name, labels, selector=selector, owners=owners),
        parts.service(
            SPACE, f"{name}-watch", labels, selector={"app": f"{name}-watcher"}, owners=owners
        ),
        parts.workload(
            "StatefulSet",
            SPACE,
            name,
            labels,
            parts.template(labels),
            replicas=members,
            owners=owners,
            more=more,
        ),
    ]
