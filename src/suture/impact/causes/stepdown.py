"""Workloads that a custom resource wants smaller since one of its numbers was lowered.

Beside `lowered`, which counts children: here a child is a workload, and the number was its size, by
whatever name. Its operator goes there member by member, and each step on the way asks for more than
the parent does. Believed only where no other workload of the parent had that size. Pure;
remembered by `recent`.
"""

from __future__ import annotations

from collections.abc import Iterable

from suture.model.graph import GraphView
from suture.model.objects import WorkloadFacts


def note_size(
    view: GraphView, parent: int, children: Iterable[int], before: int, after: int
) -> None:
    """Remember that a parent's number was lowered which was the size of one of its workloads."""
    sized = [
        one
        for one in children
        if isinstance(facts := view.facts(one), WorkloadFacts) and facts.replicas == before
    ]
    if len(sized) == 1:
        view.history.writes.note_fewer(view.uid(parent), _size_of(view, sized[0]), after)


def lowered_to(view: GraphView, parent: int, row: int) -> int:
    """Return how many pods a parent wants of a workload since that was lowered; 0 if it was not."""
    sizes = view.history.writes.sizes(view.uid(parent))
    return sizes.get(_size_of(view, row), 0) if sizes else 0


def _size_of(view: GraphView, row: int) -> str:
    return f"size of {view.uid(row)}"
