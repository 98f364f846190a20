"""Pods that wait for a node while others close: whom a further cordon leaves without a place."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, owner, thing, workload
from suture.impact.effects import CapacityLost
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import JOBS, NODES, PODS
from suture.model.objects import ClusterObject, NodeFacts, PodFacts, WorkloadFacts
from suture.model.placement import Placement, Taint
from suture.model.selectors import Selector

FULL = NodeFacts(ready=True, cpu_m=4000, memory_mi=8192, pods=2)
ROOMY = msgspec.structs.replace(FULL, pods=10)
POOL = {"pool": "apps"}
IN_POOL = Placement(terms=(Selector.of(POOL),))


def node(name: str, facts: NodeFacts = FULL) -> ClusterObject:
    return thing(NODES, name, labels=POOL, facts=facts)


def members(name: str, at: str, *, since_s: float = 0, replicas: int = 2) -> list[ClusterObject]:
    """Make a workload of the pool; its pods are on a node, or wait for one where it has no name."""
    return [
        msgspec.structs.replace(
            one, facts=PodFacts(ready=bool(at), node=at), created=START.utc_s - since_s
        )
        if isinstance(one.facts, PodFacts)
        else placed(one, IN_POOL)
        for one in workload(name, replicas=replicas)
    ]


def placed(one: ClusterObject, placement: Placement) -> ClusterObject:
    assert isinstance(one.facts, WorkloadFacts)
    return msgspec.structs.replace(
        one, facts=msgspec.structs.replace(one.facts, placement=placement)
    )


def closes(
    *things: ClusterObject | Iterable[ClusterObject],
    closed_s: float | None = 300,
    taint: bool = False,
) -> tuple[int, int]:
    """Close node-1, `closed_s` after another went; return whom that leaves without a place."""
    last, history = node("node-1"), History()
    if closed_s is not None:
        history.writes.note_closed("node-0", START.plus_s(-closed_s))
    how = {"taints": (Taint("out"),)} if taint else {"unschedulable": True}
    after = msgspec.structs.replace(last, facts=msgspec.structs.replace(FULL, **how))
    graph = graph_of(last, *things)
    (found,) = effects(impact_of(update(last, after), GraphView(graph, history)), CapacityLost)
    return found.pods, found.unplaced


@pytest.mark.parametrize("taint", [False, True])
def test_who_was_drained_and_waits_is_left_without_a_place(taint: bool) -> None:
    """Two pods wait for two minutes, since a node closed; the others are full."""
    waits, runs = members("api", "", since_s=120), members("web", "node-2")
    assert closes(node("node-2"), waits, runs, taint=taint) == (2, 2)


def test_who_has_a_place_elsewhere_is_not() -> None:
    """Why they wait all the same is no matter of nodes: a claim, a quota, a member beside them."""
    assert closes(node("node-2", ROOMY), members("api", "", since_s=120)) == (2, 0)


@pytest.mark.parametrize(
    ("since_s", "closed_s"),
    [
        pytest.param(30, 300, id="may be placed any moment"),
        pytest.param(4000, 300, id="waited before any node closed"),
        pytest.param(120, None, id="no other node closes"),
        pytest.param(120, 1000, id="it was opened again, or came back, since"),
    ],
)
def test_who_waits_for_something_else_is_not(since_s: float, closed_s: float | None) -> None:
    """That a node closes has nothing to do with them."""
    waits = members("api", "", since_s=since_s)
    assert closes(waits, closed_s=closed_s) == (0, 0)


def test_who_may_not_run_there_is_not() -> None:
    """A node of another pool is none of theirs."""
    waits = members("api", "", since_s=120)
    asking = [
        placed(one, Placement(terms=(Selector.of({"pool": "gpu"}),)))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in waits
    ]
    assert closes(asking) == (0, 0)


def test_who_does_not_run_for_good_is_not() -> None:
    """The pods of a Job may wait as long as they like, and bare ones are nobody's."""
    job = thing(JOBS, "import", "prod", facts=WorkloadFacts())
    made = START.utc_s - 120
    pods = [
        thing(PODS, "import-1", "prod", owners=[owner(job)], facts=PodFacts()),
        thing(PODS, "bare", "prod", facts=PodFacts()),
    ]
    assert closes(job, [msgspec.structs.replace(one, created=made) for one in pods]) == (0, 0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["api", "web"]), st.booleans(), st.booleans(),
            st.sampled_from(["", "node-1"]), st.booleans(),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_exactly_those_that_wait_are_found(pods: list[tuple[str, bool, bool, str, bool]]) -> None:
    """Whatever else is of their class; a slow look at each pod says the same."""
    made = [
        thing(
            PODS, f"pod-{at}", "prod", labels={"app": app}, deleted=START.utc_s if going else 0.0,
            facts=PodFacts(ready=ready, finished=finished, node=place),
        )
        for at, (app, ready, finished, place, going) in enumerate(pods)
    ]  # fmt: skip
    view = GraphView(graph_of(node("node-1"), made))
    waiting = {
        one.key.name
        for one, (_, ready, finished, place, going) in zip(made, pods, strict=True)
        if not (ready or finished or place or going)
    }
    assert {view.name(row) for row in view.unscheduled()} == waiting
