"""What the differential found wrong about endpoints: what stays, and what comes back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.cluster import (
    delete,
    namespace,
    operator,
    owner,
    service,
    thing,
    view_of,
    webhook,
    workload,
)
from support.writes import Body, body, changed, trimmed, write
from suture.impact.effects import (
    AdmissionPathBroken,
    Confidence,
    EndpointsLost,
    PodsLost,
    ServiceEmptied,
)
from suture.impact.estimate import estimate
from suture.impact.project import project
from suture.impact.traffic.slices import MANAGED_BY
from suture.model.graph import GraphView
from suture.model.names import (
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    STATEFUL_SETS,
    Gvr,
    ObjectKey,
)
from suture.model.objects import (
    ClusterObject,
    PodFacts,
    ServiceFacts,
    ServiceRef,
    SliceFacts,
    WorkloadFacts,
)
from suture.model.request import Collection, Request
from suture.model.selectors import Selector

NEEDS = {"endpoints_lost", "service_emptied"}


def lost(view: GraphView, request: Request) -> list[tuple[str, int, int, bool]]:
    """Return Service, endpoints before and after, and whether they come back."""
    impact = estimate(request, project(request, view), view, operator(), NEEDS)
    return [
        (one.service.name, one.before, one.after, one.self_healing)
        for one in impact.effects
        if isinstance(one, EndpointsLost)
    ]


def emptied(view: GraphView, request: Request) -> list[tuple[str, bool]]:
    impact = estimate(request, project(request, view), view, operator(), NEEDS)
    return [
        (one.service.name, one.self_healing)
        for one in impact.effects
        if isinstance(one, ServiceEmptied)
    ]


def test_pods_come_back_with_the_replica_set_that_a_deployment_makes_anew() -> None:
    """Seed 1, case 7: a ReplicaSet was deleted, and its Deployment had both back at once."""
    web = workload("web", replicas=3)
    view = view_of(web, service("web"))

    assert lost(view, delete(web[1])) == [("web", 3, 0, True)]
    assert emptied(view, delete(web[1])) == [("web", True)]
    assert emptied(view, delete(web[0])) == [("web", False)]


def test_a_replica_set_is_sized_by_its_deployment() -> None:
    """Seed 2, case 344: a ReplicaSet was scaled to zero, and its Deployment set it back."""
    web = workload("web", replicas=3)
    lone = workload("lone", replicas=2)
    alone = [replace(lone[1], owners=()), *lone[2:]]
    view = view_of(web, alone, service("web"), service("lone"))

    def scaled(one: ClusterObject) -> Request:
        facts = one.facts
        assert isinstance(facts, WorkloadFacts)
        smaller = replace(one, facts=replace(facts, replicas=0))
        asked = write(REPLICA_SETS, SET, SET)
        return replace(
            asked, name=one.key.name, old=one, new=smaller, old_body=b"{}", new_body=b'{"spec":{}}'
        )

    assert lost(view, scaled(web[1])) == [("web", 3, 0, True)]
    assert lost(view, scaled(alone[0])) == [("lone", 2, 0, False)]


SET: Body = body("ReplicaSet", "any", apiVersion="apps/v1")


def test_what_a_service_loses_of_a_part_of_a_workload_is_bounded() -> None:
    """Seed 1, case 22: a Service reached two of three pods; which one the size takes, who knows.

    So is what it loses of several makers at once, of whom some bring their pods back.
    """
    web = workload("web", replicas=3)
    tiered = [replace(one, labels={"app": "web", "tier": "x"}) for one in web[3:]]
    bare = replace(workload("lone", replicas=1)[2], owners=(), labels={"app": "web"})
    tier = thing(SERVICES, "tier", "prod", facts=ServiceFacts(Selector.of({"tier": "x"})))
    view = view_of(web[:3], tiered, bare, tier, service("web"))
    smaller = replace(write(REPLICA_SETS, SET, SET, subresource="scale"), scale_to=2)
    smaller = replace(smaller, gvr=Gvr("apps", "v1", "deployments"), name="web")
    pods = replace(delete(web[2]), name="", old=None, extent=Collection(None))

    def sure(request: Request) -> dict[str, bool]:
        impact = estimate(request, project(request, view), view, operator(), NEEDS)
        return {
            one.service.name: one.confidence is Confidence.EXACT
            for one in impact.effects
            if isinstance(one, EndpointsLost)
        }

    assert sure(smaller) == {"tier": False, "web": True}
    # Of the pods that come back none need have the label that one of them never had.
    assert sure(pods) == {"tier": False, "web": False}


def test_a_pod_that_a_service_knows_by_a_label_of_its_own_need_not_come_back_to_it() -> None:
    """Seed 905, case 111: a label was put on one pod by hand, a Service read it, and it was lost.

    What a Service loses of pods that all have what it reads comes back.
    """
    web = workload("web", replicas=3)
    marked = replace(web[2], labels={"app": "web", "tier": "x"})
    tier = thing(SERVICES, "tier", "prod", facts=ServiceFacts(Selector.of({"tier": "x"})))
    db = [replace(one, labels={"app": "db", "tier": "x"}) for one in workload("db")[2:]]
    view = view_of(web[:2], marked, web[3:], db, tier, service("web"))
    request = delete(web[1])
    impact = estimate(request, project(request, view), view, operator(), NEEDS)

    found = {
        one.service.name: (one.before, one.after, one.self_healing, one.confidence)
        for one in impact.effects
        if isinstance(one, EndpointsLost)
    }

    assert found == {
        "tier": (2, 1, True, Confidence.BOUNDED),
        "web": (3, 0, True, Confidence.EXACT),
    }


def test_a_size_takes_no_pod_that_a_workload_merely_owns() -> None:
    """Seed 401, case 363: a Deployment that owned a bare pod was scaled to zero; the pod served on."""
    web = workload("web", replicas=2)
    bare = replace(workload("lone", replicas=1)[2], owners=(owner(web[0], controller=False),))
    view = view_of(web, replace(bare, labels={"app": "web"}), service("web"))
    smaller = replace(write(REPLICA_SETS, SET, SET, subresource="scale"), scale_to=0)
    smaller = replace(smaller, gvr=Gvr("apps", "v1", "deployments"), name="web")

    assert lost(view, smaller) == [("web", 3, 1, False)]


def test_a_pod_that_its_controller_releases_is_replaced() -> None:
    """Seed 2, case 114: a pod lost the label of its Service, which is its ReplicaSet's too.

    Where the selector of its controller does not read the label, nobody makes another.
    """
    web = workload("web", replicas=2)
    tiered = [replace(one, labels={"app": "web", "tier": "x"}) for one in web[2:]]
    tier = thing(SERVICES, "tier", "prod", facts=ServiceFacts(Selector.of({"tier": "x"})))
    view = view_of(web[:2], tiered, service("web"), tier)

    def relabelled(labels: dict[str, str]) -> Request:
        pod = tiered[0]
        shown = body("Pod", pod.key.name, metadata={"labels": dict(pod.labels)})
        asked = write(PODS, shown, {**shown, "metadata": {**shown["metadata"], "labels": labels}})
        return replace(asked, old=pod, new=replace(pod, labels=labels))

    assert lost(view, relabelled({"app": "other", "tier": "x"})) == [("web", 2, 1, True)]
    assert lost(view, relabelled({"app": "web"})) == [("tier", 2, 1, False)]


def test_a_stateful_set_cannot_replace_the_pod_that_it_released() -> None:
    """Seed 11, case 301: the next pod would have the same name, which the released one keeps."""
    facts = WorkloadFacts(replicas=1, selector=Selector.of({"app": "db"}))
    db = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    pod = thing(
        PODS, "db-0", "prod", labels={"app": "db"}, owners=[owner(db)], facts=PodFacts(ready=True)
    )
    view = view_of(db, pod, service("db"))
    shown = body("Pod", "db-0", metadata={"labels": {"app": "db"}})
    other = body("Pod", "db-0", metadata={"labels": {"app": "web"}})
    request = replace(write(PODS, shown, other), old=pod, new=replace(pod, labels={"app": "web"}))

    assert lost(view, request) == [("db", 1, 0, False)]
    assert emptied(view, request) == [("db", False)]


@pytest.mark.parametrize(
    ("labels", "confidence"),
    [
        pytest.param({"app": "lone"}, Confidence.BOUNDED, id="adopted"),
        pytest.param({"app": "none"}, Confidence.EXACT, id="nobody's"),
        pytest.param({"app": "lone", "set": "db"}, Confidence.EXACT, id="still its own"),
    ],
)
def test_a_released_pod_that_another_adopts_may_be_made_anew(
    labels: dict[str, str], confidence: Confidence
) -> None:
    """Seed 1, case 192: a ReplicaSet of one pod adopted that of a StatefulSet, and had two.

    Which of them it let go was open; it was the adopted one, whose name was free again then, and
    its StatefulSet made it anew.
    """
    facts = WorkloadFacts(replicas=1, selector=Selector.of({"set": "db"}))
    db = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    had = {"app": "db", "set": "db"}
    pod = thing(PODS, "db-0", "prod", labels=had, owners=[owner(db)], facts=PodFacts(ready=True))
    view = view_of(db, pod, service("db"), workload("lone", replicas=1))
    shown = body("Pod", "db-0", metadata={"labels": had})
    other = body("Pod", "db-0", metadata={"labels": labels})
    request = replace(write(PODS, shown, other), old=pod, new=replace(pod, labels=labels))

    assert lost(view, request) == [("db", 1, 0, False)]
    impact = estimate(request, project(request, view), view, operator(), NEEDS)
    assert {one.confidence for one in impact.effects} == {confidence}


def test_a_released_pod_is_not_replaced_where_its_webhook_needs_it() -> None:
    """Seed 31, case 372: the only pod behind a webhook on pods was relabelled; none followed."""
    hook = workload("hook", replicas=1)
    backend = ServiceRef("prod", "hook")
    view = view_of(hook, service("hook"), webhook("pods", backend), namespace("prod"))
    pod = hook[2]
    shown = body("Pod", pod.key.name, metadata={"labels": {"app": "hook"}})
    other = body("Pod", pod.key.name, metadata={"labels": {"app": "web"}})
    request = replace(write(PODS, shown, other), old=pod, new=replace(pod, labels={"app": "web"}))

    assert emptied(view, request) == [("hook", False)]


def test_whether_a_webhook_outlives_its_last_pod_is_a_race() -> None:
    """Seed 101, case 532: the only pod behind a webhook on pods was evicted, and was replaced.

    In seed 1, case 35, it was not. The next pod is asked for while the last one still answers.
    """
    hook = workload("hook", replicas=1)
    backend = ServiceRef("prod", "hook")
    view = view_of(hook, service("hook"), webhook("pods", backend), namespace("prod"))

    def told(request: Request) -> set[tuple[str, str]]:
        needs = {*NEEDS, "admission_path_broken"}
        impact = estimate(request, project(request, view), view, operator(), needs)
        return {
            (type(one).__name__, one.confidence)
            for one in impact.effects
            if isinstance(one, EndpointsLost | ServiceEmptied | AdmissionPathBroken)
        }

    names = {"EndpointsLost", "ServiceEmptied", "AdmissionPathBroken"}
    assert told(delete(hook[2])) == {(name, Confidence.BOUNDED) for name in names}
    assert told(delete(hook[0])) == {(name, Confidence.EXACT) for name in names}


def served(name: str, selector: dict[str, str] | None) -> Body:
    spec: Body = {"ports": [{"port": 80}]}
    return body("Service", name, spec=spec if selector is None else {**spec, "selector": selector})


def test_a_service_whose_selector_is_taken_away_keeps_its_slices() -> None:
    """Seed 2, case 187: the controllers leave alone what has no selector, its slices too."""
    old = served("web", {"app": "web"})
    view = view_of(trimmed(SERVICES, old), workload("web", replicas=2))

    assert lost(view, write(SERVICES, old, served("web", None))) == []
    assert lost(view, write(SERVICES, old, served("web", {"app": "no"}))) == [("web", 2, 0, False)]


def test_slices_by_hand_stay_when_a_service_gets_a_selector() -> None:
    """Seed 1, case 33: the controller adds slices of its own and leaves what others manage."""
    old = served("hand", None)
    new = changed(old, spec=served("hand", {"app": "nobody"})["spec"])

    def world(**labels: str) -> GraphView:
        one = thing(
            ENDPOINT_SLICES, "hand-0", "prod",
            labels={"kubernetes.io/service-name": "hand", **labels},
            facts=SliceFacts(service="hand", ready=("192.0.2.1", "192.0.2.2")),
        )  # fmt: skip
        return view_of(trimmed(SERVICES, old), one)

    mirrored = world(**{MANAGED_BY: "endpointslicemirroring-controller.k8s.io"})
    assert lost(world(), write(SERVICES, old, new)) == []
    assert lost(mirrored, write(SERVICES, old, new)) == [("hand", 2, 0, False)]


def test_a_slice_by_hand_that_goes_is_made_by_nobody() -> None:
    """Seed 3, case 174: the slice of a Service without a selector was deleted, and that was it."""
    hand = thing(SERVICES, "hand", "prod", facts=ServiceFacts(None))
    slices = [
        thing(
            ENDPOINT_SLICES, f"hand-{number}", "prod",
            labels={"kubernetes.io/service-name": "hand"},
            facts=SliceFacts(service="hand", ready=ready),
        )
        for number, ready in enumerate([("192.0.2.1", "192.0.2.2"), ("192.0.2.2",)])
    ]  # fmt: skip
    both, one = view_of(hand, slices), view_of(hand, slices[:1])

    assert lost(both, delete(slices[0])) == [("hand", 2, 1, False)]
    assert lost(both, delete(slices[1])) == []
    assert emptied(one, delete(slices[0])) == [("hand", False)]
    assert lost(one, delete(hand)) == [("hand", 2, 0, False)]


def test_nothing_comes_back_where_a_dead_webhook_is_in_the_way() -> None:
    """Seed 2, case 71: a Service behind a webhook on pods was gone; no deleted pod was replaced.

    A webhook whose own pods start anew is another matter: they are there soon.
    """
    dead = webhook("pods", ServiceRef("prod", "hook"))
    web = workload("web", replicas=2)
    view = view_of(web, service("web"), dead, namespace("prod"))

    assert lost(view, delete(web[2])) == [("web", 2, 1, False)]

    backend = thing(PODS, "hook-1", "prod", labels={"app": "hook"}, facts=PodFacts(ready=False))
    starting = view_of(web, service("web"), dead, namespace("prod"), service("hook"), backend)

    assert lost(starting, delete(web[2])) == [("web", 2, 1, True)]


def test_a_stateful_set_is_stuck_behind_a_name_that_is_taken() -> None:
    """Seed 21, case 9: `set-1` was released and stayed, and `set-2` was not made again.

    An ordered StatefulSet makes its pods one after the other, and could not make the one before.
    """
    facts = WorkloadFacts(replicas=3, selector=Selector.of({"app": "db"}))
    db = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    mine = [
        thing(
            PODS, f"db-{number}", "prod", labels={"app": "db"}, owners=[owner(db)],
            facts=PodFacts(ready=True, node="node-1"),
        )
        for number in (0, 2)
    ]  # fmt: skip
    released = thing(PODS, "db-1", "prod", labels={"app": "web"}, facts=PodFacts(ready=True))
    stuck, free = view_of(db, mine, released, service("db")), view_of(db, mine, service("db"))

    assert lost(stuck, delete(mine[1])) == [("db", 2, 1, False)]
    assert lost(free, delete(mine[1])) == [("db", 2, 1, True)]


def turned(turn: str, **labels: str) -> Body:
    """Return a Deployment whose template has these labels beyond its selector's."""
    meta = {"labels": {"app": "web", **labels}, "annotations": {"turn": turn}}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate"},
        "template": {"metadata": meta, "spec": {"containers": []}},
    }
    return body("Deployment", "web", apiVersion="apps/v1", spec=spec)


