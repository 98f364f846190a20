"""A recorded log is rewound and judged: what there was, what would have been refused, and why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.cluster import graph_of, service, workload
from suture.adapters.files import load_policies
from suture.adapters.memory import NoSignals
from suture.app.auditreplay import Replayer
from suture.model.graph import Graph
from suture.model.names import DEPLOYMENTS, SERVICES, ObjectKey
from suture.policy.policyset import PolicySet
from suture.wire.audit import EventDecoder, Write

OPERATOR = "system:serviceaccount:lb:operator"


@pytest.fixture(scope="module")
def pack() -> PolicySet:
    return load_policies()


class Log:
    """A log that is written line by line, one second apart."""

    def __init__(self, level: str = "Metadata") -> None:
        self.level = level
        self.writes: list[Write] = []

    def add(
        self,
        verb: str,
        resource: str,
        name: str,
        *,
        group: str = "",
        request: Any = None,
        response: Any = None,
        code: int = 200,
        user: str = OPERATOR,
        subresource: str = "",
        uri: str = "/x",
        namespace: str = "prod",
    ) -> None:
        """Write one event."""
        at = len(self.writes)
        event = {
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": self.level,
            "auditID": f"a-{at}", "stage": "ResponseComplete", "requestURI": uri, "verb": verb,
            "user": {"username": user},
            "objectRef": {"resource": resource, "namespace": namespace, "name": name,
                          "apiGroup": group, "apiVersion": "v1", "subresource": subresource},
            "responseStatus": {"code": code},
            "requestObject": request, "responseObject": response,
            "requestReceivedTimestamp": f"2026-11-20T{10 + at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000000Z",
        }  # fmt: skip
        found = EventDecoder().decode(json.dumps(event).encode())
        assert isinstance(found, Write)
        self.writes.append(found)

    def replayed(self, graph: Graph, pack: PolicySet) -> Replayer:
        """Rewind a model to the log's beginning, and judge it all."""
        replayer = Replayer(graph, pack, NoSignals())
        for write in self.writes:
            replayer.survey(write)
        replayer.begin()
        for write in self.writes:
            replayer.judge(write)
        return replayer


def whole(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Service's body."""
    return {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": "prod", "uid": f"uid-{name}",
                     "labels": labels or {}, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}], **spec},
    }  # fmt: skip


@pytest.mark.parametrize("level", ["Metadata", "RequestResponse"])
def test_a_sweep_is_refused_after_its_budget_though_the_snapshot_is_newer(
    level: str, pack: PolicySet
) -> None:
    """The Services are gone from the snapshot, and there again, by name or with their bodies."""
    graph = graph_of(*(workload(f"a{number}") for number in range(20)))
    log = Log(level)
    for number in range(20):
        body = whole(f"a{number}") if level == "RequestResponse" else None
        log.add("delete", "services", f"a{number}", response=body)

    found = log.replayed(graph, pack).found

    assert found.rewound.whole == (20 if level == "RequestResponse" else 0)
    assert found.rewound.by_name == (0 if level == "RequestResponse" else 20)
    assert found.refused == 15
    assert {one.reason.constraint for one in found.refusals} == {"share-budget"}
    assert [one.key.name for one in found.refusals] == [f"a{number}" for number in range(5, 20)]
    assert found.verdicts_on_rewound == 20
    [group] = found.ranked()
    assert (group.operator, group.count, dict(group.kinds)) == (OPERATOR, 15, {"services": 15})


def test_what_the_log_created_is_not_there_before(pack: PolicySet) -> None:
    """A Service that the log creates and deletes is its maker's affair, and charged as such."""
    graph = graph_of(workload("web"), service("web"))
    log = Log("RequestResponse")
    log.add("create", "services", "web", request=whole("web"), response=whole("web"), code=201)
    replayer = Replayer(graph, pack, NoSignals())
    replayer.survey(log.writes[0])
    replayer.begin()

    assert graph.row(ObjectKey(SERVICES, "prod", "web")) is None
    replayer.judge(log.writes[0])
    assert graph.row(ObjectKey(SERVICES, "prod", "web")) is not None
    assert replayer.found.rewound.removed == 1


def test_a_patch_at_level_request_is_laid_on_what_is_known(pack: PolicySet) -> None:
    """A scale to zero by patch empties the Service; labels and selector stay as they were."""
    graph = graph_of(workload("web", replicas=3), service("web"))
    log = Log("Request")
    log.add("patch", "deployments", "web", group="apps", request={"spec": {"replicas": 0}})

    found = log.replayed(graph, pack).found

    assert found.refused == 1
    assert found.refusals[0].reason.constraint == "serving-floor"
    row = graph.row(ObjectKey(DEPLOYMENTS, "prod", "web"))
    assert row is not None
    thing = graph.at(row)
    assert getattr(thing.facts, "replicas", None) == 0
    assert getattr(thing.facts, "template_hash", 0) != 0


def deployment(replicas: int, version: str) -> dict[str, Any]:
    """Return a Deployment's body."""
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "prod", "uid": "uid-d", "resourceVersion": version},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
                 "template": {"metadata": {"labels": {"app": "web"}}}},
    }  # fmt: skip


