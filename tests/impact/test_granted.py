"""Grants between namespaces: what Gateways and routes may name no more when one goes."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, service, thing, view_of, workload
from support.writes import Body, body
from suture.impact.effects import ReferenceBroken, RouteBroken
from suture.model.edges import Edge, Need
from suture.model.names import GATEWAYS, HTTP_ROUTES, REFERENCE_GRANTS, SECRETS
from suture.model.objects import ClusterObject

GRANT = thing(REFERENCE_GRANTS, "grant", "prod")
SECRET = thing(SECRETS, "tls", "prod")
GROUP = "gateway.networking.k8s.io"


def naming(user: ClusterObject, edge: Edge, target: ClusterObject) -> ClusterObject:
    return replace(user, needs=(Need(edge, target.key),))


GATEWAY = naming(thing(GATEWAYS, "public", "edge"), Edge.CERTIFICATE, SECRET)
ROUTE = naming(thing(HTTP_ROUTES, "shop", "edge"), Edge.ROUTES_TO, service("web"))


def lets(source: str, target: Body, *, namespace: str = "edge") -> Body:
    return body(
        "ReferenceGrant",
        "grant",
        apiVersion=f"{GROUP}/v1beta1",
        spec={"from": [{"group": GROUP, "kind": source, "namespace": namespace}], "to": [target]},
    )


def told(grant: Body, *others: ClusterObject) -> list[tuple[str, str]]:
    """Delete the grant; return who may name what no more."""
    view = view_of(GRANT, SECRET, GATEWAY, ROUTE, service("web"), workload("web"), *others)
    request = replace(delete(GRANT), old_body=msgspec.json.encode(grant))
    impact = impact_of(request, view)
    routes = [(one.route.name, one.service.name) for one in effects(impact, RouteBroken)]
    read = effects(impact, ReferenceBroken)
    return routes + [(user.name, one.target.name) for one in read for user in one.users]


@pytest.mark.parametrize(
    ("grant", "found"),
    [
        (lets("Gateway", {"kind": "Secret"}), [("public", "tls")]),
        (lets("Gateway", {"kind": "Secret", "name": "tls"}), [("public", "tls")]),
        (lets("HTTPRoute", {"group": "", "kind": "Service"}), [("shop", "web")]),
        (lets("Gateway", {"kind": "Secret", "name": "other"}), []),
        (lets("Gateway", {"kind": "Secret"}, namespace="elsewhere"), []),
        (lets("HTTPRoute", {"kind": "Secret"}), []),
        (lets("TLSRoute", {"kind": "Service"}), []),
        ({"spec": "odd"}, []),
    ],
)
def test_what_a_grant_lets_be_named(grant: Body, found: list[tuple[str, str]]) -> None:
    """Of the kinds that it says, from the namespace that it says, by name or all of them."""
    assert told(grant) == found


def test_another_grant_may_say_the_same() -> None:
    """What it says is not known; where one stays nothing is told."""
    grant = lets("Gateway", {"kind": "Secret"})
    assert told(grant, thing(REFERENCE_GRANTS, "next", "prod")) == []
    assert told(grant, thing(REFERENCE_GRANTS, "next", "edge")) == [("public", "tls")]
