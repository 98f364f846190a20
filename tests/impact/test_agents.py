"""Agents that nodes need: told by what they ask for, while they run, and until another does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from support.cluster import START, delete, graph_of, operator, owner, thing
from suture.impact.agents import SUCCESSION_S
from suture.impact.effects import ObjectsRemoved
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.impact.recent import taken_from
from suture.model.deeds import Deed, What
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import DAEMON_SETS, PODS, PRIORITY_CLASSES, ObjectKey, Resource
from suture.model.objects import ClusterObject, CustomFacts, PodFacts, WorkloadFacts
from suture.model.placement import NO_EXECUTE, NO_SCHEDULE, Placement, Toleration

ANY = Toleration(any_value=True)
NODE_CRITICAL = "system-node-critical"
OLD = START.utc_s - 400 * 24 * 3600.0


def agent(
    name: str = "network",
    space: str = "kube-system",
    *,
    priority: str = NODE_CRITICAL,
    host_network: bool = True,
    tolerates: tuple[Toleration, ...] = (ANY,),
    nodes: int = 10,
    ready: int | None = None,
    created: float = OLD,
) -> list[ClusterObject]:
    """Make a DaemonSet with a pod on each of some nodes."""
    need = Need(Edge.PRIORITY_CLASS, ObjectKey(PRIORITY_CLASSES, "", priority))
    placement = Placement(tolerations=tolerates, host_network=host_network)
    made = msgspec.structs.replace(
        thing(DAEMON_SETS, name, space, facts=WorkloadFacts(placement=placement)),
        needs=(need,),
        created=created,
    )
    pods = [
        thing(
            PODS, f"{name}-{number}", space, labels={"app": name}, owners=[owner(made)],
            facts=PodFacts(ready=number < (nodes if ready is None else ready), node=f"n-{number}"),
        )
        for number in range(nodes)
    ]  # fmt: skip
    return [made, *pods]


def wanted(
    going: list[ClusterObject], *others: list[ClusterObject], history: History | None = None
) -> int:
    """Return how many DaemonSets are wanted when one of them is deleted."""
    view, request = GraphView(graph_of(going, *others), history or History()), delete(going[0])
    change = project(request, view)
    impact = estimate(request, change, view, operator(), {"objects_removed"}, now=START)
    effects = [one for one in impact.effects if isinstance(one, ObjectsRemoved)]
    return sum(one.wanted for one in effects if one.resource == str(DAEMON_SETS))


def test_an_agent_of_the_nodes_is_wanted() -> None:
    """Whatever it is called, and though nothing owns it; other old agents do other things."""
    assert wanted(agent("anything")) == 1
    assert wanted(agent(space="kube-mesh")) == 1
    assert wanted(agent(tolerates=(Toleration(effect=NO_SCHEDULE, any_value=True),))) == 1
    assert wanted(agent(), agent("proxy"), agent("proxy-2", created=OLD + 3600)) == 1


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"space": "logging"}, id="in its owner's namespace"),
        pytest.param({"priority": "system-cluster-critical"}, id="another priority"),
        pytest.param({"host_network": False}, id="on the network of pods"),
        pytest.param({"tolerates": ()}, id="kept away by taints"),
        pytest.param({"tolerates": (Toleration("gpu", any_value=True),)}, id="of some nodes"),
        pytest.param(
            {"tolerates": (Toleration(effect=NO_EXECUTE, any_value=True),)}, id="only not evicted"
        ),
        pytest.param({"nodes": 0}, id="on no node"),
        pytest.param({"ready": 4}, id="most of it broken"),
    ],
)
def test_other_agents_may_go(parts: dict[str, Any]) -> None:
    """They are somebody's, who takes them away, or do nothing any more."""
    assert wanted(agent(**parts)) == 0


