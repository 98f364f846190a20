"""EndpointSlices that go or are rewritten while their Service stays: what nobody writes anew.

Beside `serving`, which counts pods: of a Service without a selector the slices are all there is,
and the controller that would make them again leaves such a Service alone. Endpoints that somebody
keeps by hand are mirrored into slices, and stand for those.
Source: endpointslice controller `syncService` (returns for a nil selector); the mirroring
controller (one set of slices for each Endpoints without a selector behind it).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.ground.cascade import ENDPOINTS
from suture.impact.ground.change import Change, Rewritten
from suture.impact.ground.endpoints import (
    endpoint_pods,
    endpoint_targets,
    endpoints_not_ready,
)
from suture.impact.ordinary.roles import steps_back
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.graph import GraphView
from suture.model.names import ENDPOINT_SLICES, PODS, SERVICES, ObjectKey
from suture.model.objects import ClusterObject, ServiceFacts, SliceFacts

MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
MIRRORING: Final = "endpointslicemirroring-controller.k8s.io"
"""SOURCE: k8s.io/endpointslice, the label of the slices that mirror Endpoints."""


class SlicesLost:
    """What one Service loses with its slices."""

    __slots__ = ("explained", "lost", "service")

    def __init__(self, service: int, lost: int, *, explained: bool) -> None:
        self.service, self.lost, self.explained = service, lost, explained


def slices_lost(scene: Scene) -> Iterator[SlicesLost]:
    """Yield the Services without a selector that stay while ready targets of theirs go."""
    made, going = scene.change.rewritten, scene.kinds.get(ENDPOINT_SLICES, ())
    of_service: dict[int, list[int]] = {}
    for row in going:
        for service, stays in scene.view.targets(row, Edge.SLICE_OF):
            if stays and service not in scene.removed:
                of_service.setdefault(service, []).append(row)
    for service, rows in of_service.items():
        if _by_hand(scene.view, service):
            had = scene.view.slice_targets(service)
            kept = _ready(scene.view, _slices(scene, service))
            if len(kept) < len(had):
                explained = all(map(scene.causes.explains, rows))
                yield SlicesLost(service, len(had) - len(kept), explained=explained)
    if made is not None and _is_slice(scene.change):
        yield from _rewritten(scene, made)


def _is_slice(change: Change) -> bool:
    made = change.rewritten
    return (
        made is not None
        and not change.direct
        and made.before is not None
        and made.after.key.resource in {ENDPOINT_SLICES, ENDPOINTS}
    )


def _rewritten(scene: Scene, made: Rewritten) -> Iterator[SlicesLost]:
    """Yield the Services of which a write takes more ready targets than it brings."""
    view = scene.view
    for service in _services_of(view, made):
        if not _by_hand(view, service):
            continue
        slices = [row for row in _slices(scene, service) if row != made.row]
        if made.after.key.resource == ENDPOINTS:
            slices = [row for row in slices if view.labels(row).get(MANAGED_BY) != MIRRORING]
            new = endpoint_targets(scene.request.new_body)
        else:
            new = _listed(view, made.after, service)
        had, has = view.slice_targets(service), _ready(view, slices) | new
        if len(has) < len(had):
            explained = (
                all(_gone(view, one) for one in had - has)
                or _steps_back(scene, made)
                or _told_unready(scene, made, had - has)
            )
            yield SlicesLost(service, len(had) - len(has), explained=explained)


def _services_of(view: GraphView, made: Rewritten) -> list[int]:
    """Return the Services whose slice, or Endpoints, an object was."""
    if made.after.key.resource == ENDPOINTS:
        key = made.after.key
        service = view.find(ObjectKey(SERVICES, key.namespace, key.name))
        return [] if service is None else [service]
    # WHY not what mirrors: the controller writes it again as the Endpoints say.
    if made.row is None or view.labels(made.row).get(MANAGED_BY) == MIRRORING:
        return []
    return [service for service, stays in view.targets(made.row, Edge.SLICE_OF) if stays]


def _listed(view: GraphView, one: ClusterObject, service: int) -> set[str]:
    """Return the ready targets that a slice lists, where it is still one of the Service."""
    facts = one.facts
    if not isinstance(facts, SliceFacts) or facts.service != view.name(service):
        return set()
    return set(facts.ready)


def _gone(view: GraphView, target: str) -> bool:
    """Whether a target is a pod that does not serve: to take it out says what is so."""
    pod = view.find_uid(target)
    return pod is not None and view.resource(pod) == PODS and not view.serves(pod)


def _steps_back(scene: Scene, made: Rewritten) -> bool:
    """Whether those whom Endpoints list take themselves out: the next leader writes itself in."""
    key = made.after.key
    if key.resource != ENDPOINTS:
        return False
    names = endpoint_pods(scene.request.old_body)
    pods = [scene.view.find(ObjectKey(PODS, key.namespace, name)) for name in names]
    found = [pod for pod in pods if pod is not None]
    return len(found) == len(pods) and steps_back(scene, found)


def _told_unready(scene: Scene, made: Rewritten, lost: set[str]) -> bool:
    """Whether who keeps Endpoints says of addresses outside the cluster that they do not answer.

    They stay listed, as not ready: so does who looks after them, and traffic goes elsewhere. WHY
    the one who made them: another may not know.
    """
    row = made.row
    if made.after.key.resource != ENDPOINTS or row is None:
        return False
    made_by = scene.view.history.created_by(scene.view.uid(row))
    if made_by != scene.actor.user.username:
        return False
    return lost <= endpoints_not_ready(scene.request.new_body)


def _by_hand(view: GraphView, service: int) -> bool:
    facts = view.facts(service)
    return isinstance(facts, ServiceFacts) and facts.selector is None


def _slices(scene: Scene, service: int) -> list[int]:
    """Return the slices of a Service that stay."""
    return [
        one.row
        for one in scene.view.needed_by(service)
        if one.edge is Edge.SLICE_OF and one.row not in scene.removed
    ]


def _ready(view: GraphView, slices: list[int]) -> set[str]:
    found: set[str] = set()
    for row in slices:
        facts = view.facts(row)
        if isinstance(facts, SliceFacts):
            found.update(facts.ready)
    return found
