"""What is in no namespace and made for one claim in a namespace: two references tie it to that."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ExternalDeleted, ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CRDS, ObjectKey, Resource
from suture.model.objects import ClusterObject, CrdFacts, CustomFacts

CLAIMS = Resource("platform.example.com", "databases")
COMPOSITES = Resource("platform.example.com", "xdatabases")
OTHERS = Resource("other.example.com", "databases")
INSTANCES = Resource("rds.example.com", "instances")
LABELS = {"cloud.example.com/claim-name": "orders", "cloud.example.com/claim-namespace": "shop"}

COMPOSITE = thing(COMPOSITES, "orders-x1", labels=LABELS, facts=CustomFacts())
DEFINITION = thing(
    CRDS,
    str(COMPOSITES),
    facts=CrdFacts(COMPOSITES, COMPOSITE.gvk.kind, namespaced=False),
)
INSTANCE = thing(
    INSTANCES, "orders-db", owners=[owner(COMPOSITE)], facts=CustomFacts(outside="Delete")
)


def claim(resource: Resource = CLAIMS, name: str = "orders", space: str = "shop") -> ClusterObject:
    """Make what asks for the composite: named in its namespace and in none, as it is read."""
    needs = tuple(
        Need(Edge.PROVIDER, ObjectKey(COMPOSITES, where, "orders-x1"), "", optional=True)
        for where in (space, "")
    )
    return replace(thing(resource, name, space, facts=CustomFacts()), needs=needs)


def world(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(DEFINITION, INSTANCE, *things), History())


def told(view: GraphView, one: ClusterObject = COMPOSITE, now: Now = START) -> tuple[int, int, int]:
    """Return how many composites are explained, wanted and in use when one is deleted."""
    told = effects(impact_of(delete(one), view, now=now), ObjectsRemoved)
    (effect,) = (one for one in told if one.resource == str(COMPOSITES))
    return effect.explained, effect.wanted, effect.in_use


def test_what_a_living_claim_asks_for_is_in_use() -> None:
    """What it is made of goes along, and with that a thing outside."""
    assert told(world(claim(), COMPOSITE)) == (0, 1, 1)


def test_what_goes_along_is_seen_though_the_claim_names_it_in_its_own_namespace() -> None:
    """The definition says where its objects live; who names one by kind alone does not know it."""
    impact = impact_of(delete(COMPOSITE), world(claim(), COMPOSITE))
    (outside,) = effects(impact, ExternalDeleted)
    assert (outside.resource, outside.count, outside.explained) == (str(INSTANCES), 1, 0)


def test_it_goes_with_its_claim() -> None:
    """The twin: the claim is being deleted."""
    going = replace(claim(), deleted=1.0)
    view = world(going, COMPOSITE)
    assert told(view) == (1, 0, 0)
    (outside,) = effects(impact_of(delete(COMPOSITE), view), ExternalDeleted)
    assert outside.explained == 1


@pytest.mark.parametrize(
    ("asking", "labels"),
    [
        pytest.param(claim(OTHERS), LABELS, id="of another group"),
        pytest.param(claim(name="other"), LABELS, id="of another name"),
        pytest.param(claim(space="prod"), LABELS, id="in another namespace"),
        pytest.param(claim(), {}, id="no labels"),
        pytest.param(claim(), {**LABELS, "cloud.example.com/claim-name": "x"}, id="of another"),
        pytest.param(thing(CLAIMS, "orders", "shop"), LABELS, id="that names nothing"),
    ],
)
def test_one_reference_alone_ties_nothing(asking: ClusterObject, labels: dict[str, str]) -> None:
    """Neither of what lives, nor of what goes."""
    composite = replace(COMPOSITE, labels=labels)
    assert told(world(asking, composite), composite) == (0, 0, 0)
    assert told(world(replace(asking, deleted=1.0), composite), composite) == (0, 0, 0)


def test_an_owner_says_more_than_two_references() -> None:
    """What has one goes with that one."""
    above = thing(Resource("platform.example.com", "fleets"), "all")
    composite = replace(COMPOSITE, owners=(owner(above, controller=False),))
    assert told(world(above, replace(claim(), deleted=1.0), composite), composite)[0] == 0


def test_a_claim_that_was_written_lately_may_want_another() -> None:
    """What it asks for may be changing with it; an hour later it is not."""
    view = world(claim(), COMPOSITE)
    after = replace(claim(), labels={"revision": "2"})
    request = update(claim(), after, bodies=(b'{"spec":{"size":1}}', b'{"spec":{"size":2}}'))
    remember(request, project(request, view), view, START)

    assert told(view) == (0, 0, 0)
    later = Now(START.mono_ns + 3_700 * 10**9, START.utc_s + 3_700)
    assert told(view, now=later) == (0, 1, 1)