@pytest.mark.parametrize("between", ["scale", "delete", "nothing"])
def test_an_object_is_what_it_was_written_last(between: str, pack: PolicySet) -> None:
    """Written again as it was, it is so again, whatever became of it meanwhile."""
    graph = graph_of(workload("web"), service("web"))
    log = Log("RequestResponse")
    key = ObjectKey(DEPLOYMENTS, "prod", "web")
    log.add("update", "deployments", "web", group="apps", response=deployment(3, "7"))
    if between == "scale":
        size = {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 5}}
        log.add("update", "deployments", "web", group="apps", subresource="scale", response=size)
    elif between == "delete":
        log.add("delete", "deployments", "web", group="apps")
    log.add("update", "deployments", "web", group="apps", response=deployment(3, "8"))

    log.replayed(graph, pack)

    row = graph.row(key)
    assert row is not None
    thing = graph.at(row)
    assert (getattr(thing.facts, "replicas", None), thing.resource_version) == (3, "8")
    graph.check()


def test_a_type_that_the_snapshot_has_none_of_is_read_all_the_same(pack: PolicySet) -> None:
    """Manifests hold what somebody wrote down; the log tells the rest."""
    graph = Graph()
    log = Log("RequestResponse")
    body = deployment(3, "7")
    log.add("create", "deployments", "web", group="apps", request=body, response=body, code=201)

    log.replayed(graph, pack)

    row = graph.row(ObjectKey(DEPLOYMENTS, "prod", "web"))
    assert row is not None
    assert getattr(graph.facts(row), "replicas", None) == 3


def test_an_answer_of_metadata_alone_leaves_the_rest_as_it_was(pack: PolicySet) -> None:
    """A client that asked for no more is answered no more; the patch says what it changed."""
    graph = graph_of(workload("web", replicas=3), service("web"))
    log = Log("RequestResponse")
    answer = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
              "metadata": {"name": "web", "namespace": "prod", "uid": "u"}}  # fmt: skip
    labelled = {"metadata": {"labels": {"team": "shop"}}}
    log.add("patch", "deployments", "web", group="apps", request=labelled, response=answer)

    log.replayed(graph, pack)

    row = graph.row(ObjectKey(DEPLOYMENTS, "prod", "web"))
    assert row is not None
    thing = graph.at(row)
    assert thing.labels["team"] == "shop"
    assert getattr(thing.facts, "replicas", None) == 3


def test_what_metadata_cannot_tell_is_counted(pack: PolicySet) -> None:
    """An update without its body is no verdict, and the report says so."""
    graph = graph_of(workload("web"), service("web"))
    log = Log()
    log.add("patch", "deployments", "web", group="apps")
    log.add("deletecollection", "services", "", uri="/x?labelSelector=app%3Dnone")

    found = log.replayed(graph, pack).found

    assert dict(found.untold) == {"no body": 1, "no items": 1}
    assert (found.refused, found.judged) == (0, 1)


def test_what_was_not_done_is_not_judged(pack: PolicySet) -> None:
    """A write that the API server refused, and a controller that carries out others' wishes."""
    graph = graph_of(workload("web"), service("web"))
    log = Log()
    log.add("delete", "services", "web", code=403)
    log.add("delete", "services", "web", uri="/x?dryRun=All")
    collector = "system:serviceaccount:kube-system:generic-garbage-collector"
    log.add("delete", "replicasets", "web", group="apps", user=collector)
    log.add("update", "leases", "x", group="coordination.k8s.io")

    found = log.replayed(graph, pack).found

    assert (found.judged, found.refused) == (0, 0)
    assert (found.not_persisted, found.dry_runs, found.consequences, found.spared) == (1, 1, 1, 1)


def test_budgets_run_in_the_time_of_the_log(pack: PolicySet) -> None:
    """What is far enough apart is charged to windows of its own, as it would have been live."""
    graph = graph_of(*(workload(f"a{number}") for number in range(8)),
                     *(service(f"a{number}") for number in range(8)))  # fmt: skip
    log = Log()
    for number in range(5):
        log.add("delete", "services", f"a{number}")
    for _ in range(3700):
        log.add("update", "leases", "tick", group="coordination.k8s.io")
    for number in range(5, 8):
        log.add("delete", "services", f"a{number}")

    found = log.replayed(graph, pack).found

    assert found.refused == 0


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"propagationPolicy": "Orphan"}, 0),
        ({"orphanDependents": True}, 0),
        ({"orphanDependents": False}, 1),
        ({"preconditions": {"uid": "another-life"}}, 1),
        (None, 1),
    ],
)
def test_dependents_stay_where_the_delete_said_so(
    options: dict[str, Any] | None, refused: int, pack: PolicySet
) -> None:
    """In either of the two ways to say it; a precondition held, or there would be no event."""
    log = Log("Request")
    log.add("delete", "deployments", "web", group="apps", request=options)

    found = log.replayed(graph_of(workload("web", replicas=3), service("web")), pack).found

    assert found.refused == refused
