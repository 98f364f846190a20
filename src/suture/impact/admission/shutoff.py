"""What a policy shuts off though it stays Ready: ways into the API, routes, members of sets.

Beside `scope`, which tells what every pod would lose: here it is known who calls whom. Of a way
into the API the backend stays Ready, and the calls to it time out.
Source: networking/v1 NetworkPolicy (the API server is no pod, so that no selector of pods lets it
in); the API server's dispatcher, which calls webhooks, APIServices and converters by their Service.
"""

from __future__ import annotations

from collections.abc import Iterator

from suture.impact.admission.admissionpath import calling, standing
from suture.impact.effects import AdmissionPathBroken, QuorumLost, RouteBroken
from suture.impact.scene import Scene
from suture.impact.traffic.frontdoors import door_effects
from suture.impact.traffic.networkpolicies import shut_to_api
from suture.impact.traffic.parted import parted_effects
from suture.impact.traffic.policyreach import reaches_of


def shutting_effects(scene: Scene) -> Iterator[AdmissionPathBroken | RouteBroken | QuorumLost]:
    """Yield what is not reached any more by who calls it.

    WHY together: a policy of the whole cluster reaches into each namespace.
    """
    reaches = reaches_of(scene)
    for row in shut_to_api(scene, reaches):
        for referrer, uses in calling(scene, row):
            yield from standing(scene, row, referrer, uses)
    yield from door_effects(scene, reaches)
    yield from parted_effects(scene, reaches)
