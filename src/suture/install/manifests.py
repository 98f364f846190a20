"""What Suture runs as on a cluster: its namespace, rights, workload, Service and own kinds.

Pure. The pod of the restricted profile, with no right to change its own registration: that is the
installer's, who is a person.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import msgspec

from suture import __version__
from suture.install.expressions import LABELS
from suture.install.freezes import freeze_definition
from suture.install.grants import grant_definition
from suture.install.guards import guards
from suture.install.profiles import profile_definition
from suture.install.referencerules import rule_definition
from suture.install.registration import registration
from suture.install.settings import ACCOUNT, SERVICE, Installation, Read, ServiceTarget
from suture.policy.matching import Reach

Document = dict[str, Any]

IMAGE = f"ghcr.io/suture-dev/suture:{__version__}"
TLS_SECRET = "suture-tls"  # noqa: S105 the name of a Secret, no secret
WEBHOOK_PORT = 8443
HEALTH_PORT = 8080
PRIORITY = "system-cluster-critical"
USER_ID = 65532

JOURNAL_GIB = 3
"""LIMIT: the journal's own bound is 2 GiB; its log and a vacuum's slack are the third."""

# LIMIT: a model of 30,000 pods takes 0.5 GiB and twice that while a type is listed anew; without a
# CPU limit, since throttling would turn a busy second into a missed deadline.
RESOURCES = {
    "requests": {"cpu": "500m", "memory": "1Gi"},
    "limits": {"memory": "4Gi"},
}

# Full objects: an edge, an effect or a policy reads their fields.
MODELLED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "namespaces", "nodes", "pods", "services", "persistentvolumeclaims",
            "persistentvolumes", "replicationcontrollers", "serviceaccounts",
        ),
    ),
    ("apps", ("deployments", "replicasets", "statefulsets", "daemonsets")),
    ("batch", ("jobs", "cronjobs")),
    ("discovery.k8s.io", ("endpointslices",)),
    ("networking.k8s.io", ("ingresses", "networkpolicies")),
    ("gateway.networking.k8s.io", ("httproutes", "grpcroutes", "tcproutes", "tlsroutes")),
    ("policy", ("poddisruptionbudgets",)),
    ("autoscaling", ("horizontalpodautoscalers",)),
    ("storage.k8s.io", ("storageclasses",)),
    ("apiextensions.k8s.io", ("customresourcedefinitions",)),
    ("apiregistration.k8s.io", ("apiservices",)),
    (
        "admissionregistration.k8s.io",
        (
            "validatingwebhookconfigurations", "mutatingwebhookconfigurations",
            "validatingadmissionpolicies", "validatingadmissionpolicybindings",
        ),
    ),
    ("suture.dev", ("*",)),
    ("policies.suture.dev", ("*",)),
)  # fmt: skip


class Certificates(msgspec.Struct, frozen=True, kw_only=True):
    """Certificates and keys as PEM. `authority` signed both; its own key is not kept here."""

    authority: bytes
    certificate: bytes
    key: bytes
    client_certificate: bytes = b""
    """What the API server presents; empty where it presents none."""
    client_key: bytes = b""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """How Suture's pod is run."""

    image: str = IMAGE
    cluster: str = ""
    mutual_tls: bool = False
    journal_claim: str = ""
    """A PersistentVolumeClaim for the journal; without one it goes with the pod."""
    metadata_of_all_kinds: bool = True
    """Read the metadata of every kind, so that what would go along is known exactly."""


def reads_of(reaches: Iterable[Reach]) -> tuple[Read, ...]:
    """Return what the constraints in force read, as the lanes want it."""
    return tuple(sorted(Read(one.operation, one.group, one.resource) for one in reaches))


def base_manifests(
    installation: Installation,
    workload: Workload = Workload(),  # noqa: B008 a frozen value
    certificates: Certificates | None = None,
) -> tuple[Document, ...]:
    """Return what Suture runs as, in the order to apply: no guard and no registration yet."""
    documents = [
        namespace(installation),
        profile_definition(),
        rule_definition(),
        grant_definition(),
        freeze_definition(),
        service_account(installation),
        *rights(installation, workload),
        quota(installation),
    ]
    if certificates is not None:
        documents.append(tls_secret(installation, certificates))
    if isinstance(installation.target, ServiceTarget):
        documents += [
            service(installation),
            network_policy(installation),
            disruption_budget(installation),
            deployment(installation, workload),
        ]
    return tuple(documents)


