"""One member of several that a custom resource has is replaced by the next of another name."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, delete, operator, owner, thing, view_of
from suture.impact.causes.counters import taken_from
from suture.impact.effects import ObjectsRemoved, ServiceEmptied
from suture.model.actor import Actor
from suture.model.names import CLAIMS, DEPLOYMENTS, PODS, REPLICA_SETS, SERVICES, Resource
from suture.model.objects import (
    ClaimFacts,
    ClusterObject,
    PodFacts,
    ServiceFacts,
    WorkloadFacts,
)
from suture.model.selectors import Selector

CLUSTERS = Resource("storage.example.com", "clusters")
BY = operator("system:serviceaccount:storage:clusters-operator")
STRANGER = operator("system:serviceaccount:tidy:cleaner")
MAIN = thing(CLUSTERS, "main", "prod")


def monitor(name: str, *, ready: bool = True, app: str = "mon") -> list[ClusterObject]:
    """Make a member: a Deployment of one pod, and the Service that is its own."""
    labels = {"app": app, "mon": name}
    selector = Selector.of(labels)
    root = thing(DEPLOYMENTS, name, "prod", owners=[owner(MAIN)], facts=WorkloadFacts(1, selector))
    middle = thing(
        REPLICA_SETS, name, "prod", owners=[owner(root)], facts=WorkloadFacts(1, selector)
    )
    pod = thing(
        PODS, f"{name}-x", "prod", owners=[owner(middle)], labels=labels,
        facts=PodFacts(ready=ready),
    )  # fmt: skip
    own = thing(SERVICES, name, "prod", owners=[owner(MAIN)], facts=ServiceFacts(selector))
    return [root, middle, pod, own]


A, B, C = (monitor(name) for name in "abc")
NEXT = monitor("d")


def passes(
    *more: list[ClusterObject],
    made: Iterable[ClusterObject] = (),
    taken: int = 0,
    by: Actor = BY,
) -> bool:
    """Whether member `a` may go: nothing in use is asked for, and its Service may be empty."""
    view = view_of(MAIN, A, B, C, *more)
    for one in made:
        maker = "developer@example.com" if one is MAIN else BY.user.username
        view.history.note_created(one.uid, maker, maker, one.key, START)
    view.history.writes.count(taken_from(MAIN.uid, DEPLOYMENTS), START, taken)
    impact = impact_of(delete(A[0], by=by), view, by=by, now=START.plus_s(300))
    (gone,) = [one for one in effects(impact, ObjectsRemoved) if one.resource == "deployments.apps"]
    wanted = bool(gone.wanted)
    # What is not replaced is charged, and what is costs nothing.
    assert (gone.counted, gone.replaced) == (1, not wanted)
    (emptied,) = effects(impact, ServiceEmptied)
    assert wanted is not emptied.explained
    return not wanted


def test_a_member_goes_after_the_next_is_ready() -> None:
    assert passes(NEXT, made=[NEXT[0]])


def test_parts_of_hosts_follow_their_hosts() -> None:
    """The next host has one of each part: the second part goes for its own, and not for the first's."""
    agent = monitor("host-9", app="agent")
    assert passes(NEXT, agent, made=[NEXT[0], agent[0]], taken=1)
    assert not passes(NEXT, agent, made=[NEXT[0], agent[0]], taken=2)


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(passes, id="no-next"),
        pytest.param(lambda: passes(NEXT), id="a-next-that-was-there-before"),
        pytest.param(
            lambda: passes(late := monitor("d", ready=False), made=[late[0]]), id="not-ready"
        ),
        pytest.param(
            lambda: passes(other := monitor("d", app="mgr"), made=[other[0]]), id="another-part"
        ),
        pytest.param(lambda: passes(NEXT, made=[NEXT[0]], taken=1), id="one-was-replaced-by-it"),
        pytest.param(lambda: passes(NEXT, made=[NEXT[0]], by=STRANGER), id="a-stranger"),
        pytest.param(lambda: passes(NEXT, made=[NEXT[0], MAIN]), id="a-new-parent"),
        pytest.param(
            lambda: passes(
                NEXT,
                [
                    replace(
                        thing(CLAIMS, "data", "prod", owners=[owner(A[0])]),
                        facts=ClaimFacts(bound=True),
                    )
                ],
                made=[NEXT[0]],
            ),
            id="with-its-claims",
        ),
    ],
)
def test_what_is_not_replaced(refused: object) -> None:
    """The incident: the same delete, and nobody answers for what goes."""
    assert callable(refused)
    assert not refused()
