"""Claims of a set whose custom resource is being deleted: its operator clears them away."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, operator, owner, thing
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
from suture.model.writes import DAY_S

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


@pytest.mark.parametrize(
    ("left", "wanted", "explains"),
    [
        pytest.param(1, 1, True, id="as many are left as are wanted"),
        pytest.param(2, 1, True, id="more are left"),
        pytest.param(1, 2, False, id="one went too many"),
        pytest.param(0, 0, False, id="none is wanted"),
        pytest.param(1, None, False, id="nothing was lowered"),
    ],
)
def test_a_claim_of_a_copy_that_is_wanted_no_more(
    left: int, wanted: int | None, *, explains: bool
) -> None:
    """Each copy has a set of its own; the number of copies was lowered, and its set went."""
    root, history = database(going=False), History()
    gone = members(root)
    history.note_removed(gone.uid, gone.key, START, owners=gone.owners)
    if wanted is not None:
        history.writes.note_fewer(root.uid, str(STATEFUL_SETS), wanted)
    beside = [
        thing(STATEFUL_SETS, f"shop-copy-{n}", "prod", owners=[owner(root)], facts=gone.facts)
        for n in range(left)
    ]
    view = GraphView(graph_of(CLAIM, VOLUME, root, beside), history)

    impact = impact_of(delete(CLAIM), view, now=START.plus_s(60))

    (lost,) = (one for one in effects(impact, DataLost) if one.holder.uid == CLAIM.uid)
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


ME = operator().user.username


@pytest.mark.parametrize(
    ("things", "by", "ago_s", "explains"),
    [
        pytest.param([], ME, 6 * 3600, True, id="of this morning"),
        pytest.param([], ME, DAY_S + 3600, False, id="whose claim is older"),
        pytest.param([], "another", 6 * 3600, False, id="of another's set"),
        pytest.param([], "", 6 * 3600, False, id="nobody knows whose"),
        pytest.param([members()], ME, 6 * 3600, False, id="of a set that is there again"),
        pytest.param([database(going=False)], ME, 6 * 3600, False, id="whose database lives"),
    ],
)
def test_a_claim_of_a_set_that_the_actor_made_and_took_away(
    things: list[ClusterObject], by: str, ago_s: float, *, explains: bool
) -> None:
    """A copy of a database is made and given up in a day; what was there before is nobody's."""
    assert _of_own(things, by, ago_s) is explains


def test_a_claim_of_ones_own_set_that_a_pod_still_uses() -> None:
    """Whoever reads it now has not been asked."""
    pod = thing(PODS, "reader", "prod", facts=PodFacts(ready=True, node="node-1"))
    users = [replace(pod, needs=(Need(Edge.CLAIM, CLAIM.key),))]
    assert not _of_own(users, ME, 6 * 3600)


def _of_own(things: list[ClusterObject], by: str, ago_s: float) -> bool:
    claim = replace(CLAIM, created=START.utc_s - ago_s)
    set_ = replace(members(*(one for one in things if one.key.resource == DATABASES)), uid="gone")
    history = History()
    if by:
        history.note_created(set_.uid, by, by, set_.key, START)
    history.note_removed(set_.uid, set_.key, START.plus_s(1), owners=set_.owners)
    view = GraphView(graph_of(claim, VOLUME, things), history)
    impact = impact_of(delete(claim), view, now=START.plus_s(60))
    (lost,) = (one for one in effects(impact, DataLost) if one.holder.uid == claim.uid)
    return lost.explained
