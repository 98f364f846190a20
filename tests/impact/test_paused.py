"""Put to sleep, and not lost: the size that is taken away is noted in the same write."""

from __future__ import annotations

import msgspec
import pytest

from support.asking import effects, impact_of, update
from support.cluster import START, graph_of, operator, owner, service, thing, workload
from suture.impact.causes.counters import put_down_in
from suture.impact.effects import PodsLost, QuorumLost, ServiceEmptied
from suture.model.actor import Actor, IdentityKind, Stage, UserInfo
from suture.model.edges import Edge, Need
from suture.model.facts import AutoscalerFacts
from suture.model.graph import GraphView
from suture.model.history import History
from suture.model.names import AUTOSCALERS, PODS, STATEFUL_SETS, Resource
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts
from suture.model.selectors import Selector


def body(annotations: dict[str, str], size: int) -> bytes:
    """Return a Deployment as a request shows it."""
    meta = {"name": "web", "annotations": annotations}
    return msgspec.json.encode({"metadata": meta, "spec": {"replicas": size}})


@pytest.mark.parametrize(
    ("old", "new", "noted"),
    [
        pytest.param({}, {"sleep.example.com/was": "3"}, True, id="noted"),
        pytest.param({"a/was": "2"}, {"a/was": "3"}, True, id="noted anew"),
        pytest.param({}, {}, False, id="not noted"),
        pytest.param({"a/was": "3"}, {"a/was": "3"}, False, id="a number of before"),
        pytest.param({}, {"a/was": "2"}, False, id="another number"),
        pytest.param({}, {"deployment.kubernetes.io/revision": "3"}, False, id="a revision"),
    ],
)
def test_a_size_that_is_noted_is_to_come_back(
    old: dict[str, str], new: dict[str, str], *, noted: bool
) -> None:
    """The Service is emptied for a reason; that it is a workload stopped is told all the same."""
    things = workload("web", replicas=3)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=0))
    request = update(things[0], smaller, bodies=(body(old, 3), body(new, 0)))

    impact = impact_of(request, GraphView(graph_of(things, service("web"))))

    (emptied,), (lost,) = effects(impact, ServiceEmptied), effects(impact, PodsLost)
    assert (emptied.explained, lost.lasting) == (noted, 3)


def autoscaled(size: int) -> tuple[list[ClusterObject], ClusterObject, ClusterObject]:
    """Return a workload of three pods, its autoscaler of two to nine, and it at another size."""
    things = workload("web", replicas=3)
    sizes = msgspec.structs.replace(
        thing(AUTOSCALERS, "web", "prod", facts=AutoscalerFacts(2, 9)),
        needs=(Need(Edge.SCALES, things[0].key),),
    )
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    facts = msgspec.structs.replace(facts, replicas=size)
    return things, sizes, msgspec.structs.replace(things[0], facts=facts)


@pytest.mark.parametrize(("new", "wanted"), [({"a/was": "3"}, -1), ({}, 2)])
def test_an_autoscaler_has_no_say_in_what_is_put_to_sleep(new: dict[str, str], wanted: int) -> None:
    """At nothing it is switched off; who only stops a workload takes what it holds."""
    things, sizes, smaller = autoscaled(0)
    request = update(things[0], smaller, bodies=(body({}, 3), body(new, 0)))

    (lost,) = effects(impact_of(request, GraphView(graph_of(things, sizes))), PodsLost)
    assert (lost.wanted, lost.lasting) == (wanted, 3)


@pytest.mark.parametrize(
    ("subresource", "by", "size", "wanted"),
    [
        pytest.param("scale", "admin@example.com", 0, -1, id="paused-by-a-person"),
        pytest.param("", "admin@example.com", 0, 2, id="by-a-manifest"),
        pytest.param("scale", "system:serviceaccount:a:b", 0, 2, id="by-a-machine"),
        pytest.param("scale", "admin@example.com", 1, 2, id="made-smaller"),
    ],
)
def test_who_scales_to_nothing_by_hand_pauses_the_autoscaler(
    subresource: str, by: str, size: int, wanted: int
) -> None:
    things, sizes, smaller = autoscaled(size)
    actor = Actor(UserInfo(by), "", IdentityKind.OPERATOR, Stage.ENFORCE)
    request = update(things[0], smaller, by=actor, bodies=(body({}, 3), body({}, size)))
    if subresource:
        request = msgspec.structs.replace(
            request, subresource=subresource, scale_to=size, old=None, new=None
        )
    (lost,) = effects(impact_of(request, GraphView(graph_of(things, sizes)), by=actor), PodsLost)
    assert lost.wanted == wanted


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param({"naps/hours": "8-18"}, {"naps/was": "3"}, True, id="its owner's"),
        pytest.param({}, {"naps/was": "3", "naps/since": "today"}, False, id="the writer's alone"),
        pytest.param({"naps/was": "2"}, {"naps/was": "3"}, False, id="of the same name"),
        pytest.param({"a/hours": "8-18"}, {"naps/was": "3"}, False, id="somebody else's"),
        pytest.param({"hours": "8-18"}, {"was": "3"}, False, id="of nobody's"),
        pytest.param({"naps/hours": "8-18"}, {"naps/was": "2"}, False, id="another number"),
    ],
)
def test_who_owns_a_workload_may_have_it_put_to_sleep(
    old: dict[str, str], new: dict[str, str], *, told: bool
) -> None:
    """By an annotation of the writer's own, so that the stop is explained; else it is charged."""
    things = workload("web", replicas=3)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=0))
    request = update(things[0], smaller, bodies=(body(old, 3), body({**old, **new}, 0)))

    (lost,) = effects(impact_of(request, GraphView(graph_of(things), None)), PodsLost)

    assert lost.lasting == (0 if told else 3)