def test_a_label_that_was_put_on_a_pod_goes_with_a_rollout() -> None:
    """Seed 802, case 217: a pod was labelled by hand into a Service, and the next one was not.

    What reaches all of the workload loses nothing, nor what goes by a label that controllers give.
    """
    old = turned("1")
    root = trimmed(DEPLOYMENTS, old)
    _, replica_set, first, *others = workload("web", replicas=3)
    today = thing(REPLICA_SETS, "web-1", "prod", owners=[owner(root)], facts=replica_set.facts)
    given = {"statefulset.kubernetes.io/pod-name": "web-1-0"}
    leader = replace(first, labels={**first.labels, **given, "role": "leader"})
    chosen = {"leader": {"role": "leader"}, "first": given, "web": {"app": "web"}}
    fronts = [
        thing(SERVICES, name, "prod", facts=ServiceFacts(Selector.of(labels)))
        for name, labels in chosen.items()
    ]
    view = view_of(root, today, leader, others, fronts)
    request = write(DEPLOYMENTS, old, turned("2"))

    assert lost(view, request) == [("leader", 1, 0, False)]
    assert emptied(view, request) == []
    impact = estimate(request, project(request, view), view, operator(), NEEDS)
    (effect,) = (one for one in impact.effects if isinstance(one, EndpointsLost))
    assert effect.explained
    assert effect.confidence is Confidence.BOUNDED
    assert lost(view, write(DEPLOYMENTS, old, turned("2", role="leader"))) == []


