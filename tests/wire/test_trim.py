"""Kubernetes JSON becomes trimmed objects, whatever it looks like."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.kubejson import CRD, DEPLOYMENT, POD, SERVICE, TEMPLATE, UID, WEBHOOKS, dumps, meta
from suture.model import names
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import (
    ApiServiceFacts,
    ClaimFacts,
    CrdFacts,
    Facts,
    MatchCondition,
    NodeFacts,
    OwnerReference,
    PodFacts,
    RouteFacts,
    ServiceFacts,
    ServiceRef,
    SliceFacts,
    Webhook,
    WebhookFacts,
    WebhookRule,
    WorkloadFacts,
)
from suture.model.selectors import Operator, Requirement, Selector
from suture.wire.kinds import SHAPES
from suture.wire.oddities import TrimError
from suture.wire.trim import Trimmer
from suture.wire.workloadshapes import TEMPLATE_BYTES

WEB = Requirement("app", Operator.IN, ("web",))


def facts_of(resource: Resource, document: dict[str, Any]) -> Facts | None:
    """Trim one document of the kind that a resource is read as."""
    gvk = Gvk(resource.group, "v1", SHAPES[resource].kind)
    trimmer = Trimmer()
    facts = trimmer.trim(dumps(document), resource, gvk).facts
    assert not trimmer.odd
    return facts


def test_metadata_is_read_and_its_noise_left_behind() -> None:
    """Names, versions, labels, owners and times of an object are what the API server wrote."""
    thing = Trimmer().trim(dumps(POD), names.PODS, Gvk("", "v1", "Pod"))
    assert thing.key == ObjectKey(names.PODS, "shop", "web-7c9-abcde")
    assert thing.uid == UID
    assert thing.resource_version == "4711"
    assert thing.labels == {"app": "web", "pod-template-hash": "7c9"}
    assert thing.owners == (
        OwnerReference(
            Gvk("apps", "v1", "ReplicaSet"),
            "web-7c9",
            "0b1c",
            controller=True,
            blocks_deletion=True,
        ),
    )
    assert thing.created == 1795169472.0
    assert not thing.terminating
    assert thing.facts == PodFacts(ready=True, node="node-1")


def test_a_terminating_object_keeps_its_finalizers() -> None:
    """An accepted delete shows in the trimmed object, and so does what holds it up."""
    pod = {
        **POD,
        "metadata": meta("p", "n", deletionTimestamp="2026-11-20T10:11:42Z", finalizers=["a/b"]),
    }
    thing = Trimmer().trim(dumps(pod), names.PODS, Gvk("", "v1", "Pod"))
    assert thing.terminating
    assert thing.finalizers == ("a/b",)


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        pytest.param(
            {"selector": {"tier": "front", "app": "web"}, "clusterIP": "10.96.0.7"},
            ServiceFacts(Selector((WEB, Requirement("tier", Operator.IN, ("front",))))),
            id="selects-by-all-its-labels",
        ),
        pytest.param({"selector": {}}, ServiceFacts(None), id="empty-selects-nothing"),
        pytest.param({}, ServiceFacts(None), id="absent-selects-nothing"),
        pytest.param(
            {"selector": {"app": "web"}, "type": "ExternalName", "externalName": "x.example"},
            ServiceFacts(None, "ExternalName"),
            id="a-cname-selects-nothing",
        ),
        pytest.param(
            {"selector": {"app": "web"}, "clusterIP": "None"},
            ServiceFacts(Selector((WEB,)), "ClusterIP", headless=True),
            id="headless",
        ),
    ],
)
def test_services(spec: dict[str, Any], facts: ServiceFacts) -> None:
    """A Service without a selector selects nothing, never everything."""
    assert facts_of(names.SERVICES, {**SERVICE, "spec": spec}) == facts


@pytest.mark.parametrize(
    ("status", "addresses"),
    [
        ({"loadBalancer": {"ingress": [{"ip": "192.0.2.1", "ipMode": "VIP"}]}}, ("192.0.2.1",)),
        (
            {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}, {"hostname": "lb.example"}]}},
            ("192.0.2.7", "lb.example"),
        ),
        ({"loadBalancer": {"ingress": []}}, ()),
        ({"loadBalancer": {}}, ()),
        ({}, ()),
    ],
)
def test_a_service_that_was_given_an_address(
    status: dict[str, Any], addresses: tuple[str, ...]
) -> None:
    """By which it is told whose front door a route stands behind."""
    spec = {"selector": {"app": "web"}, "type": "LoadBalancer"}
    facts = facts_of(names.SERVICES, {**SERVICE, "spec": spec, "status": status})
    assert isinstance(facts, ServiceFacts)
    assert facts.addresses == addresses


def test_endpoint_slices() -> None:
    """Endpoints without a word on readiness are ready; hand-written ones go by their address."""
    document = {
        "metadata": meta("web-x", "shop", labels={"kubernetes.io/service-name": "web"}),
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": ["10.0.0.1"], "conditions": {"ready": True}, "targetRef": {"uid": "a"}},
            {"addresses": ["10.0.0.2"], "conditions": {"ready": False}, "targetRef": {"uid": "b"}},
            {"addresses": ["10.0.0.3"], "conditions": {}},
        ],
        "ports": None,
    }
    assert facts_of(names.ENDPOINT_SLICES, document) == SliceFacts("web", ("a", "10.0.0.3"), ("b",))
    assert facts_of(names.ENDPOINT_SLICES, {**document, "endpoints": None}) == SliceFacts("web")


def test_workloads() -> None:
    """Each controller says how many it wants in its own words, or does not say."""
    deployment = facts_of(names.DEPLOYMENTS, DEPLOYMENT)
    assert isinstance(deployment, WorkloadFacts)
    assert (deployment.replicas, deployment.status_replicas) == (3, 3)
    assert deployment.selector == Selector(
        (
            WEB,
            Requirement("tier", Operator.NOT_IN, ("cache", "db")),
            Requirement("canary", Operator.DOES_NOT_EXIST),
        )
    )
    template = deployment.template_hash
    assert template > 0
    daemon = {
        "metadata": meta("d", "n"),
        "spec": {"template": TEMPLATE},
        "status": {"currentNumberScheduled": 5},
    }
    assert facts_of(names.DAEMON_SETS, daemon) == WorkloadFacts(
        template_hash=template, status_replicas=5
    )
    job = {
        "metadata": meta("j", "n"),
        "spec": {"parallelism": 2, "template": TEMPLATE},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]},
    }
    assert facts_of(names.JOBS, job) == WorkloadFacts(2, None, template, finished=True)
    held = {
        "metadata": meta("j", "n"),
        "spec": {"parallelism": 2, "suspend": True},
        "status": {"active": 1},
    }
    assert facts_of(names.JOBS, held) == WorkloadFacts(0, status_replicas=1)
    cron = {"metadata": meta("c", "n"), "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}}}
    assert facts_of(names.CRON_JOBS, cron) == WorkloadFacts(template_hash=template)
    old = {"metadata": meta("r", "n"), "spec": {"selector": {"app": "web"}, "template": TEMPLATE}}
    assert facts_of(names.REPLICATION_CONTROLLERS, old) == WorkloadFacts(
        1, Selector((WEB,)), template
    )


@pytest.mark.parametrize("padding", [0, TEMPLATE_BYTES], ids=["remembered", "too long"])
def test_a_template_reads_the_same_each_time(padding: int) -> None:
    """Whoever stamps it: what its pods need is looked for where the workload is."""
    document = copy.deepcopy(DEPLOYMENT)
    template = document["spec"]["template"]
    template["metadata"] = {"annotations": {"padding": "x" * padding}}
    template["spec"] = {
        "nodeSelector": {"disk": "ssd"},
        "containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "conf"}}]}],
    }
    facts = set()
    for namespace in ("one", "two", "one"):
        document["metadata"]["namespace"] = namespace
        gvk = Gvk("apps", "v1", "Deployment")
        thing = Trimmer().trim(dumps(document), names.DEPLOYMENTS, gvk)
        assert isinstance(thing.facts, WorkloadFacts)
        facts.add((thing.facts.template_hash, thing.facts.placement))
        maps = [need.target for need in thing.needs if need.target.resource == names.CONFIG_MAPS]
        assert maps == [ObjectKey(names.CONFIG_MAPS, namespace, "conf")]
    [(hashed, placement)] = facts
    assert hashed > 0
    assert placement.terms == (Selector.of({"disk": "ssd"}),)


def test_the_template_hash_sees_through_spelling_only() -> None:
    """Indented and escaped templates hash like compact ones; any changed value differs."""

    def hashed(text: bytes) -> int:
        thing = Trimmer().trim(text, names.DEPLOYMENTS, Gvk("apps", "v1", "Deployment"))
        assert isinstance(thing.facts, WorkloadFacts)
        return thing.facts.template_hash

    plain = hashed(json.dumps(DEPLOYMENT, separators=(",", ":")).encode())
    assert hashed(dumps(DEPLOYMENT)) == plain
    assert hashed(json.dumps(DEPLOYMENT, indent=2).encode()) == plain
    assert hashed(json.dumps(DEPLOYMENT).encode()) == plain
    changed = copy.deepcopy(DEPLOYMENT)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"
    assert hashed(dumps(changed)) != plain
    # Pinned: snapshots on disk carry these numbers.
    assert plain == 161241647012617929


def test_what_the_api_stands_on() -> None:
    """Definitions, webhooks and APIServices name the Services behind them."""
    assert facts_of(names.CRDS, CRD) == CrdFacts(
        Resource("example.com", "widgets"),
        "Widget",
        namespaced=True,
        conversion=ServiceRef("widgets", "convert"),
        stored_versions=("v1",),
        served_versions=("v1",),
        established=True,
    )
    assert facts_of(names.VALIDATING_WEBHOOKS, WEBHOOKS) == WebhookFacts(
        (
            Webhook(
                "guard.example.com",
                fail_closed=True,
                service=ServiceRef("guard", "guard"),
                rules=(WebhookRule(("CREATE",), ("",), ("v1",), ("pods",)),),
                namespace_selector=Selector((Requirement("free", Operator.EXISTS),)),
            ),
            Webhook(
                "url.example.com",
                fail_closed=False,
                conditions=(MatchCondition("few", "true"),),
            ),
        )
    )
    api = {
        "metadata": meta("v1.metrics"),
        "spec": {
            "group": "metrics",
            "version": "v1",
            "service": {"namespace": "kube-system", "name": "m"},
        },
    }
    assert facts_of(names.API_SERVICES, api) == ApiServiceFacts(
        "metrics", "v1", ServiceRef("kube-system", "m")
    )
    assert facts_of(names.API_SERVICES, {**api, "spec": {"group": "", "version": "v1"}}) == (
        ApiServiceFacts("", "v1")
    )


def test_the_port_at_which_the_api_server_calls() -> None:
    """443 where none is named, of webhooks, APIServices and conversions alike."""
    called = {"namespace": "guard", "name": "guard", "port": 9443}
    hooks = copy.deepcopy(WEBHOOKS)
    hooks["webhooks"][0]["clientConfig"]["service"] = called
    definition = copy.deepcopy(CRD)
    definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"] = called
    api = {"metadata": meta("v1.m"), "spec": {"group": "m", "version": "v1", "service": called}}

    of_hooks = facts_of(names.VALIDATING_WEBHOOKS, hooks)
    of_definition = facts_of(names.CRDS, definition)
    of_api = facts_of(names.API_SERVICES, api)

    assert isinstance(of_hooks, WebhookFacts)
    assert [one.port for one in of_hooks.webhooks] == [9443, 443]
    assert isinstance(of_definition, CrdFacts)
    assert isinstance(of_api, ApiServiceFacts)
    assert (of_definition.conversion_port, of_api.port) == (9443, 9443)


def test_nodes_claims_and_routes() -> None:
    """The rest of the table is read as written."""
    node = {
        "metadata": meta("n1"),
        "spec": {"unschedulable": True},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]},
    }
    assert facts_of(names.NODES, node) == NodeFacts(unschedulable=True, ready=False)
    claim = {"metadata": meta("c", "n"), "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}}
    assert facts_of(names.CLAIMS, claim) == ClaimFacts(bound=True, volume="v")
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    ingress = {
        "metadata": meta("i", "shop"),
        "spec": {
            "defaultBackend": {"service": {"name": "fallback"}},
            "rules": [
                {"host": "a", "http": {"paths": [{"path": "/", "backend": backend}]}},
                {"http": {"paths": [{"backend": backend}, {"backend": {"resource": {}}}]}},
                {"host": "b"},
            ],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}, {"hostname": "lb"}, {}]}},
    }
    assert facts_of(names.INGRESSES, ingress) == RouteFacts(
        (ServiceRef("shop", "fallback"), ServiceRef("shop", "web")),
        ("a", "", "b"),
        ("192.0.2.1", "lb"),
        ("web:80",),
    )


def test_only_whole_objects_have_facts() -> None:
    """Metadata alone, a kind nobody reads and a subresource's document say nothing of a kind."""
    trimmer = Trimmer()
    partial = {"kind": "PartialObjectMetadata", "metadata": POD["metadata"]}
    assert trimmer.trim(dumps(partial), names.PODS, Gvk("", "v1", "Pod")).facts is None
    assert trimmer.trim(dumps(POD), names.PODS, Gvk("", "v1", "Pod"), full=False).facts is None
    widget = Resource("example.com", "widgets")
    assert trimmer.trim(dumps(POD), widget, Gvk("example.com", "v1", "Widget")).facts is None
    scale = {"kind": "Scale", "metadata": meta("web", "shop"), "spec": {"replicas": 1}}
    thing = trimmer.trim(dumps(scale), names.DEPLOYMENTS, Gvk("autoscaling", "v1", "Scale"))
    assert thing.facts is None
    assert thing.uid == UID
    assert not trimmer.odd


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (("spec", "nodeName"), 7, "facts"),
        (("status", "conditions"), {"Ready": "True"}, "facts"),
        (("metadata", "labels"), {"app": "web", "n": 1}, "labels"),
        (("metadata", "ownerReferences"), [{"uid": 1}, {"uid": "u", "kind": "X"}], "owners"),
        (("metadata", "creationTimestamp"), "yesterday", "metadata"),
        (("metadata",), None, "metadata"),
    ],
)
def test_an_odd_part_costs_only_itself(path: tuple[str, ...], value: object, part: str) -> None:
    """What cannot be read is left out and counted; everything else of the object stays."""
    pod = copy.deepcopy(POD)
    place = pod
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    trimmer = Trimmer()
    thing = trimmer.trim(dumps(pod), names.PODS, Gvk("", "v1", "Pod"))
    assert {odd for _, odd in trimmer.odd} == {part}
    assert (thing.facts is None) is (part == "facts")
    if path != ("metadata",):
        assert thing.key.name == "web-7c9-abcde"
    if part == "labels":
        assert thing.labels == {"app": "web"}
    if part == "owners":
        assert [owner.uid for owner in thing.owners] == ["u"]


