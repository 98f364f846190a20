"""Custom resources of which a finalizer alone tells that they stand for something outside."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, namespace, operator, owner, thing
from suture.impact.data.external import HELD
from suture.impact.effects import ExternalDeleted
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CONFIG_MAPS, ObjectKey, Resource
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


APPLICATIONS = Resource("sync.example.com", "applications")
SETS = Resource("sync.example.com", "applicationsets")
SYNC = operator("system:serviceaccount:sync:controller")
APP = thing(APPLICATIONS, "topics", "sync")


def kept(count: int, by: ObjectKey = APP.key) -> list[ClusterObject]:
    needs = (Need(Edge.MANAGED_BY, by),)
    return [msgspec.structs.replace(one, needs=needs) for one in topics(count, BY)]


def pruned(view: GraphView, going: ClusterObject, by: Actor = SYNC) -> int:
    impact = impact_of(delete(going, by=by), view, by=by, now=START)
    return sum(one.count - one.replaced for one in effects(impact, ExternalDeleted))


def keeper(*held: str, **more: Any) -> ClusterObject:
    """Return an application, which a finalizer holds until what it keeps is gone."""
    return msgspec.structs.replace(APP, finalizers=held, **more)


def test_topics_go_with_the_application_that_keeps_them() -> None:
    """So do the applications of other clusters with the one that is their root."""
    root = keeper("sync.example.com/prune")
    (told,) = outside(view_of(root, *kept(HELD)), root)
    assert (told.resource, told.count, told.direct, told.explained) == (str(TOPICS), HELD, 0, 0)


def test_an_application_that_takes_nothing_outside_along() -> None:
    """It leaves what it keeps, keeps too few to tell, or what it keeps is held by nobody."""
    root = keeper("sync.example.com/prune")
    loose = [msgspec.structs.replace(one, finalizers=()) for one in kept(HELD)]
    assert outside(view_of(keeper(), *kept(HELD)), keeper()) == []
    assert outside(view_of(root, *kept(HELD - 1)), root) == []
    assert outside(view_of(root, *loose), root) == []
    assert outside(view_of(root, *topics(HELD, BY)), root) == []


def test_an_application_that_goes_with_its_set() -> None:
    """What generated it was deleted, and that was weighed as the end of all of it."""
    sets = msgspec.structs.replace(thing(SETS, "all", "sync"), deleted=1.0)
    root = keeper("sync.example.com/prune", owners=(owner(sets),))
    (told,) = outside(view_of(sets, root, *kept(HELD)), root)
    assert (told.count, told.explained) == (HELD, HELD)


def test_topics_that_left_the_source_of_their_application() -> None:
    """An empty list was read, and nobody has named a topic: so they count, one by one."""
    many = kept(HELD)
    assert pruned(view_of(APP, *many), many[0]) == 1
    assert pruned(view_of(APP, *kept(HELD - 1)), many[0]) == 0


def test_who_prunes_for_nobody_that_stays() -> None:
    """A person, a stranger, an application that goes, or one that is not there among others."""
    many, going = kept(HELD), msgspec.structs.replace(APP, deleted=1.0)
    other = thing(APPLICATIONS, "others", "sync")
    view = view_of(APP, *many)
    assert pruned(view, many[0], operator("ann@example.com")) == 0
    assert pruned(view, many[0], CLEANER) == 0
    assert pruned(view_of(going, *many), many[0]) == 0
    assert pruned(view_of(other, *many), many[0]) == 0


def test_an_application_that_is_kept_in_another_cluster() -> None:
    """None of its type is there, so that none can be missed; not where it was seen to go."""
    many = kept(HELD)
    assert pruned(view_of(*many), many[0]) == 1
    assert pruned(view_of(*many), many[0], CLEANER) == 0
    view = view_of(*many)
    view.history.note_removed(APP.uid, APP.key, START)
    assert pruned(view, many[0]) == 0


def test_an_application_that_somebody_has_just_written() -> None:
    """It asks for other things now, and whoever wrote it has seen which."""
    many = kept(HELD)
    view = view_of(APP, *many)
    view.history.writes.note(APP.key, Deed(What.WROTE, "ann@example.com", 1), START.plus_s(-60))
    assert pruned(view, many[0]) == 0


def test_topics_that_get_other_names() -> None:
    """As many as its account has made within the hour stand for those that go."""
    many = kept(HELD)
    new = msgspec.structs.replace(kept(HELD + 1)[-1], created=START.utc_s - 60)
    view = view_of(APP, *many, new)
    me = SYNC.user.username
    view.history.note_created(new.uid, me, me, new.key, START.plus_s(-60))
    assert pruned(view, many[0]) == 0


@pytest.mark.parametrize(
    ("said", "held", "told"),
    [
        pytest.param("arn:aws:rds:eu-west-1:1:db:orders", (BY,), 1, id="named"),
        pytest.param("arn:aws:rds:eu-west-1:1:db:orders", (), 0, id="held by nobody"),
        pytest.param("orders", (BY,), 0, id="a word"),
        pytest.param("retain", (BY,), 0, id="to be left"),
    ],
)
def test_one_that_says_what_it_stands_for(said: str, held: tuple[str, ...], told: int) -> None:
    """One is enough that names a thing of a provider's, and that its operator holds."""
    (made,) = topics(1, *held)
    one = msgspec.structs.replace(made, facts=CustomFacts(outside=said))
    assert sum(found.count for found in outside(view_of(one), HOME)) == told
