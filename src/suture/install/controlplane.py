"""Files for the hosts of a self-managed control plane: what no API call can set up.

Pure. The authorizer, the client certificate that API servers present to webhooks, and the guard of
the policy kinds. Source: apiserver.config.k8s.io/v1; KEP-3221, KEP-5793.
"""

from __future__ import annotations

from typing import Any

from suture.errors import InputError
from suture.install.expressions import API_SERVER, NODES, text
from suture.install.guards import static_guard
from suture.install.registration import registration
from suture.install.settings import Installation, UrlTarget
from suture.model.actor import SERVICE_ACCOUNT

Document = dict[str, Any]

AUTHORIZE_PATH = "/authorize"
AUTHORIZER_S = 1
"""LIMIT: an authorizer that hangs costs every write this long, so no longer than the other lane."""


def control_plane_files(
    installation: Installation, folder: str, *, certificate: bool
) -> dict[str, list[Document]]:
    """Return the documents by file name; `folder` is where they will be on the host.

    `certificate`: API servers present one, found beside these files as `client.crt` and its key.

    `authorization.yaml` is for --authorization-config, `admission.yaml` for
    --admission-control-config-file. The static guard needs Kubernetes 1.37, or 1.36 with the
    feature gate ManifestBasedAdmissionControlConfig.
    """
    files: dict[str, list[Document]] = {
        "admission.yaml": [admission(folder, certificate=certificate)],
        "static/ValidatingAdmissionPolicy/suture.yaml": list(static_guard(installation)),
    }
    if certificate:
        files["webhook-users.yaml"] = [webhook_users(folder)]
    if isinstance(installation.target, UrlTarget):
        files["static/ValidatingAdmissionWebhook/suture.yaml"] = [static_registration(installation)]
    if installation.authorizer:
        files["authorization.yaml"] = [authorization(installation, folder)]
        files["authorizer.yaml"] = [
            authorizer_kubeconfig(installation, folder, certificate=certificate)
        ]
    return files


def authorizer_conditions(namespace: str) -> tuple[str, ...]:
    """Return which requests the authorizer is asked about: writes, by who is not lane 0."""
    attributes = "request.resourceAttributes"
    return (
        f"has({attributes})",
        f"!({attributes}.verb in ['get', 'list', 'watch'])",
        f"!({attributes}.resource in ['leases', 'events'])",
        f"!({attributes}.group in ['authorization.k8s.io', 'authentication.k8s.io'])",
        f"!({attributes}.subresource == 'token')",
        f"request.user != {text(API_SERVER)}",
        f"!({text(NODES)} in request.groups)",
        f"!request.user.startsWith({text(f'{SERVICE_ACCOUNT}{namespace}:')})",
    )


def authorization(installation: Installation, folder: str) -> Document:
    """Return the authorization chain: Node, Suture, RBAC.

    WHY caches off: by default a refusal bites after 30 s, and hundreds of writes pass meanwhile.
    """
    webhook = {
        "timeout": f"{AUTHORIZER_S}s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "cacheAuthorizedRequests": False,
        "cacheUnauthorizedRequests": False,
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": f"{folder}/authorizer.yaml"},
        "matchConditions": [
            {"expression": one} for one in authorizer_conditions(installation.namespace)
        ],
    }
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [
            {"type": "Node", "name": "node"},
            {"type": "Webhook", "name": "suture", "webhook": webhook},
            {"type": "RBAC", "name": "rbac"},
        ],
    }


def authorizer_kubeconfig(
    installation: Installation, folder: str, *, certificate: bool
) -> Document:
    """Return how the API server reaches the authorizer: by address, since it knows no Services.

    Errors: InputError when no address is known.
    """
    target = installation.target
    server = installation.authorizer_url or (target.url if isinstance(target, UrlTarget) else "")
    if not server:
        raise InputError(
            "the authorizer is reached by address, not through a Service: give --authorizer-url"
        )
    server = server.rstrip("/")
    secret = f"/{installation.secret_path}" if installation.secret_path else ""
    cluster: Document = {
        "server": f"{server}{secret}{AUTHORIZE_PATH}",
        "certificate-authority": f"{folder}/ca.crt",
    }
    return _kubeconfig(
        {"clusters": [{"name": "suture", "cluster": cluster}]},
        {"name": "apiserver", "user": _client(folder) if certificate else {}},
        [{"name": "suture", "context": {"cluster": "suture", "user": "apiserver"}}],
    )


def admission(folder: str, *, certificate: bool) -> Document:
    """Return the admission configuration: present a certificate, read the static manifests."""
    version = "apiserver.config.k8s.io/v1"

    def plugin(name: str, kind: str, **fields: str) -> Document:
        return {"name": name, "configuration": {"apiVersion": version, "kind": kind, **fields}}

    users = {"kubeConfigFile": f"{folder}/webhook-users.yaml"} if certificate else {}
    plugins = [
        plugin(
            "ValidatingAdmissionWebhook",
            "WebhookAdmissionConfiguration",
            staticManifestsDir=f"{folder}/static/ValidatingAdmissionWebhook",
            **users,
        ),
        plugin(
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyConfiguration",
            staticManifestsDir=f"{folder}/static/ValidatingAdmissionPolicy",
        ),
    ]
    if certificate:
        plugins.insert(
            1, plugin("MutatingAdmissionWebhook", "WebhookAdmissionConfiguration", **users)
        )
    return {"apiVersion": version, "kind": "AdmissionConfiguration", "plugins": plugins}


def webhook_users(folder: str) -> Document:
    """Return what makes the API server present a certificate to every webhook."""
    return _kubeconfig({}, {"name": "*", "user": _client(folder)}, [])


def static_registration(installation: Installation) -> Document:
    """Return the destructive lanes for the static manifest folder, of admission kinds alone.

    There webhooks see edits of admission configuration, which the API never shows them.
    """
    document = registration(installation)
    document["metadata"]["name"] = "suture.static.k8s.io"
    kept = [hook for hook in document["webhooks"] if hook["name"].startswith("destructive")]
    for hook in kept:
        hook["name"] = hook["name"].replace(".suture.dev", ".suture.static.k8s.io")
        for rule in hook["rules"]:
            rule["apiGroups"] = ["admissionregistration.k8s.io"]
    document["webhooks"] = kept
    return document


def _client(folder: str) -> Document:
    return {"client-certificate": f"{folder}/client.crt", "client-key": f"{folder}/client.key"}


def _kubeconfig(parts: Document, user: Document, contexts: list[Document]) -> Document:
    found: Document = {"apiVersion": "v1", "kind": "Config", **parts, "users": [user]}
    if contexts:
        found |= {"contexts": contexts, "current-context": contexts[0]["name"]}
    return found
