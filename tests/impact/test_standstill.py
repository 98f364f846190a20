"""Workloads of the cluster itself: one that is stopped, or one after the other."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from support.asking import effects
from support.cluster import workload
from support.unfolding import OTHER, Unfolding
from suture.impact.effects import PodsLost
from suture.model.actor import Actor
from suture.model.names import DEPLOYMENTS, ObjectKey
from suture.model.objects import WorkloadFacts

SYSTEM = "kube-system"


class Addons(Unfolding):
    """Six workloads in a namespace."""

    def __init__(self, space: str = SYSTEM) -> None:
        self.space = space
        super().__init__(one for at in range(6) for one in workload(f"a-{at}", space, replicas=2))

    def size(
        self, at: int, replicas: int, by: Actor | None = None, *, noted: bool = False
    ) -> list[int]:
        """Size a workload, and return what those behind it ask for."""
        key = ObjectKey(DEPLOYMENTS, self.space, f"a-{at}")
        old = self.things[key]
        assert isinstance(old.facts, WorkloadFacts)
        new = replace(old, facts=replace(old.facts, replicas=replicas))
        bodies = b"", b""
        if noted:
            notes = {"annotations": {"night.example.com/size": "2"}}
            bodies = b"{}", msgspec.json.encode({"metadata": notes})
        return [one.wanted for one in effects(self.write(new, by, bodies), PodsLost)]


def test_from_the_third_on_the_cluster_asks_for_what_is_its_own() -> None:
    """Stopping several of its workloads stops the cluster, though each by itself may be stopped."""
    addons = Addons()
    assert [addons.size(at, 0) for at in range(4)] == [[-1], [-1], [1], [1]]


def test_one_controller_may_be_stopped_and_made_smaller_and_started_again() -> None:
    """Stopping a bad controller is how an outage ends; so are restarts of one after the other."""
    addons = Addons()
    assert [addons.size(at, 1) for at in range(4)] == [[-1]] * 4
    stops = [addons.size(at, 0) + addons.size(at, 2) for at in range(6)]
    assert stops == [[-1]] * 6


def test_each_actor_and_each_hour_is_another() -> None:
    """What two people stop, or one within a day, is no sweep."""
    addons = Addons()
    addons.size(0, 0)
    addons.size(1, 0, OTHER)
    assert addons.size(2, 0) == [-1]
    addons.now = addons.now.plus_s(4000)
    assert addons.size(3, 0) == [-1]


def test_a_namespace_of_a_team_is_its_own_affair() -> None:
    """What is put to sleep there is for budgets to count; nor is what will be brought back."""
    addons = Addons("shop")
    assert [addons.size(at, 0) for at in range(4)] == [[-1]] * 4
    addons = Addons()
    assert [addons.size(at, 0, noted=True) for at in range(4)] == [[-1]] * 4
