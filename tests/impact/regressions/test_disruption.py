"""What the differential found wrong about evictions: whom the API server itself refuses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import delete, operator, thing, view_of, workload
from suture.impact.effects import DisruptionExceeded
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.model.facts import DisruptionBudgetFacts
from suture.model.graph import GraphView
from suture.model.names import DISRUPTION_BUDGETS, Operation
from suture.model.objects import ClusterObject, PodFacts
from suture.model.selectors import Selector


def budget(*, spares_unready: bool = False, most: int = 1) -> ClusterObject:
    facts = DisruptionBudgetFacts(
        Selector.of({"app": "web"}), max_unavailable=most, spares_unready=spares_unready
    )
    return thing(DISRUPTION_BUDGETS, "web", "prod", facts=facts)


def refused(view: GraphView, pod: ClusterObject) -> bool:
    request = replace(delete(pod), operation=Operation.CREATE, subresource="eviction", old=None)
    impact = estimate(request, project(request, view), view, operator(), {"disruption_exceeded"})
    return any(isinstance(one, DisruptionExceeded) and one.evicted for one in impact.effects)


@pytest.mark.parametrize(
    ("ready", "most", "refuses"),
    [
        pytest.param(0, 1, True, id="fewer-than-wanted"),
        pytest.param(1, 1, False, id="as-many-as-wanted"),
        pytest.param(0, 2, True, id="nothing-wanted-and-nothing-there"),
    ],
)
def test_a_pod_that_is_not_ready_is_kept_while_its_budget_is_broken(
    ready: int, most: int, *, refuses: bool
) -> None:
    """Seed 11, case 121: neither of two pods was Ready, and the eviction of one was refused."""
    web = workload("web", replicas=2, ready=ready)
    unplaced = replace(web[-1], facts=PodFacts(ready=False))

    assert refused(view_of(web, budget(most=most)), web[-1]) is refuses
    assert not refused(view_of(web, budget(most=most, spares_unready=True)), web[-1])
    assert not refused(view_of(web[:-1], unplaced, budget(most=most)), unplaced)


def test_a_budget_by_share_does_not_count_pods_that_nobody_keeps() -> None:
    """Seed 41, case 498: a bare pod was alone under `maxUnavailable: 1`, and was not let go.

    The disruption controller expects as many pods as their controllers want: here none, and a
    budget that expects none allows none.
    """
    bare = replace(workload("web", replicas=1)[2], owners=())
    nobody = budget(most=1)

    assert refused(view_of(bare, nobody), bare)


@pytest.mark.parametrize(("allowed", "refuses"), [(1, False), (0, True)])
def test_an_eviction_goes_by_what_the_budget_itself_says(allowed: int, *, refuses: bool) -> None:
    """Seed 925, case 418: a pod was labelled out of its budget, which went on to count it.

    A delete asks no API server, and is told by the pods of today.
    """
    web = workload("web", replicas=3)
    said = DisruptionBudgetFacts(
        Selector.of({"app": "web"}),
        max_unavailable=1,
        expected=4,
        desired=3,
        healthy=3 + allowed,
        allowed=allowed,
    )
    view = view_of(web, replace(budget(), facts=said))
    deleted = delete(web[2])

    assert refused(view, web[2]) is refuses
    impact = estimate(deleted, project(deleted, view), view, operator(), {"disruption_exceeded"})
    (told,) = [one for one in impact.effects if isinstance(one, DisruptionExceeded)]
    assert (told.allowed, told.healthy) == (0, 3)
