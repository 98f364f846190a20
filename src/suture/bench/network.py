"""The second baseline: the same cluster as a `networkx.DiGraph`, asked what graphs are asked.

The library that people reach for when they hear "graph". One graph for what goes along with what,
one for who selects whom, one for who refers to whom; nodes are keys. What is no question to a
graph (which pods another selector would match) it is not asked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from suture.errors import UnavailableError
from suture.model.graph import GraphView
from suture.model.names import CRDS, NAMESPACES, PODS, SERVICES, ObjectKey
from suture.model.objects import CrdFacts

if TYPE_CHECKING:
    import networkx as nx

    Directed = nx.DiGraph[ObjectKey]


class Network:
    """Three directed graphs, drawn from a model at hand."""

    def __init__(self, view: GraphView) -> None:
        """Errors: UnavailableError where networkx is not installed."""
        try:
            import networkx as nx  # noqa: PLC0415 - nobody but benchmarks needs it
        except ImportError as error:
            raise UnavailableError(
                "networkx is not installed; `pip install networkx`, or give --no-baselines"
            ) from error
        self._descendants = nx.descendants
        self.goes_with: Directed = nx.DiGraph()
        self.selects: Directed = nx.DiGraph()
        self.refers: Directed = nx.DiGraph()
        self._draw(view)

    def _draw(self, view: GraphView) -> None:
        keys: dict[int, ObjectKey] = {}
        for resource in view.resources():
            for row in view.rows(resource):
                keys[row] = view.key(row)
        for row, key in keys.items():
            self.goes_with.add_node(key)
            if key.namespace:
                namespace = ObjectKey(NAMESPACES, "", key.namespace)
                self.goes_with.add_edge(namespace, key)
            # LIMIT: reachability knows no owner that keeps what another one lets go.
            self.goes_with.add_edges_from((key, keys[child]) for child in view.children_of(row))
            if key.resource == CRDS and isinstance(facts := view.facts(row), CrdFacts):
                instances = view.rows(facts.resource)
                self.goes_with.add_edges_from((key, keys[instance]) for instance in instances)
            elif key.resource == SERVICES:
                self.selects.add_node(key, endpoints=view.serving_count(row))
                self.selects.add_edges_from((key, keys[pod]) for pod in view.pods_of(row))
                self.refers.add_node(key)
                self.refers.add_edges_from((keys[user], key) for user in view.referrers(row))
            elif key.resource == PODS:
                self.selects.add_node(key, serves=view.serves(row))

    @property
    def size(self) -> tuple[int, int]:
        """How many nodes and edges there are."""
        graphs = (self.goes_with, self.selects, self.refers)
        return (
            sum(one.number_of_nodes() for one in graphs),
            sum(one.number_of_edges() for one in graphs),
        )

    def pod_selectors(self, pod: ObjectKey) -> list[ObjectKey]:
        """Return the Services that select a pod."""
        return list(self.selects.predecessors(pod))

    def service_loss(self, service: ObjectKey) -> tuple[int, list[ObjectKey]]:
        """Return what a Service's delete takes: its ready endpoints, and who refers to it."""
        pods, nodes = list(self.selects.successors(service)), self.selects.nodes
        serving = (
            sum(1 for pod in pods if nodes[pod]["serves"]) if pods else nodes[service]["endpoints"]
        )
        return serving, list(self.refers.predecessors(service))

    def descendants(self, deployment: ObjectKey) -> set[ObjectKey]:
        """Return what goes with a Deployment."""
        return self._descendants(self.goes_with, deployment)

    def everything_of(self, whole: ObjectKey) -> set[ObjectKey]:
        """Return what goes with a namespace or a definition."""
        return self._descendants(self.goes_with, whole)

    def all_services(self) -> set[ObjectKey]:
        """Return what goes with all Services."""
        found: set[ObjectKey] = set()
        for node in list(self.selects.nodes):
            if node.resource == SERVICES:
                found |= self._descendants(self.goes_with, node)
        return found

    def keys(self, found: Collection[ObjectKey]) -> frozenset[ObjectKey]:
        """Name objects by their keys."""
        return frozenset(found)
