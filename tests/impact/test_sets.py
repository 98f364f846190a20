"""Children of custom sets, and what a pod owns that runs as who asks."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import delete, operator, owner, service, thing, view_of
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, PODS, SERVICE_ACCOUNTS, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts
from suture.model.request import Collection, Request

RUNNERS = Resource("ci.example.com", "runners")
SETS = Resource("ci.example.com", "runnersets")
POOLS = Resource("ci.example.com", "pools")


def explained(request: Request, view: GraphView, of: Resource, by: Actor | None = None) -> int:
    impact = impact_of(request, view, by=by)
    (found,) = [one for one in effects(impact, ObjectsRemoved) if one.resource == str(of)]
    return found.explained


@pytest.mark.parametrize(
    ("of", "wanted", "expected"),
    [
        pytest.param(SETS, 0, 1, id="none-wanted"),
        pytest.param(SETS, 2, 1, id="one-too-many"),
        pytest.param(SETS, 3, 0, id="all-wanted"),
        pytest.param(SETS, None, 0, id="nothing-said"),
        pytest.param(POOLS, 0, 0, id="no-set-of-them"),
    ],
)
def test_a_custom_set_lets_go_of_what_it_has_beyond_its_number(
    of: Resource, wanted: int | None, expected: int
) -> None:
    """A set of `runners` is by its name what `runnersets` are."""
    parent = thing(of, "linux", "ci", facts=CustomFacts(wanted))
    runners = [thing(RUNNERS, f"linux-{at}", "ci", owners=[owner(parent)]) for at in range(3)]
    assert explained(delete(runners[0]), view_of(parent, runners), RUNNERS) == expected


def whole(one: ClusterObject) -> Request:
    """Ask for the delete of all objects of a type in its namespace."""
    return msgspec.structs.replace(delete(one), name="", extent=Collection(), old=None)


def test_no_more_go_at_once_than_are_beyond_the_number() -> None:
    """Of a collection two are explained, and the third is wanted."""
    parent = thing(SETS, "linux", "ci", facts=CustomFacts(1))
    runners = [thing(RUNNERS, f"linux-{at}", "ci", owners=[owner(parent)]) for at in range(3)]
    request = whole(runners[0])
    assert explained(request, view_of(parent, runners), RUNNERS) == 2


def driver(account: str) -> ClusterObject:
    named = Need(Edge.SERVICE_ACCOUNT, ObjectKey(SERVICE_ACCOUNTS, "etl", account))
    pod = thing(PODS, "driver", "etl", facts=PodFacts(ready=True))
    return msgspec.structs.replace(pod, needs=(named,))


@pytest.mark.parametrize(("account", "expected"), [("spark", 1), ("other", 0)])
def test_a_pod_may_clear_away_what_it_owns(account: str, expected: int) -> None:
    """Whoever runs as its account is it, as far as anybody can tell."""
    pod = driver(account)
    one = service("driver", "etl", owners=[owner(pod)])
    by = operator("system:serviceaccount:etl:spark")
    assert explained(delete(one, by=by), view_of(pod, one), one.key.resource, by) == expected


def test_of_many_at_once_as_of_one() -> None:
    """A driver that ends takes all of its claims with one request."""
    pod = driver("spark")
    claims = [thing(CLAIMS, f"scratch-{at}", "etl", owners=[owner(pod)]) for at in range(40)]
    by = operator("system:serviceaccount:etl:spark")
    request = msgspec.structs.replace(whole(claims[0]), user=by.user)
    assert explained(request, view_of(pod, claims), CLAIMS, by) == 40
