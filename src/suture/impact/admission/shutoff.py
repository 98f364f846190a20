"""Ways into the API whose backends a network policy shuts off from the API server.

Beside `admissionpath`, where the backend goes: here it stays Ready, and the calls to it time out.
Source: networking/v1 NetworkPolicy (the API server is no pod, so that no selector of pods lets it
in); the API server's dispatcher, which calls webhooks, APIServices and converters by their Service.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.admission.admissionpath import CALLING, in_vain, standing, uses_of
from suture.impact.effects import AdmissionPathBroken
from suture.impact.scene import Scene
from suture.impact.traffic.networkpolicies import shut_off
from suture.model.objects import ServiceRef


def shutting_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the paths behind which no pod would let the API server in any more."""
    view = scene.view
    for row in shut_off(scene):
        key = view.key(row)
        ref = ServiceRef(key.namespace, key.name)
        for referrer in view.referrers(row):
            if referrer in scene.removed or view.resource(referrer) not in CALLING:
                continue
            source = view.at(referrer)
            for use in uses_of(source):
                if use.service == ref and not in_vain(view, source):
                    path = standing(scene, row, referrer, use)
                    if path is not None:
                        yield path
