"""Kinds other than pods: what each names, by which field, and what it adds to its metadata."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.kubejson import meta
from suture.model import names
from suture.model.edges import Edge, Need, Selection
from suture.model.facts import (
    AutoscalerFacts,
    DisruptionBudgetFacts,
    KeysFacts,
    NetworkPolicyFacts,
    SnapshotContentFacts,
    StorageClassFacts,
    VolumeFacts,
)
from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject
from suture.model.references import parameters, peers, selections
from suture.model.selectors import Operator, Requirement, Selector
from suture.model.traffic import TrafficPort, TrafficRule
from suture.wire.kinds import CLOSELY, SHAPES
from suture.wire.trim import Trimmer

ANY = Selector()
WEB = Selector.of({"app": "web"})


def trimmed(
    resource: Resource,
    fields: dict[str, Any],
    namespace: str = "shop",
    name: str = "x",
    **metadata: Any,
) -> ClusterObject:
    """Trim an object of a kind; nothing of it may be odd."""
    trimmer = Trimmer()
    kind = SHAPES[resource].kind if resource in SHAPES else "Other"
    document = {"metadata": {**meta(name, namespace), **metadata}, **fields}
    thing = trimmer.trim(json.dumps(document).encode(), resource, Gvk(resource.group, "v1", kind))
    assert not trimmer.odd
    return thing


def words(thing: ClusterObject) -> list[str]:
    """Return an object's needs: edge, target, `#` the key, `?` where optional."""
    return [word(need) for need in thing.needs]


def word(need: Need) -> str:
    """Return a need in short."""
    target = need.target
    place = f"{target.namespace}/" if target.namespace else ""
    return f"{need.edge} {target.resource.plural} {place}{target.name}{'?' * need.optional}"


def needs(resource: Resource, spec: dict[str, Any] | None, **more: Any) -> list[str]:
    """Return the needs of an object with a spec."""
    return words(trimmed(resource, {"spec": spec}, **more))


def test_an_ingress_names_backends_certificates_and_class() -> None:
    """Each once, in its own namespace; a backend may be of another kind."""
    backend = {"service": {"name": "web"}}
    spec = {
        "ingressClassName": "nginx",
        "defaultBackend": {"resource": {"apiGroup": "s.example", "kind": "Bucket", "name": "b"}},
        "tls": [{"hosts": ["a"], "secretName": "tls"}, {"hosts": ["b"]}],
        "rules": [{"http": {"paths": [{"backend": backend}, {"backend": backend}]}}, {}],
    }
    assert needs(names.INGRESSES, spec) == [
        "routes-to buckets shop/b",
        "routes-to services shop/web",
        "certificate secrets shop/tls",
        "class ingressclasses nginx",
    ]


def test_a_gateway_route_fills_in_what_is_left_out() -> None:
    """A parent is a Gateway and a backend a Service of the same namespace unless it says else."""
    spec = {
        "parentRefs": [{"name": "edge"}, {"group": "", "kind": "Service", "name": "mesh"}],
        "rules": [
            {"backendRefs": [{"name": "a"}, {"name": "b", "namespace": "other"}]},
            {"backendRefs": [{"group": "x.example", "kind": "Queue", "name": "q"}]},
            {"backendRefs": None},
        ],
    }
    for resource in (names.HTTP_ROUTES, names.GRPC_ROUTES, names.TLS_ROUTES,
                     names.TCP_ROUTES, names.UDP_ROUTES):  # fmt: skip
        assert needs(resource, spec) == [
            "routes-to services shop/a",
            "routes-to services other/b",
            "routes-to queues shop/q",
            "attached-to gateways shop/edge",
            "attached-to services shop/mesh",
        ]


def test_a_backend_without_weight_is_optional_until_another_rule_needs_it() -> None:
    """What one rule sends everything to and another nothing is needed."""
    rules = [
        {"backendRefs": [{"name": "new", "weight": 0}, {"name": "old", "weight": 0}]},
        {"backendRefs": [{"name": "old", "weight": 9}]},
    ]
    assert needs(names.HTTP_ROUTES, {"rules": rules}) == [
        "routes-to services shop/new?",
        "routes-to services shop/old",
    ]


