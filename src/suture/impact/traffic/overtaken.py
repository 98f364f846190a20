"""Services that somebody answers for by hand, and that come to select whatever is at hand.

Beside `selection`, which counts who is selected: here are enough, and none of them is what the name
was given to. A label that all parts of an application bear is written into every selector, also of
a Service that had none, and what it led to is overwritten by the controller of endpoints. Told by
who is selected: one workload may well have taken the place of what was outside, several have not.
LIMIT: of Endpoints. A slice that is written by hand stays, and the others come beside it.
Source: core/v1 ServiceSpec, Services without selectors; the controllers of endpoints and of slices
that mirror them; Kustomize, `commonLabels`.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.effects import ServiceEmptied
from suture.impact.ground.change import Change
from suture.impact.ordinary.roles import root_of
from suture.impact.scene import Scene
from suture.impact.traffic.choosing import matched
from suture.impact.traffic.slices import MANAGED_BY, MIRRORING
from suture.model.edges import Edge
from suture.model.names import SERVICES
from suture.model.objects import EXTERNAL_NAME, ServiceFacts
from suture.model.references import selections


def begins_to_select(change: Change) -> bool:
    """Whether a Service that selects nobody is given a selector."""
    made = change.rewritten
    if made is None or made.before is None or made.after.key.resource != SERVICES:
        return False
    old, new = made.before.facts, made.after.facts
    return (
        isinstance(old, ServiceFacts)
        and isinstance(new, ServiceFacts)
        and old.selector is None
        and new.selector is not None
        and EXTERNAL_NAME not in (old.type, new.type)
    )


def overtaken_effects(scene: Scene) -> Iterator[ServiceEmptied]:
    """Yield a Service whose endpoints would be those of several workloads, and none of its own."""
    view, made = scene.view, scene.change.rewritten
    if made is None or made.row is None:
        return
    own = view.ready_endpoints(made.row)
    slices = view.sources(made.row, Edge.SLICE_OF)
    if not own or any(view.labels(one).get(MANAGED_BY) != MIRRORING for one in slices):
        return
    pods = matched(view, selections(made.after))
    if not own.isdisjoint(map(view.uid, pods)):
        return
    makers = {root_of(view, pod) for pod in {view.alike(pod): pod for pod in pods}.values()}
    if len(makers) > 1:
        yield ServiceEmptied(
            service=scene.victim(made.row),
            before=len(own),
            self_healing=False,
            declared=len(own),
        )
