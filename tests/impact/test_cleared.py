"""Databases whose resource is deleted while members run: what their operator clears away then."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.effects import DataLost
from suture.model.edges import Edge, Need
from suture.model.facts import SnapshotFacts, VolumeFacts
from suture.model.graph import GraphView
from suture.model.names import CLAIMS, PODS, SNAPSHOTS, STATEFUL_SETS, VOLUMES, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

DATABASES = Resource("db.example.com", "databases")
BY = operator("system:serviceaccount:ci:deployer")


def database(
    *,
    finalizers: tuple[str, ...] = ("finalizer.db.example.com",),
    ready: bool = True,
    reclaim: str = "Delete",
    outside: str = "",
    owned: bool = True,
    copied: bool = False,
) -> tuple[ClusterObject, GraphView]:
    """Make a custom resource, its set of two, and their claims."""
    root = thing(DATABASES, "shop", "prod", facts=CustomFacts(outside=outside))
    root = replace(root, finalizers=finalizers)
    owners = [owner(root)] if owned else []
    members = thing(
        STATEFUL_SETS, "shop", "prod", owners=owners, facts=WorkloadFacts(2, Selector.of({}))
    )
    things = [root, members]
    for number in range(2):
        claim = thing(
            CLAIMS,
            f"data-shop-{number}",
            "prod",
            facts=ClaimFacts(bound=True, volume=f"pv-{number}"),
        )
        pod = thing(
            PODS, f"shop-{number}", "prod", owners=[owner(members)],
            facts=PodFacts(ready=ready, node="node-1"),
        )  # fmt: skip
        volume = thing(VOLUMES, f"pv-{number}", facts=VolumeFacts(reclaim, "Bound"))
        things += [claim, replace(pod, needs=(Need(Edge.CLAIM, claim.key),)), volume]
        if copied:
            taken = thing(SNAPSHOTS, f"s-{number}", "prod", facts=SnapshotFacts(ready=True))
            things.append(replace(taken, needs=(Need(Edge.SNAPSHOT_SOURCE, claim.key),)))
    return root, view_of(things)


def lost(root: ClusterObject, view: GraphView) -> list[DataLost]:
    return effects(impact_of(delete(root, by=BY), view, by=BY), DataLost)


def test_the_claims_of_running_members() -> None:
    """The operator deletes them in its finalizer, once nobody can ask any more."""
    root, view = database()

    first, second = sorted(lost(root, view), key=lambda one: one.volume)

    assert (first.volume, second.volume) == ("pv-0", "pv-1")
    assert first.holder.resource == "databases"
    assert (first.reclaim, first.last_copy, first.mounted) == ("Delete", True, 1)
    assert (first.explained, first.direct) == (False, False)


def test_a_snapshot_is_a_copy() -> None:
    """Who gives a database up may keep what was in it."""
    assert [one.last_copy for one in lost(*database(copied=True))] == [False, False]


@pytest.mark.parametrize(
    "untold",
    [
        pytest.param(database(finalizers=()), id="nobody waits for its end"),
        pytest.param(database(finalizers=("foregroundDeletion",)), id="the collector alone does"),
        pytest.param(database(ready=False), id="stopped before"),
        pytest.param(database(reclaim="Retain"), id="volumes that are kept"),
        pytest.param(database(outside="Retain"), id="it says that all stays"),
        pytest.param(database(owned=False), id="its set stays"),
    ],
)
def test_what_is_not_cleared(untold: tuple[ClusterObject, GraphView]) -> None:
    """The twins: nothing is taken, or nothing was in use."""
    assert lost(*untold) == []


def test_a_database_that_the_actor_made_today() -> None:
    """What runs tests makes its databases and takes them away."""
    root, view = database()
    view.history.note_created(root.uid, BY.user.username, BY.operator, root.key, START)
    impact = impact_of(delete(root, by=BY), view, by=BY, now=START.plus_s(60))
    assert all(one.explained for one in effects(impact, DataLost))
