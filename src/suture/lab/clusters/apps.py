"""What runs in a made cluster: namespaces, and the workloads and jobs in each.

Between `lines`, which says what things are called, and `kinds`, which writes them as Kubernetes
does: here is how many there are, where, and how large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

import msgspec

from suture.lab.clusters.chance import dice, shares
from suture.lab.clusters.lines import (
    Component,
    Lines,
    LinesError,
    Namespace,
    Region,
    Role,
    ServiceLine,
    Stage,
    Store,
    Team,
)
from suture.lab.clusters.size import Size
from suture.model.names import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, Resource

CONTROLLERS: Mapping[str, Resource] = {
    "Deployment": DEPLOYMENTS,
    "StatefulSet": STATEFUL_SETS,
    "DaemonSet": DAEMON_SETS,
}

ZIPF = 0.8
"""How much of a cluster its few large namespaces are: the largest of 143 has a thirtieth."""

TAIL = 1.15
"""Pareto exponent of Deployment sizes: most have one to five pods, a few have hundreds."""

STATEFUL_REPLICAS = (1, 3, 3, 3, 5)

MESHED = 0.6
"""The part of team namespaces whose pods the mesh injects."""


class Space(msgspec.Struct, frozen=True):
    """A namespace; `weight` is its part of what teams run, 0 for the platform's."""

    name: str
    labels: Mapping[str, str]
    weight: float = 0.0
    nouns: tuple[str, ...] = ()


class App(msgspec.Struct, frozen=True, kw_only=True):
    """A workload: a Deployment, StatefulSet or DaemonSet with its pods."""

    controller: Resource
    namespace: str
    name: str
    replicas: int
    labels: Mapping[str, str]
    port: int
    image: str
    account: str = "default"
    services: tuple[ServiceLine, ...] = ()
    platform: bool = False


class Run(msgspec.Struct, frozen=True):
    """A Job that a CronJob started."""

    namespace: str
    name: str
    cron: str
    finished: bool


def spaces(lines: Lines, size: Size, seed: int) -> tuple[Space, ...]:
    """Return all namespaces, sorted by name as the API server lists them."""
    found = [
        Space(one.name, {"kubernetes.io/metadata.name": one.name, **one.labels})
        for one in lines.of(Namespace)
    ]
    rng = dice(seed, "spaces")
    named = _team_spaces(lines)
    teams = [next(named, None) for _ in range(size.namespaces - len(found))]
    ranks = list(range(len(teams)))
    rng.shuffle(ranks)
    for rank, made in zip(ranks, teams, strict=True):
        if made is None:
            raise LinesError(f"too few teams and regions for {size.namespaces} namespaces")
        name, team, stage = made
        labels = {
            "kubernetes.io/metadata.name": name,
            "team": team.name,
            "stage": stage.name or "production",
            **({"mesh": "enabled"} if rng.random() < MESHED else {}),
        }
        weight = stage.weight / (rank + 3) ** ZIPF
        found.append(Space(name, labels, weight, team.nouns))
    return tuple(sorted(found, key=lambda space: space.name))


def _team_spaces(lines: Lines) -> Iterator[tuple[str, Team, Stage]]:
    for region, stage, team in product(lines.of(Region), lines.of(Stage), lines.of(Team)):
        name = "-".join(filter(None, (team.name, region.name, stage.name)))
        yield name, team, stage


def workloads(lines: Lines, size: Size, seed: int, homes: Sequence[Space]) -> tuple[App, ...]:
    """Return every workload; together with the jobs their pods are exactly `size.pods`."""
    platform = _platform(lines, size)
    fixed = sum(app.replicas for app in platform)
    teams = [space for space in homes if space.weight]
    stateful = _stateful(lines, size, seed, teams, platform)
    spare = size.pods - fixed - sum(app.replicas for app in stateful) - size.jobs
    count = size.deployments - _how_many(platform, DEPLOYMENTS)
    names = _deployment_names(lines, seed, teams, count)
    rng = dice(seed, "replicas")
    # WHY capped: one Pareto draw may outweigh all others; the largest is given, not drawn.
    weights = [min(rng.paretovariate(TAIL) - 0.9, 60.0) for _ in names[1:]]
    replicas = [size.largest, *shares(spare - size.largest, weights, least=1)]
    return (
        *platform,
        *stateful,
        *(
            _app(DEPLOYMENTS, space, name, rng, replicas=wanted, port=role.port)
            for (space, name, role), wanted in zip(names, replicas, strict=True)
        ),
    )


