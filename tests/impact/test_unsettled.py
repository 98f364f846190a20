"""Pods of one owner that are taken for hours, told from drains, large sets and what was changed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects
from support.cluster import BALANCERS, delete, operator, owner, thing, workload
from support.unfolding import Unfolding
from suture.impact.effects import Churn
from suture.model.actor import Actor
from suture.model.edges import Edge, Need
from suture.model.names import NODES, PODS, ObjectKey, Operation
from suture.model.objects import ClusterObject, NodeFacts, PodFacts

PERSON = operator("alice@example.com")
CARRIER = operator("system:serviceaccount:kube-system:statefulset-controller")
NODE = ObjectKey(NODES, "", "node-1")


def web(replicas: int) -> list[ClusterObject]:
    found = workload("web", replicas=replicas)
    return [*found[:2], *(replace(one, needs=(Need(Edge.NODE, NODE),)) for one in found[2:])]


class Evictions(Unfolding):
    """A workload on one node, whose pods are evicted in turn and made anew at once."""

    def __init__(self, replicas: int = 3, *, closed: bool = False) -> None:
        facts = NodeFacts(unschedulable=closed, ready=True)
        self.pods = web(replicas)[2:]
        super().__init__(thing(NODES, "node-1", facts=facts), web(replicas))

    def evict(self, at: int, after_s: float = 600) -> list[tuple[int, int]]:
        """Evict a pod of a new life, and return what is said of its owner beyond the hour."""
        self.now = self.now.plus_s(after_s - 60)
        pod = replace(self.pods[at % len(self.pods)], uid=f"life-{at}")
        self.things[pod.key] = pod
        request = replace(delete(pod), operation=Operation.CREATE, subresource="eviction", old=None)
        found = [one for one in effects(self.ask(request), Churn) if one.window_s > 3600]
        assert all((one.what, one.rounds) == ("evicted", True) for one in found)
        return [(one.times, one.window_s) for one in found]


def test_a_small_set_that_never_comes_to_rest_is_told_though_no_hour_tells() -> None:
    """One eviction each ten minutes: the twenty-first is the seventh of each pod."""
    evictions = Evictions()
    told = [evictions.evict(at) for at in range(21)]
    assert told[:17] == [[]] * 17
    assert told[17] == [(18, 21600)]
    assert told[20] == [(21, 21600)]


def test_what_has_ended_moves_nowhere() -> None:
    """As when a tool evicts the failed pods of a workload: its controller runs others by now."""
    evictions = Evictions()
    evictions.pods = [replace(one, facts=PodFacts(finished=True)) for one in evictions.pods]
    assert not any(evictions.evict(at) for at in range(21))


def test_pods_that_have_to_move_are_no_loop() -> None:
    """Drains and consolidations close a node before they empty it, however often."""
    evictions = Evictions(closed=True)
    assert [evictions.evict(at) for at in range(30)] == [[]] * 30


def test_a_larger_set_may_lose_a_pod_each_ten_minutes() -> None:
    """Each of twelve pods has moved twice or thrice in that time, as a descheduler does it."""
    evictions = Evictions(12)
    assert [evictions.evict(at) for at in range(30)] == [[]] * 30


def test_what_is_longer_ago_counts_no_more() -> None:
    """Twice an hour is what recommendations and spot machines come to."""
    evictions = Evictions()
    assert [evictions.evict(at, after_s=1800) for at in range(30)] == [[]] * 30


class Deletes(Evictions):
    """The same workload, whose pods an operator deletes in turn."""

    def take(
        self, at: int, by: Actor | None = None, *, ready: bool = True, after_s: float = 600
    ) -> list[tuple[int, int]]:
        """Delete a pod of a new life, and return what is said of its owner beyond the hour."""
        self.now = self.now.plus_s(after_s - 60)
        pod = self.pods[at % len(self.pods)]
        assert isinstance(pod.facts, PodFacts)
        pod = replace(pod, uid=f"life-{at}", facts=replace(pod.facts, ready=ready))
        self.things[pod.key] = pod
        found = [one for one in effects(self.ask(delete(pod), by), Churn) if one.window_s > 3600]
        assert all((one.what, one.rounds) == ("deleted", True) for one in found)
        return [(one.times, one.window_s) for one in found]


def test_members_that_their_operator_deletes_in_turn_without_end() -> None:
    """Nothing of the set was written: the twenty-first delete is the seventh of each pod."""
    deletes = Deletes()
    told = [deletes.take(at) for at in range(21)]
    assert told[:17] == [[]] * 17
    assert told[20] == [(21, 21600)]


@pytest.mark.parametrize(
    ("by", "ready", "after_s"),
    [
        pytest.param(PERSON, True, 600, id="a person looks for a fault"),
        pytest.param(CARRIER, True, 600, id="the set's own controller"),
        pytest.param(None, False, 600, id="none of them served"),
        pytest.param(None, True, 2400, id="certificates that change each two hours"),
    ],
)
def test_members_that_go_often_and_in_no_loop(by: Actor, after_s: float, *, ready: bool) -> None:
    """By whom it is known, or of what is broken, or at a pace that a day's work has."""
    deletes = Deletes()
    assert [deletes.take(at, by, ready=ready, after_s=after_s) for at in range(24)] == [[]] * 24


def test_members_that_are_deleted_for_what_was_written() -> None:
    """Who changes a set again and again has its pods made anew as often."""
    deletes = Deletes()
    maker = web(3)[1]
    for at in range(24):
        if at % 3 == 0:
            after = replace(maker, labels={**maker.labels, "settings": str(at)})
            deletes.write(after)
        assert deletes.take(at, after_s=540) == []


class Members(Deletes):
    """Three pods that a custom resource owns without a set between, taken and made by its operator.

    `renewed`: each new one is called otherwise.
    """

    def __init__(self, *, renewed: bool = False) -> None:
        super().__init__()
        self.renewed, self.ring = renewed, thing(BALANCERS, "ring", "prod")
        self.pods = [
            thing(
                PODS,
                f"ring-{number}",
                "prod",
                owners=[owner(self.ring)],
                facts=PodFacts(ready=True),
            )
            for number in range(3)
        ]
        self.things = {one.key: one for one in (self.ring, *self.pods)}

    def take(
        self, at: int, by: Actor | None = None, *, ready: bool = True, after_s: float = 600
    ) -> list[tuple[int, int]]:
        place = at % len(self.pods)
        if self.renewed:
            gone = self.pods[place]
            del self.things[gone.key]
            self.pods[place] = replace(gone, key=replace(gone.key, name=f"ring-{at}x"))
        return super().take(at, by, ready=ready, after_s=after_s)


def test_members_without_a_set_are_as_many_as_there_are() -> None:
    """An operator that makes its pods itself never finds them as it would make them."""
    members = Members()
    told = [members.take(at) for at in range(21)]
    assert told[:17] == [[]] * 17
    assert told[20] == [(21, 21600)]


def test_workers_that_come_and_go_are_no_members() -> None:
    """A pool that follows the load takes another one each time."""
    members = Members(renewed=True)
    assert [members.take(at) for at in range(24)] == [[]] * 24


def test_members_are_made_anew_for_what_was_written() -> None:
    """Each of three images that the custom resource asks for takes every member once."""
    members = Members()
    for at in range(24):
        if at % 3 == 0:
            members.write(replace(members.ring, labels={"image": str(at)}))
        assert members.take(at, after_s=540) == []
