"""A made cluster as a plan: everything in it by name and number, nothing of it written yet.

One place where size, seed and lines meet; the parts are worked out when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

from suture.lab.clusters.apps import App, Run, Space, jobs, spaces, workloads
from suture.lab.clusters.chance import dice, shares, suffix, uid, word
from suture.lab.clusters.fronts import LABEL_VALUE_CHARS, Front, services
from suture.lab.clusters.lines import Instances, Lines, Pool, Zone
from suture.lab.clusters.size import Size
from suture.model.names import DAEMON_SETS, STATEFUL_SETS, Resource

READY = 0.985
"""The part of teams' pods that is Ready; the platform's all are."""

BALANCERS = Resource("lb.example.com", "balancers")
DATABASES = Resource("databases.example.com", "postgresclusters")
CACHES = Resource("databases.example.com", "rediscaches")


class Placed(Protocol):
    """Something with a place of its own in the list that the API server makes of its kind."""

    @property
    def namespace(self) -> str:
        """Its namespace."""

    @property
    def name(self) -> str:
        """Its name."""


P = TypeVar("P", bound=Placed)


class Machine(NamedTuple):
    """A node."""

    name: str
    pool: Pool
    zone: str


class PodMade(NamedTuple):
    """A pod of a workload or a Job, and `node` as its number."""

    name: str
    node: int
    ready: bool
    ordinal: int
    finished: bool = False


class Balancer(NamedTuple):
    """A custom resource of the load-balancer operator."""

    namespace: str
    name: str

    @property
    def too_long(self) -> bool:
        """Whether its name can be no label's value."""
        return len(self.name) > LABEL_VALUE_CHARS


class Plan:
    """What a cluster of this size, seed and these lines consists of."""

    def __init__(self, size: Size, seed: int, lines: Lines) -> None:
        self.size = size
        self.seed = seed
        self.lines = lines

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """The namespaces, sorted by name."""
        return spaces(self.lines, self.size, self.seed)

    @cached_property
    def apps(self) -> tuple[App, ...]:
        """The workloads: the platform's, StatefulSets, Deployments with the largest first."""
        return workloads(self.lines, self.size, self.seed, self.spaces)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The Jobs."""
        return jobs(self.size, self.seed, self.spaces)

    @cached_property
    def fronts(self) -> tuple[Front, ...]:
        """The Services, in the order in which the API server lists them."""
        return tuple(listed(services(self.size, self.seed, self.spaces, self.apps)))

    @cached_property
    def _fronts_by_space(self) -> dict[str, list[Front]]:
        found: dict[str, list[Front]] = {}
        for front in self.fronts:
            if front.app is not None:
                found.setdefault(front.namespace, []).append(front)
        return found

    def fronts_in(self, namespace: str) -> Sequence[Front]:
        """Return the Services of a namespace that serve something."""
        return self._fronts_by_space.get(namespace, ())

    @cached_property
    def balancers(self) -> tuple[Balancer, ...]:
        """The Balancers, in listing order."""
        found = {Balancer(one.namespace, one.balancer) for one in self.fronts if one.balancer}
        return tuple(sorted(found))

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """The nodes; pools by share, zones in turn."""
        pools, zones = self.lines.of(Pool), self.lines.of(Zone)
        rng = dice(self.seed, "nodes")
        weights = [pool.share for pool in pools]
        chosen = rng.choices(pools, weights=weights, k=self.size.nodes)
        made = [
            Machine(f"{pool.name}-{number:05d}", pool, zones[number % len(zones)].name)
            for number, pool in enumerate(chosen)
        ]
        return tuple(sorted(made))

    @cached_property
    def stateful(self) -> tuple[App, ...]:
        """The teams' StatefulSets."""
        apps = self.apps
        return tuple(one for one in apps if one.controller == STATEFUL_SETS and not one.platform)

    @cached_property
    def instances(self) -> dict[Resource, int]:
        """How many custom resources there are of each type that is counted in the lines."""
        lines = self.lines.of(Instances)
        amounts = shares(self.size.instances, [line.weight for line in lines])
        pairs = zip(lines, amounts, strict=True)
        return {Resource.parse(line.resource): amount for line, amount in pairs}

    @cached_property
    def databases(self) -> dict[tuple[str, str], Resource]:
        """The StatefulSets that a custom resource of the same name stands behind, and its type."""
        clusters, caches = (self.instances.get(one, 0) for one in (DATABASES, CACHES))
        found = {(one.namespace, one.name): DATABASES for one in self.stateful[:clusters]}
        for one in self.stateful[clusters : clusters + caches]:
            found[one.namespace, one.name] = CACHES
        return found

    def uid(self, resource: Resource, namespace: str, name: str) -> str:
        """Return the uid of an object of this cluster."""
        return uid(self.seed, resource, namespace, name)

    def revision(self, app: App, number: int = 0) -> str:
        """Return the template hash of a Deployment's ReplicaSet; 0 is the current one."""
        return word(self.seed, "revision", app.namespace, app.name, number)

    def pods_of(self, app: App) -> list[PodMade]:
        """Return the pods of a workload, always the same."""
        rng = dice(self.seed, "pods", app.controller, app.namespace, app.name)
        count, nodes = app.replicas, range(self.size.nodes)
        ready = [app.platform or rng.random() < READY for _ in range(count)]
        if app.controller == STATEFUL_SETS:
            names: Iterable[str] = (f"{app.name}-{number}" for number in range(count))
        else:
            daemons = app.controller == DAEMON_SETS
            stem = app.name if daemons else f"{app.name}-{self.revision(app)}"
            ends: dict[str, None] = {}
            while len(ends) < count:  # two of 4,000 draws meet every other time
                ends[suffix(rng)] = None
            names = (f"{stem}-{end}" for end in ends)
        chosen = nodes if app.controller == DAEMON_SETS else rng.choices(nodes, k=count)
        return [
            PodMade(name, node, is_ready, ordinal)
            for ordinal, (name, node, is_ready) in enumerate(zip(names, chosen, ready, strict=True))
        ]

    def pod_of(self, run: Run) -> PodMade:
        """Return the pod of a Job."""
        rng = dice(self.seed, "pods", "jobs", run.namespace, run.name)
        node = rng.randrange(self.size.nodes)
        return PodMade(f"{run.name}-{suffix(rng)}", node, not run.finished, 0, run.finished)


def listed(things: Iterable[P]) -> list[P]:
    """Return things as the API server lists them: by namespace, then by name."""
    return sorted(things, key=lambda thing: (thing.namespace, thing.name))


def spread(count: int, places: Sequence[P], form: str = "{}") -> Iterator[tuple[P, str, int]]:
    """Yield (place, name, turn) for `count` things named after `places`, as `form` says.

    `turn` is how often the place has had one already; the first bears the plain name.
    """
    for number in range(count):
        place, turn = places[number % len(places)], number // len(places)
        name = form.format(place.name)
        yield place, name if turn == 0 else f"{name}-{turn + 1}", turn
