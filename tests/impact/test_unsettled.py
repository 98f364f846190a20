"""Pods of one owner that are evicted for hours, told from drains and from large sets."""

from __future__ import annotations

from msgspec.structs import replace

from support.asking import effects
from support.cluster import delete, thing, workload
from support.unfolding import Unfolding
from suture.impact.effects import Churn
from suture.model.edges import Edge, Need
from suture.model.names import NODES, ObjectKey, Operation
from suture.model.objects import ClusterObject, NodeFacts

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
