"""Webhooks, APIServices and conversions that a write leads to a Service that cannot answer.

Beside `admissionpath`, where the backend goes: here the path does, and the calls fail alike. What
did not work before is not told of, nor what is new: an installation comes before its pods, but not
before its namespace.
Source: admissionregistration/v1 and apiextensions/v1 clientConfig, apiregistration/v1 APIService
(one without a Service is answered by the API server itself).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.admission.admissionpath import CALLING, broken_path, uses_of
from suture.impact.admission.apipaths import Use
from suture.impact.effects import AdmissionPathBroken
from suture.impact.ground.bars import answering
from suture.impact.ground.change import Change, Rewritten
from suture.impact.scene import Scene, victim_of
from suture.model.graph import GraphView
from suture.model.names import NAMESPACES, ObjectKey
from suture.model.objects import ApiServiceFacts, ClusterObject, CrdFacts

NEEDED_NONE: Final = -1
"""Ready endpoints of a path that worked without any: answered by the API server, or by URL."""


def leads_elsewhere(change: Change) -> bool:
    """Whether a change rewrites what leads API calls to a Service."""
    made = change.rewritten
    return made is not None and made.before is not None and made.after.key.resource in CALLING


def leading_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the paths that worked and are led to a Service without a ready endpoint."""
    made = scene.change.rewritten
    if made is None or made.before is None or made.after.terminating:
        return
    view = scene.view
    for use in uses_of(made.after):
        before = _before(view, made, made.before, use)
        if before == 0 or answering(view, use.service):
            continue
        if isinstance(made.after.facts, CrdFacts):
            if not converts(view, made.after.facts):
                continue
            # WHY not as one whose backend is still to come: no install puts it there later.
            if view.find(ObjectKey(NAMESPACES, "", use.service.namespace)) is None:
                before = 0
        row = view.service(use.service)
        source = victim_of(made.after)
        yield broken_path(
            scene, use, row, source=source, before=before, removed=row is None, led=True
        )


def _before(view: GraphView, made: Rewritten, old: ClusterObject, use: Use) -> int:
    """Return the ready endpoints that a path had; 0 too where it is new, or led there already."""
    known = {one.path: one for one in uses_of(old)}
    had = known.get(use.path)
    if had is not None:
        return 0 if had.service == use.service else answering(view, had.service)
    if isinstance(made.after.facts, (ApiServiceFacts, CrdFacts)):
        return NEEDED_NONE
    return 0


def converts(view: GraphView, facts: CrdFacts) -> bool:
    """Whether anything is there to be converted from one version to another."""
    return len({*facts.served_versions, *facts.stored_versions}) > 1 and bool(
        view.count(facts.resource)
    )
