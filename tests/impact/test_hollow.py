"""Updates that are removals in effect, and those that look like them and take nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.asking import effects, impact_of
from support.cluster import START, operator, service, thing, view_of, workload
from support.writes import Body, body, changed, trimmed, write
from suture.impact.causes.counters import put_down_in
from suture.impact.effects import Hollowed
from suture.impact.workloads.room import LIMIT_RANGES, PODS_TOLD, QUOTAS
from suture.model.graph import GraphView
from suture.model.names import (
    CRON_JOBS,
    GATEWAYS,
    HTTP_ROUTES,
    INGRESS_CLASSES,
    INGRESSES,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
)
from suture.model.objects import ClusterObject, PodFacts, WorkloadFacts
from suture.model.placement import Placement

Found = list[tuple[str, int, int]]


def told(resource: Resource, old: Body | None, new: Body, view: GraphView) -> Found:
    found = effects(impact_of(write(resource, old, new), view), Hollowed)
    return [(one.what, one.before, one.after) for one in found]


def beside(resource: Resource, old: Body, new: Body, *more: tuple[Resource, Body]) -> Found:
    """Tell of an update in a world of six Services, of which `svc-5` has no endpoint."""
    fronts = [service(f"svc-{n}", app="web" if n < 5 else "none") for n in range(6)]
    things = [trimmed(*one) for one in ((resource, old), *more)]
    return told(resource, old, new, view_of(workload("web", replicas=2), fronts, *things))


# ---- schedules


def cron(*, suspend: bool | None) -> Body:
    spec: Body = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": {}}}}}
    if suspend is not None:
        spec["suspend"] = suspend
    return body("CronJob", "backup", apiVersion="batch/v1", spec=spec)


def test_a_schedule_is_stopped_once() -> None:
    """Suspended now; not one that was, nor one that goes on."""
    gone = [("schedule", 1, 0)]

    assert beside(CRON_JOBS, cron(suspend=None), cron(suspend=True)) == gone
    assert beside(CRON_JOBS, cron(suspend=False), cron(suspend=True)) == gone
    again = cron(suspend=True)
    other = changed(again, spec={**again["spec"], "schedule": "0 4 * * *"})
    assert beside(CRON_JOBS, again, other) == []
    assert beside(CRON_JOBS, again, cron(suspend=False)) == []


@pytest.mark.parametrize(
    ("noted", "space", "told"),
    [
        pytest.param("sleep.example.com/was", "prod", [], id="with what sleeps there"),
        pytest.param("sleep.example.com/was", "other", [("schedule", 1, 0)], id="elsewhere"),
        pytest.param("", "prod", [("schedule", 1, 0)], id="not noted"),
        pytest.param("kubernetes.io/note", "prod", [("schedule", 1, 0)], id="of another thing"),
    ],
)
def test_a_schedule_that_is_put_to_sleep(noted: str, space: str, told: Found) -> None:
    """Where workloads were put to sleep by the same hand, and the write notes that it is to end."""
    old, new = cron(suspend=False), cron(suspend=True)
    new["metadata"] = {**new["metadata"], "annotations": {noted: "1"} if noted else {}}
    request = write(CRON_JOBS, old, new, by=operator())
    view = view_of(trimmed(CRON_JOBS, old))
    view.history.writes.count(put_down_in(operator().user.username, space), START)

    found = effects(impact_of(request, view, now=START), Hollowed)

    assert [(one.what, one.before, one.after) for one in found] == told


# ---- addresses


def front(kind: str, *addresses: str, **spec: object) -> Body:
    status = {"loadBalancer": {"ingress": [{"ip": one} for one in addresses]}}
    spec = {"type": kind, "ports": [{"port": 80}], **spec}
    return body("Service", "front", spec=spec, status=status)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (front("LoadBalancer", "192.0.2.1"), front("ClusterIP"), [("address", 1, 0)]),
        (front("LoadBalancer", "192.0.2.1"), front("NodePort"), [("address", 1, 0)]),
        (front("LoadBalancer"), front("ClusterIP"), []),
        (front("ClusterIP"), front("LoadBalancer"), []),
        (front("LoadBalancer", "192.0.2.1"), front("LoadBalancer", "192.0.2.1", a=1), []),
        (front("ExternalName", externalName="x.example"), front("ClusterIP"), [("name", 1, 0)]),
        (front("ExternalName", externalName="x.example"),
         front("ExternalName", externalName="y.example"), []),
        (front("ExternalName", externalName="x.example"),
         front("ClusterIP", selector={"app": "web"}), []),
    ],
)  # fmt: skip
def test_an_address_is_given_back(old: Body, new: Body, found: Found) -> None:
    """One that is there; a type that keeps it, and another name, take nothing."""
    assert beside(SERVICES, old, new) == found


# ---- routes


def ingress(*services: str, name: str = "web") -> Body:
    paths = [
        {"path": f"/{one}", "pathType": "Prefix",
         "backend": {"service": {"name": one, "port": {"number": 80}}}}
        for one in services
    ]  # fmt: skip
    rules = [{"host": "x.example", "http": {"paths": paths}}] if paths else []
    return body("Ingress", name, apiVersion="networking.k8s.io/v1", spec={"rules": rules})


ALL = tuple(f"svc-{n}" for n in range(5))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (("svc-0", "svc-1"), (), [("backends", 2, 0)]),
        (("svc-0", "svc-5"), ("svc-5",), [("backends", 1, 0)]),
        (("svc-5",), (), []),
        (ALL, ("svc-0", "svc-1"), []),
        (("svc-0",), ("svc-1",), []),
        (("svc-0",), ("to-come",), [("backends", 1, 0)]),
        (("svc-0",), ("svc-1", "to-come"), []),
    ],
)
def test_a_route_is_emptied(old: tuple[str, ...], new: tuple[str, ...], found: Found) -> None:
    """Of what answers; a part and a switch are changes, to a Service that is there."""
    assert beside(INGRESSES, ingress(*old), ingress(*new)) == found


def test_a_route_of_many_keeps_a_tenth() -> None:
    fronts = [service(f"svc-{n}", app="web") for n in range(20)]
    old = ingress(*(one.key.name for one in fronts))
    view = view_of(workload("web"), fronts, trimmed(INGRESSES, old))

    assert told(INGRESSES, old, ingress("svc-0", "svc-1"), view) == [("backends", 20, 2)]
    assert told(INGRESSES, old, ingress("svc-0", "svc-1", "svc-2"), view) == []


def test_what_another_route_leads_to_is_not_lost() -> None:
    """A route is split in two: the second is made first."""
    other = (INGRESSES, ingress("svc-0", "svc-1", name="split"))

    assert beside(INGRESSES, ingress("svc-0", "svc-1"), ingress(), other) == []


def test_routes_of_the_gateway_are_told_of_alike() -> None:
    def route(*services: str) -> Body:
        rules = [{"backendRefs": [{"name": one, "port": 80}]} for one in services]
        version = "gateway.networking.k8s.io/v1"
        return body("HTTPRoute", "web", apiVersion=version, spec={"rules": rules})

    assert beside(HTTP_ROUTES, route("svc-0"), route()) == [("backends", 1, 0)]


def answering(*hosts: str, name: str = "web") -> Body:
    paths = [{"path": "/", "pathType": "Prefix",
              "backend": {"service": {"name": "svc-0", "port": {"number": 80}}}}]  # fmt: skip
    rules = [{"host": one, "http": {"paths": paths}} for one in hosts]
    return body("Ingress", name, apiVersion="networking.k8s.io/v1", spec={"rules": rules})


HOSTS = tuple(f"shop-{n}.example" for n in range(20))


def test_a_route_loses_nearly_all_of_its_hosts() -> None:
    """A part, a move to another domain, and a rule for any host are changes."""
    old = answering(*HOSTS)

    assert beside(INGRESSES, old, answering(*HOSTS[:2])) == [("hosts", 20, 2)]
    assert beside(INGRESSES, old, answering(*HOSTS[:3])) == []
    assert beside(INGRESSES, old, answering(HOSTS[0], "shop.example")) == []
    assert beside(INGRESSES, old, answering(HOSTS[0], "")) == []
    assert beside(INGRESSES, old, answering("*.example")) == []
    assert beside(INGRESSES, answering(*HOSTS[:5]), answering(HOSTS[0])) == []


def test_a_host_that_another_route_answers_for_is_not_lost() -> None:
    """One Ingress for all is replaced by one for each team, which are made first."""
    teams = [(INGRESSES, answering(*HOSTS[n : n + 5], name=f"team-{n}")) for n in (0, 5, 10, 15)]
    domain = (INGRESSES, answering("*.example", name="all"))

    assert beside(INGRESSES, answering(*HOSTS), answering(HOSTS[0]), *teams) == []
    assert beside(INGRESSES, answering(*HOSTS), answering(HOSTS[0]), domain) == []
    assert beside(INGRESSES, answering(*HOSTS), answering(HOSTS[0]), teams[0]) == []
    assert beside(INGRESSES, answering(*HOSTS), answering(HOSTS[0])) == [("hosts", 20, 1)]


# ---- who reads a route


def classed(name: str | None) -> Body:
    spec: Body = {"defaultBackend": {"service": {"name": "svc-0", "port": {"number": 80}}}}
    if name is not None:
        spec["ingressClassName"] = name
    return body("Ingress", "front", apiVersion="networking.k8s.io/v1", spec=spec)


def parented(*names: str) -> Body:
    spec: Body = {
        "parentRefs": [{"name": one} for one in names],
        "rules": [{"backendRefs": [{"name": "svc-0", "port": 80}]}],
    }
    return body("HTTPRoute", "front", apiVersion="gateway.networking.k8s.io/v1", spec=spec)


def of_class(old: Body, new: Body, *classes: str) -> Found:
    """Tell of an update in a world with some classes, which are in no namespace."""
    there = [thing(INGRESS_CLASSES, one) for one in classes]
    served = [service("svc-0", app="web"), *workload("web", replicas=2)]
    return told(INGRESSES, old, new, view_of(served, there, trimmed(INGRESSES, old)))


PARENTS = [
    (GATEWAYS, body("Gateway", one, apiVersion="gateway.networking.k8s.io/v1"))
    for one in ("here", "there")
]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param(classed("here"), classed("typo"), [("backends", 1, 0)], id="no-such-class"),
        pytest.param(classed("here"), classed("there"), [], id="another-class"),
        pytest.param(classed("here"), classed(None), [], id="the-default"),
        pytest.param(classed("own"), classed("typo"), [], id="was-none"),
        pytest.param(classed(None), classed("typo"), [], id="had-none"),
    ],
)
def test_a_route_is_given_to_a_class_that_is_not_there(old: Body, new: Body, found: Found) -> None:
    """In the place of one that is: nobody reads it any more."""
    assert of_class(old, new, "here", "there") == found


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param(parented("here"), parented("typo"), [("backends", 1, 0)], id="no-gateway"),
        pytest.param(parented("here"), parented("there"), [], id="another"),
        pytest.param(parented("here"), parented("here", "typo"), [], id="one-stays"),
        pytest.param(parented("away"), parented("typo"), [], id="was-none"),
    ],
)
def test_a_route_is_attached_to_what_is_not_there(old: Body, new: Body, found: Found) -> None:
    """In the place of a Gateway that is."""
    assert beside(HTTP_ROUTES, old, new, *PARENTS) == found


def test_a_class_of_a_type_that_is_not_listed_may_be_there() -> None:
    """Nothing is guessed from an absence."""
    assert of_class(classed("here"), classed("typo")) == []


# ---- accounts and quotas


def account(*secrets: str) -> Body:
    return body("ServiceAccount", "web", imagePullSecrets=[{"name": one} for one in secrets])


def runner(phase: str = "Running", **spec: object) -> Body:
    spec = {"serviceAccountName": "web", "nodeName": "node-1", **spec}
    return body("Pod", "web-1", spec=spec, status={"phase": phase})


def test_an_account_loses_its_pull_secrets() -> None:
    """All of them, while pods run as it; one of two, or of an idle account, may go."""
    pod, done = (PODS, runner()), (PODS, runner("Succeeded"))

    assert beside(SERVICE_ACCOUNTS, account("a"), account(), pod) == [("pull-secrets", 1, 0)]
    assert beside(SERVICE_ACCOUNTS, account("a", "b"), account("b"), pod) == []
    assert beside(SERVICE_ACCOUNTS, account("a"), account("b"), pod) == []
    assert beside(SERVICE_ACCOUNTS, account("a"), account(), done) == []
    assert beside(SERVICE_ACCOUNTS, account("a"), account()) == []


def quota(hard: dict[str, object], **spec: object) -> Body:
    return body("ResourceQuota", "limit", spec={"hard": hard, **spec})


@pytest.mark.parametrize(
    ("hard", "found"),
    [
        ({"pods": "1"}, [("room", 2, 0)]),
        ({"count/pods": 0}, [("room", 2, 0)]),
        ({"requests.cpu": "0", "pods": "9"}, [("room", 2, 0)]),
        ({"limits.memory": "0Gi"}, [("room", 2, 0)]),
        ({"pods": "2"}, []),
        ({"requests.cpu": "10m", "services": "0", "requests.storage": "0"}, []),
    ],
)
def test_a_quota_leaves_no_room(hard: dict[str, object], found: Found) -> None:
    """For what runs: of pods a number, of the rest nothing at all; new, and written anew."""
    view, wide = view_of(workload("web", replicas=2)), quota({"pods": "9"})

    assert told(QUOTAS, None, quota(hard), view) == found
    assert told(QUOTAS, wide, quota(hard), view) == found
    assert told(QUOTAS, quota({"pods": "0"}), quota(hard), view) == []


def test_a_quota_of_some_pods_or_of_an_empty_namespace_is_none() -> None:
    some = quota({"pods": "0"}, scopes=["BestEffort"])
    chosen = quota({"pods": "0"}, scopeSelector={"matchExpressions": []})
    view = view_of(workload("web", replicas=2))

    assert told(QUOTAS, None, some, view) == []
    assert told(QUOTAS, None, chosen, view) == []
    assert told(QUOTAS, None, quota({"pods": "0"}), view_of()) == []


# ---- limit ranges


def limits(**of: Body) -> Body:
    given = [{"type": kind.title(), **limit} for kind, limit in of.items()]
    return body("LimitRange", "limits", spec={"limits": given})


def running(
    cpu_m: int, memory_mi: int, *, name: str = "web", replicas: int = 9
) -> list[ClusterObject]:
    """Return a workload whose template asks for so much, in one container that may use twice it."""
    asks = Placement(cpu_m, memory_mi, most_cpu_m=2 * cpu_m, most_memory_mi=2 * memory_mi)
    return [
        replace(one, facts=replace(one.facts, placement=asks))
        if isinstance(one.facts, WorkloadFacts)
        else one
        for one in workload(name, replicas=replicas)
    ]


def refused(old: Body | None, new: Body, view: GraphView) -> list[str]:
    """Return the pods that a limit range would not let be made again."""
    found = effects(impact_of(write(LIMIT_RANGES, old, new), view), Hollowed)
    assert {one.what for one in found} <= {"room"}
    return [one.target.name for one in found]


@pytest.mark.parametrize(
    ("limit", "count"),
    [
        pytest.param({"pod": {"max": {"cpu": "100m"}}}, 9, id="too-small-for-any"),
        pytest.param({"pod": {"max": {"memory": "128Mi"}}}, 9, id="of-memory"),
        pytest.param({"pod": {"max": {"cpu": "500m", "memory": "256Mi"}}}, 0, id="as-asked"),
        pytest.param({"container": {"max": {"memory": "500Mi"}}}, 9, id="less-than-it-may-use"),
        pytest.param({"container": {"max": {"cpu": "1", "memory": "512Mi"}}}, 0, id="as-it-may"),
        pytest.param({"container": {"max": {"memory": "536870911"}}}, 0, id="to-the-mebibyte"),
        pytest.param({"container": {"min": {"cpu": "1"}}}, 9, id="too-large"),
        pytest.param({"container": {"min": {"cpu": "50m"}}}, 0, id="a-floor"),
        pytest.param({"container": {"default": {"cpu": "100m"}}}, 0, id="defaults-alone"),
        pytest.param({"persistentvolumeclaim": {"max": {"storage": "1Gi"}}}, 0, id="of-claims"),
    ],
)
def test_a_limit_range_leaves_no_room(limit: Body, count: int) -> None:
    """New, and written anew; one that was no better before takes nothing."""
    view, wide = view_of(running(500, 256)), limits(pod={"max": {"cpu": "64"}})

    assert len(refused(None, limits(**limit), view)) == count
    assert len(refused(wide, limits(**limit), view)) == count
    assert refused(limits(**limit), limits(**limit, claim={}), view) == []


def test_each_pod_is_told_of_up_to_a_number() -> None:
    """A namespace of many counts as many; those that are done, or go, are not among them."""
    tight = limits(container={"max": {"cpu": "10m"}})
    done = [
        replace(one, facts=replace(one.facts, finished=True))
        if isinstance(one.facts, PodFacts)
        else one
        for one in running(500, 256, name="done", replicas=2)
    ]
    view = view_of(running(500, 256, replicas=2), done)

    assert sorted(refused(None, tight, view)) == ["web-1-0", "web-1-1"]
    many = view_of(running(500, 256, replicas=PODS_TOLD + 9))
    assert len(refused(None, tight, many)) == PODS_TOLD


def test_a_limit_range_that_most_pods_pass_is_none() -> None:
    """A part of what runs is too large for it; and pods that ask for nothing get its default."""
    tight = limits(pod={"max": {"cpu": "600m"}})
    some = view_of(running(500, 256), running(900, 256, name="large", replicas=4))
    most = view_of(running(500, 256, replicas=1), running(900, 256, name="large", replicas=9))

    assert refused(None, tight, some) == []
    assert len(refused(None, tight, most)) == 9
    assert refused(None, limits(pod={"min": {"cpu": "1"}}), view_of(running(0, 0))) == []
    assert refused(None, tight, view_of()) == []