def test_a_claim_needs_its_class_and_source_only_until_it_is_bound() -> None:
    """Then what holds its data is the volume."""
    spec = {
        "storageClassName": "fast",
        "dataSourceRef": {
            "apiGroup": "snapshot.storage.k8s.io",
            "kind": "VolumeSnapshot",
            "name": "s",
            "namespace": "backup",
        },
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "old"},
    }
    assert needs(names.CLAIMS, spec) == [
        "storage-class storageclasses fast",
        "data-source persistentvolumeclaims shop/old",
        "data-source volumesnapshots backup/s",
    ]
    bound = {"spec": {**spec, "volumeName": "pv"}, "status": {"phase": "Bound"}}
    assert words(trimmed(names.CLAIMS, bound)) == [
        "volume persistentvolumes pv",
        "storage-class storageclasses fast?",
        "data-source persistentvolumeclaims shop/old?",
        "data-source volumesnapshots backup/s?",
    ]
    # Absent asks for the default class, empty for none: neither names one.
    assert needs(names.CLAIMS, {}) == needs(names.CLAIMS, {"storageClassName": ""}) == []


def test_a_volume_tells_what_becomes_of_its_data() -> None:
    """The reclaim policy of the volume itself, and the Secrets that its driver logs in by."""
    spec = {
        "persistentVolumeReclaimPolicy": "Delete",
        "claimRef": {"namespace": "shop", "name": "data"},
        "csi": {
            "nodeStageSecretRef": {"namespace": "sys", "name": "login"},
            "controllerExpandSecretRef": {"namespace": "sys", "name": "login"},
        },
    }
    thing = trimmed(names.VOLUMES, {"spec": spec, "status": {"phase": "Bound"}}, "")
    assert thing.facts == VolumeFacts("Delete", "Bound")
    assert words(thing) == [
        "bound-claim persistentvolumeclaims shop/data",
        "secret secrets sys/login",
    ]
    assert trimmed(names.VOLUMES, {"spec": {}}, "").facts == VolumeFacts("Retain", "")


@pytest.mark.parametrize(
    ("source", "said"),
    [({"volumeHandle": "vol-1"}, "csi.example.com/vol-1"), ({"snapshotHandle": "snap-1"}, "")],
)
def test_a_content_says_of_which_volume_it_was_taken(source: dict[str, str], said: str) -> None:
    """Not where it stands for a snapshot that was there before: of that nobody says."""
    spec = {"deletionPolicy": "Retain", "driver": "csi.example.com", "source": source}
    thing = trimmed(names.SNAPSHOT_CONTENTS, {"spec": spec}, "")
    assert thing.facts == SnapshotContentFacts("Retain", said)


@pytest.mark.parametrize(
    ("terms", "hosts"),
    [
        pytest.param([["a"]], ("a",), id="one"),
        pytest.param([["b"], ["a"]], ("a", "b"), id="any of two"),
        pytest.param([["a"], None], (), id="or any node of a zone"),
        pytest.param([], (), id="no term"),
    ],
)
def test_a_local_volume_tells_its_nodes(
    terms: list[list[str] | None], hosts: tuple[str, ...]
) -> None:
    """By the name that a kubelet gives its node, where each term asks for one."""
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z"]}
    asked = [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": one} if one else zone
        for one in terms
    ]
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [one]} for one in asked]}}

    facts = trimmed(names.VOLUMES, {"spec": {"nodeAffinity": affinity}}, "").facts

    assert isinstance(facts, VolumeFacts)
    assert (facts.hosts, len(facts.terms)) == (hosts, 0 if hosts else len(terms))


@pytest.mark.parametrize(
    ("label", "hosts"),
    [
        ("topology.topolvm.io/node", ("topology.topolvm.io/node=a",)),
        ("openebs.io/nodename", ("openebs.io/nodename=a",)),
        ("topology.ebs.csi.aws.com/zone", ()),
        ("example.com/node-pool", ()),
    ],
)
def test_a_volume_of_a_driver_tells_its_nodes(label: str, hosts: tuple[str, ...]) -> None:
    """By a label of the driver's own that names a node; not a zone, nor a pool of nodes."""
    one = {"key": label, "operator": "In", "values": ["a"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [one]}]}}

    facts = trimmed(names.VOLUMES, {"spec": {"nodeAffinity": affinity}}, "").facts

    asked = Selector((Requirement(label, Operator.IN, ("a",)),))
    assert facts == VolumeFacts("Retain", "", hosts, terms=() if hosts else (asked,))


