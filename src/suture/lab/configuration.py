"""How the API server is configured: authorization, admission, egress and audit, as documents.

Lives in the lab because these files are what a self-managed cluster's administrator would write;
the lab writes them the way Suture recommends. Pure: values in, documents out.
Source: apiserver.config.k8s.io/v1, apiserver.k8s.io/v1beta1, audit.k8s.io/v1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suture.lab.folder import AuditLevel

Document = dict[str, Any]

AUTHORIZER = "suture"
WEBHOOK_PLUGINS = ("ValidatingAdmissionWebhook", "MutatingAdmissionWebhook")
STATIC_PLUGINS = (*WEBHOOK_PLUGINS, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_PLUGIN_KINDS = {
    "ValidatingAdmissionWebhook": "WebhookAdmissionConfiguration",
    "MutatingAdmissionWebhook": "WebhookAdmissionConfiguration",
    "ValidatingAdmissionPolicy": "ValidatingAdmissionPolicyConfiguration",
    "MutatingAdmissionPolicy": "MutatingAdmissionPolicyConfiguration",
}
_ASKED = "request.resourceAttributes"
# WHY: reads cost the cluster nothing that Suture guards; leases and events are lane 0; reviews of
# access and tokens are asked by the machinery itself; nodes and the API server speak for nobody
# else; and Suture must not ask itself. Impersonation is asked in the group of token reviews, under
# verbs that begin with `impersonate`: so that group must not be left out as a whole.
AUTHORIZER_CONDITIONS: tuple[str, ...] = (
    f"has({_ASKED})",
    f"!({_ASKED}.verb in ['get', 'list', 'watch'])",
    f"!({_ASKED}.group == 'coordination.k8s.io' && {_ASKED}.resource == 'leases')",
    f"!({_ASKED}.group in ['', 'events.k8s.io'] && {_ASKED}.resource == 'events')",
    f"!({_ASKED}.group.endsWith('.k8s.io') && {_ASKED}.resource.endsWith('reviews'))",
    f"!({_ASKED}.resource == 'serviceaccounts' && {_ASKED}.subresource == 'token')",
    "request.user != 'system:apiserver'",
    "!('system:nodes' in request.groups)",
    "!('system:serviceaccounts:suture-system' in request.groups)",
)


def authorization(
    *,
    webhook_kubeconfig: str | None,
    conditions: Sequence[str] = AUTHORIZER_CONDITIONS,
    timeout: str = "1s",
    cached: bool = False,
) -> Document:
    """Return the authorization chain: Node, Suture when it is given, RBAC.

    `cached` leaves both caches at the API server's defaults, to measure what they cost.
    """
    chain: list[Document] = [{"type": "Node", "name": "node"}]
    if webhook_kubeconfig is not None:
        webhook: Document = {
            "timeout": timeout,
            "subjectAccessReviewVersion": "v1",
            "matchConditionSubjectAccessReviewVersion": "v1",
            "failurePolicy": "NoOpinion",
            "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": webhook_kubeconfig},
            "matchConditions": [{"expression": condition} for condition in conditions],
        }
        if not cached:
            webhook |= {"cacheAuthorizedRequests": False, "cacheUnauthorizedRequests": False}
        chain.append({"type": "Webhook", "name": AUTHORIZER, "webhook": webhook})
    chain.append({"type": "RBAC", "name": "rbac"})
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": chain,
    }


def admission(*, webhook_kubeconfig: str, static_manifests: str | None) -> Document:
    """Return the admission configuration: whom webhooks see, and what is read from disk."""
    version = "apiserver.config.k8s.io/v1"

    def configured(plugin: str) -> Document:
        configuration: Document = {"apiVersion": version, "kind": _PLUGIN_KINDS[plugin]}
        if plugin in WEBHOOK_PLUGINS:
            configuration["kubeConfigFile"] = webhook_kubeconfig
        if static_manifests is not None:
            # WHY: each plugin refuses the others' kinds, so each has a folder of its own.
            configuration["staticManifestsDir"] = f"{static_manifests}/{plugin}"
        return {"name": plugin, "configuration": configuration}

    # WHY: the policy plugins' only setting is the folder; an older API server knows neither.
    plugins = WEBHOOK_PLUGINS if static_manifests is None else STATIC_PLUGINS
    return {
        "apiVersion": version,
        "kind": "AdmissionConfiguration",
        "plugins": [configured(plugin) for plugin in plugins],
    }


def egress(*, proxy_socket: str) -> Document:
    """Send what goes to Services through the lab's proxy, everything else directly."""
    return {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [
            {
                "name": "cluster",
                "connection": {
                    "proxyProtocol": "HTTPConnect",
                    "transport": {"uds": {"udsName": proxy_socket}},
                },
            },
            {"name": "controlplane", "connection": {"proxyProtocol": "Direct"}},
            {"name": "etcd", "connection": {"proxyProtocol": "Direct"}},
        ],
    }


def audit_policy(level: AuditLevel) -> Document:
    """Return an audit policy: writes at `level`, reads and the machinery's own noise not at all."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "None", "verbs": ["get", "list", "watch"]},
            {"level": "None", "nonResourceURLs": ["*"]},
            {
                "level": "None",
                "resources": [
                    {"group": "coordination.k8s.io", "resources": ["leases"]},
                    {"group": "", "resources": ["events"]},
                    {"group": "events.k8s.io", "resources": ["events"]},
                ],
            },
            # WHY: an audit log is read by many; Secrets and tokens are never written into it.
            {
                "level": "Metadata",
                "resources": [{"group": "", "resources": ["secrets", "serviceaccounts/token"]}],
            },
            {"level": level},
        ],
    }


def kubeconfig(*, server: str, authority: str, user: Document, name: str = "lab") -> Document:
    """Return a kubeconfig with one cluster, one user and one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": server, "certificate-authority": authority}}
        ],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


def webhook_users(*, certificate: str, key: str) -> Document:
    """Return the kubeconfig that makes the API server present a certificate to every webhook.

    Source: k8s.io/apiserver/pkg/util/webhook/authentication.go; the entry named `*` is the one
    that is taken when no entry names the server, Service or host:port alike.
    """
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "users": [{"name": "*", "user": {"client-certificate": certificate, "client-key": key}}],
    }
