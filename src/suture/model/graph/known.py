"""How well each type is known, and by what names and in which versions it is served.

Beneath `naming`, as every other question rests on whether what is not seen is not there.
"""

from __future__ import annotations

from collections.abc import Iterable

from suture.model.graph.graph import Graph
from suture.model.names import Resource


class Known:
    """The part of the graph's face that speaks of types, and of what was told of them."""

    _graph: Graph

    def resources(self) -> Iterable[Resource]:
        """Return the types that the model was told of, listed or not."""
        return self._graph.freshness.keys()

    def listed(self, resource: Resource) -> bool:
        """Whether a type was listed whole, so that "not there" means it does not exist."""
        fresh = self._graph.freshness.get(resource)
        return fresh is not None and fresh.listed and not fresh.unknown

    def listed_by_a_cluster(self, resource: Resource) -> bool:
        """Whether it was a cluster that listed a type: it says at which version, files do not."""
        fresh = self._graph.freshness.get(resource)
        return fresh is not None and fresh.listed and bool(fresh.resource_version)

    def version(self, row: int) -> str:
        """Return the version in which an object was told last."""
        return self._graph.version(row)

    def told_since(self, resource: Resource) -> str:
        """Return the version from which on the writes of a type were told; empty: not known."""
        fresh = self._graph.freshness.get(resource)
        return fresh.began if fresh is not None else ""

    def unknown(self, resource: Resource) -> str:
        """Return why a type cannot be known, or an empty text where it can."""
        fresh = self._graph.freshness.get(resource)
        return fresh.unknown if fresh is not None else ""

    def crd(self, resource: Resource) -> int | None:
        """Return the row of the definition that serves a custom type; None for built-in types."""
        return next(iter(self._graph.crd_of.get(resource, ())), None)

    def kind(self, group: str, kind: str) -> Resource | None:
        """Return the type that a kind is served as; None where the model was told of none."""
        return self._graph.kinds.get((group, kind))

    def lists_kind(self, group: str, kind: str) -> bool:
        """Whether a kind, as an ownerReference names it, is listed whole."""
        resource = self._graph.kinds.get((group, kind))
        return resource is not None and self.listed(resource)
