"""Claims of a set whose custom resource is being deleted: its operator clears them away."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, owner, thing
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import VolumeFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, PODS, STATEFUL_SETS, VOLUMES, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

DATABASES = Resource("db.example.com", "databases")
CLAIM = thing(CLAIMS, "data-shop-db-0", "prod", facts=ClaimFacts(bound=True, volume="pv-0"))
VOLUME = thing(VOLUMES, "pv-0", facts=VolumeFacts("Delete", "Bound"))


def database(*, going: bool = True, says: str = "") -> ClusterObject:
    made = thing(DATABASES, "shop", "prod", facts=CustomFacts(outside=says))
    return replace(made, finalizers=("db.example.com/clear",), deleted=float(going))


def members(*parents: ClusterObject) -> ClusterObject:
    facts = WorkloadFacts(2, Selector.of({}))
    owners = [owner(one) for one in parents]
    return thing(STATEFUL_SETS, "shop-db", "prod", owners=owners, facts=facts)


def explained(*things: ClusterObject, gone: ClusterObject | None = None) -> bool:
    """Whether the end of the claim is; `gone`: the set, where it was seen to go."""
    history = History()
    if gone is not None:
        history.note_removed(gone.uid, gone.key, START, owners=gone.owners)
    view = GraphView(graph_of(CLAIM, VOLUME, *things), history)
    impact = impact_of(delete(CLAIM), view, now=START.plus_s(60))
    (lost,) = (one for one in effects(impact, DataLost) if one.holder.uid == CLAIM.uid)
    return lost.explained


def test_a_claim_of_a_database_that_is_going() -> None:
    """What was let go with the resource is not asked for once more, used or not."""
    root = database()
    pod = thing(
        PODS, "shop-db-0", "prod", owners=[owner(members(root))],
        facts=PodFacts(ready=True, node="node-1"),
    )  # fmt: skip

    assert explained(root, members(root))
    assert explained(root, members(root), replace(pod, needs=(Need(Edge.CLAIM, CLAIM.key),)))


def test_a_claim_whose_set_was_cleared_away_first() -> None:
    """Who controlled the set that went is remembered with it."""
    root = database()
    assert explained(root, gone=members(root))


@pytest.mark.parametrize(
    "things",
    [
        pytest.param([database(going=False), members(database())], id="it lives"),
        pytest.param([database(), members()], id="of nobody's set"),
        pytest.param([database()], id="of no set"),
        pytest.param([database(says="Retain"), members(database())], id="it says that all stays"),
    ],
)
def test_a_claim_that_nothing_explains(things: list[ClusterObject]) -> None:
    """Data outlives whom nothing ties it to, and who says so."""
    assert not explained(*things)


@pytest.mark.parametrize(
    ("wanted", "used", "explains"),
    [
        pytest.param(1, False, True, id="beyond what is wanted"),
        pytest.param(1, True, False, id="which a pod uses"),
        pytest.param(2, False, False, id="within it"),
        pytest.param(0, False, False, id="nothing was lowered"),
    ],
)
def test_a_claim_of_a_shard_that_is_wanted_no_more(
    wanted: int, *, used: bool, explains: bool
) -> None:
    """Its set went since the resource wants fewer, and it is labelled with the shard as that was."""
    root, history = database(going=False), History()
    claim = replace(CLAIM, labels={"shard": "1"})
    pod = thing(PODS, "reader", "prod", facts=PodFacts(ready=True, node="node-1"))
    users = [replace(pod, needs=(Need(Edge.CLAIM, CLAIM.key),))] if used else []
    gone = members(root)
    history.note_removed(gone.uid, gone.key, START, owners=gone.owners)
    if wanted:
        history.writes.note_fewer(root.uid, f"{STATEFUL_SETS} by shard", wanted)
    view = GraphView(graph_of(claim, VOLUME, root, users), history)

    impact = impact_of(delete(claim), view, now=START.plus_s(60))

    (lost,) = (one for one in effects(impact, DataLost) if one.holder.uid == claim.uid)
    assert lost.explained is explains


def test_a_set_of_the_next_life_counts_and_not_the_one_before() -> None:
    """A stale operator clears what a new resource of the old name has made."""
    before = replace(members(replace(database(), uid="of-before")), uid="set-of-before")
    living = database(going=False)
    assert not explained(living, members(living), gone=before)


def test_a_claim_whose_set_is_about_to_go_with_its_database() -> None:
    """The delete of the resource was admitted, and its finalizer clears the claims at once."""
    root = database()
    graph = graph_of(CLAIM, VOLUME, root, members(root))
    graph.leave(members(root).uid)
    view = GraphView(graph, History())
    impact = impact_of(delete(CLAIM), view, now=START.plus_s(5))
    (lost,) = (one for one in effects(impact, DataLost) if one.holder.uid == CLAIM.uid)
    assert lost.explained