@pytest.mark.parametrize(
    ("fields", "annotations", "facts"),
    [
        ({}, None, StorageClassFacts("Delete")),
        ({"reclaimPolicy": "Retain"}, {"a": "b"}, StorageClassFacts("Retain")),
        (
            {"reclaimPolicy": None},
            {"storageclass.kubernetes.io/is-default-class": "true"},
            StorageClassFacts("Delete", default=True),
        ),
        (
            {},
            {"storageclass.kubernetes.io/is-default-class": "false"},
            StorageClassFacts("Delete"),
        ),
        ({}, {"storageclass.kubernetes.io/is-default-class": 1}, StorageClassFacts("Delete")),
        (
            {
                "provisioner": "store.rbd.csi.example.com",
                "parameters": {
                    "clusterID": "store",
                    "pool": "fast",
                    "imageFeatures": "layering,other",
                    "size": "3",
                    "csi.storage.k8s.io/fstype": "ext4",
                },
            },
            None,
            StorageClassFacts(
                "Delete", driver="store.rbd.csi.example.com", words=("fast", "store")
            ),
        ),
    ],
)
def test_storage_classes(fields: dict[str, Any], annotations: Any, facts: Any) -> None:
    """A class that does not say deletes; the default one is marked by an annotation.

    Of its parameters those words are kept that may name an object.
    """
    thing = trimmed(names.STORAGE_CLASSES, fields, "", annotations=annotations)
    assert thing.facts == facts


def test_snapshots_name_where_their_data_is() -> None:
    """From a claim until it is ready, or from a content that somebody brought."""
    claim = {"source": {"persistentVolumeClaimName": "data"}, "volumeSnapshotClassName": "c"}
    assert needs(names.SNAPSHOTS, claim) == [
        "snapshot-source persistentvolumeclaims shop/data",
        "class volumesnapshotclasses c",
    ]
    brought = {"source": {"volumeSnapshotContentName": "sc"}}
    assert needs(names.SNAPSHOTS, brought) == ["snapshot-source volumesnapshotcontents sc"]


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ({}, DisruptionBudgetFacts()),
        ({"selector": None, "minAvailable": 1}, DisruptionBudgetFacts(None, 1)),
        ({"selector": {}, "maxUnavailable": "30%"}, DisruptionBudgetFacts(ANY, None, "30%")),
        ({"selector": {"matchLabels": {"app": "web"}}}, DisruptionBudgetFacts(WEB)),
    ],
)
def test_disruption_budgets(spec: dict[str, Any], facts: DisruptionBudgetFacts) -> None:
    """An absent selector selects no pods, an empty one all of the namespace."""
    thing = trimmed(names.DISRUPTION_BUDGETS, {"spec": spec})
    assert thing.facts == facts
    selected = () if facts.selector is None else (Selection(names.PODS, "shop", facts.selector),)
    assert selections(thing) == selected


