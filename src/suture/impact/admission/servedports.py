"""Ways into the API that are called at a port of a Service, which the Service would have no more.

Beside `admissionpath`, where the Service goes or is emptied: here it stays, with pods behind it,
and the calls fail alike. WHY no routes: whoever applies a Service and its Ingress writes the
Service first, so that a port that moves would be refused on its way.
Source: the API server's service resolver (the port has to be one of the Service's).
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.admission.admissionpath import calling, standing
from suture.impact.effects import AdmissionPathBroken
from suture.impact.ground.change import Change
from suture.impact.ordinary.hands import of_one_hand
from suture.impact.scene import Scene
from suture.model.names import SERVICES
from suture.model.objects import ServiceFacts


def closes_ports(change: Change) -> bool:
    """Whether a change takes ports from a Service."""
    return bool(_closed(change))


def _closed(change: Change) -> frozenset[str]:
    made = change.rewritten
    if made is None or made.before is None or made.after.key.resource != SERVICES:
        return frozenset()
    old, new = made.before.facts, made.after.facts
    if not isinstance(old, ServiceFacts) or not isinstance(new, ServiceFacts):
        return frozenset()
    return frozenset(old.ports).difference(new.ports)


def port_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the paths that are called at a port which the Service would have no more.

    Not those of the hand that writes the Service: they are led to another port next.
    """
    made, view = scene.change.rewritten, scene.view
    row = made.row if made is not None else None
    if made is None or row is None or row in scene.removed or not view.serving_count(row):
        return
    closed = _closed(scene.change)
    for referrer, uses in calling(scene, row):
        broken = [use for use in uses if f"{use.port}/TCP" in closed]
        if not broken or view.terminating(referrer) or of_one_hand(scene, [row, referrer]):
            continue
        yield from standing(scene, row, referrer, broken)
