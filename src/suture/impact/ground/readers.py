"""Who names an object, who reaches pods, how many are Ready: asked of classes, not of each pod."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import Final

from suture.model.edges import Edge
from suture.model.graph import GraphView, Use
from suture.model.names import REPLICA_SETS

ANY_NEED: Final = frozenset(Edge)


def reading(view: GraphView, row: int) -> list[Use]:
    """Return who names an object among the running pods: each class once for each way."""
    return [
        use
        for use in view.uses(row, ANY_NEED)
        if use.of_pods and view.running_alike(use.row)[0] > 0
    ]


def count_of(view: GraphView, uses: Collection[Use]) -> int:
    """Return how many running pods name an object, each counted once."""
    kinds = {use.row for use in uses}
    return sum(view.running_alike(kind)[0] for kind in kinds)


def one_of_each(view: GraphView, kinds: Iterable[int]) -> list[int]:
    """Return some pod of each class of some that has any."""
    return [pod for pod in map(view.one_alike, kinds) if pod >= 0]


def services_reaching(view: GraphView, kinds: Iterable[int]) -> list[int]:
    """Return the Services that reach pods of some classes, each once."""
    pods = one_of_each(view, kinds)
    return list(dict.fromkeys(one for pod in pods for one in view.services_of(pod)))


def is_read(view: GraphView, row: int, needs: Collection[Edge] = ANY_NEED) -> bool:
    """Whether a pod that is not finished names an object for one of some reasons, or is its own."""
    named = (use.row for use in view.uses(row, needs) if use.of_pods)
    owned = view.classes_owned(row) if Edge.OWNER in needs else ()
    return any(
        not view.finished(pod) for kind in chain(named, owned) for pod in view.pods_alike(kind)
    )


def ready_of(view: GraphView, workload: int) -> int:
    """Return how many pods of a workload, or of ReplicaSets that it owns, are Ready."""
    return sum(map(view.serving_alike, view.classes_controlled(workload, REPLICA_SETS)))
