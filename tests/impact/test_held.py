"""Custom resources of which a finalizer alone tells that they stand for something outside."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, namespace, operator, owner, thing
from suture.impact.data.external import HELD
from suture.impact.effects import ExternalDeleted
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, Resource
from suture.model.objects import ClusterObject, CustomFacts

TOPICS = Resource("streams.example.com", "topics")
HOME = namespace("events")
CLEANER = operator("system:serviceaccount:ops:cleaner")
BY = "streams.example.com/topic"


def topics(count: int, *held: str) -> list[ClusterObject]:
    return [
        msgspec.structs.replace(thing(TOPICS, f"topic-{n}", "events"), finalizers=held)
        for n in range(count)
    ]


def outside(view: GraphView, going: ClusterObject) -> list[ExternalDeleted]:
    impact = impact_of(delete(going, by=CLEANER), view, by=CLEANER, now=START)
    return effects(impact, ExternalDeleted)


def view_of(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(HOME, *things), History())


def test_topics_go_with_their_namespace() -> None:
    """Their operator deletes what each stands for, where nobody sees it."""
    (told,) = outside(view_of(*topics(HELD, BY)), HOME)
    assert (told.resource, told.why, told.policy) == (str(TOPICS), "finalizer", BY)
    assert (told.count, told.explained) == (HELD, 0)


@pytest.mark.parametrize(
    "held", [(), ("foregroundDeletion",)], ids=["nobody holds them", "Kubernetes does"]
)
def test_topics_that_nobody_clears_away(held: tuple[str, ...]) -> None:
    """Without a finalizer of somebody's own the objects go, and nothing else."""
    assert outside(view_of(*topics(HELD, *held)), HOME) == []


def test_a_few_say_nothing() -> None:
    """Many operators hold what they have nothing to do for."""
    assert outside(view_of(*topics(HELD - 1, BY)), HOME) == []


def test_what_has_something_in_the_cluster() -> None:
    """It is held for what it owns, and that is weighed by itself."""
    many = topics(HELD, BY)
    owned = [thing(CONFIG_MAPS, one.key.name, "events", owners=[owner(one)]) for one in many]
    assert outside(view_of(*many, *owned), HOME) == []


@pytest.mark.parametrize("said", ["Orphan", "abandon", "retain"])
def test_what_is_to_be_left_where_it_is(said: str) -> None:
    """The documented way to give a cluster up: what the databases are for stays."""
    kept = [
        msgspec.structs.replace(one, facts=CustomFacts(outside=said)) for one in topics(HELD, BY)
    ]
    assert outside(view_of(*kept), HOME) == []


def test_what_is_deleted_by_its_own_name() -> None:
    """Who names it has seen what it is."""
    many = topics(HELD, BY)
    assert outside(view_of(*many), many[0]) == []


def test_what_the_actor_made_today() -> None:
    """A preview goes with what was made for it."""
    many, view = topics(HELD, BY), view_of(*topics(HELD, BY))
    me = CLEANER.user.username
    for one in many:
        view.history.note_created(one.uid, me, me, one.key, START)
    assert outside(view, HOME) == []
