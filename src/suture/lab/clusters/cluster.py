"""A made cluster, as its users see it: JSON by kind, trimmed objects, or a graph.

The front of this room. There is one form of the truth, the JSON; trimmed objects are what
`wire.trim` makes of its lean form, so that the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from suture.lab.clusters.bodies import CLUSTER_SCOPED, KINDS, LIST_VERSION
from suture.lab.clusters.kinds import write
from suture.lab.clusters.lines import Lines, bundled
from suture.lab.clusters.plan import BALANCERS, Balancer, Plan
from suture.lab.clusters.pods import PodWriter
from suture.lab.clusters.scribe import cluster_scoped_customs, custom_kinds
from suture.lab.clusters.size import DEMO, Size
from suture.model.clock import Now
from suture.model.graph import Graph
from suture.model.names import PODS, Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.wire.trim import Trimmer

SEED = 2021
"""The seed of the bundled cluster."""

GENERATOR = 4
"""What is made of a size and a seed: raised whenever that changes, so that no cluster on a disk
is taken for one that would be made now."""


class Cluster:
    """A cluster of a size, made from a seed: equal for equal arguments, on every machine."""

    def __init__(self, size: Size = DEMO, *, seed: int = SEED, lines: Lines | None = None) -> None:
        self.size = size
        self.seed = seed
        self._plan = Plan(size, seed, lines if lines is not None else bundled())

    @cached_property
    def kinds(self) -> dict[Resource, Gvk]:
        """Every kind that the cluster has objects of, or could have."""
        return {**KINDS, **custom_kinds(self._plan)}

    @cached_property
    def cluster_scoped(self) -> frozenset[Resource]:
        """The kinds whose objects are in no namespace."""
        return CLUSTER_SCOPED | cluster_scoped_customs(self._plan)

    def documents(self, resource: Resource, *, full: bool = True) -> Iterator[bytes]:
        """Yield the objects of a kind as JSON, in the order in which the API server lists them.

        `full`: as large as in life; else without what `wire.trim` skips, which is twice as fast.
        """
        if resource == PODS:
            return PodWriter(self._plan, full=full).all()
        return write(self._plan, resource, full=full)

    def objects(
        self, resource: Resource, trimmer: Trimmer | None = None
    ) -> Iterator[ClusterObject]:
        """Yield the objects of a kind, trimmed."""
        reader = (trimmer or Trimmer()).reader(resource, self.kinds[resource])
        return map(reader.one, self.documents(resource, full=False))

    def graph(
        self, now: Now, *, on_kind: Callable[[Resource], None] = lambda _resource: None
    ) -> Graph:
        """Return the whole cluster as a graph in which every kind was listed at `now`.

        `on_kind` is told of each kind before it is read.
        """
        graph, trimmer = Graph(), Trimmer()
        for resource, gvk in self.kinds.items():
            graph.declare(gvk.group, gvk.kind, resource)
        for resource in self.kinds:
            on_kind(resource)
            graph.replace(resource, self.objects(resource, trimmer))
            graph.heard(resource, str(LIST_VERSION), now.mono_ns)
        return graph

    @property
    def trigger(self) -> ObjectKey:
        """The Balancer whose name is too long for a label's value."""
        found = next(one for one in self._plan.balancers if one.too_long)
        return _key(found)

    @property
    def shared_balancer(self) -> ObjectKey:
        """The Balancer that owns the most Services."""
        owned: dict[Balancer, int] = {}
        for front in self._plan.fronts:
            if front.balancer:
                one = Balancer(front.namespace, front.balancer)
                owned[one] = owned.get(one, 0) + 1
        return _key(max(owned, key=lambda one: (owned[one], one)))


def _key(balancer: Balancer) -> ObjectKey:
    return ObjectKey(BALANCERS, balancer.namespace, balancer.name)