def all_manifests(
    installation: Installation,
    workload: Workload,
    certificates: Certificates | None = None,
) -> tuple[Document, ...]:
    """Return everything in the order to apply: the registration last, when there is an answerer."""
    return (
        *base_manifests(installation, workload, certificates),
        *guards(installation),
        registration(installation),
    )


def namespace(installation: Installation) -> Document:
    """Return Suture's namespace, under the restricted profile of pod security."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    return _document("v1", "Namespace", installation.namespace, labels={**LABELS, **levels})


def service_account(installation: Installation) -> Document:
    """Return the identity that serves."""
    return _document("v1", "ServiceAccount", ACCOUNT, installation.namespace)


def rights(installation: Installation, workload: Workload) -> list[Document]:
    """Return what the serving identity may do: read the model, and write in its own namespace."""
    rbac = "rbac.authorization.k8s.io/v1"
    read = ["get", "list", "watch"]
    model = _document(
        rbac,
        "ClusterRole",
        "suture",
        rules=[
            *(
                {"apiGroups": [group], "resources": list(kinds), "verbs": read}
                for group, kinds in MODELLED
            ),
            # That a grant was used is written before the write that uses it is let through.
            {"apiGroups": ["suture.dev"], "resources": ["grants/status"], "verbs": ["patch"]},
            {"nonResourceURLs": ["/api", "/apis", "/version", "/readyz"], "verbs": ["get"]},
        ],
    )
    found = [model, _cluster_binding(installation, "suture")]
    if workload.metadata_of_all_kinds:
        everything = _document(
            rbac,
            "ClusterRole",
            "suture-metadata",
            rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": read}],
        )
        everything["metadata"]["annotations"] = {
            "suture.dev/why": "Suture asks for metadata alone (PartialObjectMetadata) of kinds "
            "that no edge reads, Secrets among them, so that what would go along with an owner or "
            "a namespace is known exactly. RBAC cannot grant metadata without the rest."
        }
        found += [everything, _cluster_binding(installation, "suture-metadata")]
    own = _document(
        rbac,
        "Role",
        "suture",
        installation.namespace,
        rules=[
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "verbs": ["get", "create", "update"],
            },
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": read},
        ],
    )
    binding = _document(
        rbac,
        "RoleBinding",
        "suture",
        installation.namespace,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "suture"},
        subjects=[_subject(installation)],
    )
    return [*found, own, binding]


def quota(installation: Installation) -> Document:
    """Return the quota without which some clusters keep critical pods to kube-system."""
    return _document(
        "v1",
        "ResourceQuota",
        "suture-critical",
        installation.namespace,
        spec={
            "hard": {"pods": "10"},
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": [PRIORITY]}
                ]
            },
        },
    )


def tls_secret(installation: Installation, certificates: Certificates) -> Document:
    """Return the serving certificate, and the authority of those who may ask."""
    data = {
        "tls.crt": certificates.certificate,
        "tls.key": certificates.key,
        "ca.crt": certificates.authority,
    }
    if installation.secret_path:
        data["secret-path"] = installation.secret_path.encode()
    secret = _document("v1", "Secret", TLS_SECRET, installation.namespace)
    secret["type"] = "kubernetes.io/tls"
    secret["data"] = {key: base64.b64encode(value).decode() for key, value in data.items()}
    return secret


def service(installation: Installation) -> Document:
    """Return the Service that API servers post to."""
    port = installation.target.port if isinstance(installation.target, ServiceTarget) else 443
    return _document(
        "v1",
        "Service",
        SERVICE,
        installation.namespace,
        spec={
            "selector": LABELS,
            "ports": [{"name": "webhook", "port": port, "targetPort": "webhook"}],
        },
    )


def network_policy(installation: Installation) -> Document:
    """Return what may reach Suture, and what it may reach: API servers, by port.

    API servers are no pods, so neither side can name them. No DNS: it is not needed to decide.
    """
    return _document(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "suture",
        installation.namespace,
        spec={
            "podSelector": {"matchLabels": LABELS},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {
                    "ports": [
                        {"port": WEBHOOK_PORT, "protocol": "TCP"},
                        {"port": HEALTH_PORT, "protocol": "TCP"},
                    ]
                }
            ],
            "egress": [
                {"ports": [{"port": 443, "protocol": "TCP"}, {"port": 6443, "protocol": "TCP"}]}
            ],
        },
    )


def disruption_budget(installation: Installation) -> Document:
    """Return the budget that answers for evictions: a node can always be drained."""
    return _document(
        "policy/v1",
        "PodDisruptionBudget",
        "suture",
        installation.namespace,
        spec={"maxUnavailable": 1, "selector": {"matchLabels": LABELS}},
    )


def deployment(installation: Installation, workload: Workload) -> Document:
    """Return the workload.

    One replica: charging is not idempotent, so there is one judge at a time, and until judges can
    hand over to each other the next starts when the last has gone.
    """
    return _document(
        "apps/v1",
        "Deployment",
        "suture",
        installation.namespace,
        spec={
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": LABELS},
            "template": {
                "metadata": {"labels": LABELS},
                "spec": _pod(installation, workload),
            },
        },
    )


def _pod(installation: Installation, workload: Workload) -> Document:
    journal: Document = {"emptyDir": {"sizeLimit": f"{JOURNAL_GIB}Gi"}}
    if workload.journal_claim:
        journal = {"persistentVolumeClaim": {"claimName": workload.journal_claim}}
    return {
        "serviceAccountName": ACCOUNT,
        "priorityClassName": PRIORITY,
        "terminationGracePeriodSeconds": 20,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {
                "key": "node-role.kubernetes.io/control-plane",
                "operator": "Exists",
                "effect": "NoSchedule",
            },
        ],
        "containers": [_container(installation, workload)],
        "volumes": [
            {"name": "tls", "secret": {"secretName": TLS_SECRET, "defaultMode": 0o440}},
            {"name": "journal", **journal},
        ],
    }


def _container(installation: Installation, workload: Workload) -> Document:
    arguments = [
        "serve",
        "--in-cluster",
        "--host=0.0.0.0",
        f"--port={WEBHOOK_PORT}",
        "--health-host=0.0.0.0",
        f"--health-port={HEALTH_PORT}",
        "--certificate=/etc/suture/tls/tls.crt",
        "--key=/etc/suture/tls/tls.key",
        "--journal=/var/lib/suture/journal.sqlite",
        f"--namespace={installation.namespace}",
    ]
    # For who explains a decision from within the pod: `kubectl exec ... suture explain`.
    environment: list[Document] = [
        {"name": "SUTURE_JOURNAL", "value": "/var/lib/suture/journal.sqlite"}
    ]
    if workload.mutual_tls:
        arguments.append("--client-ca=/etc/suture/tls/ca.crt")
    else:
        source = {"secretKeyRef": {"name": TLS_SECRET, "key": "secret-path"}}
        environment.append({"name": "SUTURE_SECRET_PATH", "valueFrom": source})
    if workload.cluster:
        arguments.append(f"--cluster={workload.cluster}")
    if installation.authorizer:
        arguments.append("--authorizer")
    arguments += [f"--break-glass-group={group}" for group in installation.break_glass]
    return {
        "name": "suture",
        "image": workload.image,
        "args": arguments,
        "env": environment,
        "ports": [
            {"name": "webhook", "containerPort": WEBHOOK_PORT},
            {"name": "health", "containerPort": HEALTH_PORT},
        ],
        "resources": RESOURCES,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "tls", "mountPath": "/etc/suture/tls", "readOnly": True},
            {"name": "journal", "mountPath": "/var/lib/suture"},
        ],
        # LIMIT: five minutes to list a cluster of the largest size before the first answer.
        "startupProbe": _probe("/healthz", every_s=2, failures=150),
        # LIMIT: a frozen server is ended within 9 s: three failures, two seconds apart, each
        # given one second; it cannot end gracefully, so it is given no time to.
        "livenessProbe": {
            **_probe("/healthz", every_s=2, failures=3),
            "terminationGracePeriodSeconds": 1,
        },
        "readinessProbe": _probe("/readyz", every_s=2, failures=1),
    }


def _probe(path: str, *, every_s: int, failures: int) -> Document:
    return {
        "httpGet": {"path": path, "port": "health"},
        "periodSeconds": every_s,
        "timeoutSeconds": 1,
        "failureThreshold": failures,
    }


def _subject(installation: Installation) -> Document:
    return {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": installation.namespace}


def _cluster_binding(installation: Installation, role: str) -> Document:
    return _document(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        role,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        subjects=[_subject(installation)],
    )


def _document(
    version: str,
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: dict[str, str] = LABELS,
    **fields: Any,
) -> Document:
    metadata: Document = {"name": name, "labels": dict(labels)}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
