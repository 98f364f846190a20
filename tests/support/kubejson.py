"""Objects as an API server writes them, cut to what tells something; Go's key order and escapes."""

from __future__ import annotations

import json
from typing import Any

UID = "6f2e3a52-7a41-4d0b-9b2e-0c1f6d9f1a01"


def dumps(value: object) -> bytes:
    """Write JSON as Go does: compact, with `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode()


def meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    """Return ObjectMeta with the noise that every object carries."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": UID,
        "resourceVersion": "4711",
        "generation": 3,
        "creationTimestamp": "2026-11-20T10:11:12Z",
        **more,
        "annotations": {"deployment.kubernetes.io/revision": "3"},
        "managedFields": [
            {
                "manager": "kube-controller-manager",
                "operation": "Update",
                "apiVersion": "v1",
                "time": "2026-11-20T10:11:13Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}},
            }
        ],
    }


TEMPLATE: dict[str, Any] = {
    "metadata": {"creationTimestamp": None, "labels": {"app": "web"}},
    "spec": {
        "containers": [{"name": "web", "image": "web:1", "args": ["-c", "a && b > c"]}],
        "restartPolicy": "Always",
    },
}

POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": meta(
        "web-7c9-abcde",
        "shop",
        labels={"app": "web", "pod-template-hash": "7c9"},
        ownerReferences=[
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web-7c9",
                "uid": "0b1c",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    ),
    "spec": {
        "volumes": [{"name": "token", "projected": {"sources": None}}],
        "containers": [{"name": "web", "image": "web:1", "resources": {}}],
        "nodeName": "node-1",
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "tolerationSeconds": 300}],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastProbeTime": None},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T10:11:15Z"},
        ],
        "podIPs": [{"ip": "10.0.0.7"}],
    },
}

SERVICE: dict[str, Any] = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": meta("web", "shop", labels={"app": "web"}),
    "spec": {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 8080}],
        "selector": {"app": "web", "tier": "front"},
        "clusterIP": "10.96.0.7",
        "type": "ClusterIP",
    },
    "status": {"loadBalancer": {}},
}

DEPLOYMENT: dict[str, Any] = {
    "kind": "Deployment",
    "apiVersion": "apps/v1",
    "metadata": meta("web", "shop", labels={"app": "web"}),
    "spec": {
        "replicas": 3,
        "selector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "NotIn", "values": ["db", "cache"]},
                {"key": "canary", "operator": "DoesNotExist"},
            ],
        },
        "template": TEMPLATE,
        "strategy": {"type": "RollingUpdate"},
    },
    "status": {"observedGeneration": 3, "replicas": 3, "readyReplicas": 3},
}

CRD: dict[str, Any] = {
    "kind": "CustomResourceDefinition",
    "apiVersion": "apiextensions.k8s.io/v1",
    "metadata": meta("widgets.example.com"),
    "spec": {
        "group": "example.com",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {}}},
            {"name": "v1alpha1", "served": False, "storage": False},
        ],
        "conversion": {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {
                    "service": {"namespace": "widgets", "name": "convert", "port": 443},
                    "caBundle": "Q0E=",
                },
                "conversionReviewVersions": ["v1"],
            },
        },
    },
    "status": {
        "conditions": [
            {"type": "NamesAccepted", "status": "True"},
            {"type": "Established", "status": "True"},
        ],
        "acceptedNames": {"plural": "widgets", "kind": "Widget"},
        "storedVersions": ["v1"],
    },
}

WEBHOOKS: dict[str, Any] = {
    "kind": "ValidatingWebhookConfiguration",
    "apiVersion": "admissionregistration.k8s.io/v1",
    "metadata": meta("guard"),
    "webhooks": [
        {
            "name": "guard.example.com",
            "clientConfig": {"service": {"namespace": "guard", "name": "guard", "path": "/v"}},
            "rules": [
                {
                    "operations": ["CREATE"],
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["pods"],
                    "scope": "*",
                }
            ],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {"matchExpressions": [{"key": "free", "operator": "Exists"}]},
            "objectSelector": {},
            "sideEffects": "None",
            "timeoutSeconds": 10,
        },
        {
            "name": "url.example.com",
            "clientConfig": {"url": "https://example.com/"},
            "failurePolicy": "Ignore",
            "matchConditions": [{"name": "few", "expression": "true"}],
        },
    ],
}
