"""Custom resources that go by the share: none counts while few go, and each does beyond two in five."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.effects import ObjectsRemoved
from suture.impact.recent import remover
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import NAMESPACES, ROLES, Resource
from suture.model.objects import ClusterObject, CustomFacts, Ended
from suture.model.request import Collection, Request

BLOCKS = Resource("net.example.com", "blocks")
ME = operator().user.username


def counted(
    population: int, taken: int, *, resource: Resource = BLOCKS, ended: Ended = Ended.NO,
    mine: bool = False,
) -> int:  # fmt: skip
    """Return for how many a budget is asked as one of a population goes, some being gone."""
    facts = CustomFacts(ended=ended)
    blocks = [thing(resource, f"b-{at}", facts=facts) for at in range(population - taken)]
    history = History()
    history.writes.count(remover(ME, resource), START, taken)
    if mine:
        history.note_created(blocks[0].uid, ME, ME, blocks[0].key, START)
    view = GraphView(graph_of(blocks), history)
    (found,) = effects(impact_of(delete(blocks[0]), view), ObjectsRemoved)
    return found.counted


@pytest.mark.parametrize(
    ("population", "taken", "expected"),
    [
        pytest.param(40, 0, 0, id="the-first"),
        pytest.param(40, 5, 0, id="a-few"),
        pytest.param(40, 10, 0, id="a-quarter"),
        pytest.param(40, 12, 1, id="beyond-two-in-five-of-what-is-left"),
        pytest.param(12, 6, 1, id="half-of-them"),
        pytest.param(9, 6, 0, id="too-few-to-tell"),
    ],
)
def test_a_share_counts_and_a_few_do_not(population: int, taken: int, expected: int) -> None:
    """Of what there is, within a minute, by one actor."""
    assert counted(population, taken) == expected


@pytest.mark.parametrize("ended", [Ended.SURE, Ended.DONE, Ended.FAILED])
def test_what_has_ended_is_cleared_away(ended: Ended) -> None:
    """However many."""
    assert counted(40, 30, ended=ended) == 0


def test_what_the_actor_made_is_its_own() -> None:
    """However many."""
    assert counted(40, 30, mine=True) == 0


def test_types_of_kubernetes_have_counts_of_their_own() -> None:
    """Or none."""
    assert counted(40, 30, resource=ROLES) == 0


def test_what_goes_along_is_weighed_with_what_takes_it_along() -> None:
    """A namespace, an owner: not by the share of what is in it."""
    home = thing(NAMESPACES, "team")
    blocks = [thing(BLOCKS, f"b-{at}", "team", owners=[owner(home)]) for at in range(40)]
    view = GraphView(graph_of(home, blocks), History())
    removed = effects(impact_of(delete(home), view), ObjectsRemoved)
    assert [one.counted for one in removed if one.resource == str(BLOCKS)] == [0]


def whole(one: ClusterObject) -> Request:
    """Ask for the delete of all objects of a type in its namespace."""
    return msgspec.structs.replace(delete(one), name="", extent=Collection(), old=None)


def test_a_collection_counts_what_is_beyond_the_share() -> None:
    """All forty: two in five of them are free."""
    blocks = [thing(BLOCKS, f"b-{at}", "team") for at in range(40)]
    view = GraphView(graph_of(blocks), History())
    (found,) = effects(impact_of(whole(blocks[0]), view), ObjectsRemoved)
    assert found.counted == 24


def test_what_was_made_anew_may_go() -> None:
    """As many of another name as go: so versions are exchanged."""
    old = [thing(BLOCKS, f"old-{at}") for at in range(12)]
    new = [
        msgspec.structs.replace(thing(BLOCKS, f"new-{at}"), created=START.utc_s) for at in range(12)
    ]
    history = History()
    history.writes.count(remover(ME, BLOCKS), START, 11)
    for one in new:
        history.note_created(one.uid, ME, ME, one.key, START)
    view = GraphView(graph_of(old, new), history)
    (found,) = effects(impact_of(delete(old[0]), view), ObjectsRemoved)
    assert found.counted == 0