@pytest.mark.parametrize(
    ("name", "size", "healing"),
    [("db-0", 1, True), ("db-1", 1, False), ("db-0", 0, False), ("db-x", 1, False)],
    ids=["wanted", "beyond-its-size", "of-no-size", "another-name"],
)
def test_a_set_makes_the_pod_anew_whose_name_is_free_again(
    name: str, size: int, *, healing: bool
) -> None:
    """Seed 907, case 109: a pod that its set had let go of was deleted, and the set made it anew.

    Whether the next one has the labels by which a Service knew it is not known.
    """
    facts = WorkloadFacts(replicas=size, selector=Selector.of({"app": "db"}))
    db = thing(STATEFUL_SETS, "db", "prod", facts=facts)
    pod = thing(PODS, name, "prod", labels={"tier": "y"}, facts=PodFacts(ready=True))
    other = replace(pod, key=ObjectKey(PODS, "prod", "bare"), uid="bare")
    tier = thing(SERVICES, "tier", "prod", facts=ServiceFacts(Selector.of({"tier": "y"})))
    view = view_of(db, other, pod, tier)

    def lost_with(one: ClusterObject) -> tuple[bool, Confidence]:
        request = delete(one)
        impact = estimate(request, project(request, view), view, operator(), NEEDS)
        (found,) = [one for one in impact.effects if isinstance(one, EndpointsLost)]
        return found.self_healing, found.confidence

    assert lost_with(pod) == (healing, Confidence.BOUNDED if healing else Confidence.EXACT)
    assert lost_with(other) == (False, Confidence.EXACT)


