"""Claims that are hooks of a release or application: deleted before the next one is made.

What a chart has made for the time of its own jobs says so itself, to whoever deploys. Beside what
it says it is asked whether anything else was given the claim meanwhile: a chart that calls the
claim of its application a hook loses the data at the next upgrade, and so many have. Pure.
Source: the hook annotations of Helm and Argo CD, see `ordinary.reissued`.
"""

from __future__ import annotations

from typing import Final

from suture.impact.causes.parents import mounting
from suture.impact.ground.bodies import annotations_of
from suture.impact.ordinary.reissued import goes_first
from suture.impact.scene import Scene
from suture.model.edges import Edge
from suture.model.names import JOBS

_CLAIMED: Final = frozenset({Edge.CLAIM})


def is_spent_hook(scene: Scene, claim: int) -> bool:
    """Whether a claim goes before the next hook, and nobody names it but runs that are over."""
    view = scene.view
    return (
        scene.change.direct == (claim,)
        and goes_first(annotations_of(scene.request.old_body))
        and not mounting(view, claim)
        and all(
            view.resource(use.row) == JOBS for use in view.uses(claim, _CLAIMED) if not use.of_pods
        )
    )
