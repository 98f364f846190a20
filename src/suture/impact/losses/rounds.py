"""Consequences of consequences: pods that come back unless the way back is broken by the change.

A Service goes, the fail-closed webhook behind it with it, and pods that a controller would bring
back cannot be created: what looked like a dip lasts, and may empty further Services.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from msgspec.structs import replace

from suture.impact.admission.admissionpath import admission_effects, bars
from suture.impact.effects import AdmissionPathBroken, Confidence, Effect, Victim
from suture.impact.scene import Scene
from suture.impact.traffic.routes import route_effects
from suture.impact.traffic.serving import ServingEffect, serving_effects
from suture.impact.workloads.podloss import pod_effects

ROUNDS: Final = 3
"""LIMIT: times that a broken path may make more Services stay empty, and these break more paths:
no cluster seen has a webhook behind a webhook behind a webhook. What lies deeper is told as a dip
where it is a loss."""


def reach_effects(scene: Scene) -> list[Effect]:
    """Return what a change does to paths, Services, routes and pods, in this order."""
    dips = serving = serving_effects(scene)
    broken = admission_effects(scene, serving)
    raced = {(one.effect.source, one.effect.path) for one in broken if one.races}
    stays = [one for one in broken if one.stays]
    for _ in range(ROUNDS):
        barred = bars(scene, stays)
        if barred is None:
            break
        scene.causes.bar(barred)
        serving = serving_effects(scene)
        broken = admission_effects(scene, serving)
        more = [one for one in broken if one.stays]
        if len(more) == len(stays):
            break
        stays = more
    found: list[Effect] = [one.effect for one in broken]
    if raced:
        serving = _bounded(serving, dips) if len(raced) == len(stays) else serving
        found = [_maybe(one.effect, raced) for one in broken]
    found += serving
    found += route_effects(scene, serving)
    found += pod_effects(scene)
    return found


def _maybe(effect: AdmissionPathBroken, raced: Collection[tuple[Victim, str]]) -> Effect:
    """Say of a path that only its own next pods could keep that it may break.

    WHY: a pod that is asked to go serves for a while, and the one in its place is asked for at
    once. Who is first, nobody knows before; both are seen.
    """
    if (effect.source, effect.path) not in raced:
        return effect
    return replace(effect, confidence=Confidence.BOUNDED)


def _bounded(
    serving: Iterable[ServingEffect], dips: Iterable[ServingEffect]
) -> list[ServingEffect]:
    """Say of Services that would come back, were it not for such a path, that they may not."""
    back = {one.service for one in dips if one.self_healing}
    return [
        replace(one, confidence=Confidence.BOUNDED)
        if one.service in back and not one.self_healing
        else one
        for one in serving
    ]