@pytest.mark.parametrize(
    ("asked", "pods", "exact"),
    [({"tier": "x"}, 1, False), ({"app": "agent"}, 1, True), ({"tier": "x"}, 2, True)],
    ids=["a-label-of-its-own", "its-makers-label", "the-label-of-several"],
)
def test_of_an_only_pod_nobody_knows_which_labels_its_template_gives(
    asked: dict[str, str], pods: int, *, exact: bool
) -> None:
    """Seed 919, case 393: the only pod of a DaemonSet had a label put on; the next had it not."""
    facts = WorkloadFacts(selector=Selector.of({"app": "agent"}))
    agent = thing(DAEMON_SETS, "agent", "prod", facts=facts)
    members = [
        thing(
            PODS,
            f"agent-{number}",
            "prod",
            owners=[owner(agent)],
            labels={"app": "agent", "tier": "x"},
            facts=PodFacts(ready=True),
        )
        for number in range(pods)
    ]
    tier = thing(SERVICES, "tier", "prod", facts=ServiceFacts(Selector.of(asked)))
    view = view_of(agent, members, tier)
    request = delete(members[0])

    impact = estimate(request, project(request, view), view, operator(), NEEDS)

    (found,) = [one for one in impact.effects if isinstance(one, EndpointsLost)]
    assert found.self_healing
    assert (found.confidence is Confidence.EXACT) is exact


