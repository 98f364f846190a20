"""Ways into the API whose backends a network policy shuts off from the API server.

Beside `admissionpath`, where the backend goes: here it stays Ready, and the calls to it time out.
Source: networking/v1 NetworkPolicy (the API server is no pod, so that no selector of pods lets it
in); the API server's dispatcher, which calls webhooks, APIServices and converters by their Service.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.admission.admissionpath import calling, standing
from suture.impact.effects import AdmissionPathBroken
from suture.impact.scene import Scene
from suture.impact.traffic.networkpolicies import shut_to_api


def shutting_effects(scene: Scene) -> Iterator[AdmissionPathBroken]:
    """Yield the paths behind which no pod would let the API server in any more."""
    for row in shut_to_api(scene):
        for referrer, uses in calling(scene, row):
            yield from standing(scene, row, referrer, uses)
