"""Secrets that only a custom resource's own field names: a stranger's sweep, and whose hand may."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import delete, graph_of, operator, owner, thing
from suture.impact.effects import ReferenceBroken
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.habits import RELEASES
from suture.model.history import History
from suture.model.names import SECRETS, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended

CLUSTERS = Resource("db.example.com", "clusters")
RELEASE = ObjectKey(RELEASES, "prod", "shop")
SWEEPER = operator("system:serviceaccount:tidy:sweeper")
PERSON = operator("ann@example.com")
KEY = thing(SECRETS, "backup-key", "prod")


def cluster(*, ended: Ended = Ended.NO, deleted: float = 0.0) -> ClusterObject:
    """Make a resource whose field names the Secret, as its schema tells."""
    named = Need(Edge.RULE, KEY.key, "", optional=True)
    one = thing(CLUSTERS, "orders", "prod", facts=CustomFacts(ended=ended), deleted=deleted)
    return replace(one, needs=(named,))


def missed(
    *others: ClusterObject,
    key: ClusterObject = KEY,
    by: Actor = SWEEPER,
    history: History | None = None,
) -> int:
    """Return how many are told to need the Secret that goes."""
    view = GraphView(graph_of(key, others), history or History())
    told = effects(impact_of(delete(key, by=by), view, by=by), ReferenceBroken)
    return sum(one.current for one in told)


def test_a_machine_that_has_to_do_with_neither() -> None:
    """It looked at pods alone, and took the key for unused."""
    assert missed(cluster()) == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(cluster(ended=Ended.SURE), id="its work is over"),
        pytest.param(cluster(deleted=1.0), id="it goes"),
    ],
)
def test_what_needs_it_no_more(other: ClusterObject) -> None:
    assert missed(other) == 0


def test_a_person_may_know_better() -> None:
    assert missed(cluster(), by=PERSON) == 0


def test_what_is_made_for_something_goes_with_that() -> None:
    """Its owner says whose it is, and has effects of its own."""
    owned = replace(KEY, owners=(owner(cluster()),))
    assert missed(cluster(), key=owned) == 0


def test_who_runs_the_kind_or_keeps_the_release() -> None:
    """Its operator, and who works for the release that the Secret is of."""
    history = History()
    history.habits.recall((), [(CLUSTERS, (SWEEPER.user.username,))], ())
    assert missed(cluster(), history=history) == 0
    history = History()
    history.habits.recall((), (), [(RELEASE, (SWEEPER.user.username,))])
    kept = replace(KEY, needs=(Need(Edge.MANAGED_BY, RELEASE),))
    assert missed(cluster(), key=kept, history=history) == 0
