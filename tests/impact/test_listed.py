"""Things outside whose object a living custom resource lists as before: they are in use."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, delete, graph_of, owner, thing
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.clock import Now
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import Resource
from suture.model.objects import ClusterObject, CustomFacts, Facts

APPLICATIONS = Resource("platform.example.com", "applications")
DATABASES = Resource("db.example.com", "databases")
LISTS = (("db.example.com", "Database", "orders"), ("s3.example.com", "Bucket", "orders"))
KEEPER = thing(APPLICATIONS, "orders", facts=CustomFacts(lists=LISTS))
DELETES = CustomFacts(outside="Delete")


def database(
    facts: Facts = DELETES, of: ClusterObject | None = KEEPER, name: str = "orders"
) -> ClusterObject:
    return thing(DATABASES, name, owners=[] if of is None else [owner(of)], facts=facts)


def world(*things: ClusterObject) -> GraphView:
    graph = graph_of(*things)
    graph.declare("db.example.com", "Database", DATABASES)
    return GraphView(graph, History())


def removed(view: GraphView, one: ClusterObject, now: Now = START) -> tuple[int, int]:
    """Return how many are wanted and in use when one object is deleted."""
    (effect,) = effects(impact_of(delete(one), view, now=now), ObjectsRemoved)
    return effect.wanted, effect.in_use


def test_what_a_living_parent_lists_is_in_use() -> None:
    """Its controller left it out of what it asks for, and the parent never said so."""
    assert removed(world(KEEPER, database()), database()) == (1, 1)


@pytest.mark.parametrize(
    ("keeper", "one", "wanted"),
    [
        pytest.param(
            msgspec.structs.replace(KEEPER, facts=CustomFacts(lists=LISTS[1:])), database(), 1,
            id="taken-out",
        ),
        pytest.param(msgspec.structs.replace(KEEPER, deleted=1.0), database(), 0, id="going"),
        pytest.param(KEEPER, database(CustomFacts(outside="Orphan")), 1, id="kept-outside"),
        pytest.param(KEEPER, database(CustomFacts()), 1, id="nothing-outside"),
        pytest.param(KEEPER, database(name="orders-2"), 1, id="another"),
        pytest.param(KEEPER, database(of=None), 0, id="nobody-s"),
    ],
)  # fmt: skip
def test_what_it_does_not_list_or_nothing_goes_with_is_not(
    keeper: ClusterObject, one: ClusterObject, wanted: int
) -> None:
    """Struck from the list, of a parent that goes, or with nothing outside that would go."""
    assert removed(world(keeper, one), one) == (wanted, 0)


def test_a_parent_that_was_written_lately_may_have_changed_its_wish() -> None:
    """Controllers strike what is not wanted any more only when it is gone; after an hour it is."""
    view = world(KEEPER, database())
    after = msgspec.structs.replace(KEEPER, labels={"revision": "2"})
    request = update(KEEPER, after, bodies=(b'{"spec":{"size":1}}', b'{"spec":{"size":2}}'))
    remember(request, project(request, view), view, START)

    assert removed(view, database()) == (1, 0)
    later = Now(START.mono_ns + 3_700 * 10**9, START.utc_s + 3_700)
    assert removed(view, database(), later) == (1, 1)
