"""Sets of one custom resource that are made anew, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import msgspec
import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of, update
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.causes.recent import remember
from suture.impact.effects import ObjectsRemoved
from suture.impact.project import project
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.names import (
    CLAIMS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    CustomFacts,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

MONITORS = Resource("monitoring.example.com", "monitors")
BY = operator("system:serviceaccount:monitoring:monitors-operator")
MAIN = thing(MONITORS, "main", "prod", facts=CustomFacts())
LABELS = {"app": "main"}
FRONT = thing(SERVICES, "operated", "prod", facts=ServiceFacts(Selector.of(LABELS)))


def shard(number: int, *, ready: int = 2) -> list[ClusterObject]:
    labels = {**LABELS, "shard": str(number)}
    facts = WorkloadFacts(2, Selector.of(labels))
    root = thing(STATEFUL_SETS, f"main-{number}", "prod", owners=[owner(MAIN)], facts=facts)
    return [
        # Of sets of one age, or newer ones, each would stand in for the other.
        replace(root, created=100.0 + number),
        *(
            thing(
                PODS, f"main-{number}-{pod}", "prod", owners=[owner(root)], labels=labels,
                facts=PodFacts(ready=pod < ready, node="node-1"),
            )
            for pod in range(2)
        ),
    ]  # fmt: skip


def still_wanted(
    *shards: list[ClusterObject],
    made: Iterable[ClusterObject] = (),
    taken: int = 0,
    written: bool = True,
    more: Iterable[ClusterObject] = (),
) -> bool:
    """Whether the last of some shards, when it goes, is said to be asked for by what keeps it."""
    view: GraphView = view_of(MAIN, FRONT, more, *shards)
    history, by = view.history, BY.user.username
    for one in made:
        history.note_created(one.uid, by, by, one.key, START)
    for shape in (1, 2) if written else ():
        history.writes.note(MAIN.key, Deed(What.WROTE, "developer@example.com", shape), START)
    if taken:
        history.writes.count(taken_from(MAIN.uid, STATEFUL_SETS), START, taken)
    impact = impact_of(delete(shards[-1][0], by=BY), view, by=BY, now=START.plus_s(300))
    return any(
        one.wanted > 0
        for one in effects(impact, ObjectsRemoved)
        if one.resource == "statefulsets.apps"
    )


ONE, TWO, THREE = shard(0), shard(1), shard(2)


def test_shards_made_anew_one_after_the_other() -> None:
    """Somebody changed the storage: the first goes, and each next once those before are back."""
    assert not still_wanted(ONE, TWO)
    assert not still_wanted(ONE, TWO, made=[ONE[0]], taken=1)
    assert not still_wanted(ONE, TWO, THREE, made=[ONE[0], TWO[0]], taken=2)


def test_a_series_that_takes_longer_than_an_hour() -> None:
    """What was asked for is hours ago; the last that was made anew is of this hour, and is back."""
    assert not still_wanted(ONE, TWO, written=False, made=[ONE[0]], taken=1)
    assert still_wanted(ONE, TWO, THREE, written=False, taken=1)


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(lambda: still_wanted(ONE, TWO, written=False), id="nobody-asked"),
        pytest.param(lambda: still_wanted(ONE, TWO, THREE, taken=1), id="not-made-again"),
        pytest.param(
            lambda: still_wanted(shard(0, ready=1), TWO, THREE, made=[ONE[0]], taken=1),
            id="not-ready-again",
        ),
        pytest.param(lambda: still_wanted(ONE), id="the-only-one"),
        pytest.param(lambda: still_wanted(shard(0, ready=0), TWO), id="others-do-not-serve"),
        pytest.param(lambda: still_wanted(ONE, TWO, made=[MAIN]), id="a-new-parent"),
        pytest.param(
            lambda: still_wanted(
                ONE,
                TWO,
                more=[
                    replace(
                        thing(CLAIMS, "data", "prod", owners=[owner(TWO[0])]),
                        facts=ClaimFacts(bound=True),
                    )
                ],
            ),
            id="with-its-claims",
        ),
    ],
)
def test_a_shard_that_is_taken_away(refused: type[bool]) -> None:
    """The incident: the same delete, with nothing that says that it comes back, or too early."""
    assert refused()


@pytest.mark.parametrize(("again", "wanted"), [(True, True), (False, False)])
def test_a_part_that_is_there_again_is_not_made_anew(*, again: bool, wanted: bool) -> None:
    """Who takes its set away then has seen it switched off, and not yet what came after."""
    view = view_of(MAIN, FRONT, *shard(0), *shard(1))
    states = [False, True] if again else [True]
    for before, after in pairwise([True, *states] if again else [True, True]):
        bodies = [
            msgspec.json.encode({"spec": {"shard1": {"enabled": on}, "note": note}})
            for note, on in enumerate((before, after))
        ]
        request = update(MAIN, MAIN, bodies=(bodies[0], bodies[1]))
        remember(request, project(request, view), view, START)
    for shape in (1, 2):
        view.history.writes.note(MAIN.key, Deed(What.WROTE, "developer@example.com", shape), START)
    impact = impact_of(delete(shard(1)[0], by=BY), view, by=BY, now=START.plus_s(300))
    (found,) = (
        one for one in effects(impact, ObjectsRemoved) if one.resource == str(STATEFUL_SETS)
    )
    assert bool(found.wanted) is wanted


def disk(number: int, *, ready: bool = True) -> list[ClusterObject]:
    """Return a member that no Service reaches: a Deployment of one pod."""
    labels = {"app": "disk", "disk-id": str(number)}
    facts = WorkloadFacts(1, Selector.of(labels))
    root = thing(DEPLOYMENTS, f"disk-{number}", "prod", owners=[owner(MAIN)], facts=facts)
    replicas = thing(
        REPLICA_SETS, f"disk-{number}-1", "prod", owners=[owner(root)], facts=facts,
    )  # fmt: skip
    pod = thing(
        PODS, f"disk-{number}-1-a", "prod", owners=[owner(replicas)], labels=labels,
        facts=PodFacts(ready=ready, node="node-1"),
    )  # fmt: skip
    return [root, replicas, pod]


@pytest.mark.parametrize(
    ("disks", "taken", "written", "wanted"),
    [
        pytest.param([disk(1), disk(2), disk(0)], 0, True, False, id="the-first"),
        pytest.param([disk(1), disk(2), disk(0)], 1, True, True, id="one-is-not-back"),
        pytest.param([disk(1), disk(2), disk(0)], 0, False, True, id="nobody-asked"),
        pytest.param([disk(1), disk(2, ready=False), disk(0)], 0, True, True, id="one-is-down"),
        pytest.param([disk(1), disk(0)], 0, True, True, id="of-two"),
    ],
)
def test_members_that_no_service_reaches_are_made_anew(
    disks: list[list[ClusterObject]], taken: int, *, written: bool, wanted: bool
) -> None:
    """Of three and more, all Ready, one goes at a time."""
    view = view_of(MAIN, *disks)
    for shape in (1, 2) if written else ():
        view.history.writes.note(MAIN.key, Deed(What.WROTE, "developer@example.com", shape), START)
    if taken:
        view.history.writes.count(taken_from(MAIN.uid, DEPLOYMENTS), START, taken)
    impact = impact_of(delete(disks[-1][0], by=BY), view, by=BY, now=START.plus_s(300))
    told = [one.wanted for one in effects(impact, ObjectsRemoved) if "deploy" in one.resource]
    assert told == [int(wanted)]