@pytest.mark.parametrize(("size", "exact"), [(1, False), (0, True)], ids=["waits", "to-nothing"])
def test_a_set_lets_go_of_no_pod_while_a_name_that_it_wants_is_taken(
    size: int, *, exact: bool
) -> None:
    """Seed 919, case 347: `set-0` was released and stayed; scaled to one, `set-2` stayed, too.

    It may still go, as soon as the name is free. What wants no pod makes none, and lets all go.
    """
    wants = WorkloadFacts(replicas=3, selector=Selector.of({"app": "set"}))
    root = thing(STATEFUL_SETS, "set", "prod", facts=wants)
    released, *rest = (
        thing(
            PODS,
            f"set-{number}",
            "prod",
            labels={"app": "set"} if number else {},
            owners=[owner(root)] if number else [],
            facts=PodFacts(ready=True),
        )
        for number in range(3)
    )
    front = thing(SERVICES, "set", "prod", facts=ServiceFacts(Selector.of({"app": "set"})))
    view = view_of(root, released, rest, front)
    old = body("StatefulSet", "set", apiVersion="apps/v1")
    asked = write(STATEFUL_SETS, old, old, subresource="scale")
    request = replace(asked, scale_to=size)

    impact = estimate(
        request, project(request, view), view, operator(), {"pods_lost", "endpoints_lost"}
    )

    told = {
        type(one): one.confidence
        for one in impact.effects
        if isinstance(one, (PodsLost, EndpointsLost))
    }
    expected = Confidence.EXACT if exact else Confidence.BOUNDED
    assert told == {PodsLost: expected, EndpointsLost: expected}
