"""Services answered for by hand that are given a selector: by whose pods they are overtaken."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from support.asking import effects, impact_of
from support.cluster import service, thing, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import ServiceEmptied
from suture.impact.traffic.slices import MANAGED_BY, MIRRORING
from suture.model.names import ENDPOINT_SLICES, PODS, SERVICES
from suture.model.objects import ClusterObject

HAND = service("hand", app="")
OLD = body("Service", "hand", metadata={"uid": HAND.uid}, spec={"ports": [{"port": 5432}]})
ALL = {"environment": "production"}


def mirrored(*addresses: str, by: str = MIRRORING) -> ClusterObject:
    labels = {"kubernetes.io/service-name": "hand", MANAGED_BY: by}
    return trimmed(
        ENDPOINT_SLICES,
        body(
            "EndpointSlice",
            "hand-0",
            apiVersion="discovery.k8s.io/v1",
            metadata={"labels": labels},
            endpoints=[{"addresses": [one], "conditions": {"ready": True}} for one in addresses],
        ),
    )


def bearing(name: str) -> list[ClusterObject]:
    """Make a workload whose two pods bear what all of the application bear."""
    return [
        trimmed_pod(one) if one.key.resource == PODS else one for one in workload(name, replicas=2)
    ]


def trimmed_pod(pod: ClusterObject) -> ClusterObject:
    return thing(
        PODS, pod.key.name, "prod", labels={**pod.labels, **ALL}, owners=pod.owners, facts=pod.facts
    )


def emptied(selector: Body, *things: ClusterObject | Iterable[ClusterObject]) -> list[int]:
    """Give the Service a selector; return how many endpoints each Service that is emptied had."""
    view = view_of(HAND, *things)
    request = write(SERVICES, OLD, changed(OLD, spec={**OLD["spec"], "selector": selector}))
    return [one.before for one in effects(impact_of(request, view), ServiceEmptied)]


OUTSIDE = mirrored("192.0.2.1", "192.0.2.2")


def test_several_workloads_are_not_what_the_name_was_given_to() -> None:
    """Whatever bears the common label answers from then on."""
    assert emptied(ALL, OUTSIDE, bearing("web"), bearing("api")) == [2]


@pytest.mark.parametrize(
    ("selector", "things"),
    [
        pytest.param({"app": "db"}, [OUTSIDE, bearing("db"), bearing("web")], id="one workload"),
        pytest.param(ALL, [bearing("web"), bearing("api")], id="it led nowhere"),
        pytest.param(
            ALL,
            [mirrored("192.0.2.1", by="me"), bearing("web"), bearing("api")],
            id="a slice stays",
        ),
    ],
)
def test_what_overtakes_nothing(
    selector: Body, things: list[ClusterObject | list[ClusterObject]]
) -> None:
    """One workload may have taken the place of what was outside."""
    assert emptied(selector, *things) == []
