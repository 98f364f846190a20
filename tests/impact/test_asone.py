"""Pods that go along with the custom resource that made them, and as how many they count."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of
from support.cluster import START, delete, graph_of, owner, service, thing
from suture.impact.effects import ObjectsRemoved
from suture.model.edges import Edge, Need
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import CLAIMS, DAEMON_SETS, PODS, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts

CREW = thing(Resource("parts.example.com", "crews"), "hub", "prod")


def pods(*, data: bool = False) -> list[ClusterObject]:
    """Return three members that no two labels are alike of, behind one Service."""
    return [
        msgspec.structs.replace(
            thing(
                PODS, f"hub-{number}", "prod", labels={"app": "web", "number": f"{number}"},
                owners=[owner(CREW)], facts=PodFacts(ready=True),
            ),
            needs=(Need(Edge.CLAIM, ObjectKey(CLAIMS, "prod", f"data-{number}")),) * data,
        )
        for number in range(3)
    ]  # fmt: skip


def removed(view: GraphView, going: ClusterObject) -> ObjectsRemoved:
    """Return what is told of the pods."""
    found = effects(impact_of(delete(going), view, now=START), ObjectsRemoved)
    (told,) = [one for one in found if one.resource == "pods"]
    return told


@pytest.mark.parametrize(
    ("data", "counted"),
    [pytest.param(False, 1, id="one-workload"), pytest.param(True, 3, id="members-with-data")],
)
def test_pods_that_a_custom_resource_takes_along_are_one_workload(
    *, data: bool, counted: int
) -> None:
    """As those of a Deployment are. What a member holds is lost as often as there are members."""
    view = GraphView(graph_of(CREW, pods(data=data), service("web")), History())
    told = removed(view, CREW)
    assert (told.counted, told.counted_cascaded) == (3, counted)


@pytest.mark.parametrize("runs", [True, False])
def test_a_daemon_set_that_runs_nowhere_is_none(*, runs: bool) -> None:
    """No node is left for it: it takes nothing along."""
    agents = thing(DAEMON_SETS, "agents", "prod", owners=[owner(CREW)], facts=WorkloadFacts())
    pod = thing(PODS, "agents-1", "prod", owners=[owner(agents)], facts=PodFacts(ready=True))
    view = GraphView(graph_of(CREW, agents, [pod] if runs else []), History())
    found = effects(impact_of(delete(CREW), view, now=START), ObjectsRemoved)
    (sets,) = [one for one in found if one.resource == str(DAEMON_SETS)]
    assert sets.counted_cascaded == int(runs)


def test_a_pod_that_is_named_is_one_of_its_own() -> None:
    """Who takes members one by one is asked for each."""
    members = pods()
    view = GraphView(graph_of(CREW, members, service("web")), History())
    told = removed(view, members[0])
    assert (told.counted, told.counted_cascaded) == (1, 0)


@pytest.mark.parametrize(
    ("young", "left"),
    [
        pytest.param((), 1, id="old"),
        pytest.param(("hub-0",), 1, id="a-member-was-made-anew"),
        pytest.param(("hub-0", "hub-1", "hub-2", "hub"), 0, id="of-today"),
    ],
)
def test_a_workload_is_as_old_as_what_made_it(young: tuple[str, ...], left: int) -> None:
    """Who tried something out today gives all of it up."""
    members = pods()
    view = GraphView(graph_of(CREW, members, service("web")), History())
    me = delete(CREW).user.username
    for one in (CREW, *members):
        if one.key.name in young:
            view.history.note_created(one.uid, me, me, one.key, START)
    told = removed(view, CREW)
    assert told.counted_cascaded - told.lately_cascaded == left
