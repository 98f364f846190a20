"""How many pods are to stand behind a Service, as the controllers of those that do want it. Pure.

Apart from `serving`, which counts those that are there.
"""

from __future__ import annotations

from suture.model.graph import GraphView
from suture.model.objects import WorkloadFacts


def declared_size(view: GraphView, row: int) -> int:
    """Return how many pods the controllers behind a Service want in all; bare pods count as one."""
    size, makers = 0, set[int]()
    for kind in view.classes_selected(row):
        pod = view.one_alike(kind)
        if pod < 0:
            continue
        maker = view.controller(pod)
        if maker < 0:
            size += len(view.pods_alike(kind))
        elif maker not in makers:
            makers.add(maker)
            facts = view.facts(maker)
            wants = facts.replicas if isinstance(facts, WorkloadFacts) else None
            size += 1 if wants is None else _of_role(view, row, maker, wants)
    return size


def _of_role(view: GraphView, service: int, maker: int, wants: int) -> int:
    """Return how many of the pods that a maker wants a Service is there for.

    All, but for one that selects a role: of the members of a database it reaches the first alone,
    and nobody ever declared two of those.
    """
    borne = {
        kind
        for kind in view.classes_selected(service)
        if (one := view.one_alike(kind)) >= 0 and view.controller(one) == maker
    }
    # WHY first: of 500 pods in one class, none has to be counted.
    if all(kind in borne for kind in view.classes_owned(maker) if view.one_alike(kind) >= 0):
        return wants
    return min(wants, sum(len(view.pods_alike(kind)) for kind in borne))