@pytest.mark.parametrize(
    ("noted", "before", "lasting"),
    [
        pytest.param(True, "prod", 0, id="beside-another"),
        pytest.param(True, "other", 3, id="first-of-its-namespace"),
        pytest.param(False, "prod", 3, id="not-noted"),
    ],
)
def test_a_namespace_is_put_to_sleep_once(*, noted: bool, before: str, lasting: int) -> None:
    """The first workload of a namespace is told of, and stands for those that follow."""
    things = workload("web", replicas=3)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=0))
    said = {"sleep.example.com/was": "3"} if noted else {}
    request = update(things[0], smaller, bodies=(body({}, 3), body(said, 0)))
    view = GraphView(graph_of(things, service("web")), History())
    view.history.writes.count(put_down_in(request.user.username, before), START)

    (lost,) = effects(impact_of(request, view, now=START.plus_s(5)), PodsLost)
    assert lost.lasting == lasting


PLANS = Resource("naps.example.com", "sleepplans")


@pytest.mark.parametrize(
    ("plan", "by", "size", "explained"),
    [
        pytest.param(thing(PLANS, "hours", "prod"), "naps:naps-manager", 0, True, id="planned"),
        pytest.param(thing(PLANS, "hours", "prod"), "tools:janitor", 0, False, id="by another"),
        pytest.param(thing(PLANS, "hours", "test"), "naps:naps-manager", 0, False, id="elsewhere"),
        pytest.param(thing(PLANS, "hours", "prod"), "naps:naps-manager", 1, False, id="not all"),
        pytest.param(
            thing(PLANS, "hours", "prod", deleted=1.0), "naps:naps-manager", 0, False, id="given up"
        ),
        pytest.param(
            thing(Resource("naps.example.com", "profiles"), "hours", "prod"),
            "naps:naps-manager", 0, False, id="of another kind",
        ),
    ],
)  # fmt: skip
def test_a_resource_of_the_namespace_may_plan_its_sleep(
    plan: ClusterObject, by: str, size: int, *, explained: bool
) -> None:
    """Who runs such resources keeps the sizes where it likes, and wakes what it put to sleep."""
    things = workload("web", replicas=4)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(
        things[0], facts=msgspec.structs.replace(facts, replicas=size)
    )
    who = operator(f"system:serviceaccount:{by}")
    request = update(things[0], smaller, by=who, bodies=(body({}, 4), body({}, size)))
    impact = impact_of(request, GraphView(graph_of(things, service("web"), plan)), by=who)

    (lost,) = effects(impact, PodsLost)
    assert (lost.lasting == 0) is explained
    assert [one.explained for one in effects(impact, ServiceEmptied)] == [explained] * (not size)


@pytest.mark.parametrize(
    ("noted", "size", "explained"),
    [
        pytest.param(True, 0, True, id="to-sleep"),
        pytest.param(False, 0, False, id="not-noted"),
        pytest.param(True, 1, False, id="left-without-a-majority"),
    ],
)
def test_a_set_that_sleeps_as_a_whole_lacks_no_majority(
    *, noted: bool, size: int, explained: bool
) -> None:
    """Nobody stays who would wait for the others. Its pods are told of all the same."""
    labels = {"app": "db"}
    facts = WorkloadFacts(3, Selector.of(labels))
    made = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    pods = [
        thing(PODS, f"db-{number}", "prod", labels=labels, owners=[owner(made)],
              facts=PodFacts(ready=True))
        for number in range(3)
    ]  # fmt: skip
    smaller = msgspec.structs.replace(made, facts=msgspec.structs.replace(facts, replicas=size))
    said = {"sleep.example.com/was": "3"} if noted else {}
    request = update(made, smaller, bodies=(body({}, 3), body(said, size)))
    impact = impact_of(request, GraphView(graph_of(made, pods), History()), now=START)

    assert [one.explained for one in effects(impact, QuorumLost)] == [explained]
    assert [one.lasting for one in effects(impact, PodsLost)] == [3 - size]


@pytest.mark.parametrize(("space", "explained"), [("prod", True), ("kube-system", False)])
def test_what_the_cluster_itself_needs_does_not_sleep(space: str, *, explained: bool) -> None:
    """Its name service is missed by everybody, whatever size is noted of it."""
    things = workload("dns", replicas=2, namespace=space)
    facts = things[0].facts
    assert isinstance(facts, WorkloadFacts)
    smaller = msgspec.structs.replace(things[0], facts=msgspec.structs.replace(facts, replicas=0))
    noted = {"sleep.example.com/was": "2"}
    request = update(things[0], smaller, bodies=(body({}, 2), body(noted, 0)))

    view = GraphView(graph_of(things, service("dns", namespace=space)))

    (emptied,) = effects(impact_of(request, view), ServiceEmptied)
    assert emptied.explained is explained
