"""A controller that keeps the cluster as its source says: it applies, and prunes what left it.

What it keeps stands in an inventory of its own. Its ConfigMaps carry a hash of their content in
their name, so that each change makes a new one and leaves the old one to be pruned.
"""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Hand, Object
from suture.lab.life.rollout import rolled
from suture.lab.scenarios.shapes import parts
from suture.model.names import Propagation

SPACE = "delivered"
APPS = 8
RETIRED_EVERY = 60
"""Turns from one application that leaves the source to the next: four in an hour. LIMIT: more than
five Services an hour are beyond what anybody may remove at defaults."""

MARK = "app.kubernetes.io/managed-by"


class GitOps(Actor):
    """Applies applications from a source that changes, and prunes."""

    every_s = 10.0

    def __init__(self, hand: Hand) -> None:
        """Begin with an empty inventory."""
        super().__init__(hand)
        self._inventory: dict[str, str] = {}
        """Each application in the source, with the ConfigMap that it uses now."""
        self._made = 0
        self._turns = 0

    async def prepare(self) -> None:
        """Apply all of the source for the first time."""
        await self.hand.create(parts.namespace(SPACE, {MARK: "gitops"}))
        for _ in range(APPS):
            await self._arrives()

    async def turn(self) -> None:
        """Follow the source: mostly other settings, at times an application less or more."""
        self._turns += 1
        if self._turns % RETIRED_EVERY == 4:
            await self._retires()
        elif len(self._inventory) < APPS:
            await self._arrives()
        elif self.hand.dice.randrange(3) == 0:
            await self._again()
        else:
            await self._settings()

    async def _arrives(self) -> None:
        self._made += 1
        name = f"shop-{self._made}"
        await self._apply(name, self._hashed(name))

    async def _again(self) -> None:
        """Reconcile everything, without a change."""
        for name, settings in list(self._inventory.items()):
            await self._apply(name, settings)

    async def _settings(self) -> None:
        """Apply other settings; prune the old ones at once or when the rollout is through."""
        name = self.hand.dice.choice(list(self._inventory))
        old, new = self._inventory[name], self._hashed(name)
        await self._apply(name, new)
        if self.hand.dice.randrange(2):
            await rolled(self.hand, "Deployment", SPACE, name)
        if old != new:
            await self.hand.delete("ConfigMap", SPACE, old, propagation=Propagation.BACKGROUND)
        await self._record()

    async def _retires(self) -> None:
        """Prune all of an application that is no longer in the source."""
        name = self.hand.dice.choice(list(self._inventory))
        settings = self._inventory.pop(name)
        await self._record()
        for kind, one in (
            ("Ingress", name),
            ("Service", name),
            ("Deployment", name),
            ("ServiceAccount", name),
            ("ConfigMap", settings),
        ):
            await self.hand.delete(kind, SPACE, one, propagation=Propagation.BACKGROUND)

    def _hashed(self, name: str) -> str:
        return f"{name}-settings-{self.hand.dice.getrandbits(40):010x}"

    async def _apply(self, name: str, settings: str) -> None:
        for one in _application(name, settings):
            await self.hand.apply(one)
        self._inventory[name] = settings
        await self._record()

    async def _record(self) -> None:
        data = dict(sorted(self._inventory.items()))
        await self.hand.apply(parts.config("ConfigMap", SPACE, "inventory", {MARK: "gitops"}, data))


def _application(name: str, settings: str) -> list[Object]:
    labels = {"app": name, MARK: "gitops"}
    mount = {"name": "settings", "configMap": {"name": settings}}
    pods = parts.template(labels, volumes=[mount])
    pods["spec"]["serviceAccountName"] = name
    return [
        parts.thing("v1", "ServiceAccount", name, SPACE, labels),
        parts.config("ConfigMap", SPACE, settings, labels, {"settings": settings}),
        parts.workload("Deployment", SPACE, name, labels, pods, replicas=2),
        parts.service(SPACE, name, labels, selector={"app": name}),
        parts.ingress(SPACE, name, labels, service=name),
    ]