def test_an_odd_selector_never_selects_everything() -> None:
    """A selector with an operator that nobody knows leaves the facts unknown."""
    deployment = copy.deepcopy(DEPLOYMENT)
    deployment["spec"]["selector"] = {"matchExpressions": [{"key": "a", "operator": "Like"}]}
    trimmer = Trimmer()
    thing = trimmer.trim(dumps(deployment), names.DEPLOYMENTS, Gvk("apps", "v1", "Deployment"))
    assert thing.facts is None
    assert trimmer.odd["deployments.apps", "facts"] == 1


def test_equal_parts_are_shared_within_a_bound() -> None:
    """Siblings share labels and owners, and what is remembered does not grow for ever."""
    trimmer = Trimmer(interned=10)
    gvk = Gvk("", "v1", "Pod")
    first = trimmer.trim(dumps(POD), names.PODS, gvk)
    for number in range(100):
        other = {**POD, "metadata": {**POD["metadata"], "labels": {"n": str(number)}}}
        trimmer.trim(dumps(other), names.PODS, gvk)
        again = trimmer.trim(dumps(POD), names.PODS, gvk)
        assert again.labels is first.labels
        assert again.owners is first.owners
        assert again.key.namespace is first.key.namespace
    assert len(trimmer.labels) <= 20


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = [
    "kind", "metadata", "spec", "status", "name", "namespace", "uid", "labels", "ownerReferences",
    "creationTimestamp", "deletionTimestamp", "finalizers", "selector", "template", "conditions",
    "endpoints", "webhooks", "rules", "versions", "replicas", "jobTemplate", "names", "service",
    "matchLabels", "matchExpressions", "addresses", "targetRef", "http", "paths", "backend", "conversion",
    "annotations", "managedFields", "manager", "volumes", "containers", "env", "valueFrom", "configMap",
    "projected", "sources", "configMapKeyRef", "key", "items", "data", "subjects", "roleRef", "kind",
    "secrets", "parentRefs", "backendRefs", "listeners", "tls", "scaleTargetRef", "claimRef", "csi",
    "podSelector", "ingress", "from", "source", "holderIdentity", "paramRef", "paramKind",
]  # fmt: skip
OBJECTS = st.recursive(
    JSON | st.sampled_from(["True", "Ready", "In", "Webhook", "2026-11-20T10:11:12Z"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(document=OBJECTS, resource=st.sampled_from([*SHAPES, names.SECRETS]))
def test_no_json_is_refused(document: object, resource: Resource) -> None:
    """Any JSON whatever becomes an object, if an empty one; nothing is raised."""
    kind = SHAPES[resource].kind if resource in SHAPES else "Secret"
    thing = Trimmer().trim(json.dumps(document).encode(), resource, Gvk("", "v1", kind))
    assert thing.key.resource == resource


@given(path=st.lists(st.integers(0, 30), min_size=1, max_size=6), value=JSON)
def test_no_damage_to_a_real_object_is_refused(path: list[int], value: object) -> None:
    """A real object with anything put in place of any part of it is read as far as it goes."""
    for resource, document in (
        (names.PODS, POD), (names.SERVICES, SERVICE), (names.DEPLOYMENTS, DEPLOYMENT),
        (names.CRDS, CRD), (names.VALIDATING_WEBHOOKS, WEBHOOKS),
    ):  # fmt: skip
        damaged = copy.deepcopy(document)
        place: Any = damaged
        for step in path:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = keys[step % len(keys)]
            if not isinstance(place[key], dict | list) or step == path[-1]:
                place[key] = value
                break
            place = place[key]
        gvk = Gvk(resource.group, "v1", SHAPES[resource].kind)
        Trimmer().trim(json.dumps(damaged).encode(), resource, gvk)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"metadata":{"name":"\xff"}}']
)
def test_what_is_no_json_is_said_so(body: bytes) -> None:
    """Bytes that are not JSON, or nest beyond any reader, are a `TrimError` and nothing else."""
    with pytest.raises(TrimError):
        Trimmer().trim(body, names.PODS, Gvk("", "v1", "Pod"))