def jobs(size: Size, seed: int, homes: Sequence[Space]) -> tuple[Run, ...]:
    """Return every Job, one pod each; nine of ten have finished."""
    teams = [space for space in homes if space.weight]
    rng = dice(seed, "jobs")
    found = []
    for number in range(size.jobs):
        cron_number = number % size.cron_jobs
        home = teams[cron_number * 7 % len(teams)]
        cron = f"{home.nouns[cron_number % len(home.nouns)]}-nightly-{cron_number}"
        name = f"{cron}-{29_000_000 + number}"
        found.append(Run(home.name, name, cron, finished=rng.random() < 0.9))
    return tuple(found)


def _platform(lines: Lines, size: Size) -> list[App]:
    found, daemons = [], 0
    for line in lines.of(Component):
        controller = CONTROLLERS[line.controller]
        if controller == DAEMON_SETS:
            daemons += 1
            if daemons > size.daemon_sets:
                continue
        found.append(
            App(
                controller=controller,
                namespace=line.namespace,
                name=line.name,
                replicas=size.nodes if controller == DAEMON_SETS else line.replicas,
                labels=line.labels,
                port=line.services[0].ports[0] if line.services else 8080,
                image=line.image,
                account=line.account or line.name,
                services=line.services,
                platform=True,
            )
        )
    return found


def _how_many(apps: Sequence[App], controller: Resource) -> int:
    return sum(1 for app in apps if app.controller == controller)


def _stateful(
    lines: Lines, size: Size, seed: int, teams: Sequence[Space], platform: Sequence[App]
) -> list[App]:
    rng = dice(seed, "stateful")
    count = size.stateful_sets - _how_many(platform, STATEFUL_SETS)
    found = []
    for space, amount in zip(teams, shares(count, [s.weight for s in teams]), strict=True):
        pairs = list(product(space.nouns, lines.of(Store)))
        rng.shuffle(pairs)
        for number in range(amount):
            noun, store = pairs[number % len(pairs)]
            name = _numbered(f"{noun}-{store.name}", number // len(pairs))
            wanted = rng.choice(STATEFUL_REPLICAS)
            found.append(_app(STATEFUL_SETS, space, name, rng, replicas=wanted, port=store.port))
    return found


def _deployment_names(
    lines: Lines, seed: int, teams: Sequence[Space], count: int
) -> list[tuple[Space, str, Role]]:
    """Return the Deployments' names, the largest one's first: it is in the largest namespace."""
    rng = dice(seed, "names")
    found = []
    amounts = shares(count, [space.weight for space in teams], least=1)
    for space, amount in zip(teams, amounts, strict=True):
        pairs = [
            (rng.random() ** (1 / role.weight), noun, role)
            for noun, role in product(space.nouns, lines.of(Role))
        ]
        pairs.sort(key=lambda pair: -pair[0])
        for number in range(amount):
            _, noun, role = pairs[number % len(pairs)]
            name = _numbered(f"{noun}-{role.name}", number // len(pairs))
            found.append((space, name, role))
    largest = max(range(len(found)), key=lambda at: found[at][0].weight)
    return [found[largest], *found[:largest], *found[largest + 1 :]]


def _numbered(name: str, number: int) -> str:
    return name if number == 0 else f"{name}-{number + 1}"


def _app(
    controller: Resource, space: Space, name: str, rng: Random, *, replicas: int, port: int
) -> App:
    return App(
        controller=controller,
        namespace=space.name,
        name=name,
        replicas=replicas,
        labels={"app": name},
        port=port,
        image=f"registry.example/{space.name}/{name}:v{rng.randrange(1, 9)}.{rng.randrange(60)}.0",
        account=name,
    )
