"""Roles that labels tell: a failover by a stranger, and what only looks like one."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, service, thing, workload
from suture.impact.effects import SelectionChanged, ServiceEmptied
from suture.model.deeds import Deed, What
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import SERVICES
from suture.model.objects import ClusterObject, PodFacts, ServiceFacts
from suture.model.selectors import Selector

STRANGER = operator("system:serviceaccount:ops:failover")
FIRST = thing(SERVICES, "db-rw", "prod", facts=ServiceFacts(Selector.of({"role": "primary"})))


def member(pod: ClusterObject, role: str, *, ready: bool = True) -> ClusterObject:
    labels = {"app": "db", "role": role} if role else {"app": "db"}
    return msgspec.structs.replace(pod, labels=labels, facts=PodFacts(ready=ready))


def moved(
    role: str, beside: str, *, ready: bool = True, ago_s: float | None = None
) -> tuple[str, bool]:
    """Give the first of two members a `role`; return what it is told to be, and if explained."""
    deployment, replica_set, one, two = workload("db", replicas=2)
    first, second = member(one, "primary"), member(two, beside, ready=ready)
    history = History()
    if ago_s is not None:
        deed = Deed(What.WROTE, STRANGER.user.username, 1)
        history.writes.note(second.key, deed, START.plus_s(-ago_s))
    graph = graph_of(deployment, replica_set, first, second, FIRST, service("db"))
    impact = impact_of(
        update(first, member(first, role), by=STRANGER), GraphView(graph, history), by=STRANGER
    )
    (changed,) = effects(impact, SelectionChanged)
    (emptied,) = effects(impact, ServiceEmptied)
    return changed.cause, emptied.explained


def test_a_leader_steps_back_before_the_next_steps_up() -> None:
    """It becomes what the member beside it has long been."""
    assert moved("replica", "replica") == ("role", True)
    assert moved("replica", "replica", ago_s=4000) == ("role", True)


@pytest.mark.parametrize(
    ("role", "beside", "ready", "ago_s"),
    [
        pytest.param("", "", True, None, id="the label is taken off"),
        pytest.param("retired", "replica", True, None, id="nobody has such a role"),
        pytest.param("replica", "replica", False, None, id="nobody could step up"),
        pytest.param("replica", "replica", True, 60.0, id="all are relabelled one by one"),
    ],
)
def test_what_is_no_failover(role: str, beside: str, *, ready: bool, ago_s: float | None) -> None:
    """A stranger who leaves a Service without pods is told to."""
    assert moved(role, beside, ready=ready, ago_s=ago_s) == ("labels", False)
