"""Disruption budgets that keep no pod any more: one for a drain, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from support.asking import effects
from support.cluster import thing, workload
from support.unfolding import OTHER, Unfolding
from suture.impact.effects import EntriesDropped
from suture.model.actor import Actor
from suture.model.facts import Amount, DisruptionBudgetFacts
from suture.model.names import DISRUPTION_BUDGETS
from suture.model.objects import ClusterObject
from suture.model.selectors import Selector

Bounds = Mapping[str, Amount]

KEEPS: Bounds = {"least": 2}
NOTHING: Bounds = {"least": 0}


def budget(at: int, *, least: Amount | None = None, most: Amount | None = None) -> ClusterObject:
    facts = DisruptionBudgetFacts(Selector.of({"app": f"web-{at}"}), least, most)
    return thing(DISRUPTION_BUDGETS, f"web-{at}", "prod", facts=facts)


class Namespace(Unfolding):
    """Ten workloads with a budget each."""

    def __init__(self, replicas: int = 3, bounds: Bounds = KEEPS) -> None:
        pods = [one for at in range(10) for one in workload(f"web-{at}", replicas=replicas)]
        super().__init__((budget(at, **bounds) for at in range(10)), pods)

    def told(self, at: int, to: Bounds = NOTHING, by: Actor | None = None) -> list[EntriesDropped]:
        return effects(self.write(budget(at, **to), by), EntriesDropped)

    def critical(self, at: int, to: Bounds = NOTHING) -> list[bool]:
        return [one.critical for one in self.told(at, to)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param({"least": 2}, {"least": 0}, id="of-which-none-has-to-stay"),
        pytest.param({"least": "50%"}, {"least": "0%"}, id="as-a-share"),
        pytest.param({"most": 1}, {"most": "100%"}, id="of-which-all-may-go"),
        pytest.param({"most": 1}, {"most": 3}, id="as-many-as-there-are"),
    ],
)
def test_the_third_budget_that_is_set_to_nothing_is_of_a_sweep(old: Bounds, new: Bounds) -> None:
    """The first two are told as what they are; from the third on the actor takes them all."""
    place = Namespace(bounds=old)
    assert [place.critical(at, new) for at in range(4)] == [[False], [False], [True], [True]]


def test_what_it_kept_is_told() -> None:
    """How many pods would stay now, and that none would."""
    (found,) = Namespace().told(0)
    assert (found.field, found.before, found.dropped) == ("spec", 2, 2)


def test_a_budget_that_is_set_aside_and_set_back_counts_no_more() -> None:
    """An upgrade that takes one workload after the other never leaves several without."""
    place = Namespace()
    told = [place.critical(at) + place.critical(at, KEEPS) for at in range(6)]
    assert told == [[False]] * 6


def test_another_actor_is_another_sweep_and_so_is_another_hour() -> None:
    """What others did, or the actor itself long ago, is not what it is doing now."""
    place = Namespace()
    place.told(0)
    place.told(1, by=OTHER)
    assert place.critical(2) == [False]
    place.now = place.now.plus_s(4000)
    assert place.critical(3) == [False]


@pytest.mark.parametrize(
    ("replicas", "old", "new"),
    [
        pytest.param(3, {"least": 2}, {"least": 1}, id="it-keeps-fewer"),
        pytest.param(3, {"least": 2}, {"most": "34%"}, id="it-counts-otherwise"),
        pytest.param(3, {"least": 0}, {"most": "100%"}, id="it-kept-none-before"),
        pytest.param(1, {"least": 1}, {"least": 0}, id="of-a-single-pod-it-only-bars-drains"),
        pytest.param(0, {"least": 1}, {"least": 0}, id="nothing-runs"),
    ],
)
def test_a_budget_that_keeps_some_still_or_has_none_to_keep_is_not_told(
    replicas: int, old: Bounds, new: Bounds
) -> None:
    """An ordinary change of a chart, of however many."""
    place = Namespace(replicas, old)
    assert [place.critical(at, new) for at in range(5)] == [[]] * 5
