"""What stands in front of the workloads of a made cluster: Services, and who owns them.

Beside `apps`, which it reads: which workloads have a Service, which Services serve nothing, and
which belong to the load-balancer operator's custom resources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from suture.lab.clusters.apps import App, Space
from suture.lab.clusters.chance import dice, shares
from suture.lab.clusters.size import Size
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS

BALANCER_LABEL = "lb.example.com/balancer"
"""How the load-balancer operator finds the Services of a Balancer."""

LABEL_VALUE_CHARS = 63
"""LIMIT: of a label's value. SOURCE: k8s.io/apimachinery/pkg/util/validation."""

LONG_NAME = "{app}-public-edge-with-client-certificates-and-regional-failover"
"""The Balancer that sets the incident off: with any app's name it is over 63 characters."""


class Idle(StrEnum):
    """Why a Service serves nothing now."""

    HEADLESS = "headless"
    NO_SELECTOR = "no-selector"
    EXTERNAL_NAME = "external-name"
    NO_PODS = "no-pods"


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """A Service. `app` None: it serves nothing, `idle` says why. `balancer` owns it."""

    namespace: str
    name: str
    ports: tuple[int, ...]
    type: str = "ClusterIP"
    headless: bool = False
    app: App | None = None
    idle: Idle | None = None
    balancer: str = ""

    @property
    def selector(self) -> Mapping[str, str] | None:
        """The Service's selector; None where it has none."""
        if self.app is not None:
            return self.app.labels
        if self.idle in (Idle.HEADLESS, Idle.NO_PODS):
            return {"app": f"{self.name}-not-there"}
        return None

    @property
    def labels(self) -> dict[str, str]:
        """The Service's own labels; a Balancer's name that is no label value cannot be one."""
        found = {"app": self.name} if self.app is None else dict(self.app.labels)
        if self.balancer and len(self.balancer) <= LABEL_VALUE_CHARS:
            found[BALANCER_LABEL] = self.balancer
        return found


def services(
    size: Size, seed: int, homes: Sequence[Space], apps: Sequence[App]
) -> tuple[Front, ...]:
    """Return every Service: exactly `size.services`, `idle` and `balanced` ones included."""
    platform = list(_platform(apps))
    teams = [space for space in homes if space.weight]
    serving = size.services - size.idle - len(platform)
    mine = [app for app in apps if not app.platform]
    stateful = [app for app in mine if app.controller == STATEFUL_SETS]
    deployed = [app for app in mine if app.controller == DEPLOYMENTS]
    rng = dice(seed, "services")
    # WHY the first: it is the largest Deployment, and the demo's figures should have it.
    fronted = [deployed[0], *rng.sample(deployed[1:], serving - len(stateful) - 1)]
    owners = _balancers(size, seed, fronted)
    found = [
        *platform,
        *(_front(app, headless=True) for app in stateful),
        *(_front(app, balancer=owners.get((app.namespace, app.name), "")) for app in fronted),
    ]
    taken = {(front.namespace, front.name) for front in found}
    amounts = shares(size.idle, [space.weight for space in teams])
    for space, amount in zip(teams, amounts, strict=True):
        found.extend(_idle(space, number, taken) for number in range(amount))
    return tuple(found)


def _platform(apps: Sequence[App]) -> Iterator[Front]:
    for app in apps:
        if app.platform and app.controller != DAEMON_SETS:
            for line in app.services:
                yield Front(
                    namespace=app.namespace, name=line.name, ports=line.ports,
                    type=line.type, headless=line.headless, app=app,
                )  # fmt: skip


def _front(app: App, *, headless: bool = False, balancer: str = "") -> Front:
    return Front(
        namespace=app.namespace, name=app.name, ports=(app.port,), headless=headless, app=app,
        type="LoadBalancer" if balancer else "ClusterIP", balancer=balancer,
    )  # fmt: skip


def _balancers(size: Size, seed: int, fronted: Sequence[App]) -> dict[tuple[str, str], str]:
    """Return the Balancer of each app that has one, by namespace and name.

    One in the namespace with most Services owns `shared` of them, one with a name too long for a
    label owns a single one; all others own one to six.
    """
    by_space: dict[str, list[App]] = {}
    for app in fronted[1:]:
        by_space.setdefault(app.namespace, []).append(app)
    largest = max(by_space, key=lambda name: (len(by_space[name]), name))
    found = {(largest, app.name): "shared-edge" for app in by_space[largest][: size.shared]}
    rest = [(name, apps) for name, apps in sorted(by_space.items()) if name != largest]
    rng = dice(seed, "balancers")
    rng.shuffle(rest)
    first = rest[0][1][0]
    found[first.namespace, first.name] = LONG_NAME.format(app=first.name)
    # WHY twice: the first time some Services are passed over, as in life; then the rest is made up.
    for gap in (6, 0):
        for name, apps in rest:
            free = [app for app in apps if (name, app.name) not in found]
            while free and len(found) < size.balanced:
                group = free[: min(rng.randint(1, 6), size.balanced - len(found))]
                free = free[len(group) + rng.randint(0, gap) :]
                for app in group:
                    found[name, app.name] = f"{group[0].name}-lb"
    return found


def _idle(space: Space, number: int, taken: set[tuple[str, str]]) -> Front:
    kinds = tuple(Idle)
    noun = space.nouns[number % len(space.nouns)]
    ending = ("standby", "legacy", "partner", "failover")[number // len(space.nouns) % 4]
    name = f"{noun}-{ending}"
    while (space.name, name) in taken:
        name += "-b"
    taken.add((space.name, name))
    idle = kinds[number % len(kinds)]
    return Front(
        namespace=space.name, name=name, ports=(443,), idle=idle,
        type="ExternalName" if idle is Idle.EXTERNAL_NAME else "ClusterIP",
        headless=idle is Idle.HEADLESS,
    )  # fmt: skip
