"""A rotator of certificates: new contents into Secrets, new Secrets in place of old ones."""

from __future__ import annotations

from suture.lab.life.actor import Actor
from suture.lab.life.hand import Object
from suture.lab.life.rollout import restart_change, rolled
from suture.lab.scenarios.shapes import parts

SPACE = "secured"
READERS = 20
"""Renewed in turn, each fifteen times an hour: an hour stands for months, and a workload that one
actor restarts more than twenty times in an hour is a loop (`churn-growth`)."""


class Certificates(Actor):
    """Keeps the certificates of applications that mount them."""

    every_s = 12.0
    _issued = 0
    _turns = 0

    async def prepare(self) -> None:
        """Make the applications, each with a Service and a mounted Secret."""
        await self.hand.create(parts.namespace(SPACE))
        for number in range(READERS):
            name = f"reader-{number}"
            labels = {"app": name}
            await self.hand.create(self._certificate(f"{name}-tls"))
            volume = _volume(f"{name}-tls")
            pods = parts.template(labels, volumes=[volume])
            await self.hand.create(
                parts.workload("Deployment", SPACE, name, labels, pods, replicas=2)
            )
            await self.hand.create(parts.service(SPACE, name, labels, selector=labels))

    async def turn(self) -> None:
        """Renew one certificate: mostly in place, sometimes under a new name."""
        name = f"reader-{self._turns % READERS}"
        self._turns += 1
        if self.hand.dice.randrange(3):
            await self._renew(name)
        else:
            await self._replace(name)

    async def _renew(self, name: str) -> None:
        one = await self.hand.get("Deployment", SPACE, name)
        if one is None:
            return
        secret = _mounted(one)
        body = self._certificate(secret)
        body["type"] = "kubernetes.io/tls"
        await self.hand.update(body)
        await self.hand.amend(
            "Deployment", SPACE, name, restart_change(str(self.hand.dice.random()))
        )
        await rolled(self.hand, "Deployment", SPACE, name)

    async def _replace(self, name: str) -> None:
        """Issue under a new name, lead the reader there, and delete the old one at last."""
        one = await self.hand.get("Deployment", SPACE, name)
        if one is None:
            return
        old = _mounted(one)
        self._issued += 1
        new = f"{name}-tls-{self._issued}"
        if await self.hand.create(self._certificate(new)) is None:
            return
        change = {"spec": {"template": {"spec": {"volumes": [_volume(new)]}}}}
        await self.hand.amend("Deployment", SPACE, name, change)
        if await rolled(self.hand, "Deployment", SPACE, name):
            await self.hand.delete("Secret", SPACE, old)

    def _certificate(self, name: str) -> Object:
        words = f"{self.hand.dice.getrandbits(64):016x}"
        body = parts.config("Secret", SPACE, name, {}, {"tls.crt": words, "tls.key": words})
        return {**body, "type": "kubernetes.io/tls"}


def _volume(secret: str) -> Object:
    return {"name": "tls", "secret": {"secretName": secret}}


def _mounted(deployment: Object) -> str:
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    return str(volumes[0]["secret"]["secretName"])
