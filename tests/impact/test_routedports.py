"""Ports of a Service that Ingresses of another hand lead to."""

from __future__ import annotations

from typing import Any

import pytest

from support.asking import effects, impact_of
from support.cluster import START, operator, view_of, workload
from support.writes import Body, body, trimmed, write
from suture.impact.effects import EntriesDropped
from suture.model.names import INGRESSES, SERVICES

RELEASE = {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "prod"}
OTHER = {"meta.helm.sh/release-name": "edge", "meta.helm.sh/release-namespace": "prod"}
BY = operator("system:serviceaccount:delivery:deployer")
HTTP, NEXT = {"name": "http", "port": 80}, {"name": "web", "port": 8080}


def front(*ports: Body, notes: Body = RELEASE) -> Body:
    spec = {"selector": {"app": "web"}, "ports": [*ports]}
    return body("Service", "web", spec=spec, metadata={"annotations": notes})


def routed(*ports: Body, notes: Body = {}, service: str = "web", **more: Any) -> Body:  # noqa: B006 read
    """Make an Ingress that leads to some ports of a Service."""
    paths = [{"backend": {"service": {"name": service, "port": port}}} for port in ports]
    spec = {"rules": [{"host": "web.example.com", "http": {"paths": paths}}]}
    version = "networking.k8s.io/v1"
    return body(
        "Ingress", "web", apiVersion=version, spec=spec, metadata={"annotations": notes, **more}
    )


def told(
    old: Body, new: Body, route: Body, *, replicas: int = 2, made_by: str = ""
) -> list[EntriesDropped]:
    led = trimmed(INGRESSES, route)
    view = view_of(trimmed(SERVICES, old), workload("web", replicas=replicas), led)
    if made_by:
        view.history.note_created(led.uid, made_by, made_by, led.key, START)
    return effects(impact_of(write(SERVICES, old, new, by=BY), view, by=BY), EntriesDropped)


@pytest.mark.parametrize(
    ("port", "after"),
    [
        pytest.param({"name": "http"}, NEXT, id="by-name"),
        pytest.param({"number": 80}, NEXT, id="by-number"),
        pytest.param({"name": "http"}, {"name": "web", "port": 80}, id="only-called-otherwise"),
    ],
)
@pytest.mark.parametrize("notes", [{}, OTHER])
def test_an_ingress_of_another_hand_leads_to_a_port_that_goes(
    port: Body, after: Body, notes: Body
) -> None:
    """A chart calls its port otherwise; the Ingress was kept beside it, or by another release."""
    (found,) = told(front(HTTP), front(after), routed(port, notes=notes))

    assert found.critical
    assert (found.field, found.before, found.dropped) == ("spec.ports", 1, 1)
    assert found.entries == (str(port.get("name", 80)),)


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(routed({"name": "web"}), id="names-the-next"),
        pytest.param(routed({"name": "http"}, notes=RELEASE), id="of-one-release"),
        pytest.param(routed({"name": "http"}, service="api"), id="of-another-service"),
        pytest.param(
            routed({"name": "http"}, deletionTimestamp="2026-01-01T00:00:00Z"), id="going"
        ),
    ],
)
def test_what_is_written_next_or_leads_elsewhere_loses_nothing(route: Body) -> None:
    """The twin: whoever keeps both writes the Ingress after the Service."""
    assert told(front(HTTP), front(NEXT), route) == []


def test_ones_own_and_what_nobody_keeps_apart_is_not_told() -> None:
    """Both may be of one file where neither says whose it is."""
    route = routed({"name": "http"})
    assert told(front(HTTP), front(NEXT), route, made_by=BY.user.username) == []
    assert told(front(HTTP, notes={}), front(NEXT, notes={}), route) == []


def test_a_port_that_stays_or_serves_nobody_is_no_loss() -> None:
    """Another is added; or no pod is behind it."""
    route = routed({"name": "http"})
    assert told(front(HTTP), front(HTTP, NEXT), route) == []
    assert told(front(HTTP), front(NEXT), route, replicas=0) == []


def test_most_ports_that_are_led_to_stay() -> None:
    """So many of those that routes lead to go, and not of all that the Service has."""
    both = (HTTP, {"name": "metrics", "port": 9090}, {"name": "grpc", "port": 9000})
    (found,) = told(front(*both), front(*both[1:]), routed({"name": "http"}, {"name": "grpc"}))
    assert (found.before, found.dropped) == (2, 1)
