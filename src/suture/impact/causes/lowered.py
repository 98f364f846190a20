"""What a parent lets go of, one of whose numbers somebody lowered.

Beside `recent`, which remembers that: by whatever name, the number was as many as the parent had
children of a type, or as many of them as are labelled alike: the workers of a group; or as many as
the pods that its children of types of their own keep for it, as a pool has a set of brokers.
LIMIT: of what was lowered before Suture was there nobody knows.
"""

from __future__ import annotations

from suture.impact.causes.parents import has_idle
from suture.impact.causes.recent import BELOW, group_of, pods_below
from suture.model.graph import GraphView
from suture.model.names import PODS, Resource
from suture.model.objects import ServiceFacts


class Lowered:
    """How many children each parent can spare still, while those that go are told one by one."""

    __slots__ = ("_beyond", "_view")

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._beyond: dict[tuple[int, str], int] = {}

    def lets_go(self, row: int, resource: Resource) -> bool:
        """Whether an object's parent can spare it, which is then this one."""
        view = self._view
        writes = view.history.writes
        parent = view.controller(row) if writes.lowered else -1
        if parent < 0:
            return False
        sizes, group = writes.sizes(view.uid(parent)), str(resource)
        wanted = sizes.get(group)
        # WHY first: hardly any parent had a number lowered, and to read labels costs more.
        if wanted is None and sizes:
            group = group_of(view, row)
            wanted = sizes.get(group)
        if wanted is None:
            return resource == PODS and any(
                self._lets_go_below(owner.row, row)
                for owner in view.owners(parent)
                if owner.present
            )
        if has_idle(view, parent, row, resource):
            return False
        at = parent, group
        if at not in self._beyond:
            self._beyond[at] = self._count(parent, resource, group) - wanted
        self._beyond[at] -= 1
        return self._beyond[at] >= 0

    def _lets_go_below(self, above: int, pod: int) -> bool:
        """Whether what keeps a pod's keeper can spare the pod, which is then this one.

        WHY others where none is to be left: who empties one pool has another to go on with, and who
        empties the last has written a wrong number.
        """
        view = self._view
        wanted = view.history.writes.sizes(view.uid(above)).get(BELOW)
        if wanted is None or view.terminating(above):
            return False
        at = above, BELOW
        if at not in self._beyond:
            self._beyond[at] = pods_below(view, view.staying(view.children_of(above))) - wanted
        if not wanted and not _others_serve(view, pod, self._beyond[at]):
            return False
        self._beyond[at] -= 1
        return self._beyond[at] >= 0

    def _count(self, parent: int, resource: Resource, group: str) -> int:
        """Return how many children of a type a parent has, in a group where it is one."""
        view, of_type = self._view, group == str(resource)
        return sum(
            view.resource(one) == resource and (of_type or group_of(view, one) == group)
            for one in view.staying(view.children_of(parent))
            if not view.terminating(one)
        )


def _others_serve(view: GraphView, pod: int, alike: int) -> bool:
    """Whether every Service that reaches a pod, but its own, reaches more than `alike` pods Ready.

    Its own asks for it by its name.
    """
    name = (view.name(pod),)
    shared = [
        service
        for service in view.services_of(pod)
        if not (
            isinstance(facts := view.facts(service), ServiceFacts)
            and facts.selector is not None
            and any(one.values == name for one in facts.selector.requirements)
        )
    ]
    return bool(shared) and all(view.serving_count(service) > alike for service in shared)
