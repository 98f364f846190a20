"""Endpoints that a Service knows by a label which the template of their pods does not have.

Beside `serving`: it was put on a pod that runs, as the role of a member or by hand, and a rollout
makes the next pod without it. Whoever put it there may do so again or not.
Source: apps/v1 (the pods of a template have its labels, and those that its controller gives them).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from suture.impact.effects import Confidence, EndpointsLost
from suture.impact.ground.change import Rewritten
from suture.impact.ground.stamps import rolls_out
from suture.impact.scene import Scene
from suture.model.graph import GraphView
from suture.model.names import REPLICA_SETS
from suture.model.objects import ServiceFacts
from suture.model.podtemplate import rollout_of

BY_CONTROLLER: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "controller-revision-hash",
        "pod-template-generation",
        "pod-template-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)
"""Labels that controllers give the pods of a template. SOURCE: apps/v1, its label constants."""


def beyond_template(scene: Scene, made: Rewritten, but: Collection[int]) -> Iterable[EndpointsLost]:
    """Yield what Services, none of `but`, lose at most to a rollout for such a label.

    WHY explained, and never empty: roles follow within seconds, and most such labels are roles. Of
    labels that a template loses itself `selection` tells.
    """
    if made.row is None or not rolls_out(scene.request, made):
        return
    old, new = rollout_of(scene.request.old_body).labels, rollout_of(scene.request.new_body).labels
    if not (old and new):
        return
    view, lost = scene.view, dict[int, int]()
    for kind in view.classes_controlled(made.row, REPLICA_SETS):
        serving, pod = scene.running(kind)[1], view.one_alike(kind)
        if not serving:
            continue
        given = {key: value for key, value in view.labels(pod).items() if key in BY_CONTROLLER}
        for service in view.services_of(pod):
            if service not in but and not (
                _reaches(view, service, {**given, **old})
                or _reaches(view, service, {**given, **new})
            ):
                lost[service] = lost.get(service, 0) + serving
    for service, count in sorted(lost.items()):
        before = view.serving_count(service)
        yield EndpointsLost(
            service=scene.victim(service),
            before=before,
            after=max(0, before - count),
            peak=before + view.leaving_endpoints(service),
            self_healing=False,
            explained=True,
            confidence=Confidence.BOUNDED,
        )


def _reaches(view: GraphView, service: int, labels: Mapping[str, str]) -> bool:
    facts = view.facts(service)
    return (
        isinstance(facts, ServiceFacts)
        and facts.selector is not None
        and facts.selector.matches(labels)
    )