def test_a_disruption_budget_tells_its_counters() -> None:
    """As the disruption controller last said them."""
    status = {"expectedPods": 4, "desiredHealthy": 2, "currentHealthy": 3, "disruptionsAllowed": 1}
    thing = trimmed(names.DISRUPTION_BUDGETS, {"spec": {}, "status": status})
    assert thing.facts == DisruptionBudgetFacts(expected=4, desired=2, healthy=3, allowed=1)


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        # SOURCE: absent is empty, and empty is all pods of the namespace; no rule lets nobody in.
        ({}, NetworkPolicyFacts(ingress=True)),
        ({"podSelector": {}, "policyTypes": ["Egress"]}, NetworkPolicyFacts(egress=True)),
        (
            {"podSelector": {}, "ingress": [{}]},
            NetworkPolicyFacts(ingress=True, rules=(TrafficRule(egress=False),)),
        ),
        (
            {"podSelector": {}, "ingress": [{"from": []}], "egress": None},
            NetworkPolicyFacts(ingress=True, rules=(TrafficRule(egress=False),)),
        ),
        (
            {"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
            NetworkPolicyFacts(
                ingress=True, egress=True, rules=(TrafficRule(egress=True, blocks=("10.0.0.0/8",)),)
            ),
        ),
        (
            {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]},
            NetworkPolicyFacts(
                ingress=True,
                rules=(TrafficRule(egress=False, pods=(Selection(names.PODS, "shop", ANY),)),),
            ),
        ),
        (
            {"podSelector": {}, "ingress": [{"from": [{"namespaceSelector": {}}]}]},
            NetworkPolicyFacts(
                ingress=True,
                rules=(TrafficRule(egress=False, pods=(Selection(names.PODS, "", ANY, ANY),)),),
            ),
        ),
        (
            {
                "podSelector": {},
                "policyTypes": ["Egress"],
                "egress": [
                    {
                        "ports": [
                            {"port": 53, "protocol": "UDP"},
                            {"port": 8000, "endPort": 8080},
                            {"port": "web"},
                            {"protocol": "SCTP"},
                        ]
                    }
                ],
            },
            NetworkPolicyFacts(
                egress=True,
                rules=(
                    TrafficRule(
                        egress=True,
                        ports=(
                            TrafficPort("UDP", 53),
                            TrafficPort("TCP", 8000, 8080),
                            TrafficPort("TCP", name="web"),
                            TrafficPort("SCTP"),
                        ),
                    ),
                ),
            ),
        ),
    ],
)
def test_network_policies(spec: dict[str, Any], facts: NetworkPolicyFacts) -> None:
    """Whose traffic is limited, and which pods are let through, each by its own selector."""
    thing = trimmed(names.NETWORK_POLICIES, {"spec": spec})
    assert thing.facts == facts
    assert selections(thing) == (Selection(names.PODS, "shop", ANY),)
    assert peers(thing) == facts.peers


def test_a_network_policy_without_a_spec_selects_nothing() -> None:
    """That the API server would not store; its facts are unknown, not empty."""
    thing = trimmed(names.NETWORK_POLICIES, {})
    assert (thing.facts, selections(thing), peers(thing)) == (None, (), ())


def test_a_service_with_an_empty_selector_selects_nothing() -> None:
    """Unlike everything else with an empty selector."""
    selector: dict[str, str]
    for selector, selected in (({}, ()), ({"app": "web"}, (Selection(names.PODS, "shop", WEB),))):
        thing = trimmed(names.SERVICES, {"spec": {"selector": selector}})
        assert selections(thing) == selected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}, "statefulsets shop/db"),
        ({"kind": "ReplicationController", "name": "r"}, "replicationcontrollers shop/r"),
        ({"apiVersion": "x.example/v1", "kind": "Proxy", "name": "p"}, "proxies shop/p"),
        ({"apiVersion": "x.example/v1", "kind": "Redis", "name": "p"}, "redises shop/p"),
    ],
)
def test_autoscalers_name_their_target_by_kind(target: dict[str, str], expected: str) -> None:
    """The plural of a kind outside Kubernetes is guessed as its own libraries do."""
    thing = trimmed(names.AUTOSCALERS, {"spec": {"scaleTargetRef": target, "maxReplicas": 3}})
    assert words(thing) == [f"scales {expected}"]
    assert thing.facts == AutoscalerFacts(1, 3, reads=("metrics.k8s.io",))


def test_autoscalers_say_which_apis_they_read() -> None:
    """By the types of their metrics; a type of tomorrow says nothing."""
    metrics = [{"type": one} for one in ("External", "Pods", "Object", "Telepathy")]
    thing = trimmed(names.AUTOSCALERS, {"spec": {"maxReplicas": 3, "metrics": metrics}})
    reads = ("custom.metrics.k8s.io", "external.metrics.k8s.io")
    assert thing.facts == AutoscalerFacts(1, 3, reads=reads)


