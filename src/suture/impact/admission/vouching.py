"""Webhooks, APIServices and conversions for whose certificate nobody would vouch any more.

Beside `leading`, where a path comes to lead elsewhere: here it leads where it did, to pods that
answer, and the API server hangs up on them, since no authority it knows has signed for them.
Source: `caBundle` of admissionregistration/v1 and apiextensions/v1 clientConfig and of
apiregistration/v1 APIService: without it the authorities of the API server's machine are asked,
which know nothing of a Service's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from suture.impact.admission.admissionpath import broken_path, uses_of
from suture.impact.admission.leading import converts
from suture.impact.effects import AdmissionPathBroken
from suture.impact.ground.bars import answering
from suture.impact.ground.bodies import annotations_of, trusting
from suture.impact.scene import Scene, victim_of
from suture.model.objects import CrdFacts

INJECTED: Final = ("inject-ca", "inject-apiserver-ca")
"""How the names of annotations begin, after their prefix, by which somebody is asked to write the
authority into an object: within a moment it is there again."""


def vouching_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the paths that work and would have no authority any more."""
    made = scene.change.rewritten
    if made is None or made.before is None or made.after.terminating:
        return
    lost = trusting(scene.request.old_body) - trusting(scene.request.new_body)
    if not lost:
        return
    view, facts = scene.view, made.after.facts
    if isinstance(facts, CrdFacts) and not converts(view, facts):
        return
    known = {one.path: one.service for one in uses_of(made.before)}
    injected = any(
        name.rpartition("/")[2].startswith(INJECTED)
        for name in annotations_of(scene.request.new_body)
    )
    for use in uses_of(made.after):
        path = use.path if use.hook is not None else ""
        before = answering(view, use.service)
        if path not in lost or known.get(use.path) != use.service or not before:
            continue
        yield broken_path(
            scene, use, None if injected else view.service(use.service),
            source=victim_of(made.after), before=before, healing=injected,
            calls=f"{use.calls} (its `caBundle` would be empty)",
        )  # fmt: skip
