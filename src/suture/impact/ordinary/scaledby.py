"""Autoscalers of a kind of their own: who runs them sets the sizes that they decide.

Beside `sizes`, which goes by the bounds of autoscalers that are known. Of others each says in its
own way what it goes by, and writes it into its status, or goes by the clock; all call the workload
that they size as Kubernetes' own do. So whoever may run the type is believed, of those alone, and
not of what too many let go together. Pure.
LIMIT: a service account is believed as long as nobody is known to run the type.
Source: autoscaling/v2 `scaleTargetRef`.
"""

from __future__ import annotations

from suture.impact.causes.together import cut_together
from suture.impact.ground.change import Resized
from suture.impact.ordinary.keepers import keeps
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.facts import AutoscalerFacts


def sized_by_own(scene: Scene, resized: Resized) -> bool:
    """Whether an autoscaler that may be the actor's sizes a workload, of whatever bounds."""
    view = scene.view
    if resized.asked:
        return False
    return any(
        not isinstance(view.facts(one), AutoscalerFacts)
        and not view.terminating(one)
        and keeps(scene, view.resource(one)) is not False
        for one in view.sources(resized.row, Edge.SCALES)
    ) and not cut_together(view, scene.actor.user.username, resized, scene.now)
