"""EndpointSlices that go while their Service stays: what nobody writes anew is no longer reached.

Beside `serving`, which counts pods: of a Service without a selector the slices are all there is,
and the controller that would make them again leaves such a Service alone.
Source: endpointslice controller `syncService` (returns for a nil selector).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import ENDPOINT_SLICES
from suture.model.objects import ServiceFacts, SliceFacts


class SlicesLost(msgspec.Struct, frozen=True, gc=False):
    """What one Service loses with its slices."""

    service: int
    lost: int
    explained: bool


def slices_lost(scene: Scene) -> Iterator[SlicesLost]:
    """Yield the Services without a selector that stay while ready targets of theirs go."""
    view, going = scene.view, scene.kinds.get(ENDPOINT_SLICES)
    if not going:
        return
    of_service: dict[int, list[int]] = {}
    for row in going:
        for service, stays in view.targets(row, Edge.SLICE_OF):
            if stays and service not in scene.removed:
                of_service.setdefault(service, []).append(row)
    for service, rows in of_service.items():
        facts = view.facts(service)
        if not isinstance(facts, ServiceFacts) or facts.selector is not None:
            continue
        kept = _ready(scene, [row for row in _slices(scene, service) if row not in scene.removed])
        lost = view.slice_targets(service) - kept
        if lost:
            yield SlicesLost(service, len(lost), all(map(scene.causes.explains, rows)))


def _slices(scene: Scene, service: int) -> list[int]:
    return [one.row for one in scene.view.needed_by(service) if one.edge is Edge.SLICE_OF]


def _ready(scene: Scene, slices: list[int]) -> set[str]:
    found: set[str] = set()
    for row in slices:
        facts = scene.view.facts(row)
        if isinstance(facts, SliceFacts):
            found.update(facts.ready)
    return found
