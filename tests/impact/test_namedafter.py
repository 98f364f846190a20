"""Children that only their names tie to a living parent, which the actor runs."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, service, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.actor import Actor
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import PODS, SERVICES, Resource
from suture.model.objects import ClusterObject, PodFacts

BROKERS = Resource("mq.example.com", "brokers")
RUNS = operator("system:serviceaccount:mq-system:mq-operator")
OTHER = operator("system:serviceaccount:tools:cleaner")
NOW = START.plus_s(3600 * 48)


def parent(created: float = 100.0, **more: object) -> ClusterObject:
    return msgspec.structs.replace(thing(BROKERS, "main", "queue"), created=created, **more)


def child(name: str = "main-nodes", created: float = 110.0, **more: object) -> ClusterObject:
    return msgspec.structs.replace(service(name, "queue", app="main"), created=created, **more)


POD = thing(PODS, "main-0", "queue", labels={"app": "main"}, facts=PodFacts(ready=True))


def view_of(*things: ClusterObject) -> GraphView:
    return GraphView(graph_of(POD, *things), History())


def told(view: GraphView, one: ClusterObject, by: Actor = RUNS) -> tuple[int, int]:
    """Return how many are wanted and in use when a child is deleted."""
    (effect,) = effects(impact_of(delete(one, by=by), view, now=NOW, by=by), ObjectsRemoved)
    assert effect.resource == str(SERVICES)
    return effect.wanted, effect.in_use


def test_a_child_of_the_life_that_is_there_is_wanted() -> None:
    """It is called after it, or bears its name, and is no older."""
    assert told(view_of(parent(), child()), child()) == (1, 1)
    bare = child("main", labels={"cluster-name": "main"})
    assert told(view_of(parent(), bare), bare) == (1, 1)


@pytest.mark.parametrize(
    ("of", "one", "by"),
    [
        pytest.param((), child(), RUNS, id="the-parent-is-gone"),
        pytest.param((parent(deleted=1.0),), child(), RUNS, id="the-parent-goes"),
        pytest.param((parent(created=120.0),), child(), RUNS, id="of-an-earlier-life"),
        pytest.param((parent(),), child(), OTHER, id="who-does-not-run-such"),
        pytest.param((parent(),), child("mainframe"), RUNS, id="a-part-of-a-word"),
        pytest.param((parent(),), child("main"), RUNS, id="its-name-and-no-label"),
    ],
)
def test_what_no_living_parent_is_known_to_want_is_not(
    of: tuple[ClusterObject, ...], one: ClusterObject, by: Actor
) -> None:
    """The twin: who clears away what the last life has left."""
    assert told(view_of(*of, one), one, by) == (0, 1)


def test_an_owner_says_whose_it_is() -> None:
    """A guess by names is for what has no owner."""
    above = service("above", "queue")
    one = child(owners=(owner(above, controller=False),))
    assert told(view_of(parent(), above, one), one) == (0, 1)


def test_a_parent_that_was_changed_may_want_less() -> None:
    """Its part was switched off a moment ago; to write the same again is no change."""
    view = view_of(parent(), child())
    for value in (1, 1):
        view.history.writes.note(parent().key, Deed(What.WROTE, "human", value), NOW)
    view.history.writes.note(parent().key, Deed(What.WROTE, "human", 2), NOW)
    assert told(view, child()) == (0, 1)