def test_a_scaled_object_scales_a_deployment_unless_it_says_else() -> None:
    """And down to nothing; without a target it scales nothing."""
    thing = trimmed(names.SCALED_OBJECTS, {"spec": {"scaleTargetRef": {"name": "web"}}})
    assert words(thing) == ["scales deployments shop/web"]
    assert thing.facts == AutoscalerFacts(0, 100)
    idle = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": 3, "idleReplicaCount": 0}
    assert trimmed(names.SCALED_OBJECTS, {"spec": idle}).facts == AutoscalerFacts(0, 100)
    spec = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": 2, "maxReplicaCount": 5}
    for said, least, most in (("0", 0, 5), ("9", 2, 9), ("none", 2, 5), ("9" * 12, 2, 5)):
        paused = {"annotations": {"autoscaling.keda.sh/paused-replicas": said}}
        one = trimmed(names.SCALED_OBJECTS, {"metadata": paused, "spec": spec})
        assert one.facts == AutoscalerFacts(least, most)
    assert needs(names.SCALED_OBJECTS, {}) == needs(names.AUTOSCALERS, {}) == []
    assert needs(names.AUTOSCALERS, {"scaleTargetRef": {"name": "kindless"}}) == []


@pytest.mark.parametrize(
    ("status", "reason", "floor"),
    [
        ("False", "FailedGetResourceMetric", 3),
        ("False", "ScalingDisabled", 0),
        ("True", "ValidMetricFound", 0),
    ],
)
def test_an_autoscaler_that_cannot_read_its_metrics(status: str, reason: str, floor: int) -> None:
    """It answers for its upper bound alone; a target that was stopped by hand is no fault of it."""
    said = [
        {"type": "AbleToScale", "status": "False"},
        {"type": "ScalingActive", "status": status, "reason": reason},
    ]
    one = trimmed(names.AUTOSCALERS, {"spec": {"maxReplicas": 3}, "status": {"conditions": said}})
    assert one.facts == AutoscalerFacts(1, 3, floor, ("metrics.k8s.io",))


@pytest.mark.parametrize(
    ("status", "floor"),
    [
        ({"conditions": [{"type": "Ready", "status": "False"}]}, 5),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, 0),
        ({"conditions": [{"type": "Ready", "status": "True"}], "health": {}}, 0),
        ({"conditions": [{"type": "Fallback", "status": "True"}]}, 5),
        ({"conditions": [{"type": "Fallback", "status": "False"}]}, 0),
        ({"health": {"a": {"status": "Happy"}, "b": {"status": "Failing"}}}, 5),
        ({"health": {"a": {"numberOfFailures": 0, "status": "Happy"}}}, 0),
    ],
)
def test_a_scaled_object_that_cannot_read_a_source(status: dict[str, object], floor: int) -> None:
    """It answers for what it falls back on, where that is declared, and for what it is paused at."""
    spec: dict[str, object] = {"maxReplicaCount": 5}
    paused = {"annotations": {"autoscaling.keda.sh/paused-replicas": "0"}}

    def facts(**parts: object) -> object:
        return trimmed(names.SCALED_OBJECTS, {"spec": spec, "status": status, **parts}).facts

    assert facts() == AutoscalerFacts(0, 5, floor)
    assert facts(spec={**spec, "fallback": {"replicas": 2}}) == AutoscalerFacts(0, 5, min(floor, 2))
    assert facts(metadata=paused) == AutoscalerFacts(0, 5)


def test_bindings_name_service_accounts_by_either_name() -> None:
    """As a ServiceAccount or as the user that it is; a Role is in the binding's namespace."""
    fields = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "a", "namespace": "ci"},
            {"kind": "User", "name": "system:serviceaccount:ci:b"},
            {"kind": "User", "name": "system:serviceaccount:ci"},
            {"kind": "Group", "name": "system:serviceaccounts:ci"},
        ],
    }
    assert words(trimmed(names.ROLE_BINDINGS, fields)) == [
        "role roles shop/r",
        "subject serviceaccounts ci/a",
        "subject serviceaccounts ci/b",
    ]
    assert words(trimmed(names.CLUSTER_ROLE_BINDINGS, {"subjects": None}, "")) == []


