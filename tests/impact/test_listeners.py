"""Listeners of a Gateway that go while routes are attached to them by name."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import namespace, service, thing, view_of, workload
from suture.impact.effects import ReferenceBroken
from suture.model.edges import Edge, Need
from suture.model.names import GATEWAYS, ObjectKey, Resource
from suture.model.objects import ClusterObject, RouteFacts, ServiceRef

ROUTES = Resource("gateway.networking.k8s.io", "httproutes")
EDGE = thing(GATEWAYS, "edge", "edge")
OTHER = thing(GATEWAYS, "other", "edge")
MARK = Need(Edge.MANAGED_BY, ObjectKey(Resource("argoproj.io", "applications"), "argocd", "edge"))
SERVED = (service("web"), *workload("web"))
BOTH = b'{"spec":{"listeners":[{"name":"http"},{"name":"https"}]}}'
ONE = b'{"spec":{"listeners":[{"name":"http"}]}}'


def attached(section: str, to: ClusterObject = EDGE) -> Need:
    return Need(Edge.ATTACHED_TO, to.key, section)


def route(*needs: Need, leads: str = "web") -> ClusterObject:
    facts = RouteFacts((ServiceRef("prod", leads),))
    return replace(thing(ROUTES, "web", "prod", facts=facts), needs=needs)


def lost(
    *things: ClusterObject, gateway: ClusterObject = EDGE, bodies: tuple[bytes, bytes] = (BOTH, ONE)
) -> int:
    view = view_of(gateway, OTHER, SERVED, things)
    request = update(gateway, replace(gateway, labels={"a": "b"}), bodies=bodies)
    told = effects(impact_of(request, view), ReferenceBroken)
    return sum(one.current for one in told if one.edge is Edge.ATTACHED_TO and not one.key)


def test_no_traffic_comes_to_a_route_whose_listener_goes() -> None:
    """It is attached to that by name, and to nothing else."""
    assert lost(route(attached("https"))) == 1


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(route(attached("http")), id="another"),
        pytest.param(route(attached("")), id="any"),
        pytest.param(route(attached("https"), attached("http")), id="a-second-one"),
        pytest.param(route(attached("https"), attached("https", OTHER)), id="another-gateway"),
        pytest.param(route(attached("https"), leads="away"), id="leads-to-nobody"),
        pytest.param(replace(route(attached("https")), deleted=1.0), id="going"),
    ],
)
def test_a_route_that_is_reached_otherwise_or_leads_nowhere_loses_nothing(
    one: ClusterObject,
) -> None:
    """By another listener, by any of those that are left, or by another Gateway."""
    assert lost(one) == 0


def test_routes_of_the_same_keeper_are_written_next() -> None:
    """A chart that renames a listener writes the Gateway first."""
    one = route(attached("https"), MARK)

    assert lost(one, gateway=replace(EDGE, needs=(MARK,))) == 0
    assert lost(one) == 1


def test_listeners_that_stay_are_no_loss() -> None:
    """Others may come beside them; a body that cannot be read tells of none."""
    one = route(attached("https"))

    assert lost(one, bodies=(ONE, BOTH)) == 0
    assert lost(one, bodies=(b"", b"")) == 0


def admitting(**allowed: object) -> bytes:
    """Return a Gateway of one listener that takes in such routes."""
    listener = {"name": "https", **({"allowedRoutes": {"namespaces": allowed}} if allowed else {})}
    return msgspec.json.encode({"spec": {"listeners": [listener]}})


CHOSEN = {"from": "Selector", "selector": {"matchLabels": {"tier": "front"}}}
EXPRESSED = {"from": "Selector", "selector": {"matchExpressions": [{"key": "tier"}]}}


@pytest.mark.parametrize("section", ["https", ""])
@pytest.mark.parametrize(
    ("new", "gone"),
    [
        pytest.param({"from": "Same"}, 1, id="its own namespace alone"),
        pytest.param({}, 1, id="which is what nothing said means"),
        pytest.param({"from": "None"}, 1, id="none"),
        pytest.param(CHOSEN, 1, id="those of a label that it has not"),
        pytest.param({**CHOSEN, "selector": {"matchLabels": {"team": "a"}}}, 0, id="that it has"),
        pytest.param(EXPRESSED, 0, id="chosen by more than labels"),
        pytest.param({"from": "All"}, 0, id="all as before"),
    ],
)
def test_a_listener_that_takes_fewer_routes_in(
    new: dict[str, object], section: str, gone: int
) -> None:
    space = replace(namespace("prod"), labels={"team": "a"})
    bodies = admitting(**{"from": "All"}), admitting(**new)
    assert lost(route(attached(section)), space, bodies=bodies) == gone
    assert lost(route(attached(section), attached("", OTHER)), space, bodies=bodies) == 0


def test_a_route_that_was_not_taken_in_loses_nothing() -> None:
    bodies = admitting(**CHOSEN), admitting(**{"from": "Same"})
    assert lost(route(attached("https")), namespace("prod"), bodies=bodies) == 0
