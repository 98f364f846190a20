"""Smaller sizes that are meant, whoever asks for what the pods are behind: asked in two places.

Beside `causes.sizes`, which goes by what is wanted: here what is done tells it. Pure.
"""

from __future__ import annotations

from suture.impact.ground.change import Resized
from suture.impact.ordinary.delivery import answered_meanwhile
from suture.impact.ordinary.paused import sleeps_by_plan
from suture.impact.ordinary.scaledby import sized_by_own
from suture.impact.ordinary.stopping import stops_for_next
from suture.impact.scene import Scene


def is_meant(scene: Scene, resized: Resized) -> bool:
    """Whether a workload shrinks as its next serves, to start anew, to sleep or as traffic ebbs."""
    return (
        answered_meanwhile(scene, resized)
        or stops_for_next(scene, resized)
        or sleeps_by_plan(scene, resized)
        or sized_by_own(scene, resized)
    )
