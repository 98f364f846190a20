"""What an API server of Kubernetes 1.36.3 served, kind by kind, is read as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from suture.model import names
from suture.model.edges import Need, Selection
from suture.model.facts import (
    AdmissionPolicyFacts,
    AttachmentFacts,
    AutoscalerFacts,
    DisruptionBudgetFacts,
    KeysFacts,
    LeaseFacts,
    NetworkPolicyFacts,
    PolicyBindingFacts,
    RoleBindingFacts,
    RoleFacts,
    SnapshotContentFacts,
    SnapshotFacts,
    StorageClassFacts,
    VolumeFacts,
)
from suture.model.fieldpath import FieldPath
from suture.model.names import Gvk, Resource
from suture.model.objects import (
    ApiServiceFacts,
    ClaimFacts,
    CrdFacts,
    Facts,
    MatchCondition,
    NodeFacts,
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
from suture.model.rights import RightsRule
from suture.model.rules import REFERENCE_RULES, Reference, ReferenceRule, RuleFacts, TypeName
from suture.model.selectors import Operator, Requirement, Selector
from suture.model.traffic import TrafficPort, TrafficRule
from suture.wire.kinds import SECRET_KEYS, SHAPES
from suture.wire.trim import Trimmer

GOLDEN = Path(__file__).parent / "golden"

NAME_LABEL = "kubernetes.io/metadata.name"
WEB, DB = Selector.of({"app": "web"}), Selector.of({"app": "db"})
PROXIED = Selector(
    (*WEB.requirements, Requirement("security.istio.io/tlsMode", Operator.EXISTS, ()))
)
TWO_SPACES = Selection(
    names.PODS,
    "",
    Selector(),
    Selector((Requirement(NAME_LABEL, Operator.IN, ("golden", "other")),)),
)
SYSTEM = Selector.of({NAME_LABEL: "kube-system"})
RULE = WebhookRule(("CREATE",), ("golden.test",), ("*",), ("gadgets",))
JOB = "9a33cfdb-1360-4e33-94aa-33f956defc17"
PODS = ("301eaeba-fdcb-45f6-a619-aec4dd27364f", "0725f662-70d0-4425-a926-47f164aa8557")

HOSTS = ("a.example.com",)
ROUTE = RouteFacts((ServiceRef("golden", "web"),))

DNS_PODS = Selection(names.PODS, "", Selector.of({"k8s-app": "kube-dns"}), SYSTEM)
CALICO = NetworkPolicyFacts(
    WEB,
    ingress=True,
    egress=True,
    rules=(
        TrafficRule(egress=False, pods=(Selection(names.PODS, "golden", DB),)),
        TrafficRule(egress=True, blocks=("outside",), ports=(TrafficPort("TCP", 443),)),
    ),
)
CALICO_GLOBAL = NetworkPolicyFacts(
    egress=True, namespaces=Selector((Requirement(NAME_LABEL, Operator.NOT_IN, ("kube-system",)),))
)

FACTS: dict[str, Facts | None] = {
    "api-service": ApiServiceFacts("apps", "v1"),
    "claim": ClaimFacts(bound=False),
    "cron-job": WorkloadFacts(template_hash=8541820057211191141),
    "daemon-set": WorkloadFacts(
        None, Selector.of({"app": "agent"}), 5277261957395573343, status_replicas=2
    ),
    "definition": CrdFacts(
        Resource("golden.test", "gadgets"),
        "Gadget",
        namespaced=True,
        stored_versions=("v1",),
        served_versions=("v1",),
        established=True,
    ),
    "deployment": WorkloadFacts(2, WEB, 8945157681417341695, status_replicas=2),
    "endpoint-slice": SliceFacts("web", PODS),
    "ingress": RouteFacts((ServiceRef("golden", "web"),), HOSTS, ports=("web:80",)),
    "job": WorkloadFacts(
        2, Selector.of({"batch.kubernetes.io/controller-uid": JOB}), 2049203632741469031, finished=True
    ),
    "mutating-webhooks": WebhookFacts(
        (Webhook("golden.example.com", fail_closed=False, rules=(RULE,)),)
    ),
    "node": NodeFacts(ready=True, cpu_m=64_000, memory_mi=262_144, pods=500),
    "pod": PodFacts(ready=True, node="node-1"),
    "replica-set": WorkloadFacts(
        2,
        Selector.of({"app": "web", "pod-template-hash": "6cddf84bcd"}),
        589833478424225304,
        status_replicas=2,
    ),
    "replication-controller": WorkloadFacts(
        1, Selector.of({"app": "old"}), 3751261399010057911, status_replicas=1
    ),
    "service": ServiceFacts(WEB, ports=("80/TCP",)),
    "service-external-name": ServiceFacts(None, "ExternalName"),
    "service-headless": ServiceFacts(DB, headless=True, ports=("80/TCP",)),
    "stateful-set": WorkloadFacts(1, DB, 5716871674888951004, status_replicas=1, service="db"),
    "validating-webhooks": WebhookFacts(
        (
            Webhook(
                "golden.example.com",
                fail_closed=False,
                service=ServiceRef("golden", "web"),
                rules=(RULE,),
                conditions=(MatchCondition("x", "true"),),
            ),
        )
    ),
    "attachment": AttachmentFacts(attached=False),
    "autoscaler": AutoscalerFacts(1, 5, reads=("metrics.k8s.io",)),
    "cluster-role-binding": RoleBindingFacts(("system:serviceaccount:golden:web",)),
    "cilium-policy": NetworkPolicyFacts(
        WEB,
        egress=True,
        rules=(
            TrafficRule(
                egress=True,
                pods=(Selection(names.PODS, "", Selector.of({"k8s-app": "kube-dns"}), SYSTEM),),
                ports=(TrafficPort("TCP", 53), TrafficPort("UDP", 53), TrafficPort("SCTP", 53)),
            ),
            TrafficRule(egress=True, blocks=("outside",)),
            TrafficRule(egress=True, pods=(Selection(names.PODS, "golden", DB),)),
        ),
    ),
    "cilium-cluster-policy": NetworkPolicyFacts(
        egress=True,
        namespaces=Selector((Requirement(NAME_LABEL, Operator.NOT_IN, ("kube-system",)),)),
    ),
    "admin-policy": NetworkPolicyFacts(
        egress=True,
        rules=(TrafficRule(egress=True, pods=(DNS_PODS,), ports=(TrafficPort("UDP", 53),)),),
        namespaces=Selector(),
    ),
    "baseline-policy": NetworkPolicyFacts(ingress=True, namespaces=SYSTEM),
    "cluster-policy": NetworkPolicyFacts(
        Selector.of({"k8s-app": "kube-dns"}),
        rules=(TrafficRule(egress=True, blocks=("outside",)),),
        namespaces=SYSTEM,
    ),
    "calico-policy": CALICO,
    "calico-stored-policy": CALICO,
    "calico-global-policy": CALICO_GLOBAL,
    "calico-stored-global-policy": CALICO_GLOBAL,
    "peer-authentication": NetworkPolicyFacts(
        PROXIED,
        ingress=True,
        rules=(
            TrafficRule(egress=False),
            TrafficRule(egress=False, ports=(TrafficPort("TCP", 8080),)),
        ),
    ),
    "authorization-policy": NetworkPolicyFacts(
        PROXIED,
        ingress=True,
        rules=(
            TrafficRule(egress=False, pods=(TWO_SPACES,)),
            TrafficRule(egress=False, blocks=("outside",)),
        ),
    ),
    "config-map": KeysFacts(("a", "b", "c")),
    "disruption-budget": DisruptionBudgetFacts(WEB, "50%"),
    "gateway": RouteFacts(),
    "grpc-route": ROUTE,
    "http-route": RouteFacts((ServiceRef("golden", "web"), ServiceRef("other", "web")), HOSTS),
    "lease": LeaseFacts("web-6cddf84bcd-abcde_5f0c1c2e-0c59-4d1b-9a43-8a6e7d8f1b11"),
    "mutating-policy": AdmissionPolicyFacts(),
    "mutating-policy-binding": PolicyBindingFacts("golden"),
    "network-policy": NetworkPolicyFacts(
        WEB,
        ingress=True,
        egress=True,
        rules=(
            TrafficRule(
                egress=False,
                pods=(
                    Selection(names.PODS, "golden", DB),
                    Selection(names.PODS, "", Selector(), Selector()),
                ),
                blocks=("10.0.0.0/8",),
            ),
            TrafficRule(egress=True),
        ),
    ),
    "cluster-role": RoleFacts(
        (RightsRule(("get",), paths=("/metrics",)),), (Selector.of({"a": "b"}),)
    ),
    "role": RoleFacts(
        (
            RightsRule(("get", "list"), ("",), ("secrets",), ("tls",)),
            RightsRule(("*",), ("apps",), ("deployments", "deployments/scale")),
        )
    ),
    "pod-rich": PodFacts(),
    "reference-rule": RuleFacts(
        ReferenceRule(
            "golden",
            TypeName("golden.test", "Gadget"),
            Reference(FieldPath.parse("spec.secretName"), TypeName("", "Secret")),
        )
    ),
    "role-binding": RoleBindingFacts(("ann@example.com",), ("team-a",)),
    "scaled-object": AutoscalerFacts(0, 10, timed=True),
    "secret": KeysFacts(("password", "user")),
    "service-account": None,
    "snapshot": SnapshotFacts(ready=True),
    "snapshot-content": SnapshotContentFacts("Retain"),
    "storage-class": StorageClassFacts("Retain", default=True, driver="csi.example.com"),
    "tcp-route": ROUTE,
    "tls-route": ROUTE,
    "udp-route": ROUTE,
    "validating-policy": AdmissionPolicyFacts("", "ConfigMap"),
    "validating-policy-binding": PolicyBindingFacts("golden", "settings", "golden"),
    "volume": VolumeFacts("Delete", "Available", driver="csi.example.com"),
}  # fmt: skip

ACCOUNT = "service-account serviceaccounts golden/default"
GATEWAY = "attached-to gateways.gateway.networking.k8s.io infra/edge#https"

NEEDS: dict[str, list[str]] = {
    "attachment": ["volume persistentvolumes golden-pv", "attached-node nodes node-1"],
    "autoscaler": ["scales deployments.apps golden/web"],
    "cluster-role-binding": [
        "role clusterroles.rbac.authorization.k8s.io view",
        "subject serviceaccounts golden/web",
    ],
    "cron-job": [ACCOUNT],
    "daemon-set": [ACCOUNT],
    "deployment": [ACCOUNT],
    "endpoint-slice": ["slice-of services golden/web"],
    "gateway": [
        "class gatewayclasses.gateway.networking.k8s.io example",
        "certificate secrets golden/edge-tls",
        "certificate secrets certs/other-tls",
    ],
    "grpc-route": ["routes-to services golden/web", GATEWAY],
    "http-route": [
        "routes-to services golden/web",
        "routes-to services golden/next?",
        "routes-to services other/web",
        "routes-to services golden/shadow?",
        GATEWAY,
    ],
    "ingress": ["routes-to services golden/web"],
    "job": [ACCOUNT],
    "lease": ["holder pods golden/web-6cddf84bcd-abcde?"],
    "mutating-policy-binding": [
        "policy mutatingadmissionpolicies.admissionregistration.k8s.io golden"
    ],
    "pod": [ACCOUNT, "config-map configmaps golden/kube-root-ca.crt#ca.crt"],
    "pod-rich": [
        "service-account serviceaccounts golden/web",
        "priority-class priorityclasses.scheduling.k8s.io golden",
        "runtime-class runtimeclasses.node.k8s.io sandbox",
        "pull-secret secrets golden/pull",
        "resource-claim resourceclaims.resource.k8s.io golden/gpu-1",
        "claim persistentvolumeclaims golden/rich-scratch",
        "config-map configmaps golden/settings#b",
        "secret secrets golden/tls?",
        "secret secrets golden/csi",
        "config-map configmaps golden/all?",
        "secret secrets golden/login",
        "config-map configmaps golden/settings#a",
        "secret secrets golden/login#password?",
        "claim persistentvolumeclaims golden/data",
        "config-map configmaps golden/more",
        "secret secrets golden/extra",
        "config-map configmaps golden/kube-root-ca.crt#ca.crt",
    ],
    "replica-set": [ACCOUNT],
    "replication-controller": [ACCOUNT],
    "role-binding": [
        "role clusterroles.rbac.authorization.k8s.io view",
        "subject serviceaccounts golden/web",
    ],
    "scaled-object": ["scales deployments.apps golden/web"],
    "service-account": ["secret secrets golden/token?", "pull-secret secrets golden/pull"],
    "snapshot": [
        "snapshot-source persistentvolumeclaims golden/data?",
        "snapshot-content volumesnapshotcontents.snapshot.storage.k8s.io snapcontent-1",
        "class volumesnapshotclasses.snapshot.storage.k8s.io fast?",
    ],
    "snapshot-content": [
        "bound-snapshot volumesnapshots.snapshot.storage.k8s.io golden/data",
        "class volumesnapshotclasses.snapshot.storage.k8s.io fast?",
    ],
    "stateful-set": [ACCOUNT, "governing-service services golden/db"],
    "tcp-route": ["routes-to services golden/web", GATEWAY],
    "tls-route": ["routes-to services golden/web", GATEWAY],
    "udp-route": ["routes-to services golden/web", "attached-to services golden/web"],
    "validating-policy-binding": [
        "policy validatingadmissionpolicies.admissionregistration.k8s.io golden"
    ],
    "validating-webhooks": ["webhook services golden/web?"],
    "volume": [
        "bound-claim persistentvolumeclaims golden/data",
        "storage-class storageclasses.storage.k8s.io fast?",
        "secret secrets kube-system/csi",
    ],
}
"""What each sample names; nothing where it is not listed. `#` an entry's key, `?` optional."""

