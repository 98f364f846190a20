"""How any object of a made cluster is written: what the writers of all kinds share.

Between `bodies`, which knows single parts, and the writers, one a family of kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from suture.lab.clusters.bodies import KINDS, Object, encoded, metadata, owner
from suture.lab.clusters.keepers import Keeper, keeper_of
from suture.lab.clusters.lines import Verbatim
from suture.lab.clusters.plan import Plan
from suture.model.names import Gvk, Resource


class Scribe:
    """Writes single objects of a plan, as large as in life or lean."""

    def __init__(self, plan: Plan, *, full: bool) -> None:
        self.plan = plan
        self.full = full
        self._kinds = {**KINDS, **custom_kinds(plan)}
        self._team = {space.name for space in plan.spaces if space.weight}
        self._keepers: dict[str, Keeper] = {}

    def meta(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        owners: Iterable[Object] = (),
        finalizers: Iterable[str] = (),
        kept: bool = False,
    ) -> Object:
        """Return ObjectMeta. `kept`: whoever keeps the namespace wrote the object and marked it."""
        manager = ""
        if kept:
            keeper = self._keeper(namespace)
            manager = keeper.tool.value
            labels = {**(labels or {}), **keeper.labels}
            marks = keeper.annotations(self._kinds[resource], name)
            annotations = {**(annotations or {}), **marks}
        return metadata(
            self.plan, resource, namespace, name,
            labels=labels, annotations=annotations, owners=owners, finalizers=finalizers,
            manager=manager, full=self.full,
        )  # fmt: skip

    def thing(self, resource: Resource, meta: Object, **body: object) -> bytes:
        """Return an object as JSON."""
        return encoded(self._kinds[resource], meta, **body)

    def owner(self, resource: Resource, namespace: str, name: str) -> Object:
        """Return the reference of a dependent to its controller."""
        return owner(self.plan, resource, namespace, name, self._kinds[resource])

    def keepers(self) -> Iterator[Keeper]:
        """Yield who keeps each namespace, in the namespaces' order."""
        return (self._keeper(space.name) for space in self.plan.spaces)

    def _keeper(self, namespace: str) -> Keeper:
        found = self._keepers.get(namespace)
        if found is None:
            platform = namespace not in self._team
            found = keeper_of(self.plan.seed, namespace, platform=platform)
            self._keepers[namespace] = found
        return found


Writer = Callable[[Scribe], Iterator[bytes]]
"""Writes all objects of one kind, in the order in which the API server lists them."""


def custom_kinds(plan: Plan) -> dict[Resource, Gvk]:
    """Return the types that the definitions of a cluster serve."""
    return {
        Resource(spec["group"], spec["names"]["plural"]): Gvk(
            spec["group"], spec["versions"][0]["name"], spec["names"]["kind"]
        )
        for spec in _definitions(plan)
    }


def cluster_scoped_customs(plan: Plan) -> frozenset[Resource]:
    """Return those of them whose objects are in no namespace."""
    return frozenset(
        Resource(spec["group"], spec["names"]["plural"])
        for spec in _definitions(plan)
        if spec["scope"] == "Cluster"
    )


def _definitions(plan: Plan) -> list[Object]:
    found = [line.object for line in plan.lines.of(Verbatim)]
    return [one["spec"] for one in found if one["kind"] == "CustomResourceDefinition"]