def test_keys_are_known_and_values_are_not() -> None:
    """Of a ConfigMap the names of its entries; of a Secret too, where that is asked for."""
    fields = {"data": {"b": "hidden", "a": "hidden"}, "binaryData": {"c": "aGlkZGVu"}}
    thing = trimmed(names.CONFIG_MAPS, fields)
    assert thing.facts == KeysFacts(("a", "b", "c"))
    assert "hidden" not in repr(thing)
    assert trimmed(names.CONFIG_MAPS, {"data": None}).facts == KeysFacts()

    body = json.dumps({"metadata": meta("login", "shop"), "data": {"password": "aGlkZGVu"}})
    gvk = Gvk("", "v1", "Secret")
    assert Trimmer().trim(body.encode(), names.SECRETS, gvk).facts is None
    asked = Trimmer(secret_keys=True).trim(body.encode(), names.SECRETS, gvk)
    assert asked.facts == KeysFacts(("password",))
    assert "aGlkZGVu" not in repr(asked)


@pytest.mark.parametrize(
    ("namespace", "holder", "expected"),
    [
        ("shop", "web-6c-abcde", ["holder pods shop/web-6c-abcde?"]),
        ("shop", "web-6c-abcde_1b9d6bcd-bbfd", ["holder pods shop/web-6c-abcde?"]),
        ("kube-node-lease", "node-1.example.com", ["holder nodes node-1.example.com?"]),
        ("shop", "Some Words", []),
        ("shop", "", []),
        ("shop", None, []),
        ("shop", "a" * 300, []),
    ],
)
def test_leases_name_their_holder(namespace: str, holder: str | None, expected: list[str]) -> None:
    """A pod, or a node for the lease of its kubelet; not where the name can be neither."""
    assert needs(names.LEASES, {"holderIdentity": holder}, namespace=namespace) == expected


def test_the_parameters_of_a_policy_are_found_by_both() -> None:
    """The binding names the object, the policy its kind."""
    spec = {"paramKind": {"apiVersion": "limits.example/v1", "kind": "Limit"}}
    policy = trimmed(names.VALIDATING_POLICIES, {"spec": spec}, "")
    named = {"policyName": "x", "paramRef": {"name": "l", "namespace": "shop"}}
    binding = trimmed(names.VALIDATING_POLICY_BINDINGS, {"spec": named}, "")
    assert words(binding) == ["policy validatingadmissionpolicies x"]
    assert [word(need) for need in parameters(binding, policy)] == ["parameters limits shop/l"]
    assert parameters(binding, None) == ()
    assert parameters(binding, trimmed(names.VALIDATING_POLICIES, {"spec": {}}, "")) == ()
    selected = {"policyName": "x", "paramRef": {"selector": {}}}
    by_label = trimmed(names.VALIDATING_POLICY_BINDINGS, {"spec": selected}, "")
    assert parameters(by_label, policy) == ()


def test_what_the_api_stands_on_names_services() -> None:
    """A conversion counts when it is in use, and a webhook that fails open can do without."""
    service = {"service": {"namespace": "guard", "name": "guard"}}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": service}
    for strategy, expected in (("Webhook", ["conversion services guard/guard"]), ("None", [])):
        conversion = {"strategy": strategy, "webhook": webhook}
        assert needs(names.CRDS, {"conversion": conversion}, namespace="") == expected
    hooks = [
        {"name": "open", "failurePolicy": "Ignore", "clientConfig": service},
        {"name": "url", "clientConfig": {"url": "https://example.com"}},
    ]
    thing = trimmed(names.MUTATING_WEBHOOKS, {"webhooks": hooks}, "")
    assert words(thing) == ["webhook services guard/guard?"]
    hooks.append({"name": "closed", "failurePolicy": "Fail", "clientConfig": service})
    thing = trimmed(names.MUTATING_WEBHOOKS, {"webhooks": hooks}, "")
    assert words(thing) == ["webhook services guard/guard"]
    assert needs(names.API_SERVICES, {"service": None}, namespace="") == []


def test_an_attachment_names_volume_and_node() -> None:
    """An inline volume has no name."""
    spec = {"nodeName": "n", "source": {"persistentVolumeName": "pv"}}
    assert needs(names.VOLUME_ATTACHMENTS, spec, namespace="") == [
        "volume persistentvolumes pv",
        "attached-node nodes n",
    ]
    inline = {"nodeName": "n", "source": {"inlineVolumeSpec": {}}}
    assert needs(names.VOLUME_ATTACHMENTS, inline, namespace="") == ["attached-node nodes n"]


