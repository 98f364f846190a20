"""Which Services a smaller size takes ready pods from, as far as it is known which pods go.

Beside `serving`, which charges the loss. A StatefulSet lets go of its last members, by their
numbers. Who asks a custom resource for fewer leaves it to its operator which of them go, and that
keeps one that bears a role, or gives the role to another first. Of other workloads it is not known.
Source: StatefulSet controller (surplus members go, the highest number first).
"""

from __future__ import annotations

from suture.impact.causes.explained import held_up
from suture.impact.ground.change import Resized
from suture.impact.ground.kinds import is_custom
from suture.impact.scene import Scene
from suture.impact.shed import PODS_ASKED, last_members
from suture.model.graph import GraphView
from suture.model.names import PODS, REPLICA_SETS, STATEFUL_SETS, ObjectKey


class Taken:
    """What one Service loses at most; `exact` where it is known that it loses so many."""

    __slots__ = ("exact", "lost", "service")

    def __init__(self, service: int, lost: int, *, exact: bool) -> None:
        self.service, self.lost, self.exact = service, lost, exact


def taken_from_services(scene: Scene, resized: Resized) -> tuple[list[Taken], bool]:
    """Return what a workload that shrinks takes from Services, and whether none can come anew."""
    view, reached = scene.view, dict[int, dict[int, int]]()
    total, barred = 0, False
    for kind in view.classes_controlled(resized.row, REPLICA_SETS):
        serving = scene.running(kind)[1]
        if not serving:
            continue
        total += serving
        pod = view.one_alike(kind)
        barred |= scene.causes.barred(pod)
        for service in view.services_of(pod):
            reached.setdefault(service, {})[kind] = serving
    last = _last_members(view, resized)
    if last is not None:
        return _of_members(view, last), barred
    surplus = total - resized.after
    if surplus <= 0:
        return [], barred
    counts = {service: sum(kinds.values()) for service, kinds in reached.items()}
    custom = resized.asked or is_custom(view.resource(resized.row))
    # WHY all of them of others: a Service that selects a part of the pods may lose all of that.
    lost = (
        _kept_in_roles(reached, counts, resized.after)
        if custom
        else {service: min(surplus, count) for service, count in counts.items()}
    )
    waits = held_up(view, resized.row, resized.after)
    return [
        Taken(service, lost[service], exact=not waits and total in {surplus, count})
        for service, count in counts.items()
        if lost[service]
    ], barred


def left_ready(scene: Scene, resized: Resized) -> int | None:
    """Return how many members that a StatefulSet keeps are Ready; None where it is not known.

    Those go that have the highest numbers, whichever of them are away: who asks for fewer may mean
    one of those that stay.
    """
    if not 0 < resized.after < resized.before:
        return None
    view, last = scene.view, _last_members(scene.view, resized)
    if last is None:
        return None
    kinds = view.classes_controlled(resized.row, REPLICA_SETS)
    return sum(scene.running(kind)[1] for kind in kinds) - sum(map(view.serves, last))


def _kept_in_roles(
    reached: dict[int, dict[int, int]], counts: dict[int, int], after: int
) -> dict[int, int]:
    """Return what each Service loses where an operator keeps `after` pods, the rarest role first.

    Shapes: `reached` is how many pods of each class are Ready behind each Service, `counts` their
    sums. One pod that several Services reach is kept once.
    """
    kept: dict[int, int] = {}
    room, lost = after, dict[int, int]()
    for service in sorted(counts, key=lambda one: (counts[one], one)):
        for kind, ready in reached[service].items():
            more = min(ready - kept.get(kind, 0), room)
            kept[kind] = kept.get(kind, 0) + more
            room -= more
        lost[service] = counts[service] - sum(kept[kind] for kind in reached[service])
    return lost


def _last_members(view: GraphView, resized: Resized) -> list[int] | None:
    """Return the members that a StatefulSet lets go of; None where it is not known which.

    WHY the first one is looked up: members may be counted from another number than nothing.
    """
    row, going = resized.row, resized.before - resized.after
    # WHY not many: of more than are looked up, any may go.
    if resized.asked or view.resource(row) != STATEFUL_SETS or going > PODS_ASKED:
        return None
    key = view.key(row)
    first = view.find(ObjectKey(PODS, key.namespace, f"{key.name}-0"))
    if first is None or view.controller(first) != row or held_up(view, row, resized.after):
        return None
    return last_members(view, resized)


def _of_members(view: GraphView, members: list[int]) -> list[Taken]:
    lost: dict[int, int] = {}
    for pod in members:
        if view.serves(pod):
            for service in view.services_of(pod):
                lost[service] = lost.get(service, 0) + 1
    return [Taken(service, count, exact=True) for service, count in lost.items()]