RESOURCES = {
    (resource.group, shape.kind): resource for resource, shape in {**SHAPES, **SECRET_KEYS}.items()
}


UNMANAGED = {names.PODS, REFERENCE_RULES}
"""Kinds of which nobody asks who wrote their fields."""


def words(need: Need) -> str:
    """Return a need as the table above writes it."""
    key = f"#{need.key}" if need.key else ""
    return f"{need.edge} {need.target}{key}{'?' if need.optional else ''}"


def kind_of(document: dict[str, Any]) -> tuple[str, str]:
    gvk = Gvk.of(document["apiVersion"], document["kind"])
    return gvk.group, gvk.kind


def test_every_kind_that_is_read_whole_has_a_sample() -> None:
    """No row of the table goes untried, and no sample unread."""
    kinds = {kind_of(msgspec.json.decode(path.read_bytes())) for path in GOLDEN.glob("*.json")}
    assert kinds == set(RESOURCES)
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(FACTS)


@pytest.mark.parametrize("sample", sorted(FACTS))
def test_a_sample_is_read(sample: str) -> None:
    """Facts, needs, name, life, version, times are those of the document, and nothing is odd."""
    body = (GOLDEN / f"{sample}.json").read_bytes()
    document: dict[str, Any] = msgspec.json.decode(body)
    meta = document["metadata"]
    trimmer = Trimmer(secret_keys=True)
    resource = RESOURCES[kind_of(document)]
    thing = trimmer.trim(body, resource, Gvk.of(document["apiVersion"], document["kind"]))
    assert thing.facts == FACTS[sample]
    assert [words(need) for need in thing.needs] == NEEDS.get(sample, [])
    assert (thing.key.namespace, thing.key.name) == (meta.get("namespace", ""), meta["name"])
    assert (thing.uid, thing.resource_version) == (meta["uid"], meta["resourceVersion"])
    assert thing.labels == meta.get("labels", {})
    assert [owner.uid for owner in thing.owners] == [
        owner["uid"] for owner in meta.get("ownerReferences", ())
    ]
    assert list(thing.finalizers) == meta.get("finalizers", [])
    # An afternoon in November 2026; that times are read to the second is tested with the trimmer.
    assert 1795180000 < thing.created < 1795200000
    written = {entry["manager"] for entry in meta.get("managedFields", ())}
    assert thing.managers == (() if resource in UNMANAGED else tuple(sorted(written)))
    assert not trimmer.odd