def test_a_slice_without_its_label_is_of_no_service() -> None:
    """Slices are tied to their Service by a label alone."""
    assert words(trimmed(names.ENDPOINT_SLICES, {})) == []
    labels = {"kubernetes.io/service-name": "web"}
    thing = trimmed(names.ENDPOINT_SLICES, {}, labels=labels)
    assert words(thing) == ["slice-of services shop/web"]


@pytest.mark.parametrize("resource", SHAPES)
def test_every_kind_may_be_empty(resource: Resource) -> None:
    """Without a spec, with a null one and with an empty one, no kind names another object."""
    fields: dict[str, Any]
    for fields in ({}, {"spec": None}, {"spec": {}}, {"status": None, "spec": {}}):
        thing = trimmed(resource, fields)
        named = [need for need in thing.needs if need.target.name != "default"]
        assert not named


def test_huge_labels_are_read() -> None:
    """More than is remembered, and as they are."""
    labels = {f"key-{number}": "v" * 63 for number in range(2_000)}
    thing = trimmed(names.ENDPOINT_SLICES, {}, labels=labels)
    assert thing.labels == labels


def test_what_decisions_rest_on_closely_is_read_whole() -> None:
    """A kind whose age matters to the second is one that is read at all."""
    assert set(SHAPES) >= CLOSELY
    assert ObjectKey(names.PODS, "", "").resource in CLOSELY


def test_selectors_with_expressions_keep_their_meaning() -> None:
    """In a PodDisruptionBudget as everywhere."""
    expressions = [{"key": "tier", "operator": "NotIn", "values": ["db", "cache"]}]
    thing = trimmed(
        names.DISRUPTION_BUDGETS, {"spec": {"selector": {"matchExpressions": expressions}}}
    )
    wanted = Selector((Requirement("tier", Operator.NOT_IN, ("cache", "db")),))
    assert selections(thing) == (Selection(names.PODS, "shop", wanted),)


def test_a_daemon_set_registers_drivers_in_directories_of_the_kubelet() -> None:
    """Each once, whatever the kubelet's own directory; the directory of all of them is none."""
    at = [
        "/var/lib/kubelet/plugins/block.example.com/",
        "/data/kubelet/plugins/file.example.com",
        "/var/lib/kubelet/plugins/file.example.com",
        "/var/lib/kubelet/plugins/",
        "/var/lib/kubelet/plugins/file.example.com/socket",
        "/var/lib/kubelet/plugins_registry/",
    ]
    volumes = [*({"name": "x", "hostPath": {"path": path}} for path in at), {"name": "y"}]
    expected = [f"driver csidrivers {name}.example.com?" for name in ("block", "file")]
    spec = {"template": {"spec": {"volumes": volumes}}}
    assert [one for one in needs(names.DAEMON_SETS, spec) if "driver" in one] == expected
    assert [one for one in needs(names.DEPLOYMENTS, spec) if "driver" in one] == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("a, other/b@net2,a", ["a", "other/b"], id="by-commas"),
        pytest.param(
            '[{"name":"a"},{"name":"b","namespace":"other"}]', ["a", "other/b"], id="json"
        ),
        pytest.param("", [], id="empty"),
        pytest.param('[{"name":1},"odd",{}]', [], id="odd"),
        pytest.param("[", [], id="no-json"),
        pytest.param(7, [], id="no-text"),
    ],
)
def test_an_annotation_of_a_template_names_second_networks(said: Any, expected: list[str]) -> None:
    """Without them no pod of it starts; who keeps the workload is still known beside them."""
    meta = {"annotations": {"k8s.v1.cni.cncf.io/networks": said}}
    spec = {"template": {"metadata": meta, "spec": {"serviceAccountName": "web"}}}
    labels = {"kustomize.toolkit.fluxcd.io/name": "a", "kustomize.toolkit.fluxcd.io/namespace": "f"}
    thing = trimmed(names.DEPLOYMENTS, {"spec": spec}, labels=labels)
    found = [one.target for one in thing.needs if one.edge is Edge.RULE]
    at = [f"{key.namespace}/{key.name}".removeprefix("shop/") for key in found]
    assert at == expected
    assert {one.edge for one in thing.needs} >= {Edge.SERVICE_ACCOUNT, Edge.MANAGED_BY}
