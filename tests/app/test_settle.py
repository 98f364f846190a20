"""What an operator removed and made again: what it spent on that is given back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import START, graph_of, operator, owner, thing
from suture.adapters.files import load_policies
from suture.adapters.memory import NoSignals
from suture.app.settle import Settler
from suture.budget.claims import Claim
from suture.judge import World
from suture.model.clock import Window
from suture.model.names import PODS, Operation, Resource
from suture.model.objects import ClusterObject, PodFacts, PodState
from suture.model.overlay import HORIZON_S
from suture.model.request import Intent
from suture.policy.rules import ClusterFacts

SETS = Resource("sets.example.com", "clonesets")
SET = thing(SETS, "web", "prod")
OPERATOR = operator()
NAME = OPERATOR.user.username


def member(name: str, *, ready: bool = True, of: ClusterObject = SET) -> ClusterObject:
    return thing(PODS, name, "prod", owners=[owner(of)], facts=PodFacts(ready=ready))


class Rolled:
    """A set of its own kind whose pods its operator deletes and makes, and what that costs it."""

    def __init__(self, *pods: ClusterObject) -> None:
        self.at = START
        self.world = World(
            load_policies(()), graph=graph_of(SET, pods), cluster=ClusterFacts("test")
        )
        self.settler = Settler(self.world, NoSignals(), lambda: self.at)

    def wait(self, seconds: float) -> None:
        self.at = self.at.plus_s(seconds)

    def takes(self, pod: ClusterObject) -> None:
        """Let the operator delete a pod, and see it go."""
        intent = Intent(NAME, Operation.DELETE, pod.key, "", pod.uid)
        claim = Claim(
            budget="removals", holder=OPERATOR.operator, key="pods", amount=1, population=9,
            windows=(Window(3600, 5, 1),), victims=(pod.key,),
        )  # fmt: skip
        self.world.ledger.reserve(intent, [claim], self.at, force=False)
        self.world.overlay.admit(intent, [pod.uid], self.at)
        self.settler.changed(replace(pod, deleted=1.0), terminates=True)
        self.settler.ended(pod)

    def makes(self, pod: ClusterObject, by: str = NAME) -> None:
        """Let a pod be made, and see it."""
        self.world.history.note_created(pod.uid, by, OPERATOR.operator, pod.key, self.at)
        self.settler.began(pod)

    @property
    def spent(self) -> int:
        return sum(one.used for one in self.world.ledger.usage(OPERATOR.operator, self.at))


def test_a_pod_that_is_ready_in_the_place_of_another_gives_back_what_that_cost() -> None:
    """Once, and only from when it is Ready."""
    old, new = member("web-a"), member("web-b", ready=False)
    rolled = Rolled(old)
    rolled.takes(old)
    rolled.wait(20)
    rolled.makes(new)
    assert rolled.spent == 1
    ready = replace(new, facts=PodFacts(ready=True))
    rolled.settler.changed(ready, terminates=False)
    assert rolled.spent == 0
    rolled.takes(member("web-c"))
    rolled.settler.changed(ready, terminates=False)
    assert rolled.spent == 1


def test_a_successor_is_known_by_its_state_alone() -> None:
    """As the watch tells of most pods; not before it is Ready."""
    old, new = member("web-a"), member("web-b", ready=False)
    rolled = Rolled(old)
    rolled.takes(old)
    rolled.makes(new)
    now = PodState(new.key, new.uid, "2", b"", owner(SET), ready=False, finished=False)
    rolled.settler.restated(now)
    assert rolled.spent == 1
    rolled.settler.restated(replace(now, ready=True))
    assert rolled.spent == 0


@pytest.mark.parametrize(
    "next_one",
    [
        pytest.param(member("other", of=thing(SETS, "api", "prod")), id="of-another-owner"),
        pytest.param(thing(PODS, "bare", "prod", facts=PodFacts(ready=True)), id="of-nobody"),
    ],
)
def test_what_is_made_for_another_gives_nothing_back(next_one: ClusterObject) -> None:
    """A successor has the owner of the one that went."""
    old = member("web-a")
    rolled = Rolled(old)
    rolled.takes(old)
    rolled.makes(next_one)
    assert rolled.spent == 1


def test_what_was_there_before_is_no_successor() -> None:
    """Its status changes as that of any pod does."""
    old, beside = member("web-a"), member("web-b")
    rolled = Rolled(old, beside)
    rolled.makes(beside)
    rolled.wait(60)
    rolled.takes(old)
    rolled.settler.changed(beside, terminates=False)
    assert rolled.spent == 1


def test_what_another_made_gives_nothing_back() -> None:
    """Who removed it has not made it good."""
    old = member("web-a")
    rolled = Rolled(old)
    rolled.takes(old)
    rolled.makes(member("web-b"), by="system:serviceaccount:other:other")
    assert rolled.spent == 1


@pytest.mark.parametrize(("seen", "spent"), [(True, 1), (False, 0)])
def test_what_an_update_cost_stays_where_its_object_was_seen_written(
    seen: bool, spent: int
) -> None:
    """And is given back past the horizon where nothing came of it."""
    rolled = Rolled()
    intent = Intent(NAME, Operation.UPDATE, SET.key, "", SET.uid)
    claim = Claim(
        budget="stopped", holder=OPERATOR.operator, key="schedule", amount=1, population=0,
        windows=(Window(3600, 5, 0),), victims=(SET.key,),
    )  # fmt: skip
    rolled.world.ledger.reserve(intent, [claim], rolled.at, force=False)
    rolled.world.overlay.admit(intent, (), rolled.at, written=SET.uid)
    if seen:
        rolled.settler.changed(replace(SET, resource_version="9"), terminates=False)
    rolled.wait(HORIZON_S + 1)
    rolled.settler.tick(rolled.at)
    assert rolled.spent == spent
    assert len(rolled.world.overlay) == 0