@pytest.mark.parametrize(
    ("successor", "still"),
    [
        pytest.param({"created": START.utc_s - 600}, 0, id="everywhere"),
        pytest.param({"created": START.utc_s - 600, "space": "mesh"}, 0, id="of any namespace"),
        pytest.param({"created": START.utc_s - 600, "ready": 9}, 0, id="but for one node"),
        pytest.param({"created": START.utc_s - 600, "ready": 5}, 1, id="on half of the nodes"),
        pytest.param({"created": START.utc_s - 2 * SUCCESSION_S}, 1, id="there for long"),
        pytest.param(
            {"created": START.utc_s - 600, "host_network": False}, 1, id="of another sort"
        ),
    ],
)
def test_an_agent_goes_once_another_has_taken_its_place(
    successor: dict[str, Any], still: int
) -> None:
    """Made lately, and Ready as widely."""
    assert wanted(agent(), agent("next", **successor)) == still


def test_what_was_installed_together_does_not_succeed_itself() -> None:
    """A cluster of today: its agents were all applied within a moment."""
    today = START.utc_s - 3600
    assert wanted(agent(created=today), agent("proxy", created=today + 5)) == 1
    assert wanted(agent(created=today), agent("next", created=today + 600)) == 0


def test_what_was_seen_to_come_is_later_than_what_was_there() -> None:
    """However soon after it, as in a cluster that was made a moment ago."""
    today = START.utc_s - 600
    old, new = agent(created=today), agent("next", created=today + 5)
    history = History()
    history.note_created(new[0].uid, "somebody", "somebody", new[0].key, START)
    assert wanted(old, new, history=history) == 0
    history.note_created(old[0].uid, "somebody", "somebody", old[0].key, START)
    assert wanted(old, new, history=history) == 1


def test_what_the_actor_installed_today_it_may_take_away() -> None:
    """A trial, and whoever made it gives it up."""
    tried = agent(created=START.utc_s - 600)
    history = History()
    by = operator().user.username
    history.note_created(tried[0].uid, by, by, tried[0].key, START)
    assert wanted(tried, history=history) == 0
    assert wanted(tried) == 1


FORWARDERS = Resource("logging.example.com", "forwarders")
KEEPER = thing(FORWARDERS, "logs", "logging", facts=CustomFacts())
NOW = START.plus_s(24 * 3600)


def collector(name: str, *, created: float = OLD, ready: int = 10) -> list[ClusterObject]:
    """Make a DaemonSet of a custom resource, with a pod on each of ten nodes."""
    made, *pods = agent(name, "logging", priority="", created=created, ready=ready)
    return [msgspec.structs.replace(made, owners=(owner(KEEPER),)), *pods]


def still_wanted(
    *new: list[ClusterObject], written: bool = True, by: str = "", taken: int = 0
) -> int:
    """Return how many DaemonSets are wanted when the old one is deleted by the operator."""
    old, history = collector("old"), History()
    for value in (1, 2) if written else ():
        history.writes.note(KEEPER.key, Deed(What.WROTE, "human", value), NOW)
    identity = by or operator().user.username
    for one in new:
        history.note_created(one[0].uid, identity, identity, one[0].key, NOW)
    history.writes.count(taken_from(KEEPER.uid, DAEMON_SETS), NOW, taken)
    view, request = GraphView(graph_of(KEEPER, old, *new), history), delete(old[0])
    impact = estimate(
        request, project(request, view), view, operator(), {"objects_removed"}, now=NOW
    )
    effects = [one for one in impact.effects if isinstance(one, ObjectsRemoved)]
    return sum(one.wanted for one in effects if one.resource == str(DAEMON_SETS))


LATELY = NOW.utc_s - 600


def test_a_set_of_agents_goes_once_its_resource_asked_for_another() -> None:
    """The resource was written, and what the operator made since runs on as many nodes."""
    assert still_wanted(collector("new", created=LATELY)) == 0


@pytest.mark.parametrize(
    "still",
    [
        pytest.param(still_wanted(), id="nothing in its place"),
        pytest.param(still_wanted(collector("new", created=LATELY), written=False), id="unasked"),
        pytest.param(still_wanted(collector("new", created=LATELY, ready=5)), id="on half of them"),
        pytest.param(still_wanted(collector("new")), id="there before"),
        pytest.param(still_wanted(collector("new", created=LATELY), by="other"), id="of another"),
        pytest.param(still_wanted(collector("new", created=LATELY), taken=1), id="used up"),
    ],
)
def test_a_set_of_agents_that_nothing_has_followed_stays(still: int) -> None:
    """Its living resource still asks for it."""
    assert still == 1
